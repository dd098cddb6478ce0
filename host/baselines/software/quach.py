"""Concurrent pivots after pruning (Quach, Abuzaid and Chen, CUDA Implementation of Large Graph Algorithms, 2012).

The state of a vertex in the searches of one direction is a word with two bits for each pivot, for the paper's booleans.
The lower half has the searches that reached the vertex, the upper half those that have not been expanded from it yet:
the paper's frontier. One atomic operation sets both.
"""

from typing import NamedTuple

import numpy as np

from cyscc.host.baselines.algorithms import AS_PRINTED, MOST_PIVOTS, PIVOTS
from cyscc.host.baselines.devices import atomic
from cyscc.host.baselines.devices.primitives import DeviceGraph, OpenList, alone, plant, priority, root, unite, upload
from cyscc.host.baselines.devices.steps import Device, DeviceArray, Step, device_function, step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph

_HALF = 32
"""First bit of the upper half of a word."""
_GONE = (1 << MOST_PIVOTS) - 1
"""The word of a vertex with a component: reached by every search and in no frontier, so that no search enters it."""
_BOTH = (1 << _HALF) + 1
"""Multiplier that copies a set of pivots to both halves."""
_TRIES = 8
"""Failed draws before the list is compacted: by then nearly always half of its vertices have a component."""
_OFTEN = 64
"""Settlements between two progress reports."""
_THIN = 8
"""Most edges of a vertex that a thread follows: the list of a hub would be inspected again for each neighbour."""
_HOPS = 1 << 30
"""Most vertices of a path that a thread prunes or searches."""
_FEW = 16
"""With additions, pruning stops after a round that finds fewer than one in this many vertices."""
_DENSITIES = 15
"""Densities of sources: one in 2, 4, 8, ... vertices."""


class _Arrays(NamedTuple):
    """The arrays of a run, which every step takes."""

    graph: DeviceGraph
    transpose: DeviceGraph
    component: DeviceArray
    """int32, shape (n,): component of each vertex, named by one of its vertices, or -1."""
    forward: DeviceArray
    """int64, shape (n,): words of the forward searches."""
    backward: DeviceArray
    """int64, shape (n,): words of the backward searches."""
    parts: DeviceArray
    """int32, shape (n,): part of each vertex, which no search leaves, or -1 if the vertex has a component."""
    parents: DeviceArray
    """int32, shape (n,): union-find forest of the parts."""
    looked: DeviceArray
    """int64, shape (n,): edges of each vertex that pruning and division inspected."""
    searched: DeviceArray
    """int64, shape (n,): edges of each vertex that searches inspected."""
    by_pivot: DeviceArray
    """int64, shape (n,): edges inspected by searches, counted once for each pivot."""
    pivots: DeviceArray
    """int64: the vertex of each pivot."""
    told: DeviceArray
    """int64, shape (5,): counters that launches return to the host, indexed by `_PRUNED` and the others."""


_PRUNED, _ACTIVE, _ENDED, _FINDERS, _PARTS = range(5)
"""Counters: whether a round pruned anything; active pivots; ended pivots; finders, the pivots that name
components; parts.
"""


@device_function
def _assign(vertex: int, name: int, on: _Arrays) -> None:
    """Assign a vertex to a component; it drops all its searches, also those waiting there."""
    on.component[vertex] = name
    on.parts[vertex] = -1
    on.forward[vertex] = _GONE
    on.backward[vertex] = _GONE


@device_function
def _ends(vertex: int, part: int, graph: DeviceGraph, on: _Arrays) -> bool:
    """Return whether a vertex has no neighbour left in one direction."""
    single, looked = alone(vertex, part, on.parts, graph)
    on.looked[vertex] += looked
    return single


@device_function
def _next_of_path(vertex: int, graph: DeviceGraph, part: int, on: _Arrays) -> int:
    """Return a neighbour of few edges in a part, or -1."""
    for edge in range(graph.offsets[vertex], graph.offsets[vertex + 1]):
        target = graph.targets[edge]
        if on.parts[target] == part:
            after = on.graph.offsets[target + 1] - on.graph.offsets[target]
            before = on.transpose.offsets[target + 1] - on.transpose.offsets[target]
            return int(target) if after + before <= _THIN else -1
    return -1


