"""R-MAT graphs: recursive matrices with a skewed degree distribution."""

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.generators.stream import OnStep, draw, draw_graph, unit
from sim.caching.code import njit

__all__ = ["rmat_graph"]

_A, _B, _C, _D = 0.45, 0.15, 0.15, 0.25
_VARIATION = 0.05


@njit(cache=True, nogil=True, inline="always")
def _fraction(bits: np.uint64, place: int) -> float:
    """Return 16 of 64 random bits as a number in [0, 1)."""
    return np.float64((bits >> np.uint64(16 * place)) & np.uint64(0xFFFF)) * 2.0**-16


@njit(cache=True, nogil=True, inline="always")
def _edge(state: NDArray[np.uint64], vertices: int) -> tuple[int, int]:
    a, b, c, d = _A, _B, _C, _D
    source = target = 0
    step = vertices >> 1
    while step:
        # The changes are all factors, so scaling the choice to the sum does what scaling a, b, c and d to one would.
        choice = unit(state) * (a + b + c + d)
        upper = choice < a + b
        left = choice < a or (not upper and choice < a + b + c)
        source += 0 if upper else step
        target += 0 if left else step
        step >>= 1
        bits = draw(state)
        a *= 1.0 + _VARIATION * (2.0 * _fraction(bits, 0) - 1.0)
        b *= 1.0 + _VARIATION * _fraction(bits, 1)
        c *= 1.0 + _VARIATION * (2.0 * _fraction(bits, 2) - 1.0)
        d *= 1.0 + _VARIATION * (2.0 * _fraction(bits, 3) - 1.0)
    return source, target


@njit(cache=True, nogil=True)
def _fill(state: NDArray[np.uint64], vertices: int, sources: NDArray[np.uint32], targets: NDArray[np.uint32]) -> None:
    for edge in range(len(sources)):
        source, target = _edge(state, vertices)
        while source == target:
            source, target = _edge(state, vertices)
        sources[edge] = source
        targets[edge] = target


def rmat_graph(vertices: int, degree: int, seed: int = 0, *, on_step: OnStep | None = None) -> Graph:
    """Draw an R-MAT graph (Chakrabarti et al. 2004) as GTgraph does.

    Each edge halves the adjacency matrix log2(n) times, into the quadrants a (upper left), b (upper right), c (lower
    left) and d with probabilities 0.45, 0.15, 0.15 and 0.25 at first. After each halving a, c and d change by up to
    5 % either way and b grows by up to 5 %, then all are scaled to a sum of one. A self-loop is drawn again, a
    repeated edge is kept, and vertices are not permuted.

    Parameters
    ----------
    vertices : int
        Number of vertices, n: a power of two, at least 2 when `degree` is not 0.
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
    if vertices > 0 and vertices & (vertices - 1):
        raise InputError(f"the vertices of an R-MAT graph must be a power of two, not {vertices}")
    return draw_graph(_fill, vertices, degree, seed, on_step)
