"""The multi-partition method: a pivot forward, it and a vice pivot backward, all partitions at once.

The mark of a vertex is the partition that it is in and how it was reached there, or its component. In a round what is
weakly connected in a partition becomes a partition of its own, with a pivot. Trees of parents are joined along every
edge, by one atomic operation (Jaiganesh and Burtscher 2018 do the same on graphics processors): one launch finds the
components, whatever their diameter. Of two roots the one with the higher priority becomes the child, so that the root
of a component is a vertex drawn at random, the same in every order of threads.

The vice pivot of a partition is a vertex that its pivot does not reach. So it is in another component, and nothing that
the pivot reaches can reach it: its backward search goes on where the pivot's forward search did not, and divides what
that left together.

Searches run in all partitions at once: from work lists while few vertices are found, by sweeps while many are. What
counts is what is reached, not how far it is. So a thread may follow a path in one launch, and a sweep may build on what
it found itself.

Where pivots reach little of their partitions, however they are chosen, there would be as many rounds as there are
components that do not reach each other. The way out is colours: every vertex is a pivot at once, and gets the highest
number that reaches it. (Orzan 2004 finds components by colours alone.)

Trimming finds components of one vertex, and of two that alone reach each other on one side (2-SCC). An edge is dead
when it leads to another partition, to a vertex that has a component, or back to its own vertex. Partitions are only
ever divided, so it stays dead, and each vertex keeps on each side the place of the first edge that may not be: all
tests of a run together look at each edge about once.
"""

from typing import Any, NamedTuple

import numpy as np

from host.algorithms.software.decomposition import Decomposition, Setting
from host.devices.primitives import keep_open, root, upload
from host.devices.steps import (
    Device,
    DeviceArray,
    Step,
    atomic_add,
    atomic_and,
    atomic_max,
    atomic_or,
    atomic_swap,
    device_function,
    step,
)
from host.graph.csr import Graph

__all__ = ["FORWARD", "PARTITION", "STRIP", "Arrays", "Work", "drawn_number", "multipartition", "priority"]

FORWARD = 1
"""The pivot of its partition reaches it."""
BACKWARD = 2
"""It reaches the pivot of its partition."""
VICE = 4
"""It reaches the vice pivot of its partition."""
BOTH = FORWARD | BACKWARD
"""It is in the component of the pivot."""
STATE = BOTH | VICE
"""All that a round finds out about it."""
FRESH = 8
"""The last sweep reached it."""
FLAGS = 16
"""A mark that is not negative is a partition times this, and flags; -1 - v is component v."""
PARTITION = 4
"""Bits of the flags. Two marks are of the same partition when their exclusive or is 0 to `FLAGS` - 1."""

_BITS = 31
VERTEX = (1 << _BITS) - 1
"""Of a number drawn, less one: the vertex."""
_MASK = (1 << 32) - 1

STRIP = 16
"""Places of a list that one thread looks after, so that it claims room once for all of them."""
FEWEST = 256
"""Vertices that a launch from a queue looks at in any case, if there are so many in reach."""
_SHARED = 4096
"""A queue of more entries is taken a strip a thread."""

QUEUED, EDGES, FOUND, PARTS = 0, 8, 16, 24
"""Where counters stand, each in a cache line of its own: entries of a list, edges looked at, vertices, partitions."""
_COUNTERS = 32

_PART = 64
"""A launch of a search from a queue looks at `FEWEST` vertices, or at that part of those left if that is more."""
_FARTHEST = 256
"""Vertices for which a thread follows a path in one launch."""
_DENSE = 16
"""A queue, and what a sweep found, are long when they have more than this part of the vertices left."""


class Side(NamedTuple):
    """The graph in one direction."""

    offsets: DeviceArray
    """int64, shape (n + 1,)."""
    targets: DeviceArray
    """int32, shape (m,)."""
    starts: DeviceArray
    """int32, shape (n,): which edge of each vertex is the first one that may not be dead (trimming)."""


