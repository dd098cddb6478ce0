"""Uniform graphs of an exact number of edges: G(n, m) of Erdős and Rényi, directed."""

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.generators.stream import OnStep, below, check_edges, stream
from sim.caching.code import njit

__all__ = ["gnm_graph"]


@njit(cache=True, nogil=True)
def _fill(state: NDArray[np.uint64], vertices: int, pairs: NDArray[np.int64]) -> None:
    for place in range(len(pairs)):
        source = below(state, vertices)
        target = below(state, vertices - 1)
        # The vertex itself is left out.
        pairs[place] = source * vertices + target + (target >= source)


def gnm_graph(vertices: int, edges: int, seed: int = 0, *, on_step: OnStep | None = None) -> Graph:
    """Draw a graph, every one of that many edges as likely as the others.

    No edge is a self-loop, and none is there twice: a repeated edge is drawn again.

    Parameters
    ----------
    vertices : int
        Number of vertices, n.
    edges : int
        Number of directed edges, 0 to n * (n - 1).
    seed : int
        0 to 2**64 - 1; the same seed gives the same graph on every machine.
    on_step : callable, optional
        Called now and then with the edges drawn, and all of them.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        When a value is out of its range or the graph too large for 32 bits.
    """
    check_edges(vertices, edges, seed)
    if edges > vertices * (vertices - 1):
        most = vertices * (vertices - 1)
        raise InputError(f"{vertices} vertices have at most {most} different edges without self-loops, not {edges}")
    pairs = np.empty(0, np.int64)
    rounds = 0
    while pairs.size < edges:
        drawn = np.empty(edges - pairs.size, np.int64)
        _fill(stream(np.uint64(seed), rounds), vertices, drawn)
        pairs = np.unique(np.concatenate([pairs, drawn]))
        rounds += 1
        if on_step is not None:
            on_step(pairs.size, edges)
    sources, targets = np.divmod(pairs, vertices)
    return Graph.from_edges(vertices, sources.astype(np.uint32), targets.astype(np.uint32))
