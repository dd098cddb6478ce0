"""The basic parallel FW-BW-Trim of Hong, Rodia and Olukotun (SC 2013), which the paper compares with."""

from collections import deque
from collections.abc import Iterable
from threading import Condition

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.devices.cpu import Workers
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.traversal import NOTHING, Marking, View, counts, expand, new_tally, search
from cyscc.host.graph.csr import Graph
from cyscc.sim.caching.numba_code import njit

_CHUNK = 4096
"""Vertices that a thread takes at a time."""
_FEW = 1000
"""Trimming stops after a round that finds fewer than one in this many vertices."""


@njit(cache=True, nogil=True)
def _alone(view: View, vertex: int, mark: int) -> bool:
    """Return whether a vertex has no neighbour, other than itself, with a mark."""
    begin, end = view.offsets[vertex], view.offsets[vertex + 1]
    for edge in range(begin, end):
        if view.marks[view.targets[edge]] == mark and view.targets[edge] != vertex:
            view.tally[0] += edge + 1 - begin
            return False
    view.tally[0] += end - begin
    return True


@njit(cache=True, nogil=True)
def _trim(forward: View, backward: View, first: int, last: int) -> int:
    """Make each vertex without a predecessor or a successor in its part a component; return how many."""
    found = 0
    for vertex in range(first, last):
        mark = forward.marks[vertex]
        if mark >= 0 and (_alone(forward, vertex, mark) or _alone(backward, vertex, mark)):
            forward.marks[vertex] = -1 - vertex
            found += 1
    return found


@njit(cache=True, nogil=True)
def _select(vertices: NDArray[np.uint32], marks: NDArray[np.int64], mark: int) -> NDArray[np.uint32]:
    """Return the vertices with a mark, shuffled, so that the first one is a random pivot."""
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
    """Find the components of a part, one after the other; return the parts large enough for another thread.

    Vertices not reached by any search keep the mark of the part. Vertices reached in one direction only become a new
    part, whose mark derives from the pivot's number.
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
            _, reached = search(forward, Marking(mark, after, NOTHING, NOTHING), queues[0], 1, vertices)
            _, met = search(backward, Marking(mark, before, after, done), queues[1], 1, vertices)
            for found, count, name in ((queues[0], reached, after), (queues[1], met, before)):
                part = _select(found[:count], marks, name)
                if part.size >= grain:
                    given.append((part, int(name)))
                elif part.size:
                    stack.append((part, int(name)))
    return given


class _Run:
    """One run: the graph, the marks of its vertices, and the threads.

    A nonnegative mark names a part that is still to be divided; -1 - v is the component of vertex v.
    """

    def __init__(self, graph: Graph, transpose: Graph, workers: Workers) -> None:
        self._vertices = graph.vertices
        self._workers = workers
        self.marks = np.zeros(graph.vertices, np.int64)
        # One tally per thread.
        self.tallies = [new_tally() for _ in range(workers.threads)]
        self._views = [
            tuple(View(*each.csr, self.marks, tally) for each in (graph, transpose)) for tally in self.tallies
        ]

    def trim(self) -> None:
        """Trim until a round finds few vertices."""

        def work(thread: int, first: int, last: int, found: int) -> int:
            return found + _trim(*self._views[thread], first, last)

        found = self._vertices
        while found * _FEW > self._vertices:
            found = sum(self._workers.ranges(self._vertices, _CHUNK, work))
            self.tallies[0][1] += 1

    def divide(self) -> None:
        """Divide the whole graph by one pivot, with all threads in each search."""
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
        """Search level by level, forward or backward; the threads share levels of more than one range.

        Two threads may find a vertex at the same time; it is then expanded twice, which is harmless.
        """
        found = [np.empty(self._vertices, np.uint32) for _ in range(self._workers.threads)]
        frontier = np.array([pivot], np.uint32)
        # The first level may have vertices that two threads have found.
        queue = np.empty(self._vertices + _CHUNK, np.uint32)
        while frontier.size:
            if frontier.size <= _CHUNK:
                queue[: frontier.size] = frontier
                first, last = search(self._views[0][side], marking, queue, frontier.size, _CHUNK)
                frontier = queue[first:last].copy()
                continue

            def work(thread: int, first: int, last: int, count: int, frontier: NDArray[np.uint32] = frontier) -> int:
                return expand(self._views[thread][side], marking, frontier, first, last, found[thread], count)

            self.tallies[0][1] += 1
            frontier = Workers.joined(found, self._workers.ranges(frontier.size, _CHUNK, work))

    def finish(self) -> None:
        """Divide the remaining parts; each thread takes one part at a time."""
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


def hong(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Label each component of a graph with one of its vertices.

    Trims in parallel, divides the graph by one pivot with parallel breadth-first searches, trims again, and distributes
    the remaining parts over the threads. The first pivot is the vertex with the largest product of degrees, which is
    usually in the giant component; later pivots are random, with a fixed seed.

    Counts the edges of trims and searches. Each round of trimming and each level of a search is a pass, including the
    searches that threads run concurrently in parts of their own.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
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
