"""The multi-partition method: forward search from a pivot, backward search from it and a vice pivot, all at once.

The mark of a vertex is its partition with reachability flags, or its component. In each round, the weakly connected
components of a partition become partitions of their own, each with a pivot. A union-find forest finds them: trees are
joined along every edge by one atomic operation (as Jaiganesh and Burtscher 2018 do on graphics processors), so that one
launch suffices for any diameter. Of two roots, the one with the higher priority becomes the child, so that the root
of a component is a random vertex, independent of the order of threads.

The vice pivot of a partition is a vertex that its pivot does not reach. It is thus in another component, and no vertex
that the pivot reaches can reach it. Its backward search covers the part that the pivot's forward search did not, and
divides that part.

Searches run in all partitions at once: from work lists while few vertices are found, by sweeps while many are. Only
reachability matters, not distance. So a thread may follow a path within one launch, and a sweep may build on its own
findings.

If pivots reach little of their partitions, however they are chosen, there would be as many rounds as components that
do not reach each other. Colouring avoids this: every vertex is a pivot at once, and gets the highest number that
reaches it. (Orzan 2004 finds components by colouring alone.)

Trimming finds components of one vertex, and of two vertices that are each other's only neighbours on one side (2-SCC).
An edge is dead if it leads to another partition, to a vertex with a component, or back to its own vertex. Partitions
are only ever divided, so a dead edge stays dead. Each vertex stores for each side its first edge that may be alive:
all tests of a run together inspect each edge about once.
"""

from typing import Any, NamedTuple

import numpy as np

from cyscc.host.baselines.devices import atomic
from cyscc.host.baselines.devices.primitives import OpenList, hub, plant, priority, root, unite, upload
from cyscc.host.baselines.devices.steps import Device, DeviceArray, Step, device_function, step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph

FORWARD = 1
"""The pivot of its partition reaches it."""
BACKWARD = 2
"""It reaches the pivot of its partition."""
VICE = 4
"""It reaches the vice pivot of its partition."""
BOTH = FORWARD | BACKWARD
"""It is in the pivot's component."""
STATE = BOTH | VICE
"""Mask of the reachability flags of a round."""
FRESH = 8
"""The last sweep reached it."""
FLAGS = 16
"""Factor of the partition in a nonnegative mark, which is partition * FLAGS + flags; -1 - v is component v."""
PARTITION = 4
"""Number of flag bits. Two marks are of the same partition if their exclusive or is 0 to `FLAGS` - 1."""

_BITS = 31
VERTEX = (1 << _BITS) - 1
"""Mask of the vertex in a drawn number less one."""

STRIP = 16
"""Entries of a list handled by one thread, which claims space in the output once for all of them."""
FEWEST = 256
"""Least vertices visited by a launch from a queue, if as many are in reach."""
_SHARED = 4096
"""Queue length beyond which each thread takes a strip of entries."""

QUEUED, EDGES, FOUND, PARTS = 0, 8, 16, 24
"""Indices of counters, each in its own cache line: list entries, edges inspected, vertices, partitions."""
_COUNTERS = 32

_PART = 64
"""A launch from a queue visits one in this many remaining vertices, but at least `FEWEST`."""
_FARTHEST = 256
"""Most vertices that a thread visits along a path in one launch."""
_DENSE = 16
"""A queue, or the result of a sweep, is long if it has more than one in this many of the remaining vertices."""


class Side(NamedTuple):
    """The graph in one direction."""

    offsets: DeviceArray
    """int64, shape (n + 1,)."""
    targets: DeviceArray
    """int32, shape (m,)."""
    starts: DeviceArray
    """int32, shape (n,): first edge of each vertex that may be alive (trimming)."""


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
    """int32, shape (n,): union-find forest of weakly connected components."""
    colours: DeviceArray
    """int64, shape (n,)."""
    drawn: DeviceArray
    """int64, shape (n + 1,): largest number drawn in each partition."""
    seen: DeviceArray
    """int64, shape (n + 1,): for each partition a bit mask of the flag combinations that occur."""


@device_function
def drawn_number(vertex: int, salt: int) -> int:
    """Return a number above 0 and below 2**63, a random priority with the vertex in the low bits."""
    return ((priority(vertex, salt) << _BITS) | int(vertex)) + 1


