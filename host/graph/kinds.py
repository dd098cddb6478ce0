"""The kinds of generated graphs, with their parameters.

Help and checks only need this table. The generators are slow to import, and are imported with the first graph.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyscc.host.output.progress import OnProgress

if TYPE_CHECKING:
    from cyscc.host.graph.csr import Graph


@dataclass(frozen=True)
class Size:
    """An integer parameter of a kind of graph, or of a family of models.

    Parameters
    ----------
    text : str
        Description for help and messages.
    least, most : int
        Its range.
    default : int, optional
        Default value; without one, the parameter is mandatory.
    letter : str
        Placeholder in help.
    """

    text: str
    least: int = 0
    most: int = 2**64
    default: int | None = None
    letter: str = "N"


SEED = Size("seed of random choices", most=2**64 - 1, default=0, letter="S")
"""The seed, a parameter of random graphs and models."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of generated graph, made by the function ``NAME_graph`` in `cyscc.host.graph.generators`.

    Parameters
    ----------
    text : str
        Description for help.
    sizes : dict of str to Size
        Parameters of the function, by name.
    """

    text: str
    sizes: dict[str, Size]


def read_kinds(path: Path) -> dict[str, Kind]:
    """Return the kinds of a file like that beside this module, by name."""
    kinds = {}
    for name, about in tomllib.loads(path.read_text(encoding="utf-8")).items():
        sizes = {each: Size(**size) for each, size in about["sizes"].items()}
        kinds[name] = Kind(text=about["text"], sizes=sizes | ({"seed": SEED} if about.get("drawn") else {}))
    return kinds


KINDS = read_kinds(Path(__file__).with_suffix(".toml"))
"""The kinds by name."""

KINDS_BY_DEGREE = tuple(name for name, kind in KINDS.items() if "degree" in kind.sizes)
"""Names of the kinds with an average degree as parameter."""


def generate_graph(kind: str, *, on_step: OnProgress | None = None, **sizes: int) -> "Graph":
    """Generate a graph.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    on_step : callable, optional
        Called now and then with the edges drawn, and all of them.
    **sizes : int
        Its sizes by name.

    Returns
    -------
    Graph
        The same for the same numbers on every machine.

    Raises
    ------
    InputError
        When a size is out of its range, or the graph too large for 32 bits or for the memory there is.
    """
    from cyscc.host.graph import generators

    graph: Graph = getattr(generators, f"{kind}_graph")(**sizes, on_step=on_step)
    return graph
