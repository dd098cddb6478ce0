"""Single-threaded Tarjan's algorithm: one depth-first search (R. Tarjan, SIAM J. Comput. 1(2), 1972)."""

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph
from cyscc.sim.caching.code import njit

__all__ = ["tarjan"]


@njit(cache=True, nogil=True)
def _label(offsets: NDArray[np.int64], targets: NDArray[np.uint32]) -> NDArray[np.int64]:
    vertices = offsets.size - 1
    labels = np.full(vertices, -1, np.int64)
    order = np.zeros(vertices, np.int64)  # discovery order, from 1; 0: not discovered
    lowest = np.zeros(vertices, np.int64)  # lowlink: the earliest vertex on the stack that it reaches
    cursor = offsets[:-1].copy()  # the next edge to inspect
    path = np.empty(vertices, np.uint32)
    stack = np.empty(vertices, np.uint32)
    seen = 0
    height = 0
    for root in range(vertices):
        if order[root]:
            continue
        depth = 1
        path[0] = root
        seen += 1
        order[root] = lowest[root] = seen
        stack[height] = root
        height += 1
        while depth:
            vertex = path[depth - 1]
            if cursor[vertex] < offsets[vertex + 1]:
                target = targets[cursor[vertex]]
                cursor[vertex] += 1
                if not order[target]:
                    seen += 1
                    order[target] = lowest[target] = seen
                    stack[height] = target
                    height += 1
                    path[depth] = target
                    depth += 1
                elif labels[target] < 0:
                    lowest[vertex] = min(lowest[vertex], order[target])
                continue
            depth -= 1
            if depth:
                parent = path[depth - 1]
                lowest[parent] = min(lowest[parent], lowest[vertex])
            if lowest[vertex] == order[vertex]:
                member = stack[height - 1]
                while member != vertex:
                    labels[member] = vertex
                    height -= 1
                    member = stack[height - 1]
                labels[vertex] = vertex
                height -= 1
    return labels


def tarjan(graph: Graph, _: Graph | None = None, __: SoftwareSetting | None = None) -> Decomposition:
    """Label each component of a graph with one of its vertices.

    Inspects each edge once, in one pass.

    Parameters
    ----------
    graph : Graph
        The graph.
    """
    return Decomposition(labels=_label(graph.offsets, graph.targets), counts={"edges": graph.edges, "passes": 1})
