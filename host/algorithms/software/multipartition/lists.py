"""The work list of the vertices that have no component yet, and the counters of a run."""

from typing import Any

from host.algorithms.software.multipartition.marks import BOTH, PARTITION, STATE
from host.devices import Device, DeviceArray, atomic_add, atomic_or, step

__all__ = ["EDGES", "FOUND", "PARTS", "QUEUED", "STRIP", "Counters", "gather", "settle", "strips"]

STRIP = 16
"""Places of a list that one thread looks after, so that it claims room once for all of them."""

QUEUED, EDGES, FOUND, PARTS = 0, 8, 16, 24
"""Where counters stand, each in a cache line of its own: entries of a list, edges looked at, vertices, partitions."""
_COUNTERS = 32


def strips(size: int) -> int:
    """Return how many threads look after a list."""
    return -(-size // STRIP)


class Counters:
    """Counters on the device.

    Parameters
    ----------
    device : Device
        The device.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.array: DeviceArray = device.zeros(_COUNTERS)

    def take(self, place: int) -> int:
        """Return a counter and set it back."""
        value = self._device.value(self.array, place)
        if value:
            self._device.store(self.array, place, 0)
        return value


@step
def settle(thread: int, length: int, vertices: Any, kept: Any, marks: Any, seen: Any, counters: Any) -> None:
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
        mark = marks[vertex]
        partition = mark >> PARTITION
        if mark & BOTH == BOTH:
            marks[vertex] = -1 - partition
        else:
            count += 1
            if mark & STATE == 0:
                untouched += 1
            bit = 1 << (mark & STATE)
            # Most find it there; of those that do not, one is the first.
            if seen[partition] & bit == 0 and atomic_or(seen, partition, bit) & bit == 0:
                atomic_add(counters, PARTS, 1)
    if untouched > 0:
        atomic_add(counters, FOUND, untouched)
    if count > 0:
        room = atomic_add(counters, QUEUED, count)
        for place in range(first, last):
            vertex = vertices[place]
            if marks[vertex] >= 0:
                kept[room] = vertex
                room += 1


@step
def gather(thread: int, length: int, vertices: Any, kept: Any, marks: Any, counters: Any) -> None:
    """Put the vertices of a list that have no component into another one."""
    first = thread * STRIP
    last = min(first + STRIP, length)
    count = 0
    for place in range(first, last):
        if marks[vertices[place]] >= 0:
            count += 1
    if count > 0:
        room = atomic_add(counters, QUEUED, count)
        for place in range(first, last):
            vertex = vertices[place]
            if marks[vertex] >= 0:
                kept[room] = vertex
                room += 1
