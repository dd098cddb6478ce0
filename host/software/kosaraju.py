"""Kosaraju's algorithm by one thread, as the accelerator runs it: two searches and an intersection per component."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from host.graph import Graph
from host.software.traversal import NOTHING, search
from host.trim import trim

__all__ = ["kosaraju"]


@njit(cache=True, nogil=True)
def _colour(
    offsets: NDArray[np.int64],
    targets: NDArray[np.uint32],
    back_offsets: NDArray[np.int64],
    back_targets: NDArray[np.uint32],
    trimmed: NDArray[np.bool_],
) -> NDArray[np.int64]:
    vertices = offsets.size - 1
    colours = np.full(vertices, -1, np.int64)
    forward_marks = np.zeros(vertices, np.int64)  # 1: visited
    backward_marks = np.zeros(vertices, np.int64)
    forward = np.empty(vertices, np.uint32)
    backward = np.empty(vertices, np.uint32)
    for vertex in range(vertices):
        if trimmed[vertex]:
            colours[vertex] = vertex
            forward_marks[vertex] = 1
            backward_marks[vertex] = 1
    for start in range(vertices):
        if colours[start] >= 0:
            continue
        forward[0] = start
        forward_marks[start] = 1
        reached = search(offsets, targets, forward_marks, forward, 0, 1, NOTHING, NOTHING)
        if reached == 1:
            colours[start] = start
            backward_marks[start] = 1
            continue
        backward[0] = start
        backward_marks[start] = 1
        met = search(back_offsets, back_targets, backward_marks, backward, 0, 1, NOTHING, NOTHING)
        for place in range(reached):
            vertex = forward[place]
            if backward_marks[vertex]:
                colours[vertex] = start
            else:
                forward_marks[vertex] = 0
        for place in range(met):
            vertex = backward[place]
            if colours[vertex] < 0:
                backward_marks[vertex] = 0
    return colours


def kosaraju(graph: Graph, transpose: Graph) -> NDArray[np.int64]:
    """Label the components of a graph.

    Vertices without an edge in or out are trimmed first; where the forward search reaches nothing but its start, that
    is a component. Coloured vertices stay visited (Attia et al. 2015, sections 2 and 4).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.

    Returns
    -------
    ndarray of int64, shape (n,)
        For each vertex one vertex of its component.
    """
    return _colour(graph.offsets, graph.targets, transpose.offsets, transpose.targets, trim(graph, transpose))
