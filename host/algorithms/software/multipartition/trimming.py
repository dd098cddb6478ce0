"""Trimming: components of one vertex, and of two that alone reach each other on one side (2-SCC).

An edge is dead when it leads to another partition, to a vertex that has a component, or back to its own vertex.
Partitions are only ever divided, so it stays dead, and each vertex keeps on each side the place of the first edge that
may not be: all tests of a run together look at each edge about once.
"""

from host.algorithms.software.multipartition.work import EDGES, FEWEST, FOUND, QUEUED, STRIP, Arrays, Side, Work
from host.devices.steps import DeviceArray, atomic_add, atomic_swap, device_function, step

__all__ = ["Trimming"]


@device_function
def _first_alive(vertex: int, mark: int, marks: DeviceArray, side: Side) -> int:
    """Return the place of the first edge of a vertex that is not dead, or where its edges end.

    Threads that look at the same vertex at once may set its start back to what another found: what stands before it is
    dead all the same.
    """
    first = side.offsets[vertex]
    before = first + side.starts[vertex]
    last = side.offsets[vertex + 1]
    edge = before
    while edge < last and (side.targets[edge] == vertex or marks[side.targets[edge]] != mark):
        edge += 1
    if edge != before:
        side.starts[vertex] = edge - first
    return edge


@device_function
def _dead_end(vertex: int, mark: int, marks: DeviceArray, side: Side) -> tuple[bool, int]:
    """Tell whether a vertex has only dead edges on a side, and how many were looked at."""
    before = side.offsets[vertex] + side.starts[vertex]
    last = side.offsets[vertex + 1]
    alive = _first_alive(vertex, mark, marks, side)
    return alive == last, min(alive + 1, last) - before


@device_function
def _only_neighbour(vertex: int, mark: int, on: Arrays, side: Side) -> int:
    """Return the neighbour to which all edges of a vertex lead that are not dead, or -1."""
    first = side.offsets[vertex] + side.starts[vertex]
    edge = _first_alive(vertex, mark, on.marks, side)
    last = side.offsets[vertex + 1]
    only = -1
    if edge < last:
        only = int(side.targets[edge])
        edge += 1
        while edge < last and only >= 0:
            target = side.targets[edge]
            if target != vertex and target != only and on.marks[target] == mark:
                only = -1
            edge += 1
    atomic_add(on.counters, EDGES, edge - first)
    return only


@device_function
def _partner(vertex: int, mark: int, on: Arrays, side: Side) -> int:
    """Return the larger vertex with which a vertex makes a pair on a side, or -1."""
    other = _only_neighbour(vertex, mark, on, side)
    return other if other > vertex and _only_neighbour(other, mark, on, side) == vertex else -1


@device_function
def _degrees(vertex: int, on: Arrays) -> tuple[int, int]:
    """Return how many edges a vertex has forward, and backward."""
    after, before = on.forward.offsets, on.backward.offsets
    return after[vertex + 1] - after[vertex], before[vertex + 1] - before[vertex]


@step
def _remove_unconnected(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray) -> None:
    """Remove the vertices of the whole graph that have no edges on a side, without a look at any edge."""
    first = thread * STRIP
    last = min(first + STRIP, length)
    found = 0
    queued = 0
    for vertex in range(first, last):
        after, before = _degrees(vertex, on)
        if after == 0 or before == 0:
            on.marks[vertex] = -1 - vertex
            found += 1
            if after + before > 0:
                queued += 1
    if found > 0:
        atomic_add(on.counters, FOUND, found)
    if queued > 0:
        room = atomic_add(on.counters, QUEUED, queued)
        for vertex in range(first, last):
            after, before = _degrees(vertex, on)
            if (after == 0 or before == 0) and after + before > 0:
                queue[room] = vertex
                room += 1


