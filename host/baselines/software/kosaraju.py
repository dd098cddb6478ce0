"""Single-threaded Kosaraju's algorithm as on the accelerator: two searches and an intersection per component."""

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.traversal import NOTHING, Marking, View, counts, expand, new_tally
from cyscc.host.graph.csr import Graph, trim
from cyscc.sim.caching.numba_code import njit

_LEAD = 4
"""A search takes its turn until its cost is this many times that of the other: long turns use the caches better."""
_PORTION = 4096
"""Most vertices that a search expands before it compares the costs."""


PHASES = ("searches", "intersections", "starts")
"""The timed phases: searches, intersections, and looking for the next start."""


class _Arrays(NamedTuple):
    """The arrays of a run: colours are -1 until assigned, marks are 1 for visited vertices."""

    colours: NDArray[np.int64]
    forward: View
    backward: View
    forward_queue: NDArray[np.uint32]
    backward_queue: NDArray[np.uint32]


@njit(cache=True, nogil=True)
def _next_start(colours: NDArray[np.int64], begin: int) -> int:
    """Return the first uncoloured vertex from `begin` on, or the number of vertices if there is none."""
    vertex = begin
    while vertex < colours.size and colours[vertex] >= 0:
        vertex += 1
    return vertex


class _Search(NamedTuple):
    """Progress of a search.

    Its queue has expanded vertices up to `first`, the present level up to `level`, and the next one up to `last`.
    """

    first: int
    level: int
    last: int
    cost: int
    """Edges that it has inspected, and those that it inspects in its next turn."""


@njit(cache=True, nogil=True)
def _counted(view: View, queue: NDArray[np.uint32], search: _Search) -> _Search:
    """Add the edges of the next turn to the cost."""
    first, level, last, cost = search
    for place in range(first, min(first + _PORTION, level)):
        vertex = queue[place]
        cost += view.offsets[vertex + 1] - view.offsets[vertex]
    return _Search(first, level, last, cost)


@njit(cache=True, nogil=True)
def _started(view: View, queue: NDArray[np.uint32], start: int) -> _Search:
    """Start a search."""
    queue[0] = start
    view.marks[start] = 1
    return _counted(view, queue, _Search(0, 1, 1, 0))


@njit(cache=True, nogil=True)
def _advanced(view: View, queue: NDArray[np.uint32], search: _Search) -> _Search:
    """Expand a portion of a level; each level is a pass."""
    first, level, last, cost = search
    behind = min(first + _PORTION, level)
    last = expand(view, Marking(0, 1, NOTHING, NOTHING), queue, first, behind, queue, last)
    if behind == level:
        level = last
        view.tally[1] += 1
    return _counted(view, queue, _Search(behind, level, last, cost))


@njit(cache=True, nogil=True)
def _finished(view: View, other: View, queue: NDArray[np.uint32], search: _Search) -> int:
    """Continue a search only among the vertices of the other search, which has ended; return its number of vertices.

    All paths between the start and the other vertices of its component are there.
    """
    first, level, last, _ = search
    while first < last:
        for place in range(first, level):
            vertex = queue[place]
            if not other.marks[vertex]:
                continue
            begin, end = view.offsets[vertex], view.offsets[vertex + 1]
            view.tally[0] += end - begin
            for edge in range(begin, end):
                target = view.targets[edge]
                if not view.marks[target] and other.marks[target]:
                    view.marks[target] = 1
                    queue[last] = target
                    last += 1
        first, level = level, last
        view.tally[1] += 1
    return last


@njit(cache=True, nogil=True)
def _search_from(on: _Arrays, start: int) -> tuple[int, int]:
    """Search forward and backward from a vertex; return the number of vertices in each queue.

    The searches take turns. When one ends, the other continues only among its vertices. So a component takes at most a
    few times the edges of the shorter search.
    """
    forward, backward = on.forward, on.backward
    ahead, back = _started(forward, on.forward_queue, start), _started(backward, on.backward_queue, start)
    while ahead.first < ahead.last and back.first < back.last:
        while ahead.first < ahead.last and ahead.cost <= _LEAD * back.cost:
            ahead = _advanced(forward, on.forward_queue, ahead)
        while ahead.first < ahead.last and back.first < back.last and back.cost <= _LEAD * ahead.cost:
            back = _advanced(backward, on.backward_queue, back)
    reached, met = ahead.last, back.last
    if ahead.first < ahead.last and met > 1:
        reached = _finished(forward, backward, on.forward_queue, ahead)
    if back.first < back.last and reached > 1:
        met = _finished(backward, forward, on.backward_queue, back)
    return reached, met


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
    on.forward.tally[1] += min(reached, met) > 1


@njit(cache=True, nogil=True)
def _colour(on: _Arrays) -> None:
    start = _next_start(on.colours, 0)
    while start < on.colours.size:
        reached, met = _search_from(on, start)
        _intersect(on, reached, met)
        start = _next_start(on.colours, start)


def _colour_by_phase(on: _Arrays) -> dict[str, float]:
    """Colour all components, and return the seconds of each phase.

    Reading the clock between the compiled phases costs some microseconds per component.
    """
    seconds = dict.fromkeys(PHASES, 0.0)
    last = time.perf_counter()

    def end(phase: str) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds[phase] += now - last
        last = now

    start = _next_start(on.colours, 0)
    end("starts")
    while start < on.colours.size:
        reached, met = _search_from(on, start)
        end("searches")
        _intersect(on, reached, met)
        end("intersections")
        start = _next_start(on.colours, start)
        end("starts")
    return seconds


def kosaraju(graph: Graph, transpose: Graph, setting: SoftwareSetting | None = None) -> Decomposition:
    """Label each component of a graph with one of its vertices.

    Vertices without in-edges or out-edges are trimmed first. If a search reaches only its start, the start is a
    component. Coloured vertices stay visited (Attia et al. 2015, sections 2 and 4). Unlike on the accelerator, the two
    searches take turns, and when one has ended, the other continues only among its vertices.

    Counts the edges of the searches; trimming only needs degrees. Trimming, each level of a search, and each
    intersection of more than the start, count as passes.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting, optional
        With the option ``phases``, the phases are timed; use it for graphs with few components.
    """
    trimmed, tally = trim(graph, transpose), new_tally()
    tally[1] = 1  # trimming counts as a pass
    forward, backward = (View(*each.csr, trimmed.astype(np.int64), tally) for each in (graph, transpose))
    queue, other = (np.empty(trimmed.size, np.uint32) for _ in range(2))
    on = _Arrays(np.where(trimmed, np.arange(trimmed.size), -1), forward, backward, queue, other)
    phases: dict[str, float] = {}
    if setting is not None and setting.options.get("phases"):
        phases = _colour_by_phase(on)
    else:
        _colour(on)
    return Decomposition(labels=on.colours, counts=counts(on.forward.tally), phases=phases)
