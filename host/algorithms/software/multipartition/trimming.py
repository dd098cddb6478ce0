"""Trimming: components of one vertex, and of two that alone reach each other on one side (2-SCC).

An edge is dead when it leads to another partition, to a vertex that has a component, or back to its own vertex.
Partitions are only ever divided, so it stays dead, and each vertex keeps on each side the place of the first edge that
may not be: all tests of a run together look at each edge about once.
"""

from typing import Any

from host.algorithms.software.multipartition.lists import EDGES, FOUND, QUEUED, STRIP, Counters, strips
from host.devices import Device, DeviceArray, atomic_add, atomic_swap, device_function, step
from host.devices.graphs import DeviceGraph

__all__ = ["Trimming"]

_FEWEST = 256
"""Vertices that a launch removes in any case, if there are so many in reach."""
_SHARED = 4096
"""A work list of more entries is taken a strip a thread."""


@device_function
def _first_alive(vertex: int, mark: int, marks: Any, offsets: Any, targets: Any, starts: Any) -> int:
    """Return the place of the first edge of a vertex that is not dead, or where its edges end.

    Threads that look at the same vertex at once may set its start back to what another found: what stands before it is
    dead all the same.
    """
    first = offsets[vertex]
    before = first + starts[vertex]
    last = offsets[vertex + 1]
    edge = before
    while edge < last and (targets[edge] == vertex or marks[targets[edge]] != mark):
        edge += 1
    if edge != before:
        starts[vertex] = edge - first
    return edge


@device_function
def _only_neighbour(vertex: int, mark: int, marks: Any, offsets: Any, targets: Any, starts: Any, counters: Any) -> int:
    """Return the neighbour to which all edges of a vertex lead that are not dead, or -1."""
    first = offsets[vertex] + starts[vertex]
    edge = _first_alive(vertex, mark, marks, offsets, targets, starts)
    last = offsets[vertex + 1]
    only = -1
    if edge < last:
        only = int(targets[edge])
        edge += 1
        while edge < last and only >= 0:
            target = targets[edge]
            if target != vertex and target != only and marks[target] == mark:
                only = -1
            edge += 1
    atomic_add(counters, EDGES, edge - first)
    return only


@step
def _remove_unconnected(
    thread: int, length: int, queue: Any, marks: Any, offsets: Any, back_offsets: Any, counters: Any
) -> None:
    """Remove the vertices of the whole graph that have no edges on a side, without a look at any edge."""
    first = thread * STRIP
    last = min(first + STRIP, length)
    found = 0
    queued = 0
    for vertex in range(first, last):
        after = offsets[vertex + 1] - offsets[vertex]
        before = back_offsets[vertex + 1] - back_offsets[vertex]
        if after == 0 or before == 0:
            marks[vertex] = -1 - vertex
            found += 1
            if after + before > 0:
                queued += 1
    if found > 0:
        atomic_add(counters, FOUND, found)
    if queued > 0:
        room = atomic_add(counters, QUEUED, queued)
        for vertex in range(first, last):
            after = offsets[vertex + 1] - offsets[vertex]
            before = back_offsets[vertex + 1] - back_offsets[vertex]
            if (after == 0 or before == 0) and after + before > 0:
                queue[room] = vertex
                room += 1


@step
def _remove_single(
    thread: int, length: int, vertices: Any, queue: Any, marks: Any, offsets: Any, targets: Any, starts: Any,
    back_offsets: Any, back_targets: Any, back_starts: Any, counters: Any,
) -> None:  # fmt: skip
    """Remove the vertices of a list that have only dead edges on a side."""
    found = 0
    edges = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = marks[vertex]
        edge = offsets[vertex] + starts[vertex]
        alive = _first_alive(vertex, mark, marks, offsets, targets, starts)
        edges += min(alive + 1, offsets[vertex + 1]) - edge
        single = alive == offsets[vertex + 1]
        if not single:
            edge = back_offsets[vertex] + back_starts[vertex]
            alive = _first_alive(vertex, mark, marks, back_offsets, back_targets, back_starts)
            edges += min(alive + 1, back_offsets[vertex + 1]) - edge
            single = alive == back_offsets[vertex + 1]
        if single:
            marks[vertex] = -1 - vertex
            found += 1
            queue[atomic_add(counters, QUEUED, 1)] = vertex
    atomic_add(counters, EDGES, edges)
    if found > 0:
        atomic_add(counters, FOUND, found)


@step
def _remove_pairs(
    thread: int, length: int, vertices: Any, queue: Any, marks: Any, offsets: Any, targets: Any, starts: Any,
    back_offsets: Any, back_targets: Any, back_starts: Any, counters: Any,
) -> None:  # fmt: skip
    """Remove each two vertices of a list that have only each other on a side.

    The smaller one's thread does. That another thread has removed one of two others already, or both, makes no
    difference: whatever is removed is a whole component, and no component has vertices of two pairs.
    """
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = marks[vertex]
        if mark < 0:
            continue
        other = _only_neighbour(vertex, mark, marks, offsets, targets, starts, counters)
        alone = other > vertex and _only_neighbour(other, mark, marks, offsets, targets, starts, counters) == vertex
        if not alone:
            other = _only_neighbour(vertex, mark, marks, back_offsets, back_targets, back_starts, counters)
            alone = (
                other > vertex
                and _only_neighbour(other, mark, marks, back_offsets, back_targets, back_starts, counters) == vertex
            )
        if alone:
            marks[vertex] = -1 - vertex
            marks[other] = -1 - vertex
            room = atomic_add(counters, QUEUED, 2)
            queue[room] = vertex
            queue[room + 1] = other


