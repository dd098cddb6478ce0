"""The kinds of graphs that are generated, with the numbers that each is made of.

The table is all that help and checks need: generators take long to import, and are imported with the first graph.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from host.progress import OnStep

if TYPE_CHECKING:
    from host.graph.csr import Graph

__all__ = ["KINDS", "KINDS_BY_DEGREE", "SEED", "Kind", "Size", "generate_graph"]


@dataclass(frozen=True)
class Size:
    """A number by which the members of a kind or family differ.

    Parameters
    ----------
    text : str
        What it is, for people.
    least, most : int
        Its range.
    default : int, optional
        What it is when it is not given; when absent it must be.
    letter : str
        Stands for it in help.
    """

    text: str
    least: int = 0
    most: int = 2**64
    default: int | None = None
    letter: str = "N"


SEED = Size("seed of what is drawn", most=2**64 - 1, default=0, letter="S")
"""The size by which members differ that are drawn."""

_VERTICES = Size("number of vertices: 1000, 1e6, 2^20", least=1)
_EDGES = Size("number of edges", letter="M")
_DEGREE = Size("average number of edges of a vertex", letter="D")
_BY_DEGREE = {"vertices": _VERTICES, "degree": _DEGREE, "seed": SEED}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Kind made by numbers alone: a graph by the function of its name and ``_graph`` in `host.graph.generators`.

    Parameters
    ----------
    text : str
        What its members are, for help.
    sizes : dict of str to Size
        What the function takes, by name.
    """

    text: str
    sizes: dict[str, Size]


KINDS = {
    "random": Kind(text="both ends of every edge uniform", sizes=_BY_DEGREE),
    "rmat": Kind(
        text="recursive matrix (a = 0.45, b = 0.15, c = 0.15), a power of two of vertices",
        sizes=_BY_DEGREE,
    ),
    "ssca2": Kind(text="cliques with edges between them", sizes=_BY_DEGREE),
    "gnm": Kind(
        text="as many different edges as asked for, all sets of them alike",
        sizes={"vertices": _VERTICES, "edges": _EDGES, "seed": SEED},
    ),
}
"""The kinds by name."""

KINDS_BY_DEGREE = tuple(name for name, kind in KINDS.items() if "degree" in kind.sizes)
"""Names of those that are made by their average degree."""


def generate_graph(kind: str, *, on_step: OnStep | None = None, **sizes: int) -> "Graph":
    """Make a graph.

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
    from host.graph import generators

    graph: Graph = getattr(generators, f"{kind}_graph")(**sizes, on_step=on_step)
    return graph
