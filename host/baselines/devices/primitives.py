"""Graphs in device memory, and shared building blocks: lists of vertices, hubs, union-find, prefix sums."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from cyscc.host.baselines.devices import atomic
from cyscc.host.baselines.devices.steps import Device, DeviceArray, block_step, device_function, step
from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError

_MOST = 2**31 - 1
"""Most vertices and edges: steps count in signed 32-bit integers."""
_MASK = (1 << 32) - 1


class DeviceGraph(NamedTuple):
    """A graph in compressed sparse row form on a device."""

    offsets: DeviceArray
    """int64, shape (n + 1,): the neighbours of vertex v are ``targets[offsets[v]:offsets[v + 1]]``."""
    targets: DeviceArray
    """int32, shape (m,): neighbour ids."""


def upload(device: Device, graph: Graph) -> DeviceGraph:
    """Copy a graph to a device; the processor uses the arrays without a copy.

    Raises
    ------
    InputError
        The graph has more than 2**31 - 1 vertices or edges.
    """
    if max(graph.vertices, graph.edges) > _MOST:
        raise InputError(f"algorithms made of steps take at most {_MOST} vertices and edges")
    return DeviceGraph(device.array(graph.offsets), device.array(graph.targets.view(np.int32)))


@step
def fill(thread: int, array: Any, value: int) -> None:
    """Set each element of an array to a value."""
    array[thread] = value


@step
def _copy(place: int, values: Any, copies: Any) -> None:
    copies[place] = values[place]


def copied(device: Device, values: DeviceArray, dtype: DTypeLike) -> DeviceArray:
    """Return a copy of an array, in integers of another size."""
    copies = device.zeros(values.size, dtype)
    device.run(_copy, values.size, values, copies)
    return copies


_RUN = 16
"""Consecutive elements that a thread sums by itself."""


@step
def count_up(thread: int, array: Any) -> None:
    """Set each element of an array to its index."""
    array[thread] = thread


@step
def _keep_open(thread: int, length: int, vertices: Any, labels: Any, counter: Any, kept: Any) -> None:
    """Copy the open vertices of a part of a list to another one."""
    count = 0
    last = min((thread + 1) * _RUN, length)
    for place in range(thread * _RUN, last):
        count += labels[vertices[place]] >= 0
    if count > 0:
        free = atomic.add(counter, 0, count)
        for place in range(thread * _RUN, last):
            vertex = vertices[place]
            if labels[vertex] >= 0:
                kept[free] = vertex
                free += 1


class OpenList:
    """List of the vertices that have no component, from which those that have one are dropped now and then.

    Parameters
    ----------
    device : Device
        The device.
    labels : array of integers, shape (n,)
        The label of each vertex, negative for one that has a component.

    Attributes
    ----------
    vertices : array of int32, shape (n,)
        The list; at first all vertices.
    length : int
        Number of its entries.
    spare : array of int32, shape (n,)
        Where the next list is made; free until then.
    """

    def __init__(self, device: Device, labels: DeviceArray) -> None:
        self._device, self._labels = device, labels
        self._counter = device.zeros(1)
        self.length = labels.size
        self.vertices, self.spare = (device.zeros(self.length, np.int32) for _ in range(2))
        device.run(count_up, self.length, self.vertices)

    def compact(self) -> int:
        """Drop the vertices that have a component; return how many."""
        device, before = self._device, self.length
        device.store(self._counter, 0, 0)
        threads = -(-before // _RUN)
        device.run(_keep_open, threads, before, self.vertices, self._labels, self._counter, self.spare)
        self.vertices, self.spare = self.spare, self.vertices
        self.length = device.value(self._counter, 0)
        return before - self.length


@device_function
def _weight(vertex: int, graph: DeviceGraph, transpose: DeviceGraph) -> Any:
    """Return the product of a vertex's degrees."""
    after, before = graph.offsets, transpose.offsets
    return (after[vertex + 1] - after[vertex]) * (before[vertex + 1] - before[vertex])


@step
def _weigh(
    thread: int, size: int, graph: DeviceGraph, transpose: DeviceGraph, labels: Any, label: int, best: Any
) -> None:
    """Raise ``best[0]`` to the largest weight of some consecutive vertices with a label."""
    weight = -1
    for vertex in range(thread * _RUN, min((thread + 1) * _RUN, size)):
        if labels[vertex] == label:
            weight = max(weight, _weight(vertex, graph, transpose))
    if weight > best[0]:
        atomic.maximum(best, 0, weight)


@step
def _choose(vertex: int, graph: DeviceGraph, transpose: DeviceGraph, labels: Any, label: int, best: Any) -> None:
    """Lower ``best[1]`` to a vertex with the label whose weight is ``best[0]``."""
    if labels[vertex] == label and _weight(vertex, graph, transpose) == best[0]:
        atomic.minimum(best, 1, vertex)