class Work:
    """Arrays of a run, and launches over its lists.

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
    graph, transpose : DeviceGraph
        The graph and its transpose on the device.
    open : OpenList
        The vertices without a component.
    queue : array of int32
        Vertices for the next launch.
    passes : int
        Number of dependent launches so far.
    whole : int
        Mark of the first partition, of all vertices, whose number is not that of a vertex.
    """

    def __init__(self, device: Device, graph: Graph, transpose: Graph) -> None:
        size = graph.vertices
        self.device = device
        self.whole = size << PARTITION
        self.graph, self.transpose = upload(device, graph), upload(device, transpose)
        self.on = Arrays(
            forward=Side(*self.graph, device.zeros(size, np.int32)),
            backward=Side(*self.transpose, device.zeros(size, np.int32)),
            marks=device.full(size, self.whole, np.int64),
            counters=device.zeros(_COUNTERS),
            pivots=device.zeros(size, np.int32),
            parents=device.zeros(size, np.int32),
            colours=device.zeros(size),
            drawn=device.zeros(size + 1),
            seen=device.zeros(size + 1),
        )
        self.open = OpenList(device, self.on.marks)
        # Up to two entries per vertex: a search finds a vertex once for each flag, and passes on two flags at once.
        self.queue, self._following = (device.zeros(2 * size, np.int32) for _ in range(2))
        self.passes = 0

    def take(self, place: int) -> int:
        """Return a counter, and reset it."""
        value = self.device.value(self.on.counters, place)
        if value:
            self.device.store(self.on.counters, place, 0)
        return value

    def each(self, step: Step, *arguments: Any) -> None:
        """Launch a step over the list of vertices."""
        self.device.run(step, -(-self.open.length // STRIP), self.open.length, self.open.vertices, self.on, *arguments)

    def follow(self, step: Step, items: int, hops: int, *arguments: Any) -> int:
        """Launch a step over the queue, which fills the next queue; return the length of that."""
        self.passes += 1
        share = STRIP if items > _SHARED else 1
        lists = (self.queue, self._following, self.on)
        self.device.run(step, -(-items // share), share, items, hops, *lists, *arguments)
        self.queue, self._following = self._following, self.queue
        return self.take(QUEUED)


@step
def _settle(thread: int, length: int, vertices: DeviceArray, on: Arrays) -> None:
    """Make a component of the vertices reached in both directions, in each partition.

    Counts the vertices reached in neither direction, and records in ``seen`` the flag combinations of each partition. A
    partition is divided into as many partitions as combinations occur.
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
            # Most threads find the bit set; of the others, the first to set it counts.
            if on.seen[partition] & bit == 0 and atomic.or_(on.seen, partition, bit) & bit == 0:
                atomic.add(on.counters, PARTS, 1)
    if untouched > 0:
        atomic.add(on.counters, FOUND, untouched)


@device_function
def _first_alive(vertex: int, mark: int, marks: DeviceArray, side: Side) -> int:
    """Return the first live edge of a vertex, or the end of its edges.

    Concurrent threads may overwrite a vertex's start with an older one; the edges before it are dead all the same.
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
    """Return whether a vertex has only dead edges on a side, and the number of edges inspected."""
    before = side.offsets[vertex] + side.starts[vertex]
    last = side.offsets[vertex + 1]
    alive = _first_alive(vertex, mark, marks, side)
    return alive == last, min(alive + 1, last) - before


@device_function
def _only_neighbour(vertex: int, mark: int, on: Arrays, side: Side) -> int:
    """Return the only neighbour to which live edges of a vertex lead, or -1."""
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
    atomic.add(on.counters, EDGES, edge - first)
    return only


@device_function
def _partner(vertex: int, mark: int, on: Arrays, side: Side) -> int:
    """Return the larger vertex that forms a pair with a vertex on a side, or -1."""
    other = _only_neighbour(vertex, mark, on, side)
    return other if other > vertex and _only_neighbour(other, mark, on, side) == vertex else -1


@device_function
def _degrees(vertex: int, on: Arrays) -> tuple[int, int]:
    """Return the out-degree and in-degree of a vertex."""
    after, before = on.forward.offsets, on.backward.offsets
    return after[vertex + 1] - after[vertex], before[vertex + 1] - before[vertex]


@step
def _remove_unconnected(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray) -> None:
    """Remove the vertices of the whole graph that have no edges on a side, by degree only."""
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
        atomic.add(on.counters, FOUND, found)
    if queued > 0:
        room = atomic.add(on.counters, QUEUED, queued)
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
            queue[atomic.add(on.counters, QUEUED, 1)] = vertex
    atomic.add(on.counters, EDGES, edges)
    if found > 0:
        atomic.add(on.counters, FOUND, found)


@step
def _remove_pairs(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray) -> None:
    """Remove pairs of vertices of a list that have only each other as neighbours on a side.

    The thread of the smaller vertex removes the pair. Concurrent removals do not interfere: a removed set is always a
    whole component, and no component has vertices of two pairs.
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
            room = atomic.add(on.counters, QUEUED, 2)
            queue[room] = vertex
            queue[room + 1] = other


@device_function
def _remove_side(vertex: int, kept: int, following: DeviceArray, on: Arrays, side: Side, back: Side) -> int:
    """Remove the neighbours of a removed vertex that have no live edge left on its side; return one of them.

    Two threads that remove the last two neighbours of a vertex may each still see the other one alive. The vertex is
    then removed later, which is harmless.
    """
    edges = side.offsets[vertex + 1] - side.offsets[vertex]
    for edge in range(side.offsets[vertex], side.offsets[vertex + 1]):
        target = int(side.targets[edge])
        mark = on.marks[target]
        if mark < 0:
            continue
        single, looked = _dead_end(target, mark, on.marks, back)
        edges += looked
        if single and atomic.swap(on.marks, target, mark, -1 - target) == mark:
            atomic.add(on.counters, FOUND, 1)
            if kept < 0:
                kept = target
            else:
                following[atomic.add(on.counters, QUEUED, 1)] = target
    atomic.add(on.counters, EDGES, edges)
    return kept


@step
def _remove_behind(
    thread: int, share: int, items: int, hops: int, queue: DeviceArray, following: DeviceArray, on: Arrays
) -> None:
    """Remove neighbours of removed vertices where possible, and continue from one of them."""
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            left -= 1
            kept = _remove_side(vertex, -1, following, on, on.forward, on.backward)
            vertex = _remove_side(vertex, kept, following, on, on.backward, on.forward)
            if left == 0 and vertex >= 0:
                following[atomic.add(on.counters, QUEUED, 1)] = vertex
                vertex = -1


@device_function
def _gains(target: int, mark: int, carried: int, flags: int, on: Arrays) -> bool:
    """Pass flags, or with ``flags`` 0 a colour, on to a neighbour; return whether this thread has to queue it.

    The thread that sets a flag of a neighbour's mark queues it, so a list has it at most once for each flag. A vertex
    with a new colour has the flag ``FRESH`` while it is in a list, so it is there once.
    """
    other = on.marks[target]
    if flags:
        return (
            0 <= other ^ mark < FLAGS
            and carried & ~other != 0
            and carried & ~atomic.or_(on.marks, target, carried) != 0
        )
    return (
        other & ~FRESH == mark
        and on.colours[target] < carried
        and atomic.maximum(on.colours, target, carried) < carried
        and atomic.or_(on.marks, target, FRESH) & FRESH == 0
    )


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
    """Propagate flags or the colour of a vertex to its neighbours in its partition, and continue from the first.

    They are read when a vertex is expanded. The thread that sets a flag later propagates that one; a colour that
    changes just then is propagated by the sweep that follows the lists.
    """
    edges = 0
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            if flags:
                mark = on.marks[vertex]
                carried = mark & flags
            else:
                mark = atomic.and_(on.marks, vertex, ~FRESH) & ~FRESH
                carried = on.colours[vertex]
            kept = -1
            left -= 1
            first = side.offsets[vertex]
            last = side.offsets[vertex + 1]
            edges += last - first
            for edge in range(first, last):
                target = int(side.targets[edge])
                if _gains(target, mark, carried, flags, on):
                    if left > 0 and kept < 0:
                        kept = target
                    else:
                        following[atomic.add(on.counters, QUEUED, 1)] = target
            vertex = kept
    atomic.add(on.counters, EDGES, edges)


@step
def _sweep(thread: int, length: int, vertices: DeviceArray, on: Arrays, flags: int, side: Side) -> None:
    """Give each vertex the flags of its neighbours in the transpose (a pull sweep).

    Each thread writes only the marks of its own vertices. It may read a neighbour's mark before or after that was
    updated; both are correct, since flags are only ever added.
    """
    edges = 0
    found = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex]
        # The forward search does not reach the vice pivot, so no vertex that it reaches can reach the vice pivot.
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
    atomic.add(on.counters, EDGES, edges)
    if found > 0:
        atomic.add(on.counters, FOUND, found)


@step
def _collect(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray, taken: int) -> None:
    """Queue the vertices that the last sweep reached, and clear a flag of theirs.

    Only these can have neighbours that are not reached yet.
    """
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex]
        if mark & FRESH != 0:
            on.marks[vertex] = mark & ~taken
            queue[atomic.add(on.counters, QUEUED, 1)] = vertex


def _collected(work: Work, found: int, taken: int) -> int:
    """Start a queue with the vertices that a sweep found, if they are few; return its length, otherwise 0."""
    if not 0 < found * _DENSE <= work.open.length + FEWEST:
        return 0
    work.each(_collect, work.queue, taken)
    return work.take(QUEUED)


def search(work: Work, flags: int, sources: int) -> None:
    """Propagate flags to all vertices reached within their partitions.

    Parameters
    ----------
    work : Work
        Arrays and lists of the run.
    flags : int
        The flags, ``FORWARD`` or ``BACKWARD | VICE``.
    sources : int
        Number of vertices in the queue, which have flags.
    """
    side, turned = work.on.forward, work.on.backward
    if flags != FORWARD:
        side, turned = turned, side
    items, left = sources, work.open.length
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
    """Give each vertex the highest colour of its predecessors in its partition, using the transpose.

    Each thread writes only entries of its own vertices. It may read old colours of others, which are valid too.
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
    atomic.add(on.counters, EDGES, edges)
    if found > 0:
        atomic.add(on.counters, FOUND, found)


@step
def _divide(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray, coloured: int) -> None:
    """Make each tree or colour a partition, whose pivot is the root, or the vertex that the colour names.

    The forward search starts from the pivot of a tree. The pivot of a colour already reaches all of its partition.
    """
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        pivot = (on.colours[vertex] - 1) & VERTEX if coloured else root(vertex, on.parents)
        if pivot == vertex:
            on.seen[pivot] = 0
            on.marks[pivot] = (pivot << PARTITION) | FORWARD
            room = atomic.add(on.counters, QUEUED, 1)
            queue[room] = pivot
            on.pivots[room] = pivot
        else:
            on.marks[vertex] = (pivot << PARTITION) | (FORWARD if coloured else 0)


def colour(work: Work, salt: int) -> int:
    """Divide the partitions by colours, ordered by a salt; return the number of new partitions."""
    work.each(_start_colours, salt)
    found = 1
    while found:
        work.passes += 1
        work.each(_pull)
        found = work.take(FOUND)
        # Collected vertices keep their flag until they are expanded.
        items = _collected(work, found, 0)
        while items:
            items = work.follow(_expand, items, 1 + FEWEST // items, 0, work.on.forward)
    work.each(_divide, work.queue, 1)
    return work.take(QUEUED)


@step
def _join(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    """Join the trees of neighbours with the same partition and flags."""
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
            here = unite(here, target, on.parents, salt)
    atomic.add(on.counters, EDGES, edges)


@step
def draw(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    """Draw a random vertex in each partition that the pivot does not reach."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = on.marks[vertex]
        if mark & FORWARD == 0:
            number = drawn_number(vertex, salt)
            partition = mark >> PARTITION
            # Drawn numbers only grow, so a number not above an old one is not above the current one either.
            if number > on.drawn[partition]:
                atomic.maximum(on.drawn, partition, number)


@step
def _start_backward(thread: int, on: Arrays, queue: DeviceArray) -> None:
    """Flag the pivot and the drawn vertex of a partition as the sources of the backward searches.

    A vertex that the pivot reaches is never a vice pivot; the sweeps rely on this.
    """
    pivot = int(on.pivots[thread])
    on.marks[pivot] = on.marks[pivot] | BACKWARD
    queue[atomic.add(on.counters, QUEUED, 1)] = pivot
    number = on.drawn[pivot]
    if number > 0:
        on.drawn[pivot] = 0
        vice = (number - 1) & VERTEX
        mark = on.marks[vice]
        if mark & FORWARD == 0:
            on.marks[vice] = mark | VICE
            queue[atomic.add(on.counters, QUEUED, 1)] = vice
            atomic.add(on.counters, FOUND, 1)


class _Run(Work):
    """One run, with its work counters."""

    def __init__(self, graph: Graph, transpose: Graph, setting: SoftwareSetting) -> None:
        super().__init__(setting.device, graph, transpose)
        self._watch = setting.watch
        self._total = graph.vertices
        self._salts = np.random.default_rng(setting.seed)
        self._coloured = False
        self.rounds = self.pivots = self.vice_pivots = self.joins = self.colourings = 0
        self.trim_rounds = self.trimmed = self.pairs = 0

    def run(self) -> None:
        """Find the components."""
        self._trim(_remove_unconnected)
        self._gather()
        if self.open.length:
            self._first_round()
        while self.open.length:
            self.passes += 2
            self._trim(_remove_single)
            self.each(_remove_pairs, self.queue)
            self.pairs += self.device.value(self.on.counters, QUEUED) // 2
            self._trim_behind()
            self._gather()
            if self.open.length:
                self._round()

    def counts(self) -> dict[str, int]:
        """Return the work counters."""
        return {
            "rounds": self.rounds,
            "passes": self.passes,
            "edges": self.take(EDGES),
            "trim_rounds": self.trim_rounds,
            "trimmed": self.trimmed,
            "two_vertex_components": self.pairs,
            "pivots": self.pivots,
            "vice_pivots": self.vice_pivots,
            "partitions": self.take(PARTS),
            "wcc_rounds": self.joins,
            "colour_rounds": self.colourings,
        }

    def _trim(self, remove: Step) -> None:
        """Remove vertices that are components by themselves, and repeat for the vertices this leaves alone."""
        self.trim_rounds += 1
        self.each(remove, self.queue)
        self._trim_behind()

    def _trim_behind(self) -> None:
        """Continue trimming from the removed vertices."""
        items = self.take(QUEUED)
        while items:
            self.trim_rounds += 1
            items = self.follow(_remove_behind, items, 1 + FEWEST // items)
        self.trimmed += self.take(FOUND)

    def _gather(self) -> None:
        """Drop the vertices with a component from the list."""
        self.open.compact()
        self._watch(self._total - self.open.length, self._total)

    def _first_round(self) -> None:
        """Divide the whole graph, by pivots with the largest product of degrees."""
        marks, whole, store = self.on.marks, self.whole, self.device.store
        pivot = hub(self.device, self.graph, self.transpose, marks, whole)
        store(marks, pivot, whole | FORWARD)
        store(self.queue, 0, pivot)
        search(self, FORWARD, 1)
        vice = hub(self.device, self.graph, self.transpose, marks, whole)
        store(marks, pivot, whole | FORWARD | BACKWARD)
        store(self.queue, 0, pivot)
        if vice >= 0:
            store(marks, vice, whole | VICE)
            store(self.queue, 1, vice)
            self.vice_pivots += 1
        search(self, BACKWARD | VICE, 1 + (vice >= 0))
        self.pivots += 1
        self._settle()

    def _round(self) -> None:
        """Divide each partition into weakly connected ones, and each of these by a pivot and a vice pivot."""
        if self._coloured:
            self.colourings += 1
            pivots = colour(self, self._salt())
        else:
            # Weakly connected parts first.
            self.joins += 1
            self.passes += 1
            self.device.run(plant, self.open.length, self.open.vertices, self.on.parents)
            self.each(_join, self._salt())
            self.each(_divide, self.queue, 0)
            pivots = self.take(QUEUED)
            search(self, FORWARD, pivots)
            self.each(draw, self._salt())
        self.device.run(_start_backward, pivots, self.on, self.queue)
        self.pivots += pivots
        self.vice_pivots += self.take(FOUND)
        search(self, BACKWARD | VICE, self.take(QUEUED))
        untouched = self._settle()
        self._coloured = not self._coloured and 2 * untouched > self.open.length

    def _settle(self) -> int:
        """End a round: settle vertices reached in both directions; return the number reached in neither."""
        self.rounds += 1
        self.each(_settle)
        self._gather()
        return self.take(FOUND)

    def _salt(self) -> int:
        return int(self._salts.integers(1 << 32))


def multipartition(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Find the components by partitions, each with a pivot and a vice pivot.

    After *Parallel Strongly Connected Components Detection with Multi-partition on GPUs*, of which only the abstract
    was available. Details that it leaves open follow its references (FW-BW-Trim with WCC of Hong, Rodia and Olukotun,
    SC 2013), or the design in docs/decomposition-multipartition.md.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs.
    """
    run = _Run(graph, transpose, setting)
    run.run()
    return Decomposition(labels=-1 - setting.device.read(run.on.marks), counts=run.counts())
