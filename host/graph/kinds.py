"""The kinds of generated graphs, with their parameters.

Help and checks only need this table. The generators are slow to import, and are imported with the first graph.
"""

from dataclasses import dataclass
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

_VERTICES = Size("number of vertices: 1000, 1e6, 2^20", least=1)
_EDGES = Size("number of edges", letter="M")
_DEGREE = Size("average number of edges of a vertex", letter="D")
_BY_DEGREE = {"vertices": _VERTICES, "degree": _DEGREE, "seed": SEED}


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


KINDS = {
    "random": Kind(text="both ends of every edge uniform", sizes=_BY_DEGREE),
    "rmat": Kind(
        text="R-MAT, a recursive matrix (a = 0.45, b = 0.15, c = 0.15), a power of two of vertices",
        sizes=_BY_DEGREE,
    ),
    "ssca2": Kind(text="SSCA#2, cliques with edges between them", sizes=_BY_DEGREE),
    "gnm": Kind(
        text="G(n, m), M different edges without self-loops, all sets equally likely",
        sizes={"vertices": _VERTICES, "edges": _EDGES, "seed": SEED},
    ),
}
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