class Arrays(NamedTuple):
    """The arrays of a run, which most steps take."""

    forward: Side
    backward: Side
    marks: DeviceArray
    """int64, shape (n,)."""
    counters: DeviceArray
    """int64, shape (32,)."""
    pivots: DeviceArray
    """int32, shape (n,): the pivot of each partition."""
    parents: DeviceArray
    """int32, shape (n,): trees of what is weakly connected."""
    colours: DeviceArray
    """int64, shape (n,)."""
    drawn: DeviceArray
    """int64, shape (n + 1,): by partition, the largest number drawn."""
    seen: DeviceArray
    """int64, shape (n + 1,): by partition, a bit for each set of flags that occurs in it."""


@device_function
def priority(vertex: int, salt: int) -> int:
    """Return a number below 2**32 that orders the vertices at random; no two have the same.

    Each line is a bijection of 32 bits, and no product exceeds 63.
    """
    mixed = (int(vertex) ^ salt) & _MASK
    mixed = ((mixed ^ (mixed >> 16)) * 0x2C1B3C6D) & _MASK
    mixed = ((mixed ^ (mixed >> 12)) * 0x297A2D39) & _MASK
    return mixed ^ (mixed >> 15)


@device_function
def drawn_number(vertex: int, salt: int) -> int:
    """Return a number above 0 and below 2**63 that orders the vertices at random, and has the vertex in it."""
    return ((priority(vertex, salt) << _BITS) | int(vertex)) + 1


