"""Uniform random graphs."""

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Graph
from host.graph.generators.stream import OnStep, below, draw_graph
from sim.caching.code import njit

__all__ = ["random_graph"]


@njit(cache=True, nogil=True)
def _fill(state: NDArray[np.uint64], vertices: int, sources: NDArray[np.uint32], targets: NDArray[np.uint32]) -> None:
    for edge in range(len(sources)):
        source = below(state, vertices)
        target = below(state, vertices)
        while source == target:
            source = below(state, vertices)
            target = below(state, vertices)
        sources[edge] = source
        targets[edge] = target


def random_graph(vertices: int, degree: int, seed: int = 0, *, on_step: OnStep | None = None) -> Graph:
    """Draw a uniform random graph as GTgraph does.

    Both ends of each edge are uniform and independent; a self-loop is drawn again, a repeated edge is kept.

    Parameters
    ----------
    vertices : int
        Number of vertices, n; at least 2 when `degree` is not 0.
    degree : int
        Average out-degree: the graph has exactly n * degree directed edges.
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
    return draw_graph(_fill, vertices, degree, seed, on_step)
