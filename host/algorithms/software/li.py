"""The decomposition of Li, Zhu, Cong and Yang (2013): Partition, then a source for each subgraph, again and again.

Subgraphs have numbers: one vertex of each is elected, a prefix sum over those elected gives new numbers (section 3.6).
What is elected for subgraph i stands in ``elected[i]``: the vertex until it is numbered, then the new number, negated.
"""

from typing import NamedTuple

import numpy as np

from host.algorithms.software.decomposition import Decomposition, Setting
from host.devices.primitives import DeviceGraph, count_up, keep_open, prefix_sum, upload
from host.devices.steps import Device, DeviceArray, atomic_add, atomic_swap, block_step, device_function, step
from host.errors import InputError
from host.graph.csr import Graph

__all__ = ["Subgraphs", "elect_drawn", "following", "li", "source_count"]

_MOST = 2**30 - 1
"""Vertices: numbers of subgraphs, up to twice as many, are 32-bit integers with a sign."""
_SPARSE = 4
"""When one part of so many of the listed vertices has a component, the others are listed anew."""
_SUMMED = 16
"""Lists whose lengths one thread adds up."""
_FIELDS = 5
"""Words that a thread has of what follows in shared memory: lengths, starts, long lists, and numbers of the block."""
_FOUND = 8
"""Vertices found that shared memory has room for, for each thread of a block."""
_PHASES = 7
_CURSOR, _BASE, _TOTAL, _LONG, _SUMS = range(5)
"""Numbers of the block, behind 3 words a thread."""


class _Arrays(NamedTuple):
    """The arrays of a run, which most steps take."""

    labels: DeviceArray
    """int32, shape (n,): each vertex's number; in the beginning all are of subgraph 0."""
    increments: DeviceArray
    """int32, shape (2 n + 1,): how much larger a subgraph's number is than that of the one it was taken from."""
    sources: DeviceArray
    """int32, shape (n,): the vertices that the next search begins with."""
    elected: DeviceArray
    """int32, shape (2 n + 1,): what is elected for each subgraph."""
    ranks: DeviceArray
    """int64, shape (2 n + 1,): ranks of those elected."""
    counters: DeviceArray
    """int64, shape (2,): entries of a list that is made, and edges looked at so far."""