def strips(size: int) -> int:
    """Return how many threads look after a list."""
    return -(-size // STRIP)


class Work:
    """The arrays of a run, and launches over its lists.

    Parameters
    ----------
    device : Device
        The device.
    graph, transpose : Graph
        The graph and its transpose.

    Attributes
    ----------
    on : Arrays
        The arrays.
    vertices : array of int32
        The vertices without a component.
    left : int
        How many.
    queue : array of int32
        What a launch looks at next.
    passes : int
        Launches so far that wait for the one before.
    whole : int
        The mark of the first partition, which is of all vertices and has a number that is no vertex's.
    """

    def __init__(self, device: Device, graph: Graph, transpose: Graph) -> None:
        size = graph.vertices
        self.device = device
        self.whole = size << PARTITION
        self.on = Arrays(
            forward=Side(*upload(device, graph), device.zeros(size, np.int32)),
            backward=Side(*upload(device, transpose), device.zeros(size, np.int32)),
            marks=device.full(size, self.whole, np.int64),
            counters=device.zeros(_COUNTERS),
            pivots=device.zeros(size, np.int32),
            parents=device.zeros(size, np.int32),
            colours=device.zeros(size),
            drawn=device.zeros(size + 1),
            seen=device.zeros(size + 1),
        )
        self.vertices: DeviceArray = device.array(np.arange(size, dtype=np.int32))
        self._others: DeviceArray = device.zeros(size, np.int32)
        self.left = size
        # A search finds a vertex once for each flag, and two are passed on at once.
        self.queue, self._following = (device.zeros(2 * size, np.int32) for _ in range(2))
        self.passes = 0

    def take(self, place: int) -> int:
        """Return a counter and set it back."""
        value = self.device.value(self.on.counters, place)
        if value:
            self.device.store(self.on.counters, place, 0)
        return value

    def each(self, step: Step, *arguments: Any) -> None:
        """Launch a step that looks after the list of vertices."""
        self.device.run(step, strips(self.left), self.left, self.vertices, self.on, *arguments)

    def gather(self) -> None:
        """Drop from the list the vertices that have a component."""
        keep_open(self.device, self.left, self.vertices, self.on.marks, self.on.counters, self._others)
        self.vertices, self._others = self._others, self.vertices
        self.left = self.take(QUEUED)

    def follow(self, step: Step, items: int, hops: int, *arguments: Any) -> int:
        """Launch a step over the queue, by which another one comes about; return how many entries that has."""
        self.passes += 1
        share = STRIP if items > _SHARED else 1
        lists = (self.queue, self._following, self.on)
        self.device.run(step, -(-items // share), share, items, hops, *lists, *arguments)
        self.queue, self._following = self._following, self.queue
        return self.take(QUEUED)


@step
def _settle(thread: int, length: int, vertices: DeviceArray, on: Arrays) -> None:
    """Make a component of what is reached both ways in each partition.

    It counts what was reached no way. ``seen`` has a bit for each set of flags that occurs in a partition: as many
    partitions come of it.
    """
    untouched = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex]
        partition = mark >> PARTITION
        if mark & BOTH == BOTH:
            on.marks[vertex] = -1 - partition
        else:
            if mark & STATE == 0:
                untouched += 1
            bit = 1 << (mark & STATE)
            # Most find it there; of those that do not, one is the first.
            if on.seen[partition] & bit == 0 and atomic_or(on.seen, partition, bit) & bit == 0:
                atomic_add(on.counters, PARTS, 1)
    if untouched > 0:
        atomic_add(on.counters, FOUND, untouched)


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


@step
def _expand(
    thread: int,
    share: int,
    items: int,
    hops: int,
    queue: DeviceArray,
    following: DeviceArray,
    on: Arrays,
    flags: int,
    side: Side,
) -> None:
    """Pass the flags of a vertex on to its neighbours in its partition, and of the first one found to those of it.

    A neighbour is claimed by who sets a flag of its mark, so a list has it once for each flag at most. Its flags are
    read when it is looked at; who sets a flag later passes that one on.
    """
    edges = 0
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            mark = on.marks[vertex]
            carried = mark & flags
            kept = -1
            left -= 1
            first = side.offsets[vertex]
            last = side.offsets[vertex + 1]
            edges += last - first
            for edge in range(first, last):
                target = int(side.targets[edge])
                other = on.marks[target]
                if (
                    0 <= other ^ mark < FLAGS
                    and carried & ~other != 0
                    and carried & ~atomic_or(on.marks, target, carried) != 0
                ):
                    if left > 0 and kept < 0:
                        kept = target
                    else:
                        following[atomic_add(on.counters, QUEUED, 1)] = target
            vertex = kept
    atomic_add(on.counters, EDGES, edges)


@step
def _sweep(thread: int, length: int, vertices: DeviceArray, on: Arrays, flags: int, side: Side) -> None:
    """Let each vertex without a flag look for a neighbour that has it, on the graph turned round.

    Each thread writes the marks of its own vertices alone. A neighbour's mark may be from before or after its thread
    wrote it, and either is right: a flag that is there is to be passed on.
    """
    edges = 0
    found = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex]
        # No vice pivot is reached forward, so nothing that is reached forward reaches it.
        missing = flags & ~mark & (~VICE if mark & FORWARD != 0 else -1)
        gained = 0
        if missing != 0:
            first = side.offsets[vertex]
            edge = first
            last = side.offsets[vertex + 1]
            while edge < last and gained != missing:
                other = on.marks[side.targets[edge]]
                if 0 <= other ^ mark < FLAGS:
                    gained |= other & missing
                edge += 1
            edges += edge - first
        if gained != 0:
            on.marks[vertex] = mark | gained | FRESH
            found += 1
        elif mark & FRESH != 0:
            on.marks[vertex] = mark ^ FRESH
    atomic_add(on.counters, EDGES, edges)
    if found > 0:
        atomic_add(on.counters, FOUND, found)


@step
def _collect(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray, taken: int) -> None:
    """Put what the last sweep reached into a queue, and take a flag from it.

    Only that can have neighbours that are still to be reached.
    """
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex]
        if mark & FRESH != 0:
            on.marks[vertex] = mark & ~taken
            queue[atomic_add(on.counters, QUEUED, 1)] = vertex


def _collected(work: Work, found: int, taken: int) -> int:
    """Begin a queue with what a sweep found, if that is little; return how many entries it has, 0 if it is not."""
    if not 0 < found * _DENSE <= work.left + FEWEST:
        return 0
    work.each(_collect, work.queue, taken)
    return work.take(QUEUED)


