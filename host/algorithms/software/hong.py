"""The basic parallel FW-BW-Trim of Hong, Rodia and Olukotun (SC 2013), which the paper compares with."""

from collections import deque
from collections.abc import Iterable
from threading import Condition

import numpy as np
from numpy.typing import NDArray

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.traversal import NOTHING, Marking, View, counts, expand, new_tally, search
from host.devices.cpu import Workers
from host.graph.csr import Graph
from sim.caching.code import njit

__all__ = ["hong"]

_CHUNK = 4096
"""Vertices that a thread takes at a time."""
_FEW = 1000
"""A round of trimming that finds less than this part of the vertices is the last one."""


@njit(cache=True, nogil=True)
def _alone(view: View, vertex: int, mark: int) -> bool:
    """Tell whether no edge leads from a vertex to another one with a mark."""
    begin, end = view.offsets[vertex], view.offsets[vertex + 1]
    for edge in range(begin, end):
        if view.marks[view.targets[edge]] == mark and view.targets[edge] != vertex:
            view.tally[0] += edge + 1 - begin
            return False
    view.tally[0] += end - begin
    return True


@njit(cache=True, nogil=True)
def _trim(forward: View, backward: View, first: int, last: int) -> int:
    """Make a component of each vertex without a neighbour of its own part before it or behind it; return how many."""
    found = 0
    for vertex in range(first, last):
        mark = forward.marks[vertex]
        if mark >= 0 and (_alone(forward, vertex, mark) or _alone(backward, vertex, mark)):
            forward.marks[vertex] = -1 - vertex
            found += 1
    return found


@njit(cache=True, nogil=True)
def _select(vertices: NDArray[np.uint32], marks: NDArray[np.int64], mark: int) -> NDArray[np.uint32]:
    """Return the vertices that have a mark, shuffled, so that the first is any of them."""
    chosen = vertices[marks[vertices] == mark]
    state = np.uint64(0x9E3779B97F4A7C15)
    for place in range(chosen.size - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        other = np.int64(state % np.uint64(place + 1))
        chosen[place], chosen[other] = chosen[other], chosen[place]
    return chosen


@njit(cache=True, nogil=True)
def _split(
    forward: View, backward: View, members: NDArray[np.uint32], mark: int, queues: NDArray[np.uint32], grain: int
) -> list[tuple[NDArray[np.uint32], int]]:
    """Find the components of a part, one after the other; return what is large enough for another thread.

    The part keeps its mark for what no search has reached yet. What was reached one way only becomes a part of its own,
    whose mark is made of the pivot's number.
    """
    marks = forward.marks
    vertices = marks.size
    given = [(members, mark)]
    stack = [(members, mark)]
    given.pop()
    while len(stack):
        members, mark = stack.pop()
        for place in range(members.size):
            pivot = np.int64(members[place])
            if marks[pivot] != mark:
                continue
            done = -1 - pivot
            after = vertices + 2 * pivot
            before = after + 1
            marks[pivot] = done
            queues[:, 0] = pivot
            reached = search(forward, Marking(mark, after, NOTHING, NOTHING), queues[0])
            met = search(backward, Marking(mark, before, after, done), queues[1])
            for found, count, name in ((queues[0], reached, after), (queues[1], met, before)):
                part = _select(found[:count], marks, name)
                if part.size >= grain:
                    given.append((part, int(name)))
                elif part.size:
                    stack.append((part, int(name)))
    return given


class _Run:
    """One run: the graph, the marks of its vertices, and the threads.

    A mark that is not negative names a part that still is to be divided; -1 - v is the component of vertex v.
    """

    def __init__(self, graph: Graph, transpose: Graph, workers: Workers) -> None:
        self._vertices = graph.vertices
        self._workers = workers
        self.marks = np.zeros(graph.vertices, np.int64)
        # A tally for each thread.
        self.tallies = [new_tally() for _ in range(workers.threads)]
        self._views = [
            tuple(View(*each.csr, self.marks, tally) for each in (graph, transpose)) for tally in self.tallies
        ]

    def trim(self) -> None:
        """Trim until a round finds little."""

        def work(thread: int, first: int, last: int, found: int) -> int:
            return found + _trim(*self._views[thread], first, last)

        found = self._vertices
        while found * _FEW > self._vertices:
            found = sum(self._workers.ranges(self._vertices, _CHUNK, work))
            self.tallies[0][1] += 1

    def divide(self) -> None:
        """Divide the whole graph by one pivot, all threads searching together."""
        degrees = np.diff(self._views[0][0].offsets) * np.diff(self._views[0][1].offsets)
        degrees[self.marks < 0] = -1
        pivot = int(degrees.argmax())
        if self.marks[pivot] < 0:
            return
        done, after, before = -1 - pivot, self._vertices + 2 * pivot, self._vertices + 2 * pivot + 1
        self.marks[pivot] = done
        self._search(0, pivot, Marking(0, after, NOTHING, NOTHING))
        self._search(1, pivot, Marking(0, before, after, done))

    def _search(self, side: int, pivot: int, marking: Marking) -> None:
        """Search level by level, forward or backward.

        Two threads may both find a vertex at a time; then it is searched from twice, which is harmless.
        """
        found = [np.empty(self._vertices, np.uint32) for _ in range(self._workers.threads)]
        frontier = np.array([pivot], np.uint32)
        while frontier.size:

            def work(thread: int, first: int, last: int, count: int, frontier: NDArray[np.uint32] = frontier) -> int:
                return expand(self._views[thread][side], marking, frontier, first, last, found[thread], count)

            self.tallies[0][1] += 1
            frontier = Workers.joined(found, self._workers.ranges(frontier.size, _CHUNK, work))

    def finish(self) -> None:
        """Divide what is left; each thread takes a part at a time."""
        left = np.flatnonzero(self.marks >= 0).astype(np.uint32)
        parts = deque((_select(left, self.marks, int(mark)), int(mark)) for mark in np.unique(self.marks[left]))
        changed = Condition()
        busy = 0
        grain = max(_CHUNK, self._vertices // 64)

        def ready() -> bool:
            return bool(parts) or not busy

        def work(thread: int) -> int:
            nonlocal busy
            queues = np.empty((2, self._vertices), np.uint32)
            while True:
                with changed:
                    changed.wait_for(ready)
                    if not parts:
                        changed.notify_all()
                        return 0
                    members, mark = parts.popleft()
                    busy += 1
                given: Iterable[tuple[NDArray[np.uint32], int]] = ()
                try:
                    given = _split(*self._views[thread], members, mark, queues, grain)
                finally:
                    with changed:
                        parts.extend((part, int(name)) for part, name in given)
                        busy -= 1
                        changed.notify_all()

        self._workers.each(work)


def hong(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Label the components of a graph: by one vertex of each.

    Trims in parallel, divides the graph by one pivot with parallel breadth-first searches, trims again, and gives the
    parts that remain to the threads. The pivot is the vertex with the largest product of degrees, which a giant
    component has among its own; later pivots are random, with a fixed seed.

    Edges of trims and searches are counted. A round of trimming and a level of a search are a pass each, also of
    searches that threads make side by side in parts of their own.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs: the threads of its device.
    """
    workers = Workers(setting.device.threads)
    try:
        run = _Run(graph, transpose, workers)
        run.trim()
        run.divide()
        run.trim()
        run.finish()
    finally:
        workers.close()
    return Decomposition(labels=-1 - run.marks, counts=counts(*run.tallies))