@step
def _prune(place: int, vertices: DeviceArray, on: _Arrays, hops: int) -> None:
    """Make a vertex without a predecessor or a successor a component (section 4.1.1).

    Whether it sees that a neighbour was pruned in the same launch only affects the round in which it is pruned itself.
    Continues with neighbours, up to a number of hops.
    """
    vertex = int(vertices[place])
    while vertex >= 0:
        part = int(on.parts[vertex])
        if part < 0:
            return
        last = _ends(vertex, part, on.graph, on)
        if not last and not _ends(vertex, part, on.transpose, on):
            return
        _assign(vertex, vertex, on)
        on.told[_PRUNED] = 1  # benign race: all threads write the same value
        if hops == 0:
            return
        hops -= 1
        vertex = _next_of_path(vertex, on.transpose if last else on.graph, part, on)


@device_function
def _bits(number: int) -> int:
    count = 0
    while number != 0:
        number &= number - 1
        count += 1
    return count


@device_function
def _expand(vertex: int, graph: DeviceGraph, words: DeviceArray, on: _Arrays, hops: int) -> int:
    """Expand a vertex in one direction for all searches waiting there; return those that then wait at new vertices.

    Continues with a new vertex reached from a vertex of few edges, up to a number of hops.
    """
    part = on.parts[vertex]
    came = 0
    while words[vertex] > _GONE:
        waiting = atomic.and_(words, vertex, _GONE) >> _HALF
        following = vertex
        follows = 0
        first, last = graph.offsets[vertex], graph.offsets[vertex + 1]
        for edge in range(first, last):
            target = graph.targets[edge]
            new = waiting & ~words[target]
            if new != 0 and on.parts[target] == part:
                atomic.or_(words, target, new * _BOTH)
                came |= follows
                follows = new
                following = int(target)
        on.searched[vertex] += last - first
        on.by_pivot[vertex] += (last - first) * _bits(waiting)
        if hops == 0 or last - first > _THIN:
            return came | follows
        hops -= 1
        vertex = following
    return came


@step
def _go_on(place: int, vertices: DeviceArray, on: _Arrays, hops: int) -> None:
    """Expand a vertex for all searches, the paper's SCCFinderKernel (section 4.1.2).

    A search that reaches a vertex before the vertex's thread runs continues in the same launch, otherwise in the next
    one. The thread takes all waiting searches with one atomic operation, so none is lost. If two threads bring the same
    search to a vertex at the same time, the vertex may be expanded twice, which is harmless.
    """
    vertex = int(vertices[place])
    ahead = _expand(vertex, on.graph, on.forward, on, hops)
    came = ahead | _expand(vertex, on.transpose, on.backward, on, hops)
    if (came & ~on.told[_ACTIVE]) != 0:
        atomic.or_(on.told, _ACTIVE, came)


@step
def _judge(slot: int, on: _Arrays, done: int) -> None:
    """Determine whether a pivot is in the component of a finished pivot, and whether it is that component's finder.

    Of several finished pivots in one component, the first is the finder. Unfinished pivots in the component end.
    """
    vertex = on.pivots[slot]
    finders = on.forward[vertex] & on.backward[vertex] & done
    if finders != 0:
        atomic.or_(on.told, _ENDED, 1 << slot)
        if finders & ((2 << slot) - 1) == 1 << slot:
            atomic.or_(on.told, _FINDERS, 1 << slot)


@step
def _settle(place: int, vertices: DeviceArray, on: _Arrays, finders: int, ended: int) -> None:
    """Assign a vertex to the component of a finder whose searches both reached it; clear the bits of ended searches."""
    vertex = int(vertices[place])
    if on.component[vertex] >= 0:
        return
    met = on.forward[vertex] & on.backward[vertex] & finders
    if met == 0:
        on.forward[vertex] &= ~(ended * _BOTH)
        on.backward[vertex] &= ~(ended * _BOTH)
        return
    slot = _bits((met & -met) - 1)
    _assign(vertex, on.pivots[slot], on)


@step
def _begin(slot: int, on: _Arrays, new: int) -> None:
    """Start both searches of a new pivot."""
    if new >> slot & 1 != 0:
        atomic.or_(on.forward, on.pivots[slot], (1 << slot) * _BOTH)
        atomic.or_(on.backward, on.pivots[slot], (1 << slot) * _BOTH)


@step
def _join(place: int, vertices: DeviceArray, on: _Arrays, salt: int) -> None:
    """Join the trees of neighbours in a part that the same searches have reached; roots are random."""
    vertex = int(vertices[place])
    part, after, before = on.parts[vertex], on.forward[vertex], on.backward[vertex]
    first, last = on.graph.offsets[vertex], on.graph.offsets[vertex + 1]
    on.looked[vertex] += last - first
    here = vertex
    for edge in range(first, last):
        target = int(on.graph.targets[edge])
        if on.parts[target] != part or on.forward[target] != after or on.backward[target] != before:
            continue
        here = unite(here, target, on.parents, salt)