@step
def _remove_single(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray) -> None:
    """Remove the vertices of a list that have only dead edges on a side."""
    found = 0
    edges = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = on.marks[vertex]
        single, looked = _dead_end(vertex, mark, on.marks, on.forward)
        edges += looked
        if not single:
            single, looked = _dead_end(vertex, mark, on.marks, on.backward)
            edges += looked
        if single:
            on.marks[vertex] = -1 - vertex
            found += 1
            queue[atomic_add(on.counters, QUEUED, 1)] = vertex
    atomic_add(on.counters, EDGES, edges)
    if found > 0:
        atomic_add(on.counters, FOUND, found)


@step
def _remove_pairs(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray) -> None:
    """Remove each two vertices of a list that have only each other on a side.

    The smaller one's thread does. That another thread has removed one of two others already, or both, makes no
    difference: whatever is removed is a whole component, and no component has vertices of two pairs.
    """
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = on.marks[vertex]
        if mark < 0:
            continue
        other = _partner(vertex, mark, on, on.forward)
        if other < 0:
            other = _partner(vertex, mark, on, on.backward)
        if other >= 0:
            on.marks[vertex] = -1 - vertex
            on.marks[other] = -1 - vertex
            room = atomic_add(on.counters, QUEUED, 2)
            queue[room] = vertex
            queue[room + 1] = other


@device_function
def _remove_side(vertex: int, kept: int, following: DeviceArray, on: Arrays, side: Side, back: Side) -> int:
    """Remove the neighbours of a removed vertex that are left without one on the side where it was; return one of them.

    Two threads that remove the last two neighbours of a vertex may each still see the other's: then it stays for later,
    and nothing is wrong.
    """
    edges = side.offsets[vertex + 1] - side.offsets[vertex]
    for edge in range(side.offsets[vertex], side.offsets[vertex + 1]):
        target = int(side.targets[edge])
        mark = on.marks[target]
        if mark < 0:
            continue
        single, looked = _dead_end(target, mark, on.marks, back)
        edges += looked
        if single and atomic_swap(on.marks, target, mark, -1 - target) == mark:
            atomic_add(on.counters, FOUND, 1)
            if kept < 0:
                kept = target
            else:
                following[atomic_add(on.counters, QUEUED, 1)] = target
    atomic_add(on.counters, EDGES, edges)
    return kept


@step
def _remove_behind(
    thread: int, share: int, items: int, hops: int, queue: DeviceArray, following: DeviceArray, on: Arrays
) -> None:
    """Look at the neighbours of removed vertices, remove what can be, and go on from one of those."""
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            left -= 1
            kept = _remove_side(vertex, -1, following, on, on.forward, on.backward)
            vertex = _remove_side(vertex, kept, following, on, on.backward, on.forward)
            if left == 0 and vertex >= 0:
                following[atomic_add(on.counters, QUEUED, 1)] = vertex
                vertex = -1


class Trimming:
    """Trimming of a graph.

    Parameters
    ----------
    work : Work
        The run's.

    Attributes
    ----------
    rounds : int
        Launches so far that remove single vertices.
    singles, pairs : int
        Components of one vertex so far, and of two.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self.rounds = self.singles = self.pairs = 0

    def whole(self) -> None:
        """Trim the whole graph."""
        self.rounds += 1
        self._work.each(_remove_unconnected, self._work.queue)
        self._behind()

    def trim(self) -> None:
        """Remove of the vertices left those that are components, and pairs that are."""
        work = self._work
        work.passes += 2
        self.rounds += 1
        work.each(_remove_single, work.queue)
        self._behind()
        work.each(_remove_pairs, work.queue)
        self.pairs += work.device.value(work.on.counters, QUEUED) // 2
        self._behind()

    def _behind(self) -> None:
        """Go on from what was removed."""
        items = self._work.take(QUEUED)
        while items:
            self.rounds += 1
            items = self._work.follow(_remove_behind, items, 1 + FEWEST // items)
        self.singles += self._work.take(FOUND)
