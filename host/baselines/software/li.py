"""The decomposition of Li, Zhu, Cong and Yang (2013): rounds of Partition and of one source for each subgraph.

Subgraphs are numbered by electing one vertex of each, and a prefix sum over the elected ones (section 3.6). The entry
``elected[i]`` of subgraph i is the elected vertex and, once numbered, the negated new number.
"""

import math
from typing import NamedTuple

import numpy as np

from cyscc.host.baselines.algorithms import AS_PRINTED
from cyscc.host.baselines.devices import atomic
from cyscc.host.baselines.devices.primitives import DeviceGraph, OpenList, alone, count_up, hub, prefix_sum, upload
from cyscc.host.baselines.devices.steps import Device, DeviceArray, block_step, device_function, step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError

_MOST = 2**30 - 1
"""Most vertices: subgraph numbers, up to twice as many, are signed 32-bit integers."""
_SPARSE = 4
"""The list is compacted once one in this many of its vertices has a component."""
_FIELDS = 4
"""Words per thread in shared memory for lengths, starts, long lists, and variables of the block."""
_FOUND = 8
"""Capacity of shared memory for vertices found, per thread of a block."""
_RUN = 16
"""Consecutive vertices that a thread trims."""
_FEW = 4
"""Trimming stops after a pass that finds fewer than one in this many of the vertices left."""
_HALVING = math.log(2)
"""Draws for each vertex, with which half of the vertices are drawn."""
_PHASES = 5
_CURSOR, _BASE, _TOTAL, _LONG = range(4)
"""Indices of the variables of the block, which follow 3 words per thread."""


class _Arrays(NamedTuple):
    """The arrays of a run, which most steps take."""

    labels: DeviceArray
    """int32, shape (n,): subgraph number of each vertex; initially 0."""
    increments: DeviceArray
    """int32, shape (2 n + 1,): difference between a subgraph's number and that of the subgraph it was split from."""
    sources: DeviceArray
    """int32, shape (n,): sources of the next search."""
    elected: DeviceArray
    """int32, shape (2 n + 1,): elected vertex, or negated new number, of each subgraph."""
    ranks: DeviceArray
    """int64, shape (2 n + 1,): ranks of the elected vertices."""
    counters: DeviceArray
    """int64, shape (2,): entries of the list under construction, and edges inspected so far."""