def hub(device: Device, graph: DeviceGraph, transpose: DeviceGraph, labels: DeviceArray, label: int) -> int:
    """Return the first vertex with the largest product of degrees among those with a label, or -1 without any.

    Parameters
    ----------
    device : Device
        The device.
    graph, transpose : DeviceGraph
        The graph and its transpose.
    labels : array of integers
        The label of each vertex.
    label : int
        The label.
    """
    size = graph.offsets.size - 1
    best = device.full(2, -1, np.int64)
    device.store(best, 1, size)
    device.run(_weigh, -(-size // _RUN), size, graph, transpose, labels, label, best)
    device.run(_choose, size, graph, transpose, labels, label, best)
    found = device.value(best, 1)
    return found if found < size else -1


@device_function
def alone(vertex: int, label: int, labels: Any, graph: DeviceGraph) -> tuple[bool, int]:
    """Return whether a vertex has no neighbour with a label beside itself, and the number of edges inspected."""
    first = graph.offsets[vertex]
    last = graph.offsets[vertex + 1]
    for edge in range(first, last):
        target = graph.targets[edge]
        if labels[target] == label and target != vertex:
            return False, edge + 1 - first
    return True, last - first


@step
def plant(place: int, vertices: Any, parents: Any) -> None:
    """Make a vertex of a list a tree of its own."""
    parents[vertices[place]] = vertices[place]


@device_function
def root(vertex: int, parents: Any) -> int:
    """Return the root of a vertex's tree, with path halving.

    A parent is only replaced by an ancestor, and a root's parent never, so concurrent threads do not interfere.
    """
    parent = int(parents[vertex])
    while parent != vertex:
        grandparent = int(parents[parent])
        if grandparent != parent:
            parents[vertex] = grandparent
        vertex = parent
        parent = grandparent
    return vertex


@device_function
def priority(vertex: int, salt: int) -> int:
    """Return the random priority of a vertex, unique and below 2**32.

    Each line is a bijection of 32-bit numbers, and no product exceeds 63 bits.
    """
    mixed = (int(vertex) ^ salt) & _MASK
    mixed = ((mixed ^ (mixed >> 16)) * 0x2C1B3C6D) & _MASK
    mixed = ((mixed ^ (mixed >> 12)) * 0x297A2D39) & _MASK
    return mixed ^ (mixed >> 15)


@device_function
def unite(here: int, there: int, parents: Any, salt: int) -> int:
    """Join the trees of two vertices, of which the root of lowest `priority` remains; return a root of the first one.

    Threads may join the same trees at a time.
    """
    here = root(here, parents)
    there = root(there, parents)
    while here != there:
        if priority(here, salt) > priority(there, salt):
            here, there = there, here
        # The other root has become a child meanwhile: continue from its parent.
        parent = atomic.swap(parents, there, there, here)
        there = here if parent == there else root(parent, parents)
    return here


@block_step(words=2)
def _sum_tiles(
    block: int, thread: int, threads: int, phase: int, shared: Any, phases: int, values: Any, size: int, totals: Any
) -> None:
    """Replace each tile of an array by its exclusive prefix sums, and store its total.

    Each thread sums a run of elements. The sums of the runs are then scanned in shared memory with doubling strides
    (Hillis and Steele), alternating between its two halves.
    """
    first = (block * threads + thread) * _RUN
    last = min(first + _RUN, size)
    source = (phase - 1) % 2 * threads
    if phase == 0:
        total = 0
        for place in range(first, last):
            total += values[place]
        shared[thread] = total
    elif phase < phases - 1:
        total = shared[source + thread]
        distance = 1 << (phase - 1)
        if thread >= distance:
            total += shared[source + thread - distance]
        shared[threads - source + thread] = total
    else:
        before = shared[source + thread - 1] if thread > 0 else 0
        for place in range(first, last):
            value = values[place]
            values[place] = before
            before += value
        if thread == threads - 1:
            totals[block] = before


@step
def _add_tiles(thread: int, values: Any, sums: Any, tile: int) -> None:
    values[thread] += sums[thread // tile]


def prefix_sum(device: Device, values: DeviceArray, size: int) -> int:
    """Replace the first elements of an array by their exclusive prefix sums, in place.

    Parameters
    ----------
    device : Device
        The device.
    values : array of int64
        Nonnegative integers.
    size : int
        Number of elements.

    Returns
    -------
    int
        The sum of all, below 2**31.
    """
    if size == 0:
        return 0
    threads = -(-size // _RUN)
    block = device.block_for(threads)
    tiles = -(-threads // block)
    totals = device.zeros(tiles)
    phases = 2 + (block - 1).bit_length()
    device.run_blocks(_sum_tiles, threads, phases, phases, values, size, totals)
    if tiles == 1:
        return device.value(totals, 0)
    total = prefix_sum(device, totals, tiles)
    device.run(_add_tiles, size, values, totals, block * _RUN)
    return total