@device_function
def _remove_side(
    vertex: int, kept: int, following: Any, marks: Any, offsets: Any, targets: Any, back_offsets: Any,
    back_targets: Any, back_starts: Any, counters: Any,
) -> int:  # fmt: skip
    """Remove the neighbours of a removed vertex that are left without one on the side where it was; return one of them.

    Two threads that remove the last two neighbours of a vertex may each still see the other's: then it stays for later,
    and nothing is wrong.
    """
    edges = offsets[vertex + 1] - offsets[vertex]
    for edge in range(offsets[vertex], offsets[vertex + 1]):
        target = int(targets[edge])
        mark = marks[target]
        if mark < 0:
            continue
        start = back_offsets[target] + back_starts[target]
        alive = _first_alive(target, mark, marks, back_offsets, back_targets, back_starts)
        edges += min(alive + 1, back_offsets[target + 1]) - start
        if alive == back_offsets[target + 1] and atomic_swap(marks, target, mark, -1 - target) == mark:
            atomic_add(counters, FOUND, 1)
            if kept < 0:
                kept = target
            else:
                following[atomic_add(counters, QUEUED, 1)] = target
    atomic_add(counters, EDGES, edges)
    return kept


@step
def _remove_behind(
    thread: int, share: int, items: int, hops: int, queue: Any, following: Any, marks: Any, offsets: Any, targets: Any,
    starts: Any, back_offsets: Any, back_targets: Any, back_starts: Any, counters: Any,
) -> None:  # fmt: skip
    """Look at the neighbours of removed vertices, remove what can be, and go on from one of those."""
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            left -= 1
            kept = _remove_side(
                vertex, -1, following, marks, offsets, targets, back_offsets, back_targets, back_starts, counters
            )
            vertex = _remove_side(
                vertex, kept, following, marks, back_offsets, back_targets, offsets, targets, starts, counters
            )
            if left == 0 and vertex >= 0:
                following[atomic_add(counters, QUEUED, 1)] = vertex
                vertex = -1


class Trimming:
    """Trimming of a graph.

    Parameters
    ----------
    device : Device
        The device.
    graph, transpose : DeviceGraph
        The graph and its transpose.
    marks : array of int64, shape (n,)
        Of the vertices.
    counters : Counters
        Those of the run.
    vertices : int
        How many there are.

    Attributes
    ----------
    passes, rounds : int
        Launches so far that look at edges, and those of them that remove single vertices.
    singles, pairs : int
        Components of one vertex so far, and of two.
    """

    def __init__(
        self,
        device: Device,
        graph: DeviceGraph,
        transpose: DeviceGraph,
        marks: DeviceArray,
        counters: Counters,
        vertices: int,
    ) -> None:
        self._device = device
        self._marks = marks
        self._counters = counters
        self._vertices = vertices
        starts, back_starts = (device.zeros(vertices, "int32") for _ in range(2))
        self._ways = (*graph, starts, *transpose, back_starts)
        self._offsets = (graph.offsets, transpose.offsets)
        self._queue, self._following = (device.zeros(vertices, "int32") for _ in range(2))
        self.passes = 0
        self.rounds = 0
        self.singles = 0
        self.pairs = 0

    def whole(self) -> None:
        """Trim the whole graph."""
        self.rounds += 1
        size = self._vertices
        self._device.run(
            _remove_unconnected, strips(size), size, self._queue, self._marks, *self._offsets, self._counters.array
        )
        self._behind()

    def trim(self, vertices: DeviceArray, size: int) -> None:
        """Remove of a list of vertices those that are components, and pairs that are."""
        self._remove(_remove_single, vertices, size)
        self.rounds += 1
        self._behind()
        self._remove(_remove_pairs, vertices, size)
        found = self._device.value(self._counters.array, QUEUED) // 2
        self.pairs += found
        self._behind()

    def _remove(self, removing: Any, vertices: DeviceArray, size: int) -> None:
        self.passes += 1
        self._device.run(
            removing, strips(size), size, vertices, self._queue, self._marks, *self._ways, self._counters.array
        )

    def _behind(self) -> None:
        """Go on from what was removed."""
        while items := self._counters.take(QUEUED):
            self.passes += 1
            self.rounds += 1
            share = STRIP if items > _SHARED else 1
            hops = 1 + _FEWEST // items
            self._device.run(
                _remove_behind, -(-items // share), share, items, hops, self._queue, self._following, self._marks,
                *self._ways, self._counters.array,
            )  # fmt: skip
            self._queue, self._following = self._following, self._queue
        self.singles += self._counters.take(FOUND)
