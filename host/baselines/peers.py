"""The table of other libraries that find strongly connected components, which are run where they are installed.

The table is available to the command line without slow imports: a library is imported when it is used.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyscc.host.graph.csr import Graph

_Components: TypeAlias = "Callable[[], NDArray[Any]]"

SCIPY = "scipy"
"""The library that is always installed, whose results verify the others."""


def _sources(graph: "Graph") -> "NDArray[Any]":
    """Return the source of each edge."""
    import numpy as np

    return np.repeat(np.arange(graph.vertices), graph.out_degrees())


def _scipy(graph: "Graph", _: int) -> _Components:
    from cyscc.host.graph.reference import component_matrix, matrix_components

    return partial(matrix_components, component_matrix(graph))


def _igraph(graph: "Graph", _: int) -> _Components:
    import igraph
    import numpy as np

    made = igraph.Graph(n=graph.vertices, edges=np.column_stack((_sources(graph), graph.targets)), directed=True)
    return lambda: np.array(made.connected_components(mode="strong").membership)


def _networkit(graph: "Graph", threads: int) -> _Components:
    import networkit
    import numpy as np

    networkit.setNumberOfThreads(threads)
    ends = _sources(graph), graph.targets.astype(np.int64)
    made = networkit.GraphFromCoo(ends, n=graph.vertices, directed=True)
    return lambda: np.array(networkit.components.StronglyConnectedComponents(made).run().getPartition().getVector())


PEERS: "dict[str, Callable[[Graph, int], _Components]]" = {
    SCIPY: _scipy,
    "igraph": _igraph,
    "networkit": _networkit,
}
"""Libraries by the name under which each is imported and installed: what converts a graph into its own form, with a
number of threads, and returns the function that finds a label for each vertex, on one thread."""


def installed_peers() -> tuple[str, ...]:
    """Return the names of the libraries that are installed."""
    return tuple(name for name in PEERS if find_spec(name) is not None)
