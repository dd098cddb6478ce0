"""Working set of the multi-partition method: marks, arrays, the list of vertices without a component, queues.

The mark of a vertex is the partition that it is in and how it was reached there, or its component.
"""

from typing import Any, NamedTuple

import numpy as np

from host.devices.primitives import upload
from host.devices.steps import Device, DeviceArray, Step, atomic_add, atomic_or, device_function, step
from host.graph.csr import Graph

__all__ = [
    "BACKWARD",
    "BOTH",
    "EDGES",
    "FEWEST",
    "FLAGS",
    "FORWARD",
    "FOUND",
    "FRESH",
    "PARTITION",
    "PARTS",
    "QUEUED",
    "STATE",
    "STRIP",
    "VERTEX",
    "VICE",
    "Arrays",
    "Side",
    "Work",
    "drawn_number",
    "gather",
    "priority",
    "settle",
    "strips",
]

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

    def keep(self, step: Step) -> None:
        """Launch a step that puts the vertices of the list that have no component into another one, and take that."""
        self.each(step, self._others)
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


@device_function
def _keep(first: int, last: int, count: int, vertices: DeviceArray, on: Arrays, kept: DeviceArray) -> None:
    """Put the vertices without a component of a part of a list into another one."""
    if count > 0:
        room = atomic_add(on.counters, QUEUED, count)
        for place in range(first, last):
            vertex = vertices[place]
            if on.marks[vertex] >= 0:
                kept[room] = vertex
                room += 1


@step
def settle(thread: int, length: int, vertices: DeviceArray, on: Arrays, kept: DeviceArray) -> None:
    """Make a component of what is reached both ways in each partition; put what is left into another list.

    It counts what was reached no way. ``seen`` has a bit for each set of flags that occurs in a partition: as many
    partitions come of it.
    """
    first = thread * STRIP
    last = min(first + STRIP, length)
    count = 0
    untouched = 0
    for place in range(first, last):
        vertex = vertices[place]
        mark = on.marks[vertex]
        partition = mark >> PARTITION
        if mark & BOTH == BOTH:
            on.marks[vertex] = -1 - partition
        else:
            count += 1
            if mark & STATE == 0:
                untouched += 1
            bit = 1 << (mark & STATE)
            # Most find it there; of those that do not, one is the first.
            if on.seen[partition] & bit == 0 and atomic_or(on.seen, partition, bit) & bit == 0:
                atomic_add(on.counters, PARTS, 1)
    if untouched > 0:
        atomic_add(on.counters, FOUND, untouched)
    _keep(first, last, count, vertices, on, kept)


@step
def gather(thread: int, length: int, vertices: DeviceArray, on: Arrays, kept: DeviceArray) -> None:
    """Put the vertices of a list that have no component into another one."""
    first = thread * STRIP
    last = min(first + STRIP, length)
    count = 0
    for place in range(first, last):
        if on.marks[vertices[place]] >= 0:
            count += 1
    _keep(first, last, count, vertices, on, kept)