def source_count(vertices: int, edges: int) -> int:
    """Return the default number of vertices drawn by Partition, k = min(n / 10, n / d**2) for average degree d (3.4).

    At least one: with the paper's k below 1, Partition would do nothing.
    """
    least = vertices // 10
    return max(1, min(least, vertices**3 // edges**2) if edges else least)


def next_share(drawn: int, reached: int, remaining: int) -> float:
    """Return how many draws for each vertex left should reach half of them in the next Partition, the best share (3.4).

    If each vertex can be reached from a of them, s draws for each leave exp(-s a) of the vertices unreached.

    Parameters
    ----------
    drawn, reached, remaining : int
        Draws of the last Partition, vertices that it reached, and vertices without a component.
    """
    ancestors = -math.log(1 - reached / (remaining + 1)) * remaining / drawn
    return _HALVING / max(1, ancestors)


@device_function
def following(number: int) -> int:
    """Return the next 32-bit number of a linear congruential generator.

    The paper computes it modulo n. If n shares factors with 1664525 = 5 * 5 * 139 * 479, that is not a permutation, and
    all threads soon draw the same few vertices. So numbers keep 32 bits, and are reduced modulo n only to select a
    vertex.
    """
    return (1664525 * number + 1013904223) & 0xFFFFFFFF


@step
def elect_drawn(
    thread: int, numbers: DeviceArray, vertices: DeviceArray, size: int, labels: DeviceArray, elected: DeviceArray
) -> None:
    """Draw a vertex; if it has no component yet, elect it for its subgraph.

    If several threads write, any of them may win: each vertex is a valid choice.
    """
    number = following(numbers[thread])
    numbers[thread] = number
    vertex = vertices[number % size]
    name = labels[vertex]
    if name >= 0:
        elected[name] = vertex


@step
def _elect(thread: int, remaining: DeviceArray, on: _Arrays) -> None:
    """Elect a vertex without a component for its subgraph.

    The last write wins. The race is harmless: each vertex is a valid source, and a write is a single word.
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
    """Queue the vertex that a subgraph elected, and give it the number of the new subgraph."""
    name = names[thread]
    vertex = on.elected[name]
    if vertex >= 0:
        rank = on.ranks[thread]
        new = first + rank
        on.sources[rank] = vertex
        # Indexed by the new number, with which a search looks it up (algorithm 5).
        on.increments[new] = new - name
        on.labels[vertex] = new
        on.elected[name] = -new
        kept[rank] = name
        added[place + rank] = new


@step
def _join(thread: int, numbers: DeviceArray, vertices: DeviceArray, size: int, on: _Arrays, first: int) -> None:
    """Queue a drawn vertex, with the new number of its subgraph's elected vertex.

    A vertex may be drawn twice; only one thread changes its number.
    """
    vertex = vertices[numbers[thread] % size]
    name = on.labels[vertex]
    if 0 <= name < first and atomic.swap(on.labels, vertex, name, -on.elected[name]) == name:
        on.sources[atomic.add(on.counters, 0, 1)] = vertex


@step
def _trim(
    thread: int,
    length: int,
    vertices: DeviceArray,
    forward: DeviceGraph,
    backward: DeviceGraph,
    first: int,
    on: _Arrays,
) -> None:
    """Make each of a few vertices without a predecessor or a successor in its subgraph a component.

    The race is harmless: what another thread takes from the subgraph is not in this vertex's component.
    """
    edges = 0
    for place in range(thread * _RUN, min((thread + 1) * _RUN, length)):
        vertex = vertices[place]
        name = on.labels[vertex]
        if name >= 0:
            single, looked = alone(vertex, name, on.labels, forward)
            edges += looked
            if not single:
                single, looked = alone(vertex, name, on.labels, backward)
                edges += looked
            if single:
                on.labels[vertex] = -(first + atomic.add(on.counters, 0, 1))
    atomic.add(on.counters, 1, edges)


@step
def _negate(thread: int, on: _Arrays) -> None:
    on.labels[on.sources[thread]] = -on.labels[on.sources[thread]]


@device_function
def _claim(vertex: int, old: int, new: int, on: _Arrays, shared: DeviceArray, threads: int, found: DeviceArray) -> None:
    """Move a vertex with the old number into the new subgraph, and queue it.

    Of several threads that reach it at the same time, the atomic claim lets only one queue it.
    """
    if on.labels[vertex] == old and atomic.swap(on.labels, vertex, old, new) == old:
        place = atomic.add(shared, 3 * threads + _CURSOR, 1)
        room = threads * _FOUND
        if place < room:
            shared[len(shared) - room + place] = vertex
        else:
            found[atomic.add(on.counters, 0, 1)] = vertex


@device_function
def _before(label: int, increments: DeviceArray, forward: int) -> int:
    """Return the old number, of the vertices that a search with a subgraph number looks for (algorithm 5)."""
    if forward:
        return label - increments[label]
    return -label


class _Level(NamedTuple):
    """A level of a search, and how its threads read edges."""

    forward: int
    """Whether the search goes along the edges' directions."""
    queue: DeviceArray
    """int32: the vertices to expand."""
    size: int
    """Number of these vertices."""
    found: DeviceArray
    """int32, shape (n,): the vertices of the next level."""
    grain: int
    """Consecutive edges that a thread takes at a time."""


@block_step(words=_FIELDS + _FOUND)
def _expand(
    block: int,
    thread: int,
    threads: int,
    phase: int,
    shared: DeviceArray,
    graph: DeviceGraph,
    on: _Arrays,
    level: _Level,
) -> None:
    """Expand a vertex of a level for each thread of a block.

    All threads of the block share each list of a block's size or longer (coarse-grained). The other lists are
    concatenated: a prefix sum over their lengths gives their starts, and a thread finds its edges by binary search
    (fine-grained; the paper scatters their addresses into shared memory, which would take the square of a block's
    size). A thread takes a grain of edges at a time.
    """
    offsets, targets = graph
    forward, queue, size, found, grain = level
    first = block * threads
    numbers = 3 * threads
    room = threads * _FOUND
    if phase == 0:
        degree = 0
        if first + thread < size:
            vertex = queue[first + thread]
            degree = offsets[vertex + 1] - offsets[vertex]
        shared[thread] = degree
    elif phase == 1:
        if thread == 0:
            total = edges = long = 0
            for member in range(threads):
                edges += shared[member]
                if shared[member] >= threads:
                    shared[2 * threads + long] = member
                    shared[member] = 0
                    long += 1
                shared[threads + member] = total
                total += shared[member]
            shared[numbers + _CURSOR] = 0
            shared[numbers + _TOTAL] = total
            shared[numbers + _LONG] = long
            atomic.add(on.counters, 1, edges)
    elif phase == 2:
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
            # This edge is in the last list that starts at or before it; empty lists start where the next one does.
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
    elif phase == 3:
        if thread == 0:
            shared[numbers + _BASE] = atomic.add(on.counters, 0, min(shared[numbers + _CURSOR], room))
    else:
        for place in range(thread, min(shared[numbers + _CURSOR], room), threads):
            found[shared[numbers + _BASE] + place] = shared[len(shared) - room + place]


class Subgraphs:
    """Subgraph numbers of vertices, the list of numbers in use, and searches within subgraphs.

    A nonnegative number names a subgraph of remaining vertices. A negative one names a component: it is the negated
    number of the subgraph that its source started, which is never 0, because a source gets its new number first.
    Partition divides each existing subgraph at most once, and the election after it takes a component from each of
    them; so there are never more than 1 + 2 * components numbers.

    Parameters
    ----------
    device : Device
        The device.
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
        # Numbers that may still have vertices: prefix sums skip the others.
        self._names, self._other_names = (device.zeros(most, np.int32) for _ in range(2))
        self._named = 1
        self._open = OpenList(device, self.arrays.labels)
        self._queues = [device.zeros(vertices, np.int32) for _ in range(2)]
        # Adjacent threads of a graphics processor should read adjacent words; a core should read consecutive ones.
        self._grain = 64 if device.name == "cpu" else 1

    @property
    def left(self) -> tuple[DeviceArray, int]:
        """A list of vertices that has all those without a component, and its length."""
        return self._open.vertices, self._open.length

    def _number(self, added: DeviceArray | None = None) -> int:
        """Assign numbers to the new subgraphs of the elected vertices; return how many.

        The new numbers are appended to the list in use, or go to another list, after the names of the divided
        subgraphs.
        """
        device, on = self._device, self.arrays
        device.run(_rank, self._named, self._names, on)
        count = prefix_sum(device, on.ranks, self._named)
        added, place = (self._names, self._named) if added is None else (added, count)
        device.run(_number, self._named, self._names, on, self.used, self._other_names, added, place)
        self.used += count
        return count

    def _divide(self) -> int:
        """Assign numbers to new subgraphs, and list them beside what is left of the divided ones; return how many."""
        count = self._number(self._other_names)
        self._names, self._other_names, self._named = self._other_names, self._names, 2 * count
        return count

    def draw(self, numbers: DeviceArray, size: int, vertices: DeviceArray, length: int) -> tuple[int, int]:
        """Start a new subgraph in each subgraph of which a vertex is drawn (Partition).

        Draws `size` vertices from the first `length` of a list; draws of vertices with a component are in vain. Returns
        the number of new subgraphs, and of drawn vertices, which are their sources.
        """
        device, on, first = self._device, self.arrays, self.used
        device.run(elect_drawn, size, numbers, vertices, length, on.labels, on.elected)
        count = self._number()
        self._named += count
        device.store(on.counters, 0, count)
        device.run(_join, size, numbers, vertices, length, on, first)
        return count, device.value(on.counters, 0)

    def select(self) -> int:
        """Start a new subgraph in each subgraph, from one of its vertices (algorithm 4); return how many."""
        self._device.run(_elect, self._open.length, self._open.vertices, self.arrays)
        return self._divide()

    def begin(self, forward: DeviceGraph, backward: DeviceGraph) -> int:
        """Start the first subgraph, from a vertex with the largest product of degrees; return 1."""
        device, on = self._device, self.arrays
        device.store(on.elected, 0, hub(device, forward, backward, on.labels, 0))
        return self._divide()

    def trim(self, forward: DeviceGraph, backward: DeviceGraph) -> int:
        """Make components of vertices without a predecessor or a successor in their subgraph; return how many."""
        device, on = self._device, self.arrays
        device.store(on.counters, 0, 0)
        length, vertices = self._open.length, self._open.vertices
        device.run(_trim, -(-length // _RUN), length, vertices, forward, backward, self.used, on)
        found = device.value(on.counters, 0)
        self.used += found
        self.remaining -= found
        self._compact()
        return found

    def forward(self, graph: DeviceGraph, sources: int) -> int:
        """Search forward from the first `sources` vertices of the queue; return how many vertices it reaches.

        They get the source's number.
        """
        return self._reach(graph, sources, 1)

    def backward(self, transpose: DeviceGraph, sources: int) -> None:
        """Search backward from the first `sources` vertices within their subgraphs, to find their components."""
        device, on = self._device, self.arrays
        device.run(_negate, sources, on)
        self.remaining -= self._reach(transpose, sources, 0)
        self._compact()

    def _compact(self) -> None:
        """Rebuild the list of remaining vertices if many got a component."""
        if self.remaining * _SPARSE <= self._open.length * (_SPARSE - 1):
            self._open.compact()

    def _reach(self, graph: DeviceGraph, sources: int, forward: int) -> int:
        """Search level by level; return the number of vertices reached."""
        device, on = self._device, self.arrays
        queue, size, reached = on.sources, sources, 0
        while size:
            found = self._queues[self.levels % 2]
            device.store(on.counters, 0, 0)
            level = _Level(forward, queue, size, found, self._grain)
            device.run_blocks(_expand, size, _PHASES, graph, on, level)
            reached += size
            size = device.value(on.counters, 0)
            queue = found
            self.levels += 1
        return reached


class _Run:
    """A run: the graph, its subgraphs, the random numbers of Partition, and counts.

    Parameters
    ----------
    device : Device
        The device.
    forward, backward : DeviceGraph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs.
    """

    def __init__(self, device: Device, forward: DeviceGraph, backward: DeviceGraph, setting: SoftwareSetting) -> None:
        self._device = device
        self._forward, self._backward = forward, backward
        self._setting = setting
        self._vertices = len(forward.offsets) - 1
        self._sources: int | None = setting.options.get("sources")
        self._depth = self._queries = self._trims = 0
        self.subgraphs = Subgraphs(device, self._vertices)

    def as_printed(self, drawn: int) -> None:
        """Run the published scheme, in which Partition draws a number of vertices of the whole graph by default."""
        device, subgraphs = self._device, self.subgraphs
        # At most as many draws as vertices.
        drawn = min(self._vertices, drawn if self._sources is None else self._sources)
        numbers = self._numbers(drawn)
        everything = device.zeros(self._vertices, np.int32)
        device.run(count_up, self._vertices, everything)
        while subgraphs.remaining:
            if drawn:
                self._partition(numbers, drawn, everything, self._vertices)
            self._search(subgraphs.select())

    def with_additions(self) -> None:
        """Trim, and begin with the vertex of the largest degrees; then draw from the vertices that are left."""
        subgraphs = self.subgraphs
        if self._trim():
            self._search(subgraphs.begin(self._forward, self._backward))
        share = _HALVING
        most = self._drawn(share)
        numbers = self._numbers(most)
        while self._trim():
            drawn = min(most, self._drawn(share))
            if drawn:
                reached = self._partition(numbers, drawn, *subgraphs.left)
                share = next_share(drawn, reached, subgraphs.remaining)
            self._search(subgraphs.select())

    def counts(self) -> dict[str, int]:
        """Return the counts of the run."""
        return {
            "depth": self._depth,
            "queries": self._queries,
            "edges": self._device.value(self.subgraphs.arrays.counters, 1),
            "passes": self.subgraphs.levels + self._depth + self._trims,
            "subgraphs": self.subgraphs.used,
        }

    def _numbers(self, count: int) -> DeviceArray:
        """Return random numbers; the paper has one for each vertex, of which only the first k select sources."""
        return self._device.array(np.random.default_rng(self._setting.seed).integers(0, 1 << 32, count))

    def _drawn(self, share: float) -> int:
        """Return how many vertices Partition draws, at least one unless the option says none."""
        remaining = self.subgraphs.remaining
        return min(remaining, max(1, int(share * remaining)) if self._sources is None else self._sources)

    def _partition(self, numbers: DeviceArray, drawn: int, vertices: DeviceArray, length: int) -> int:
        """Divide subgraphs by what drawn vertices reach; return how many vertices they reach."""
        divided, sources = self.subgraphs.draw(numbers, drawn, vertices, length)
        self._depth += 1
        self._queries += divided
        return self.subgraphs.forward(self._forward, sources)

    def _search(self, sources: int) -> None:
        """Find the components of single sources."""
        self.subgraphs.forward(self._forward, sources)
        self.subgraphs.backward(self._backward, sources)
        self._depth += 1
        self._queries += 2 * sources
        self._setting.watch(self._vertices - self.subgraphs.remaining, self._vertices)

    def _trim(self) -> int:
        """Trim until a pass finds few vertices; return how many vertices are left."""
        subgraphs = self.subgraphs
        found = before = subgraphs.remaining
        while found and found * _FEW >= before:
            before = subgraphs.remaining
            found = subgraphs.trim(self._forward, self._backward)
            self._trims += 1
        return subgraphs.remaining


def li(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Find the components of a graph after Li, Zhu, Cong and Yang (Journal of Systems Architecture, 2013, algorithm 2).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs. The option ``sources`` is the paper's k, the vertices that Partition draws; 0 disables Partition.
        With ``as-printed``, the paper's scheme runs without additions.

    Returns
    -------
    Decomposition
        Counts: ``depth``, where each Partition and each step with single sources adds one level; ``queries``, searches
        in a subgraph, one for each that Partition divides and two for each source; ``edges``; ``passes``, levels of
        searches, elections, and trims; ``subgraphs``, numbers assigned.

    Raises
    ------
    InputError
        The graph is too large.
    """
    vertices = graph.vertices
    if vertices > _MOST:
        raise InputError(f"li takes at most {_MOST} vertices, not {vertices}")
    device = setting.device
    run = _Run(device, upload(device, graph), upload(device, transpose), setting)
    if setting.options.get(AS_PRINTED):
        run.as_printed(source_count(vertices, graph.edges))
    else:
        run.with_additions()
    return Decomposition(
        labels=device.read(run.subgraphs.arrays.labels).astype(np.int64),
        counts=run.counts(),
    )
