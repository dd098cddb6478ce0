"""Colours: every vertex is a pivot at once, and gets the highest number that reaches it.

The way out where pivots reach little of their partitions, however they are chosen: with one pivot for each, there would
be as many rounds as there are components that do not reach each other. (Orzan 2004 finds components by colours alone.)
"""

from typing import Any

from host.algorithms.software.multipartition.lists import EDGES, FOUND, QUEUED, STRIP, Counters, strips
from host.algorithms.software.multipartition.marks import FORWARD, FRESH, PARTITION, VERTEX, drawn_number
from host.devices import Device, DeviceArray, atomic_add, atomic_and, atomic_max, atomic_or, step
from host.devices.graphs import DeviceGraph

__all__ = ["Colouring"]

_DENSE = 16
"""Changes are followed by a work list when they are fewer than this part of the vertices left."""
_FEWEST = 256
"""Vertices that a launch from a work list looks at in any case, if there are so many."""


@step
def _start(thread: int, vertices: Any, salt: int, colours: Any) -> None:
    vertex = int(vertices[thread])
    colours[vertex] = drawn_number(vertex, salt)


@step
def _pull(
    thread: int, length: int, vertices: Any, colours: Any, marks: Any, offsets: Any, targets: Any, counters: Any
) -> None:
    """Give each vertex the highest colour of those that lead to it in its partition, on the transpose.

    Each thread writes what is of its own vertices. What it reads of others may be old: a colour that reaches them too.
    """
    edges = 0
    found = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = marks[vertex] & ~FRESH
        colour = colours[vertex]
        best = colour
        edges += offsets[vertex + 1] - offsets[vertex]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            target = targets[edge]
            if colours[target] > best and marks[target] & ~FRESH == mark:
                best = colours[target]
        if best > colour:
            colours[vertex] = best
            marks[vertex] = mark | FRESH
            found += 1
        else:
            marks[vertex] = mark
    atomic_add(counters, EDGES, edges)
    if found > 0:
        atomic_add(counters, FOUND, found)


@step
def _collect(thread: int, length: int, vertices: Any, queue: Any, marks: Any, counters: Any) -> None:
    """Put what changed in the last sweep into a work list; it keeps its flag until it is looked at."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        if marks[vertex] & FRESH != 0:
            queue[atomic_add(counters, QUEUED, 1)] = vertex


@step
def _push(
    thread: int, hops: int, queue: Any, following: Any, colours: Any, marks: Any, offsets: Any, targets: Any,
    counters: Any,
) -> None:  # fmt: skip
    """Pass the colour of a vertex on to its neighbours, and that of the first one changed to those of it.

    A vertex is in one list once, while it has its flag. Should its colour change just when it is looked at, the sweep
    that follows the lists sees it.
    """
    vertex = int(queue[thread])
    edges = 0
    while vertex >= 0:
        mark = atomic_and(marks, vertex, ~FRESH) & ~FRESH
        colour = colours[vertex]
        kept = -1
        hops -= 1
        edges += offsets[vertex + 1] - offsets[vertex]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            target = int(targets[edge])
            if (
                marks[target] & ~FRESH == mark
                and colours[target] < colour
                and atomic_max(colours, target, colour) < colour
                and atomic_or(marks, target, FRESH) & FRESH == 0
            ):
                if hops > 0 and kept < 0:
                    kept = target
                else:
                    following[atomic_add(counters, QUEUED, 1)] = target
        vertex = kept
    atomic_add(counters, EDGES, edges)


@step
def _divide(
    thread: int, length: int, vertices: Any, colours: Any, pivots: Any, queue: Any, seen: Any, marks: Any, counters: Any
) -> None:
    """Make a partition of each colour. The vertex whose colour it is reaches all of it, and is its pivot."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        pivot = (colours[vertex] - 1) & VERTEX
        marks[vertex] = (pivot << PARTITION) | FORWARD
        if pivot == vertex:
            seen[vertex] = 0
            room = atomic_add(counters, QUEUED, 1)
            queue[room] = vertex
            pivots[room] = vertex


class Colouring:
    """Colours of a graph's vertices.

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
        Launches so far that look at edges, and rounds.
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
        self._graph = graph
        self._transpose = transpose
        self._marks = marks
        self._counters = counters
        self._colours, self._queue, self._following = (
            device.zeros(vertices, dtype) for dtype in ("int64", "int32", "int32")
        )
        self.passes = 0
        self.rounds = 0

    def divide(
        self, vertices: DeviceArray, size: int, salt: int, pivots: DeviceArray, queue: DeviceArray, seen: DeviceArray
    ) -> int:
        """Divide the partitions of a list of vertices by colours; return how many come of it.

        Parameters
        ----------
        vertices : array of int32
            The vertices without a component.
        size : int
            How many.
        salt : int
            Of the order of the colours.
        pivots, queue : array of int32
            Where the pivots of the new partitions are put.
        seen : array of int64
            Set back for each of them.
        """
        device, marks, counters = self._device, self._marks, self._counters.array
        self.rounds += 1
        device.run(_start, size, vertices, salt, self._colours)
        while True:
            self.passes += 1
            device.run(_pull, strips(size), size, vertices, self._colours, marks, *self._transpose, counters)
            found = self._counters.take(FOUND)
            if not found:
                break
            if found * _DENSE <= size + _FEWEST:
                device.run(_collect, strips(size), size, vertices, self._queue, marks, counters)
                self._follow()
        device.run(_divide, strips(size), size, vertices, self._colours, pivots, queue, seen, marks, counters)
        return self._counters.take(QUEUED)

    def _follow(self) -> None:
        """Follow changes until there are none."""
        while items := self._counters.take(QUEUED):
            self.passes += 1
            self._device.run(
                _push, items, 1 + _FEWEST // items, self._queue, self._following, self._colours, self._marks,
                *self._graph, self._counters.array,
            )  # fmt: skip
            self._queue, self._following = self._following, self._queue
