"""The table of other libraries that find strongly connected components, which are run where they are installed.

The table is available to the command line without slow imports: a library is imported when it is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyscc.host.graph.csr import Graph

SCIPY = "scipy"
"""The library that is always installed, whose results verify the others."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A row of the table; the name is that under which the library is imported and installed.

    Parameters
    ----------
    convert : callable
        Takes a graph and a number of threads; returns the graph in the library's own form.
    components : callable
        Takes a graph in that form; returns a label for each vertex. It uses one thread.
    """

    convert: "Callable[[Graph, int], Any]"
    components: "Callable[[Any], NDArray[Any]]"


def _sources(graph: "Graph") -> "NDArray[Any]":
    """Return the source of each edge."""
    import numpy as np

    return np.repeat(np.arange(graph.vertices), graph.out_degrees())


def _scipy(graph: "Graph", _: int) -> Any:
    from cyscc.host.graph.reference import component_matrix

    return component_matrix(graph)


def _scipy_components(matrix: Any) -> "NDArray[Any]":
    from cyscc.host.graph.reference import matrix_components

    return matrix_components(matrix)


def _igraph(graph: "Graph", _: int) -> Any:
    import igraph
    import numpy as np

    edges = np.column_stack((_sources(graph), graph.targets))
    return igraph.Graph(n=graph.vertices, edges=edges, directed=True)


def _igraph_components(graph: Any) -> "NDArray[Any]":
    import numpy as np

    return np.array(graph.connected_components(mode="strong").membership)


def _networkit(graph: "Graph", threads: int) -> Any:
    import networkit
    import numpy as np

    networkit.setNumberOfThreads(threads)
    return networkit.GraphFromCoo((_sources(graph), graph.targets.astype(np.int64)), n=graph.vertices, directed=True)


def _networkit_components(graph: Any) -> "NDArray[Any]":
    import networkit
    import numpy as np

    found = networkit.components.StronglyConnectedComponents(graph).run()
    return np.array(found.getPartition().getVector())


PEERS = {
    SCIPY: Peer(convert=_scipy, components=_scipy_components),
    "igraph": Peer(convert=_igraph, components=_igraph_components),
    "networkit": Peer(convert=_networkit, components=_networkit_components),
}
"""The libraries by name."""


def installed_peers() -> tuple[str, ...]:
    """Return the names of the libraries that are installed."""
    return tuple(name for name in PEERS if find_spec(name) is not None)
