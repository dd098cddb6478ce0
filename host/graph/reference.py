"""Components and levels of a graph by independent algorithms, which results are verified against.

Canonical labels make components of different algorithms comparable.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.loops import loop
from cyscc.host.output.text import count_text

if TYPE_CHECKING:
    from scipy.sparse import csr_array

UNLABELLED = 2**32 - 1
"""Label of a vertex whose component is not known yet; a graph has fewer vertices."""

_SMALL = 4
"""Labels up to this multiple of the number of vertices are looked up in a table; others are sorted."""


def canonical(labels: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Label each component with its smallest vertex.

    Parameters
    ----------
    labels : ndarray of integers, shape (n,)
        Any labelling: vertices with equal labels are in the same component.

    Returns
    -------
    ndarray of uint32, shape (n,)
        For each vertex the smallest vertex of its component. Equal for two labellings exactly when they describe the
        same components.
    """
    if labels.size and labels.min() >= 0 and labels.max() <= _SMALL * labels.size:
        first = np.empty(int(labels.max()) + 1, np.uint32)
        # In reverse order: of several assignments to an index, the last one wins.
        first[labels[::-1]] = np.arange(labels.size, dtype=np.uint32)[::-1]
        return first[labels]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first.astype(np.uint32)[inverse]


def component_sizes(labels: NDArray[np.integer]) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    """Count the vertices of each component.

    Parameters
    ----------
    labels : ndarray of integers, shape (n,)
        A labelling, canonical or not.

    Returns
    -------
    labels : ndarray, shape (components,)
        The labels that occur, ascending.
    sizes : ndarray of int64, shape (components,)
        Number of vertices of each.
    """
    names, sizes = np.unique(labels, return_counts=True)
    return names, sizes.astype(np.int64)


def component_matrix(graph: Graph) -> "csr_array":
    """Convert a graph to scipy's sparse matrix, with each edge once and 32-bit indices.

    Parameters
    ----------
    graph : Graph
        At most 2**31 - 1 vertices and edges, scipy's limit.

    Raises
    ------
    ValueError
        When the graph is beyond scipy's limit.
    """
    if max(graph.vertices, graph.edges) >= 2**31:
        raise ValueError(f"scipy takes at most {2**31 - 1} vertices and edges, not {graph.vertices} and {graph.edges}")
    # Here, as it takes a sixth of a second, for which no simulation should wait.
    from scipy.sparse import csr_array

    offsets, targets = (array.astype(np.int32) for array in graph.csr)
    matrix = csr_array((np.ones(graph.edges, np.bool_), targets, offsets), shape=(graph.vertices, graph.vertices))
    # scipy's search does not terminate on some graphs with duplicate edges.
    matrix.sum_duplicates()
    # Only the structure matters; broadcast weights take no memory.
    matrix.data = np.broadcast_to(np.float64(1), matrix.indices.shape)
    return matrix


def matrix_components(matrix: "csr_array") -> NDArray[np.int32]:
    """Find the strongly connected components with scipy; return a label for each vertex."""
    from scipy.sparse.csgraph import connected_components

    labels: NDArray[np.int32] = connected_components(matrix, directed=True, connection="strong")[1]
    return labels


def strong_components(graph: Graph) -> NDArray[np.uint32]:
    """Find the strongly connected components with scipy.

    Parameters
    ----------
    graph : Graph
        At most 2**31 - 1 vertices and edges, scipy's limit.

    Returns
    -------
    ndarray of uint32, shape (n,)
        Canonical: for each vertex the smallest vertex of its component.

    Raises
    ------
    ValueError
        When the graph is beyond scipy's limit.
    """
    return canonical(matrix_components(component_matrix(graph)))


def depth_first_components(graph: Graph) -> NDArray[np.uint32]:
    """Find the strongly connected components by one depth-first search (R. Tarjan, SIAM J. Comput. 1(2), 1972).

    Returns
    -------
    ndarray of uint32, shape (n,)
        For each vertex one of the vertices of its component.
    """
    order = np.zeros(graph.vertices, np.uint32)
    lowest, path, stack = (np.empty(graph.vertices, np.uint32) for _ in range(3))
    labels = np.full(graph.vertices, UNLABELLED, np.uint32)
    cursor = graph.offsets[:-1].copy()
    loop("label", *graph.csr, graph.vertices, cursor, order, lowest, path, stack, labels)
    return labels


def bfs_levels(graph: Graph, source: int) -> NDArray[np.int32]:
    """Find each vertex's distance from a source with a sequential queue.

    Parameters
    ----------
    graph : Graph
        The graph.
    source : int
        Vertex number, 0 to n - 1.

    Returns
    -------
    ndarray of int32, shape (n,)
        Number of edges on a shortest path; -1 for a vertex that is not reached.

    Raises
    ------
    ValueError
        When `source` is not a vertex.
    """
    if not 0 <= source < graph.vertices:
        raise ValueError(f"source must be 0 to {graph.vertices - 1}, not {source}")
    levels = np.full(graph.vertices, -1, dtype=np.int32)
    loop("bfs", *graph.csr, source, levels, np.empty(graph.vertices, np.uint32))
    return levels


def _first_difference(
    graph: Graph, what: str, found: NDArray[np.integer], expected: NDArray[np.integer], names: bool
) -> str | None:
    if len(found) != len(expected):
        return f"{what}s of {count_text(len(found), 'vertex')} found, {len(expected):,} expected"
    different = found != expected
    if not different.any():
        return None
    vertex = different.argmax()
    values = np.array([found[vertex], expected[vertex]])
    shown = graph.original(values) if names else values
    name = graph.original(np.array([vertex]))[0]
    return (
        f"vertex {name}: {what} {shown[0]} found, {shown[1]} expected "
        f"({np.count_nonzero(different)} of {count_text(graph.vertices, 'vertex')} wrong)"
    )


def check_components(labels: NDArray[np.integer], graph: Graph) -> str | None:
    """Compare components with those of a depth-first search.

    Parameters
    ----------
    labels : ndarray of integers, shape (n,)
        Any labelling of the vertices.
    graph : Graph
        The graph.

    Returns
    -------
    str or None
        None when they are right; otherwise one line that names the first vertex that differs, in the input's ids.
    """
    return _first_difference(graph, "component", canonical(labels), canonical(depth_first_components(graph)), True)


def check_levels(levels: NDArray[np.integer], graph: Graph, source: int) -> str | None:
    """Compare levels with those of a sequential search.

    Parameters
    ----------
    levels : ndarray of integers, shape (n,)
        Level of each vertex, -1 when it is not reached.
    graph : Graph
        The graph.
    source : int
        Vertex number, 0 to n - 1.

    Returns
    -------
    str or None
        None when they are right; otherwise one line that names the first vertex that differs, in the input's ids.
    """
    return _first_difference(graph, "level", levels, bfs_levels(graph, source), False)