@step
def _divide(place: int, vertices: DeviceArray, on: _Arrays, pivots: int, salt: int) -> None:
    """Make each tree a part, its root the first pivot; the other vertices are sources of the other searches.

    The first search of a part has one pivot, and finds a component. The others have many sources, one in 2, 4, 8, ...
    vertices, and divide the part.
    """
    vertex = int(vertices[place])
    top = root(vertex, on.parents)
    on.parts[vertex] = top
    bit = 0
    if vertex == top:
        bit = 1
        atomic.add(on.told, _PARTS, 1)
    elif pivots > 1:
        drawn = priority(vertex, ~salt)
        others = pivots - 1
        copies = (others + _DENSITIES - 1) // _DENSITIES
        density = 0
        while drawn >> density & 1 != 0 and (density + 1) * copies < others:
            density += 1
        bit = 2 << min(density * copies + (drawn >> 16) % copies, others - 1)
    on.forward[vertex] = bit * _BOTH
    on.backward[vertex] = bit * _BOTH


@step
def _settle_parts(place: int, vertices: DeviceArray, on: _Arrays) -> None:
    """Assign a vertex to the component of its part's pivot, if both searches of that reached it."""
    vertex = int(vertices[place])
    if on.forward[vertex] & on.backward[vertex] & 1 != 0:
        _assign(vertex, on.parts[vertex], on)


class PivotSampler:
    """Draws random pivots from a list of the vertices without a component, compacted now and then.

    Parameters
    ----------
    device : Device
        The device.
    component : array of int32, shape (n,)
        Component of each vertex, negative without one.
    seed : int
        Seed of the draws.
    """

    def __init__(self, device: Device, component: DeviceArray, seed: int) -> None:
        self._device = device
        self._component = component
        self._random = np.random.default_rng(seed)
        self.renew()

    @property
    def left(self) -> int:
        """Number of listed vertices."""
        return self._vertices.size

    def renew(self) -> None:
        """Compact the list."""
        self._vertices = np.flatnonzero(self._device.read(self._component) < 0)

    def draw(self) -> int | None:
        """Return a vertex without a component, uniformly at random, or None."""
        while self._vertices.size:
            for place in self._random.integers(self._vertices.size, size=_TRIES).tolist():
                vertex = int(self._vertices[place])
                if self._device.value(self._component, vertex) < 0:
                    return vertex
            self.renew()
        return None


class _Run:
    """A run of the algorithm, with its work counters; `open` lists the vertices without a component.

    Sets of pivots are bit masks.
    """

    def __init__(self, graph: Graph, transpose: Graph, setting: SoftwareSetting) -> None:
        device, size = setting.device, graph.vertices
        self._device = device
        self._count = setting.options.get("pivots", PIVOTS)
        self.everyone = (1 << self._count) - 1
        self._hops = 0 if setting.options.get(AS_PRINTED) else _HOPS
        self.arrays = _Arrays(
            upload(device, graph),
            upload(device, transpose),
            device.full(size, -1, np.int32),
            *(device.zeros(size) for _ in range(2)),
            *(device.zeros(size, np.int32) for _ in range(2)),
            *(device.zeros(length) for length in (size, size, size, self._count, 5)),
        )
        self.open = OpenList(device, self.arrays.parts)
        self.rounds = self.levels = self.settlements = self.divisions = self.pruned = self.found = self.wasted = 0

    def _take(self, place: int) -> int:
        """Return a counter of the launches, and reset it."""
        value = self._device.value(self.arrays.told, place)
        self._device.store(self.arrays.told, place, 0)
        return value

    def _each(self, step: Step, *arguments: int) -> None:
        """Launch a step over the list of vertices."""
        self._device.run(step, self.open.length, self.open.vertices, self.arrays, *arguments)

    def prune(self) -> None:
        """Prune until a round finds nothing."""
        pruned = 1
        while pruned:
            self._each(_prune, 0)
            self.rounds += 1
            pruned = self._take(_PRUNED)

    def prune_paths(self) -> None:
        """Prune, along paths, until a round finds few."""
        found = self.open.length
        while found and found * _FEW >= self.open.length:
            self._each(_prune, _HOPS)
            self.rounds += 1
            found = self.open.compact()
            self.pruned += found

    def begin(self, new: int, sampler: PivotSampler) -> bool:
        """Draw pivots and start their searches; return whether there were vertices for them."""
        for slot in range(self._count):
            if new >> slot & 1:
                vertex = sampler.draw()
                if vertex is None:
                    return False
                self._device.store(self.arrays.pivots, slot, vertex)
        self._device.run(_begin, self._count, self.arrays, new)
        return True

    def advance(self) -> int:
        """Advance all searches by a level; return the pivots whose searches are not finished."""
        self._each(_go_on, self._hops)
        self.levels += 1
        return self._take(_ACTIVE)

    def settle(self, done: int, *, clear: bool) -> int:
        """Settle the components of finished pivots, and clear their bits; return all pivots in these components."""
        self._device.run(_judge, self._count, self.arrays, done)
        ended, finders = self._take(_ENDED), self._take(_FINDERS)
        self._each(_settle, finders, ended if clear else 0)
        self.settlements += 1
        self.found += finders.bit_count()
        self.wasted += (ended & ~finders).bit_count()
        return ended

    def divide(self, salt: int) -> None:
        """Divide the vertices that are left into parts, and find the component of one pivot in each."""
        self._device.run(plant, self.open.length, self.open.vertices, self.arrays.parents)
        self._each(_join, salt)
        self._each(_divide, self._count, salt)
        self.divisions += 1
        self.found += self._take(_PARTS)
        while self.advance():
            pass
        self._each(_settle_parts)
        self.settlements += 1
        self.open.compact()