def source_count(vertices: int, edges: int) -> int:
    """Return how many vertices Partition draws by default, k = min(n / 10, n / d**2) of the average degree d (3.4).

    At least one: where the text's k is below, Partition would do nothing.
    """
    least = vertices // 10
    return max(1, min(least, vertices**3 // edges**2) if edges else least)


@device_function
def following(number: int) -> int:
    """Return the number that follows one of 32 bits.

    The text takes it modulo n. Where n shares factors with 1664525 = 5 * 5 * 139 * 479, that is no permutation, and all
    threads soon draw the same few vertices. So numbers keep 32 bits, and are reduced where they name a vertex.
    """
    return (1664525 * number + 1013904223) & 0xFFFFFFFF


@step
def elect_drawn(thread: int, numbers: DeviceArray, labels: DeviceArray, elected: DeviceArray) -> None:
    """Draw a vertex; if it has no component yet, let it stand for its subgraph.

    Of several vertices that write, any may be the last one: each is as good to number the subgraph by.
    """
    number = following(numbers[thread])
    numbers[thread] = number
    vertex = number % labels.size
    name = labels[vertex]
    if name >= 0:
        elected[name] = vertex


@step
def _elect(thread: int, remaining: DeviceArray, on: _Arrays) -> None:
    """Let a vertex without a component stand for its subgraph.

    The last one that writes wins. Each is a rightful source, and what is written is one word, so the race is harmless.
    """
    vertex = remaining[thread]
    name = on.labels[vertex]
    if name >= 0:
        on.elected[name] = vertex


@step
def _rank(thread: int, names: DeviceArray, on: _Arrays) -> None:
    on.ranks[thread] = 1 if on.elected[names[thread]] >= 0 else 0


@step
def _number(
    thread: int, names: DeviceArray, on: _Arrays, first: int, kept: DeviceArray, added: DeviceArray, place: int
) -> None:
    """Put the vertex that a subgraph elected into the queue, with the number of the subgraph that it begins."""
    name = names[thread]
    vertex = on.elected[name]
    if vertex >= 0:
        rank = on.ranks[thread]
        new = first + rank
        on.sources[rank] = vertex
        # By the new number, by which a search asks for it (algorithm 5).
        on.increments[new] = new - name
        on.labels[vertex] = new
        on.elected[name] = -new
        kept[rank] = name
        added[place + rank] = new


@step
def _join(thread: int, numbers: DeviceArray, on: _Arrays, first: int) -> None:
    """Put a vertex that was drawn into the queue, with the number that its subgraph's elected one got.

    A vertex may be drawn twice; only one thread changes its number.
    """
    vertex = numbers[thread] % on.labels.size
    name = on.labels[vertex]
    if 0 <= name < first and atomic_swap(on.labels, vertex, name, -on.elected[name]) == name:
        on.sources[atomic_add(on.counters, 0, 1)] = vertex


@step
def _negate(thread: int, on: _Arrays) -> None:
    on.labels[on.sources[thread]] = -on.labels[on.sources[thread]]


@device_function
def _claim(vertex: int, old: int, new: int, on: _Arrays, shared: DeviceArray, threads: int, found: DeviceArray) -> None:
    """Take a vertex that has the old number into the new subgraph, and put it into the queue.

    Threads that meet it at a time would all write the same number; the claim lets one of them queue it.
    """
    if on.labels[vertex] == old and atomic_swap(on.labels, vertex, old, new) == old:
        place = atomic_add(shared, 3 * threads + _CURSOR, 1)
        room = threads * _FOUND
        if place < room:
            shared[len(shared) - room + place] = vertex
        else:
            found[atomic_add(on.counters, 0, 1)] = vertex


@device_function
def _before(label: int, increments: DeviceArray, forward: int) -> int:
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
    shared: DeviceArray,
    graph: DeviceGraph,
    on: _Arrays,
    forward: int,
    queue: DeviceArray,
    size: int,
    found: DeviceArray,
    grain: int,
) -> None:
    """Expand a vertex of a level for each thread of a block.

    Lists of a block's size or longer are shared out one by one (coarse-grained). The others are put behind each other:
    a prefix sum over their lengths says where each begins, and a thread looks its edges up in it (fine-grained; the
    text scatters their addresses into shared memory, which would need room for a block's size squared). A thread takes
    a grain of edges at a time.
    """
    offsets, targets = graph
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
        for place in range(shared[numbers + _LONG]):
            vertex = queue[first + shared[2 * threads + place]]
            new = on.labels[vertex]
            old = _before(new, on.increments, forward)
            last = offsets[vertex + 1]
            for begin in range(offsets[vertex] + thread * grain, last, threads * grain):
                for edge in range(begin, min(begin + grain, last)):
                    _claim(targets[edge], old, new, on, shared, threads, found)
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
                    new = on.labels[vertex]
                    old = _before(new, on.increments, forward)
                    away = offsets[vertex] - start
                    while edge < end:
                        _claim(targets[away + edge], old, new, on, shared, threads, found)
                        edge += 1
                member += 1
    elif phase == 5:
        if thread == 0:
            shared[numbers + _BASE] = atomic_add(on.counters, 0, min(shared[numbers + _CURSOR], threads * _FOUND))
            edges = shared[numbers + _TOTAL]
            for place in range(shared[numbers + _LONG]):
                vertex = queue[first + shared[2 * threads + place]]
                edges += offsets[vertex + 1] - offsets[vertex]
            atomic_add(on.counters, 1, edges)
    else:
        room = threads * _FOUND
        base = shared[numbers + _BASE]
        for place in range(thread, min(shared[numbers + _CURSOR], room), threads):
            found[base + place] = shared[len(shared) - room + place]


class Subgraphs:
    """The numbers of subgraphs, of each vertex and those that are in use, and the searches within them.

    A number from 0 on names a subgraph of vertices that remain; one below 0 is a component, the number of the subgraph
    that its source began, negated. That one is never 0: a source has its new number before it is negated. Partition
    divides no more subgraphs than there are, each of which the election after it takes a component from; so there are
    never more numbers than 1 + 2 * components.

    Parameters
    ----------
    device : Device
        Where they are.
    vertices : int
        Vertices of the graph, n.

    Attributes
    ----------
    arrays : tuple of arrays
        The arrays.
    used : int
        Numbers given so far (``max_subgraph`` of the text).
    remaining : int
        Vertices without a component.
    levels : int
        Levels of searches so far.
    """

    def __init__(self, device: Device, vertices: int) -> None:
        self._device = device
        most = 2 * vertices + 1
        self.arrays = _Arrays(
            labels=device.zeros(vertices, np.int32),
            increments=device.zeros(most, np.int32),
            sources=device.zeros(vertices, np.int32),
            elected=device.full(most, -1, np.int32),
            ranks=device.zeros(most),
            counters=device.zeros(2),
        )
        self.used = 1
        self.remaining = vertices
        self.levels = 0
        # Those that may have vertices: a prefix sum goes over them alone, not over all that were ever given.
        self._names, self._other_names = (device.zeros(most, np.int32) for _ in range(2))
        self._named = 1
        self._listed = vertices
        self._list, self._other_list, *self._queues = (device.zeros(vertices, np.int32) for _ in range(4))
        # Threads of a graphics processor read side by side what stands side by side; a core reads on.
        self._grain = 64 if device.name == "cpu" else 1
        device.run(count_up, vertices, self._list)

    def _number(self, added: DeviceArray | None = None) -> int:
        """Give numbers to what the elected vertices begin; return how many.

        The new numbers are put behind those in use, or into another list, behind the names of the subgraphs divided.
        """
        device, on = self._device, self.arrays
        device.run(_rank, self._named, self._names, on)
        count = prefix_sum(device, on.ranks, self._named)
        added, place = (self._names, self._named) if added is None else (added, count)
        device.run(_number, self._named, self._names, on, self.used, self._other_names, added, place)
        self.used += count
        return count

    def draw(self, numbers: DeviceArray, size: int) -> tuple[int, int]:
        """Begin a new subgraph in each one of which a vertex is drawn (Partition).

        Returns how many begin, and how many vertices they begin with, those that were drawn.
        """
        device, on, first = self._device, self.arrays, self.used
        device.run(elect_drawn, size, numbers, on.labels, on.elected)
        count = self._number()
        self._named += count
        device.store(on.counters, 0, count)
        device.run(_join, size, numbers, on, first)
        return count, device.value(on.counters, 0)

    def select(self) -> int:
        """Begin a new subgraph in each one with one of its vertices (algorithm 4); return how many."""
        self._device.run(_elect, self._listed, self._list, self.arrays)
        count = self._number(self._other_names)
        self._names, self._other_names, self._named = self._other_names, self._names, 2 * count
        return count

    def forward(self, graph: DeviceGraph, sources: int) -> None:
        """Search what the first sources reach, which gets their numbers."""
        self._reach(graph, sources, 1)

    def backward(self, transpose: DeviceGraph, sources: int) -> None:
        """Search, for the first sources, what reaches them in their subgraphs, and make it their components.

        When those are many, the vertices that remain are listed anew.
        """
        device, on = self._device, self.arrays
        device.run(_negate, sources, on)
        self.remaining -= self._reach(transpose, sources, 0)
        if self.remaining * _SPARSE <= self._listed * (_SPARSE - 1):
            device.store(on.counters, 0, 0)
            keep_open(device, self._listed, self._list, on.labels, on.counters, self._other_list)
            self._list, self._other_list, self._listed = self._other_list, self._list, self.remaining

    def _reach(self, graph: DeviceGraph, sources: int, forward: int) -> int:
        """Search level by level; return how many vertices were reached."""
        device, on = self._device, self.arrays
        queue, size, reached = on.sources, sources, 0
        while size:
            found = self._queues[self.levels % 2]
            device.store(on.counters, 0, 0)
            blocks = device.blocks_of(size)
            device.run_blocks(_expand, blocks, _PHASES, graph, on, forward, queue, size, found, self._grain)
            reached += size
            size = device.value(on.counters, 0)
            queue = found
            self.levels += 1
        return reached


def li(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Find the components of a graph as Li, Zhu, Cong and Yang do (Journal of Systems Architecture, 2013, algorithm 2).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs. Its option ``sources`` is the text's k, the vertices that Partition draws; with 0 there is none.

    Returns
    -------
    Decomposition
        Counts: ``depth``, Partition and single sources a level each; ``queries``, searches of a subgraph, one for each
        that Partition divides and two for each source; ``edges``; ``passes``, levels of searches and elections;
        ``subgraphs``, numbers given.

    Raises
    ------
    InputError
        The graph is too large.
    """
    vertices = graph.vertices
    if vertices > _MOST:
        raise InputError(f"li takes at most {_MOST} vertices, not {vertices}")
    device = setting.device
    forward, backward = upload(device, graph), upload(device, transpose)
    subgraphs = Subgraphs(device, vertices)
    # Nobody draws more vertices than there are.
    drawn = min(vertices, setting.options.get("sources", source_count(vertices, graph.edges)))
    # The text has a number for each vertex; those beyond the first k name no source, and are left out.
    numbers = device.array(np.random.default_rng(setting.seed).integers(0, 1 << 32, drawn))
    depth = queries = 0
    while subgraphs.remaining:
        if drawn:
            divided, sources = subgraphs.draw(numbers, drawn)
            subgraphs.forward(forward, sources)
            depth += 1
            queries += divided
        sources = subgraphs.select()
        subgraphs.forward(forward, sources)
        subgraphs.backward(backward, sources)
        depth += 1
        queries += 2 * sources
        setting.watch(vertices - subgraphs.remaining, vertices)
    return Decomposition(
        labels=device.read(subgraphs.arrays.labels).astype(np.int64),
        counts={
            "depth": depth,
            "queries": queries,
            "edges": device.value(subgraphs.arrays.counters, 1),
            "passes": subgraphs.levels + depth,
            "subgraphs": subgraphs.used,
        },
    )