def search(work: Work, flags: int, sources: int) -> None:
    """Pass flags on to all that is reached in the partitions of those that have them.

    Parameters
    ----------
    work : Work
        The run's.
    flags : int
        The flags, ``FORWARD`` or ``BACKWARD | VICE``.
    sources : int
        How many vertices of the queue have flags.
    """
    side, turned = work.on.forward, work.on.backward
    if flags != FORWARD:
        side, turned = turned, side
    items, left = sources, work.left
    while items:
        if items * _DENSE > left + FEWEST:
            work.passes += 1
            work.each(_sweep, flags, turned)
            items = work.take(FOUND)
            items = _collected(work, items, FRESH) or items
        else:
            hops = min(_FARTHEST, 1 + max(FEWEST, left // _PART) // items)
            items = work.follow(_expand, items, hops, flags, side)


@step
def _start_colours(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        on.colours[vertex] = drawn_number(vertex, salt)


@step
def _pull(thread: int, length: int, vertices: DeviceArray, on: Arrays) -> None:
    """Give each vertex the highest colour of those that lead to it in its partition, on the transpose.

    Each thread writes what is of its own vertices. What it reads of others may be old: a colour that reaches them too.
    """
    offsets, targets, _ = on.backward
    edges = 0
    found = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex] & ~FRESH
        colour = on.colours[vertex]
        best = colour
        edges += offsets[vertex + 1] - offsets[vertex]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            target = targets[edge]
            if on.colours[target] > best and on.marks[target] & ~FRESH == mark:
                best = on.colours[target]
        if best > colour:
            on.colours[vertex] = best
            on.marks[vertex] = mark | FRESH
            found += 1
        else:
            on.marks[vertex] = mark
    atomic_add(on.counters, EDGES, edges)
    if found > 0:
        atomic_add(on.counters, FOUND, found)


@step
def _push(
    thread: int, share: int, items: int, hops: int, queue: DeviceArray, following: DeviceArray, on: Arrays
) -> None:
    """Pass the colour of a vertex on to its neighbours, and that of the first one changed to those of it.

    A vertex is in one list once, while it has its flag. Should its colour change just when it is looked at, the sweep
    that follows the lists sees it.
    """
    offsets, targets, _ = on.forward
    edges = 0
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            mark = atomic_and(on.marks, vertex, ~FRESH) & ~FRESH
            colour = on.colours[vertex]
            kept = -1
            left -= 1
            edges += offsets[vertex + 1] - offsets[vertex]
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                target = int(targets[edge])
                if (
                    on.marks[target] & ~FRESH == mark
                    and on.colours[target] < colour
                    and atomic_max(on.colours, target, colour) < colour
                    and atomic_or(on.marks, target, FRESH) & FRESH == 0
                ):
                    if left > 0 and kept < 0:
                        kept = target
                    else:
                        following[atomic_add(on.counters, QUEUED, 1)] = target
            vertex = kept
    atomic_add(on.counters, EDGES, edges)


@step
def _divide(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray, coloured: int) -> None:
    """Make a partition of each tree, or of each colour, and its pivot of the root, or of the vertex whose colour it is.

    The forward search starts from the pivot of a tree. That of a colour reaches all of it.
    """
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        pivot = (on.colours[vertex] - 1) & VERTEX if coloured else root(vertex, on.parents)
        if pivot == vertex:
            on.seen[pivot] = 0
            on.marks[pivot] = (pivot << PARTITION) | FORWARD
            room = atomic_add(on.counters, QUEUED, 1)
            queue[room] = pivot
            on.pivots[room] = pivot
        else:
            on.marks[vertex] = (pivot << PARTITION) | (FORWARD if coloured else 0)


def colour(work: Work, salt: int) -> int:
    """Divide the partitions by colours, whose order follows from a salt; return how many come of it."""
    work.each(_start_colours, salt)
    found = 1
    while found:
        work.passes += 1
        work.each(_pull)
        found = work.take(FOUND)
        # What is collected keeps its flag until it is looked at.
        items = _collected(work, found, 0)
        while items:
            items = work.follow(_push, items, 1 + FEWEST // items)
    work.each(_divide, work.queue, 1)
    return work.take(QUEUED)


@step
def _plant(thread: int, length: int, vertices: DeviceArray, on: Arrays) -> None:
    """Make a tree of each vertex of a list."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        on.parents[vertices[place]] = vertices[place]


@step
def _join(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    """Join the trees of each two vertices of the same partition, and the same flags, between which an edge leads."""
    edges = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = on.marks[vertex]
        first = on.forward.offsets[vertex]
        last = on.forward.offsets[vertex + 1]
        edges += last - first
        here = vertex
        for edge in range(first, last):
            target = int(on.forward.targets[edge])
            if on.marks[target] != mark:
                continue
            here = root(here, on.parents)
            there = root(target, on.parents)
            while here != there:
                if priority(here, salt) > priority(there, salt):
                    here, there = there, here
                # When the other one has become a child meanwhile, go on from its parent.
                parent = atomic_swap(on.parents, there, there, here)
                there = here if parent == there else root(parent, on.parents)
    atomic_add(on.counters, EDGES, edges)


@step
def _largest_of_strip(
    thread: int, length: int, vertices: DeviceArray, on: Arrays, mark: int, products: DeviceArray, found: DeviceArray
) -> None:
    best = -1
    best_vertex = -1
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        if on.marks[vertex] == mark:
            after, before = on.forward.offsets, on.backward.offsets
            product = (after[vertex + 1] - after[vertex]) * (before[vertex + 1] - before[vertex])
            if product > best:
                best = product
                best_vertex = vertex
    products[thread] = best
    found[thread] = best_vertex


def largest(work: Work, mark: int) -> int:
    """Return the vertex with a mark that has the largest product of degrees, the first of them, or -1."""
    device, size = work.device, strips(work.left)
    products, found = device.zeros(size), device.zeros(size, np.int32)
    work.each(_largest_of_strip, mark, products, found)
    return int(device.read(found)[device.read(products).argmax()])


@step
def draw(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    """Draw in each partition a vertex at random that the pivot does not reach."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = on.marks[vertex]
        if mark & FORWARD == 0:
            number = drawn_number(vertex, salt)
            partition = mark >> PARTITION
            # Numbers only grow, so that what is not above an old one is not above the present one.
            if number > on.drawn[partition]:
                atomic_max(on.drawn, partition, number)


@step
def _start_backward(thread: int, on: Arrays, queue: DeviceArray) -> None:
    """Flag the pivot of a partition, and the vertex that was drawn, from which the backward searches start.

    A vertex that the pivot reaches is never a vice pivot: the sweeps rely on that.
    """
    pivot = int(on.pivots[thread])
    on.marks[pivot] = on.marks[pivot] | BACKWARD
    queue[atomic_add(on.counters, QUEUED, 1)] = pivot
    number = on.drawn[pivot]
    if number > 0:
        on.drawn[pivot] = 0
        vice = (number - 1) & VERTEX
        mark = on.marks[vice]
        if mark & FORWARD == 0:
            on.marks[vice] = mark | VICE
            queue[atomic_add(on.counters, QUEUED, 1)] = vice
            atomic_add(on.counters, FOUND, 1)


class _Run:
    """One run: what it works on, and what is counted."""

    def __init__(self, graph: Graph, transpose: Graph, setting: Setting) -> None:
        self._watch = setting.watch
        self._total = graph.vertices
        self._salts = np.random.default_rng(setting.seed)
        self._work = Work(setting.device, graph, transpose)
        self._coloured = False
        self.rounds = self.pivots = self.vice_pivots = self.joins = self.colourings = 0
        self.trim_rounds = self.trimmed = self.pairs = 0

    @property
    def marks(self) -> DeviceArray:
        """The marks of the vertices."""
        return self._work.on.marks

    def run(self) -> None:
        """Find the components."""
        self._trim(_remove_unconnected)
        self._gather()
        if self._work.left:
            self._first_round()
        while self._work.left:
            self._work.passes += 2
            self._trim(_remove_single)
            self._work.each(_remove_pairs, self._work.queue)
            self.pairs += self._work.device.value(self._work.on.counters, QUEUED) // 2
            self._trim_behind()
            self._gather()
            if self._work.left:
                self._round()

    def counts(self) -> dict[str, int]:
        """Return what was counted."""
        return {
            "rounds": self.rounds,
            "passes": self._work.passes,
            "edges": self._work.take(EDGES),
            "trim_rounds": self.trim_rounds,
            "trimmed": self.trimmed,
            "two_vertex_components": self.pairs,
            "pivots": self.pivots,
            "vice_pivots": self.vice_pivots,
            "partitions": self._work.take(PARTS),
            "wcc_rounds": self.joins,
            "colour_rounds": self.colourings,
        }

    def _trim(self, remove: Step) -> None:
        """Remove vertices that are components by themselves, and what is one when they are gone."""
        self.trim_rounds += 1
        self._work.each(remove, self._work.queue)
        self._trim_behind()

    def _trim_behind(self) -> None:
        """Go on from what was removed."""
        items = self._work.take(QUEUED)
        while items:
            self.trim_rounds += 1
            items = self._work.follow(_remove_behind, items, 1 + FEWEST // items)
        self.trimmed += self._work.take(FOUND)

    def _gather(self) -> None:
        """Drop from the list what has a component."""
        self._work.gather()
        self._watch(self._total - self._work.left, self._total)

    def _first_round(self) -> None:
        """Divide the whole graph, by vertices with the largest product of degrees."""
        work, marks, whole, store = self._work, self.marks, self._work.whole, self._work.device.store
        pivot = largest(work, whole)
        store(marks, pivot, whole | FORWARD)
        store(work.queue, 0, pivot)
        search(work, FORWARD, 1)
        vice = largest(work, whole)
        store(marks, pivot, whole | FORWARD | BACKWARD)
        store(work.queue, 0, pivot)
        if vice >= 0:
            store(marks, vice, whole | VICE)
            store(work.queue, 1, vice)
            self.vice_pivots += 1
        search(work, BACKWARD | VICE, 1 + (vice >= 0))
        self.pivots += 1
        self._settle()

    def _round(self) -> None:
        """Divide each partition into smaller ones, and each of these by a pivot and a vice pivot."""
        work = self._work
        if self._coloured:
            self.colourings += 1
            pivots = colour(work, self._salt())
        else:
            pivots = self._join()
            search(work, FORWARD, pivots)
            work.each(draw, self._salt())
        work.device.run(_start_backward, pivots, work.on, work.queue)
        self.pivots += pivots
        self.vice_pivots += work.take(FOUND)
        search(work, BACKWARD | VICE, work.take(QUEUED))
        untouched = self._settle()
        self._coloured = not self._coloured and 2 * untouched > work.left

    def _join(self) -> int:
        """Make a partition of what is weakly connected in one; return how many there are."""
        work = self._work
        self.joins += 1
        work.passes += 1
        work.each(_plant)
        work.each(_join, self._salt())
        work.each(_divide, work.queue, 0)
        return work.take(QUEUED)

    def _settle(self) -> int:
        """End a round: what is reached both ways has its component. Return how much was reached no way."""
        self.rounds += 1
        self._work.each(_settle)
        self._gather()
        return self._work.take(FOUND)

    def _salt(self) -> int:
        return int(self._salts.integers(1 << 32))


def multipartition(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Find the components by partitions of which each has a pivot and a vice pivot.

    After *Parallel Strongly Connected Components Detection with Multi-partition on GPUs*, of which only the abstract
    was at hand; what it leaves open is filled as its references do (FW-BW-Trim with WCC of Hong, Rodia and Olukotun,
    SC 2013), and where that was not enough, by what docs/decomposition-multipartition.md says.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How to run.
    """
    run = _Run(graph, transpose, setting)
    run.run()
    return Decomposition(labels=-1 - setting.device.read(run.marks), counts=run.counts())
