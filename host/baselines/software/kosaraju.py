"""Single-threaded Kosaraju's algorithm as on the accelerator: two searches and an intersection per component."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.traversal import NOTHING, Marking, View, counts, new_tally, search
from cyscc.host.graph.csr import Graph, trim
from cyscc.sim.caching.code import njit

__all__ = ["KosarajuPhases", "kosaraju", "kosaraju_phases"]


class _Arrays(NamedTuple):
    """The arrays of a run: colours are -1 until assigned, marks are 1 for visited vertices."""

    colours: NDArray[np.int64]
    forward: View
    backward: View
    forward_queue: NDArray[np.uint32]
    backward_queue: NDArray[np.uint32]


def _begin(graph: Graph, transpose: Graph) -> _Arrays:
    """Return the arrays after trimming, which counts as a pass."""
    trimmed, tally = trim(graph, transpose), new_tally()
    tally[1] = 1
    forward, backward = (View(*each.csr, trimmed.astype(np.int64), tally) for each in (graph, transpose))
    queue, other = (np.empty(trimmed.size, np.uint32) for _ in range(2))
    return _Arrays(np.where(trimmed, np.arange(trimmed.size), -1), forward, backward, queue, other)


@njit(cache=True, nogil=True)
def _next_start(colours: NDArray[np.int64], begin: int) -> int:
    """Return the first uncoloured vertex from `begin` on, or the number of vertices if there is none."""
    vertex = begin
    while vertex < colours.size and colours[vertex] >= 0:
        vertex += 1
    return vertex


@njit(cache=True, nogil=True)
def _search_from(view: View, queue: NDArray[np.uint32], start: int) -> int:
    """Visit all vertices reached from a vertex; return their number."""
    queue[0] = start
    view.marks[start] = 1
    return search(view, Marking(0, 1, NOTHING, NOTHING), queue)


@njit(cache=True, nogil=True)
def _intersect(on: _Arrays, reached: int, met: int) -> None:
    """Colour the vertices that both searches reached, and reset the visited marks of the others."""
    start = on.forward_queue[0]
    for vertex in on.forward_queue[:reached]:
        if on.backward.marks[vertex]:
            on.colours[vertex] = start
        else:
            on.forward.marks[vertex] = 0
    for vertex in on.backward_queue[:met]:
        if on.colours[vertex] < 0:
            on.backward.marks[vertex] = 0


@njit(cache=True, nogil=True)
def _colour(on: _Arrays) -> None:
    start = _next_start(on.colours, 0)
    while start < on.colours.size:
        reached = _search_from(on.forward, on.forward_queue, start)
        if reached == 1:
            on.colours[start] = start
            on.backward.marks[start] = 1
        else:
            met = _search_from(on.backward, on.backward_queue, start)
            _intersect(on, reached, met)
            on.forward.tally[1] += 1
        start = _next_start(on.colours, start)


def kosaraju(graph: Graph, transpose: Graph, _: SoftwareSetting | None = None) -> Decomposition:
    """Label each component of a graph with one of its vertices.

    Vertices without in-edges or out-edges are trimmed first. If the forward search reaches only its start, the start is
    a component. Coloured vertices stay visited (Attia et al. 2015, sections 2 and 4).

    Counts the edges of the searches; trimming only needs degrees. Trimming, each level of a search and each
    intersection count as passes.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    """
    on = _begin(graph, transpose)
    _colour(on)
    return Decomposition(labels=on.colours, counts=counts(on.forward.tally))


@dataclass(frozen=True, kw_only=True)
class KosarajuPhases:
    """Times of the phases of Kosaraju's algorithm in seconds, without trimming.

    Parameters
    ----------
    labels : ndarray of int64, shape (n,)
        Component of each vertex, named by one of its vertices.
    searches : float
        Forward and backward searches.
    intersections : float
        Intersections.
    starts : float
        Searches for the next uncoloured vertex.
    """

    labels: NDArray[np.int64]
    searches: float
    intersections: float
    starts: float

    @property
    def seconds(self) -> float:
        """Sum of all phases."""
        return self.searches + self.intersections + self.starts


def kosaraju_phases(graph: Graph, transpose: Graph) -> KosarajuPhases:
    """Label the components of a graph as `kosaraju` does, and time its phases.

    Reading the clock between the compiled phases costs some microseconds per component, so use it for graphs with few
    components.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    """
    on = _begin(graph, transpose)
    searches = intersections = starts = 0.0
    begin = time.perf_counter()
    start = _next_start(on.colours, 0)
    starts += time.perf_counter() - begin
    while start < graph.vertices:
        begin = time.perf_counter()
        reached = _search_from(on.forward, on.forward_queue, start)
        met = 0
        if reached > 1:
            met = _search_from(on.backward, on.backward_queue, start)
        searched = time.perf_counter()
        if met:
            _intersect(on, reached, met)
        else:
            on.colours[start] = start
            on.backward.marks[start] = 1
        joined = time.perf_counter()
        start = _next_start(on.colours, start)
        end = time.perf_counter()
        searches += searched - begin
        intersections += joined - searched
        starts += end - joined
    return KosarajuPhases(labels=on.colours, searches=searches, intersections=intersections, starts=starts)
