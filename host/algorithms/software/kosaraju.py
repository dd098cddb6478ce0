"""Kosaraju's algorithm by one thread, as the accelerator runs it: two searches and an intersection per component."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.traversal import NOTHING, Marking, counts, new_tally, search
from host.graph.csr import Csr, Graph
from host.graph.trim import trim
from sim.caching.code import njit

__all__ = ["KosarajuPhases", "kosaraju", "kosaraju_phases"]


@njit(cache=True, nogil=True)
def _trimmed_marks(trimmed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return colours, forward marks and backward marks (1: visited) after trimming."""
    marks = trimmed.astype(np.int64)
    return np.where(trimmed, np.arange(trimmed.size), -1), marks, marks.copy()


@njit(cache=True, nogil=True)
def _next_start(colours: NDArray[np.int64], begin: int) -> int:
    """Return the first vertex from `begin` on without a colour, the number of vertices when there is none."""
    vertex = begin
    while vertex < colours.size and colours[vertex] >= 0:
        vertex += 1
    return vertex


@njit(cache=True, nogil=True)
def _search_from(
    graph: Csr, marks: NDArray[np.int64], queue: NDArray[np.uint32], start: int, tally: NDArray[np.int64]
) -> int:
    """Visit all that is reached from a vertex; return its number."""
    queue[0] = start
    marks[start] = 1
    return search(graph, marks, Marking(0, 1, NOTHING, NOTHING), queue, tally)


@njit(cache=True, nogil=True)
def _intersect(
    colours: NDArray[np.int64],
    forward_marks: NDArray[np.int64],
    backward_marks: NDArray[np.int64],
    forward: NDArray[np.uint32],
    backward: NDArray[np.uint32],
) -> None:
    """Colour what both searches reached, which began at the same vertex, and forget the visits of the rest."""
    start = forward[0]
    for vertex in forward:
        if backward_marks[vertex]:
            colours[vertex] = start
        else:
            forward_marks[vertex] = 0
    for vertex in backward:
        if colours[vertex] < 0:
            backward_marks[vertex] = 0


@njit(cache=True, nogil=True)
def _colour(graph: Csr, transpose: Csr, trimmed: NDArray[np.bool_], tally: NDArray[np.int64]) -> NDArray[np.int64]:
    colours, forward_marks, backward_marks = _trimmed_marks(trimmed)
    forward = np.empty(trimmed.size, np.uint32)
    backward = np.empty(trimmed.size, np.uint32)
    start = _next_start(colours, 0)
    while start < trimmed.size:
        reached = _search_from(graph, forward_marks, forward, start, tally)
        if reached == 1:
            colours[start] = start
            backward_marks[start] = 1
        else:
            met = _search_from(transpose, backward_marks, backward, start, tally)
            _intersect(colours, forward_marks, backward_marks, forward[:reached], backward[:met])
            tally[1] += 1
        start = _next_start(colours, start)
    return colours


def kosaraju(graph: Graph, transpose: Graph, _: Setting | None = None) -> Decomposition:
    """Label the components of a graph: by one vertex of each.

    Vertices without an edge in or out are trimmed first; where the forward search reaches nothing but its start, that
    is a component. Coloured vertices stay visited (Attia et al. 2015, sections 2 and 4).

    The searches' edges are counted; trimming looks at degrees. Trimming, each level of a search and each intersection
    are passes.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    """
    tally = new_tally()
    tally[1] = 1
    labels = _colour(graph.csr, transpose.csr, trim(graph, transpose), tally)
    return Decomposition(labels=labels, counts=counts(tally))


@dataclass(frozen=True, kw_only=True)
class KosarajuPhases:
    """A run of Kosaraju's algorithm by phase, in seconds; trimming is in none of them.

    Parameters
    ----------
    labels : ndarray of int64, shape (n,)
        For each vertex one vertex of its component.
    searches : float
        Forward and backward searches.
    intersections : float
        Intersections.
    starts : float
        Searches for the next start.
    """

    labels: NDArray[np.int64]
    searches: float
    intersections: float
    starts: float

    @property
    def seconds(self) -> float:
        """All phases together."""
        return self.searches + self.intersections + self.starts


def kosaraju_phases(graph: Graph, transpose: Graph) -> KosarajuPhases:
    """Label the components of a graph as `kosaraju` does, and time its phases.

    The clock is read between the compiled phases, which takes some microseconds a component: this is for graphs of few
    components.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    """
    colours, forward_marks, backward_marks = _trimmed_marks(trim(graph, transpose))
    forward, backward = (np.zeros(graph.vertices, np.uint32) for _ in range(2))
    tally = new_tally()
    searches = intersections = starts = 0.0
    begin = time.perf_counter()
    start = _next_start(colours, 0)
    starts += time.perf_counter() - begin
    while start < graph.vertices:
        begin = time.perf_counter()
        reached = _search_from(graph.csr, forward_marks, forward, start, tally)
        met = 0
        if reached > 1:
            met = _search_from(transpose.csr, backward_marks, backward, start, tally)
        searched = time.perf_counter()
        if met:
            _intersect(colours, forward_marks, backward_marks, forward[:reached], backward[:met])
        else:
            colours[start] = start
            backward_marks[start] = 1
        joined = time.perf_counter()
        start = _next_start(colours, start)
        end = time.perf_counter()
        searches += searched - begin
        intersections += joined - searched
        starts += end - joined
    return KosarajuPhases(labels=colours, searches=searches, intersections=intersections, starts=starts)
