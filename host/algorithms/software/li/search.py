"""Searches within subgraphs, level by level through two queues: algorithm 3, with the labels of algorithm 5."""

from typing import Any

import numpy as np

from host.algorithms.software.li.numbering import Numbering
from host.devices import Device, DeviceArray, atomic_add, atomic_swap, block_step, device_function
from host.devices.graphs import DeviceGraph

__all__ = ["Searches"]

_SUMMED = 16
"""Lists whose lengths one thread adds up."""
_FIELDS = 5
"""Words that a thread has of what follows in shared memory: lengths, starts, long lists, and numbers of the block."""
_FOUND = 8
"""Vertices found that shared memory has room for, for each thread of a block."""
_PHASES = 7

# Numbers of the block, behind 3 words a thread.
_CURSOR, _BASE, _TOTAL, _LONG, _SUMS = range(5)


@device_function
def _claim(
    vertex: int, old: int, new: int, labels: Any, shared: Any, cursor: int, room: int, found: Any, counters: Any
) -> None:
    """Take a vertex that has the old number into the new subgraph, and put it into the queue.

    Threads that meet it at a time would all write the same number; the claim lets one of them queue it.
    """
    if labels[vertex] == old and atomic_swap(labels, vertex, old, new) == old:
        place = atomic_add(shared, cursor, 1)
        if place < room:
            shared[len(shared) - room + place] = vertex
        else:
            found[atomic_add(counters, 0, 1)] = vertex


@device_function
def _before(label: int, increments: Any, forward: int) -> int:
    """Return the number of the vertices that a search in the subgraph of a number looks for (algorithm 5)."""
    if forward:
        return label - increments[label]
    return -label


@block_step(words=_FIELDS + _FOUND)
def _expand(
    block: int,
    thread: int,
    threads: int,
    phase: int,
    shared: Any,
    offsets: Any,
    targets: Any,
    labels: Any,
    increments: Any,
    forward: int,
    queue: Any,
    size: int,
    found: Any,
    counters: Any,
    grain: int,
) -> None:
    """Expand a vertex of a level for each thread of a block.

    Lists of a block's size or longer are shared out one by one (coarse-grained). The others are put behind each other:
    a prefix sum over their lengths says where each begins, and a thread looks its edges up in it (fine-grained; the
    text scatters their addresses into shared memory, which would need room for a block's size squared). A thread takes
    a grain of edges at a time.
    """
    first = block * threads
    numbers = 3 * threads
    if phase == 0:
        degree = 0
        if first + thread < size:
            vertex = queue[first + thread]
            degree = offsets[vertex + 1] - offsets[vertex]
        shared[thread] = degree
        if thread == 0:
            shared[numbers + _CURSOR] = 0
            shared[numbers + _LONG] = 0
    elif phase == 1:
        if thread * _SUMMED < threads:
            total = 0
            for member in range(thread * _SUMMED, min((thread + 1) * _SUMMED, threads)):
                if shared[member] >= threads:
                    shared[2 * threads + atomic_add(shared, numbers + _LONG, 1)] = member
                    shared[member] = 0
                shared[threads + member] = total
                total += shared[member]
            shared[numbers + _SUMS + thread] = total
    elif phase == 2:
        if thread == 0:
            total = 0
            for run in range(-(-threads // _SUMMED)):
                own = shared[numbers + _SUMS + run]
                shared[numbers + _SUMS + run] = total
                total += own
            shared[numbers + _TOTAL] = total
    elif phase == 3:
        shared[threads + thread] += shared[numbers + _SUMS + thread // _SUMMED]
    elif phase == 4:
        room = threads * _FOUND
        cursor = numbers + _CURSOR
        for place in range(shared[numbers + _LONG]):
            vertex = queue[first + shared[2 * threads + place]]
            new = labels[vertex]
            old = _before(new, increments, forward)
            last = offsets[vertex + 1]
            for begin in range(offsets[vertex] + thread * grain, last, threads * grain):
                for edge in range(begin, min(begin + grain, last)):
                    _claim(targets[edge], old, new, labels, shared, cursor, room, found, counters)
        total = shared[numbers + _TOTAL]
        for begin in range(thread * grain, total, threads * grain):
            # The last list that begins here or before is the one with this edge: empty ones begin where the next does.
            member, beyond = 0, threads
            while beyond - member > 1:
                middle = (member + beyond) // 2
                if shared[threads + middle] <= begin:
                    member = middle
                else:
                    beyond = middle
            edge = begin
            last = min(begin + grain, total)
            while edge < last:
                start = shared[threads + member]
                end = min(last, start + shared[member])
                if edge < end:
                    vertex = queue[first + member]
                    new = labels[vertex]
                    old = _before(new, increments, forward)
                    away = offsets[vertex] - start
                    while edge < end:
                        _claim(targets[away + edge], old, new, labels, shared, cursor, room, found, counters)
                        edge += 1
                member += 1
    elif phase == 5:
        if thread == 0:
            shared[numbers + _BASE] = atomic_add(counters, 0, min(shared[numbers + _CURSOR], threads * _FOUND))
            edges = shared[numbers + _TOTAL]
            for place in range(shared[numbers + _LONG]):
                vertex = queue[first + shared[2 * threads + place]]
                edges += offsets[vertex + 1] - offsets[vertex]
            atomic_add(counters, 1, edges)
    else:
        room = threads * _FOUND
        base = shared[numbers + _BASE]
        for place in range(thread, min(shared[numbers + _CURSOR], room), threads):
            found[base + place] = shared[len(shared) - room + place]


class Searches:
    """Searches from the sources of a numbering.

    Parameters
    ----------
    device : Device
        Where they run.
    numbering : Numbering
        The numbers of subgraphs, which they change.
    vertices : int
        Vertices of the graph.

    Attributes
    ----------
    levels : int
        Levels so far.
    """

    def __init__(self, device: Device, numbering: Numbering, vertices: int) -> None:
        self._device = device
        self._numbering = numbering
        self._queues = tuple(device.zeros(vertices, np.int32) for _ in range(2))
        self._counters = device.zeros(2)
        # Threads of a graphics processor read side by side what stands side by side; a core reads on.
        self._grain = 64 if device.name == "cpu" else 1
        self.levels = 0

    @property
    def edges(self) -> int:
        """Edges looked at so far."""
        return self._device.value(self._counters, 1)

    def forward(self, graph: DeviceGraph, sources: int) -> None:
        """Search what the first sources reach, which gets their numbers."""
        self._reach(graph, sources, 1)

    def backward(self, transpose: DeviceGraph, sources: int) -> int:
        """Search, for the first sources, what reaches them in their subgraphs, and make it their components.

        Returns
        -------
        int
            How many vertices got a component.
        """
        self._numbering.negate(sources)
        return self._reach(transpose, sources, 0)

    def _reach(self, graph: DeviceGraph, sources: int, forward: int) -> int:
        """Search level by level; return how many vertices were reached."""
        device, numbering = self._device, self._numbering
        queue: DeviceArray = numbering.sources
        size, reached, turn = sources, 0, 0
        while size:
            found = self._queues[turn]
            device.store(self._counters, 0, 0)
            device.run_blocks(
                _expand,
                device.blocks_of(size),
                _PHASES,
                *graph,
                numbering.labels,
                numbering.increments,
                forward,
                queue,
                size,
                found,
                self._counters,
                self._grain,
            )
            reached += size
            size = device.value(self._counters, 0)
            queue, turn = found, 1 - turn
            self.levels += 1
        return reached
