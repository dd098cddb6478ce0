"""Numbers of subgraphs: one vertex of each is elected, a prefix sum over those elected gives new numbers (section 3.6).

What is elected for subgraph i stands in ``elected[i]``: the vertex until it is numbered, then the new number, negated,
so that a negative element says that nobody waits for a number.
"""

from typing import Any

import numpy as np

from host.algorithms.software.li.sources import elect_drawn
from host.devices import Device, DeviceArray, atomic_add, atomic_swap, step
from host.devices.primitives import prefix_sum

__all__ = ["Numbering"]

_RUN = 16
"""Vertices of which a thread keeps those that remain."""
_SPARSE = 4
"""When one part of so many of the listed vertices has a component, the others are listed anew."""


@step
def _count_up(thread: int, array: Any) -> None:
    array[thread] = thread


@step
def _elect(thread: int, remaining: Any, labels: Any, elected: Any) -> None:
    """Let a vertex without a component stand for its subgraph.

    The last one that writes wins. Each is a rightful source, and what is written is one word, so the race is harmless.
    """
    vertex = remaining[thread]
    name = labels[vertex]
    if name >= 0:
        elected[name] = vertex


@step
def _rank(thread: int, names: Any, elected: Any, ranks: Any) -> None:
    ranks[thread] = 1 if elected[names[thread]] >= 0 else 0


@step
def _number(
    thread: int,
    names: Any,
    elected: Any,
    ranks: Any,
    labels: Any,
    increments: Any,
    sources: Any,
    first: int,
    kept: Any,
    added: Any,
    place: int,
) -> None:
    """Put the vertex that a subgraph elected into the queue, with the number of the subgraph that it begins."""
    name = names[thread]
    vertex = elected[name]
    if vertex >= 0:
        rank = ranks[thread]
        new = first + rank
        sources[rank] = vertex
        # By the new number, by which a search asks for it (algorithm 5).
        increments[new] = new - name
        labels[vertex] = new
        elected[name] = -new
        kept[rank] = name
        added[place + rank] = new


@step
def _join(
    thread: int, numbers: Any, vertices: int, labels: Any, elected: Any, first: int, sources: Any, counters: Any
) -> None:
    """Put a vertex that was drawn into the queue, with the number that its subgraph's elected one got.

    A vertex may be drawn twice; only one thread changes its number.
    """
    vertex = numbers[thread] % vertices
    name = labels[vertex]
    if 0 <= name < first and atomic_swap(labels, vertex, name, -elected[name]) == name:
        sources[atomic_add(counters, 0, 1)] = vertex


@step
def _compact(thread: int, remaining: Any, listed: int, labels: Any, others: Any, counters: Any) -> None:
    """Keep those of a run of vertices that have no component."""
    count = 0
    last = min((thread + 1) * _RUN, listed)
    for place in range(thread * _RUN, last):
        count += labels[remaining[place]] >= 0
    if count > 0:
        free = atomic_add(counters, 0, count)
        for place in range(thread * _RUN, last):
            vertex = remaining[place]
            if labels[vertex] >= 0:
                others[free] = vertex
                free += 1


@step
def _negate(thread: int, sources: Any, labels: Any) -> None:
    labels[sources[thread]] = -labels[sources[thread]]


class Numbering:
    """The numbers of subgraphs: of each vertex, and those that are in use.

    A number from 0 on names a subgraph of vertices that remain; one below 0 is a component, the number of the subgraph
    that its source began, negated. That one is never 0: a source has its new number before it is negated.

    Parameters
    ----------
    device : Device
        Where it is.
    vertices : int
        Vertices of the graph, n.

    Attributes
    ----------
    labels : array of int32, shape (n,)
        Each vertex's number; in the beginning all are of subgraph 0.
    increments : array of int32, shape (2 n + 1,)
        How much larger a subgraph's number is than that of the one it was taken from. Partition divides no more
        subgraphs than there are, each of which the election after it takes a component from; so there are never more
        numbers than 1 + 2 * components.
    sources : array of int32, shape (n,)
        The vertices that the next search begins with.
    used : int
        Numbers given so far (``max_subgraph`` of the text).
    remaining : int
        Vertices without a component.
    """

    def __init__(self, device: Device, vertices: int) -> None:
        self._device = device
        self._vertices = vertices
        most = 2 * vertices + 1
        self.labels = device.zeros(vertices, np.int32)
        self.increments = device.zeros(most, np.int32)
        self.sources = device.zeros(vertices, np.int32)
        self.used = 1
        self.remaining = vertices
        self._elected = device.full(most, -1, np.int32)
        # Those that may have vertices: a prefix sum goes over them alone, not over all that were ever given.
        self._names, self._other_names = (device.zeros(most, np.int32) for _ in range(2))
        self._named = 1
        self._ranks = device.zeros(most)
        self._listed = vertices
        self._list, self._other_list = (device.zeros(vertices, np.int32) for _ in range(2))
        self._counters = device.zeros(1)
        device.run(_count_up, vertices, self._list)

    def _rank(self) -> int:
        """Return how many subgraphs have elected a vertex, each of which now has its rank."""
        self._device.run(_rank, self._named, self._names, self._elected, self._ranks)
        return prefix_sum(self._device, self._ranks, self._named)

    def _number(self, count: int, added: DeviceArray, place: int) -> None:
        """Give numbers to what the elected vertices begin, and put the new numbers into a list from a place on."""
        places = (self._names, self._elected, self._ranks, self.labels, self.increments, self.sources)
        self._device.run(_number, self._named, *places, self.used, self._other_names, added, place)
        self.used += count

    def draw(self, numbers: DeviceArray, size: int) -> tuple[int, int]:
        """Begin a new subgraph in each one of which a vertex is drawn (Partition).

        Returns
        -------
        subgraphs : int
            How many begin.
        sources : int
            How many vertices they begin with, those that were drawn.
        """
        first = self.used
        self._device.run(elect_drawn, size, numbers, self._vertices, self.labels, self._elected)
        count = self._rank()
        self._number(count, self._names, self._named)
        self._named += count
        self._device.store(self._counters, 0, count)
        places = (self.labels, self._elected, first, self.sources, self._counters)
        self._device.run(_join, size, numbers, self._vertices, *places)
        return count, self._device.value(self._counters, 0)

    def select(self) -> int:
        """Begin a new subgraph in each one with one of its vertices (algorithm 4); return how many."""
        self._device.run(_elect, self._listed, self._list, self.labels, self._elected)
        count = self._rank()
        self._number(count, self._other_names, count)
        self._names, self._other_names, self._named = self._other_names, self._names, 2 * count
        return count

    def negate(self, count: int) -> None:
        """Make a component of each of the first sources."""
        self._device.run(_negate, count, self.sources, self.labels)

    def remove(self, count: int) -> None:
        """Count off the vertices that got a component; when they are many, list those that remain anew."""
        self.remaining -= count
        if self.remaining * _SPARSE > self._listed * (_SPARSE - 1):
            return
        self._device.store(self._counters, 0, 0)
        runs = -(-self._listed // _RUN)
        lists = (self._list, self._listed, self.labels, self._other_list, self._counters)
        self._device.run(_compact, runs, *lists)
        self._list, self._other_list, self._listed = self._other_list, self._list, self.remaining