def _search_as_printed(run: _Run, setting: SoftwareSetting) -> None:
    """Prune, then find the components as the report does."""
    vertices = run.open.length
    run.prune()
    sampler = PivotSampler(setting.device, run.arrays.component, setting.seed)
    run.pruned = vertices - sampler.left
    setting.watch(run.pruned, vertices)
    new = run.everyone
    while run.begin(new, sampler):
        done = 0
        while not done:
            done = run.everyone & ~run.advance()
        new = run.settle(done, clear=True)
        if run.settlements % _OFTEN == 0:
            sampler.renew()
            setting.watch(vertices - sampler.left, vertices)


def _search_by_parts(run: _Run, setting: SoftwareSetting) -> None:
    """Prune, find the components of the first pivots, then those of a pivot in each part until no vertex is left."""
    vertices = run.open.length
    run.prune_paths()
    setting.watch(vertices - run.open.length, vertices)
    if run.begin(run.everyone, PivotSampler(setting.device, run.arrays.component, setting.seed)):
        while run.advance():
            pass
        run.settle(run.everyone, clear=False)
        run.open.compact()
    salts = np.random.default_rng(setting.seed)
    run.prune_paths()
    while run.open.length:
        setting.watch(vertices - run.open.length, vertices)
        run.divide(int(salts.integers(1 << 32)))
        run.prune_paths()


def quach(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Label the components of a graph by concurrent searches of several pivots (section 4.1.2).

    Prunes vertices without a neighbour on one side. Then several pivots search forward and backward, each launch over
    all vertices advancing all searches by a level. As printed, when both searches of a pivot are finished, the vertices
    that both reached and that have no component yet are its component, and new pivots replace all pivots in it.

    With the additions, launches are over the vertices without a component. When all searches are finished, these
    vertices are divided into parts, connected by edges between vertices that the same searches have reached; each part
    has a pivot of its own, and is pruned and divided further.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs. The option ``pivots`` is the number of concurrent pivots, at most `MOST_PIVOTS` of
        `cyscc.host.baselines.algorithms`; ``as-printed`` leaves out the additions.
    """
    device = setting.device
    run = _Run(graph, transpose, setting)
    arrays = run.arrays
    search = _search_as_printed if setting.options.get(AS_PRINTED) else _search_by_parts
    search(run, setting)
    pruning = int(device.read(arrays.looked).sum())
    return Decomposition(
        labels=device.read(arrays.component).astype(np.int64),
        counts={
            "edges": pruning + int(device.read(arrays.searched).sum()),
            "edges_pruning": pruning,
            "edges_by_pivot": pruning + int(device.read(arrays.by_pivot).sum()),
            "passes": run.rounds + run.levels + run.settlements + run.divisions,
            "prune_rounds": run.rounds,
            "levels": run.levels,
            "pruned": run.pruned,
            "components_searched": run.found,
            "pivots_wasted": run.wasted,
        },
    )
