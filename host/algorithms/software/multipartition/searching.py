"""Searches in all partitions at once: from work lists while few vertices are found, by sweeps while many are.

What counts is what is reached, not how far it is. So a thread may follow a path in one launch, and a sweep may build on
what it found itself.
"""

from typing import Any

from host.algorithms.software.multipartition.lists import EDGES, FOUND, QUEUED, STRIP, Counters, strips
from host.algorithms.software.multipartition.marks import FLAGS, FORWARD, FRESH, VICE
from host.devices import Device, DeviceArray, atomic_add, atomic_or, step
from host.devices.graphs import DeviceGraph

__all__ = ["Searching"]

_FEWEST = 256
_PART = 64
"""A launch from a work list looks at so many vertices more, or at that part of those left if that is more."""
_FARTHEST = 256
"""Vertices for which a thread follows a path in one launch."""
_DENSE = 16
"""A work list, and what a sweep found, are long when they have more than this part of the vertices left."""
_SHARED = 4096
"""A work list of more entries is taken a strip a thread."""


@step
def _expand(
    thread: int,
    share: int,
    items: int,
    hops: int,
    queue: Any,
    following: Any,
    marks: Any,
    flags: int,
    offsets: Any,
    targets: Any,
    counters: Any,
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
            mark = marks[vertex]
            carried = mark & flags
            kept = -1
            left -= 1
            first = offsets[vertex]
            last = offsets[vertex + 1]
            edges += last - first
            for edge in range(first, last):
                target = int(targets[edge])
                other = marks[target]
                if (
                    0 <= other ^ mark < FLAGS
                    and carried & ~other != 0
                    and carried & ~atomic_or(marks, target, carried) != 0
                ):
                    if left > 0 and kept < 0:
                        kept = target
                    else:
                        following[atomic_add(counters, QUEUED, 1)] = target
            vertex = kept
    atomic_add(counters, EDGES, edges)


@step
def _sweep(
    thread: int, length: int, vertices: Any, marks: Any, flags: int, offsets: Any, targets: Any, counters: Any
) -> None:
    """Let each vertex without a flag look for a neighbour that has it, on the graph turned round.

    Each thread writes the marks of its own vertices alone. A neighbour's mark may be from before or after its thread
    wrote it, and either is right: a flag that is there is to be passed on.
    """
    edges = 0
    found = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = marks[vertex]
        # No vice pivot is reached forward, so nothing that is reached forward reaches it.
        missing = flags & ~mark & (~VICE if mark & FORWARD != 0 else -1)
        gained = 0
        if missing != 0:
            first = offsets[vertex]
            edge = first
            last = offsets[vertex + 1]
            while edge < last and gained != missing:
                other = marks[targets[edge]]
                if 0 <= other ^ mark < FLAGS:
                    gained |= other & missing
                edge += 1
            edges += edge - first
        if gained != 0:
            marks[vertex] = mark | gained | FRESH
            found += 1
        elif mark & FRESH != 0:
            marks[vertex] = mark ^ FRESH
    atomic_add(counters, EDGES, edges)
    if found > 0:
        atomic_add(counters, FOUND, found)


@step
def _collect(thread: int, length: int, vertices: Any, queue: Any, marks: Any, counters: Any) -> None:
    """Put what the last sweep reached into a work list: only that can have neighbours that are still to be reached."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = marks[vertex]
        if mark & FRESH != 0:
            marks[vertex] = mark ^ FRESH
            queue[atomic_add(counters, QUEUED, 1)] = vertex


class Searching:
    """Searches of a graph, one after the other.

    Parameters
    ----------
    device : Device
        The device.
    marks : array of int64, shape (n,)
        Of the vertices.
    counters : Counters
        Those of the run.
    vertices : int
        How many there are.

    Attributes
    ----------
    queue : array of int32
        Where a search finds its sources.
    passes : int
        Launches so far.
    """

    def __init__(self, device: Device, marks: DeviceArray, counters: Counters, vertices: int) -> None:
        self._device = device
        self._marks = marks
        self._counters = counters
        # A vertex is found once for each flag, and two are passed on at once.
        self.queue: DeviceArray = device.zeros(2 * vertices, "int32")
        self._following: DeviceArray = device.zeros(2 * vertices, "int32")
        self.passes = 0

    def search(
        self, flags: int, sources: int, graph: DeviceGraph, turned: DeviceGraph, vertices: DeviceArray, size: int
    ) -> None:
        """Pass flags on to all that is reached in the partitions of those that have them.

        Parameters
        ----------
        flags : int
            The flags, ``FORWARD`` or ``BACKWARD | VICE``.
        sources : int
            How many vertices of `queue` have flags.
        graph, turned : DeviceGraph
            The graph to go along, and with its edges turned round.
        vertices : array of int32
            The vertices without a component.
        size : int
            How many.
        """
        device, marks, counters = self._device, self._marks, self._counters
        items = sources
        while items:
            self.passes += 1
            if items * _DENSE > size + _FEWEST:
                device.run(_sweep, strips(size), size, vertices, marks, flags, *turned, counters.array)
                items = counters.take(FOUND)
                if items and items * _DENSE <= size + _FEWEST:
                    device.run(_collect, strips(size), size, vertices, self.queue, marks, counters.array)
                    items = counters.take(QUEUED)
            else:
                share = STRIP if items > _SHARED else 1
                hops = min(_FARTHEST, 1 + max(_FEWEST, size // _PART) // items)
                device.run(
                    _expand, -(-items // share), share, items, hops, self.queue, self._following, marks, flags,
                    *graph, counters.array,
                )  # fmt: skip
                self.queue, self._following = self._following, self.queue
                items = counters.take(QUEUED)
