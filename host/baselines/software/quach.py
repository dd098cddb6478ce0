"""Concurrent pivots after pruning (Quach, Abuzaid and Chen, CUDA Implementation of Large Graph Algorithms, 2012).

The state of a vertex in the searches of one direction is a word with two bits for each pivot, for the paper's booleans.
The lower half has the searches that reached the vertex, the upper half those that have not been expanded from it yet:
the paper's frontier. One atomic operation sets both.
"""

from typing import NamedTuple

import numpy as np

from cyscc.host.baselines.algorithms import MOST_PIVOTS, PIVOTS
from cyscc.host.baselines.devices.primitives import DeviceGraph, upload
from cyscc.host.baselines.devices.steps import Device, DeviceArray, atomic_and, atomic_or, device_function, step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph

__all__ = ["PivotSampler", "quach"]

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
    looked: DeviceArray
    """int64, shape (n,): inspected edges of each vertex."""
    by_pivot: DeviceArray
    """int64, shape (n,): edges inspected by searches, counted once for each pivot."""
    pivots: DeviceArray
    """int64: the vertex of each pivot."""
    told: DeviceArray
    """int64, shape (4,): counters that launches return to the host, indexed by `_PRUNED` and the others."""


_PRUNED, _ACTIVE, _ENDED, _FINDERS = range(4)
"""Counters: whether a round pruned anything; active pivots; ended pivots; finders, the pivots that name components."""


@device_function
def _neighbour(vertex: int, graph: DeviceGraph, component: DeviceArray) -> int:
    """Return the first edge to another vertex without a component, or the end of the edges if there is none."""
    last = graph.offsets[vertex + 1]
    for edge in range(graph.offsets[vertex], last):
        target = graph.targets[edge]
        if component[target] < 0 and target != vertex:
            return edge
    return last


@device_function
def _alone(vertex: int, graph: DeviceGraph, on: _Arrays) -> bool:
    """Return whether a vertex has no neighbour left in one direction."""
    first = graph.offsets[vertex]
    last = graph.offsets[vertex + 1]
    edge = _neighbour(vertex, graph, on.component)
    on.looked[vertex] += min(edge + 1, last) - first
    return edge == last


@step
def _prune(vertex: int, on: _Arrays) -> None:
    """Make a vertex without a predecessor or a successor a component (section 4.1.1).

    Whether it sees that a neighbour was pruned in the same launch only affects the round in which it is pruned itself.
    """
    if on.component[vertex] < 0 and (_alone(vertex, on.graph, on) or _alone(vertex, on.transpose, on)):
        on.component[vertex] = vertex
        on.forward[vertex] = _GONE
        on.backward[vertex] = _GONE
        on.told[_PRUNED] = 1  # benign race: all threads write the same value


@device_function
def _bits(number: int) -> int:
    count = 0
    while number != 0:
        number &= number - 1
        count += 1
    return count


@device_function
def _expand(vertex: int, graph: DeviceGraph, words: DeviceArray, on: _Arrays) -> int:
    """Expand a vertex in one direction for all searches waiting there; return those that reached a new vertex."""
    if words[vertex] <= _GONE:
        return 0
    waiting = atomic_and(words, vertex, _GONE) >> _HALF
    came = 0
    first, last = graph.offsets[vertex], graph.offsets[vertex + 1]
    for edge in range(first, last):
        target = graph.targets[edge]
        new = waiting & ~words[target]
        if new != 0:
            atomic_or(words, target, new * _BOTH)
            came |= new
    on.looked[vertex] += last - first
    on.by_pivot[vertex] += (last - first) * _bits(waiting)
    return came


@step
def _go_on(vertex: int, on: _Arrays) -> None:
    """Expand a vertex for all searches, the paper's SCCFinderKernel (section 4.1.2).

    A search that reaches a vertex before the vertex's thread runs continues in the same launch, otherwise in the next
    one. The thread takes all waiting searches with one atomic operation, so none is lost. If two threads bring the same
    search to a vertex at the same time, the vertex may be expanded twice, which is harmless.
    """
    came = _expand(vertex, on.graph, on.forward, on) | _expand(vertex, on.transpose, on.backward, on)
    if (came & ~on.told[_ACTIVE]) != 0:
        atomic_or(on.told, _ACTIVE, came)


@step
def _judge(slot: int, on: _Arrays, done: int) -> None:
    """Determine whether a pivot is in the component of a finished pivot, and whether it is that component's finder.

    Of several finished pivots in one component, the first is the finder. Unfinished pivots in the component end.
    """
    vertex = on.pivots[slot]
    finders = on.forward[vertex] & on.backward[vertex] & done
    if finders != 0:
        atomic_or(on.told, _ENDED, 1 << slot)
        if finders & ((2 << slot) - 1) == 1 << slot:
            atomic_or(on.told, _FINDERS, 1 << slot)


@step
def _settle(vertex: int, on: _Arrays, finders: int, ended: int) -> None:
    """Assign a vertex to the component of a finder whose searches both reached it; clear the bits of ended searches.

    A vertex with a component drops all its searches, also those waiting there.
    """
    if on.component[vertex] >= 0:
        return
    met = on.forward[vertex] & on.backward[vertex] & finders
    if met == 0:
        on.forward[vertex] &= ~(ended * _BOTH)
        on.backward[vertex] &= ~(ended * _BOTH)
        return
    slot = _bits((met & -met) - 1)
    on.component[vertex] = on.pivots[slot]
    on.forward[vertex] = _GONE
    on.backward[vertex] = _GONE


@step
def _begin(slot: int, on: _Arrays, new: int) -> None:
    """Start both searches of a new pivot."""
    if new >> slot & 1 != 0:
        atomic_or(on.forward, on.pivots[slot], (1 << slot) * _BOTH)
        atomic_or(on.backward, on.pivots[slot], (1 << slot) * _BOTH)


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
    """A run of the algorithm, with its work counters.

    Sets of pivots are bit masks.
    """

    def __init__(self, graph: Graph, transpose: Graph, setting: SoftwareSetting) -> None:
        device, size = setting.device, graph.vertices
        self._device = device
        self._vertices = size
        self._count = setting.options.get("pivots", PIVOTS)
        self.everyone = (1 << self._count) - 1
        self.arrays = _Arrays(
            upload(device, graph),
            upload(device, transpose),
            device.full(size, -1, np.int32),
            *(device.zeros(length) for length in (size, size, size, size, self._count, 4)),
        )
        self.rounds = self.levels = self.settlements = self.found = self.wasted = 0

    def _take(self, place: int) -> int:
        """Return a counter of the launches, and reset it."""
        value = self._device.value(self.arrays.told, place)
        self._device.store(self.arrays.told, place, 0)
        return value

    def prune(self) -> None:
        """Prune until a round finds nothing."""
        pruned = 1
        while pruned:
            self._device.run(_prune, self._vertices, self.arrays)
            self.rounds += 1
            pruned = self._take(_PRUNED)

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

    def go_on(self) -> int:
        """Advance all searches until some pivots are finished; return these pivots."""
        done = 0
        while not done:
            self._device.run(_go_on, self._vertices, self.arrays)
            self.levels += 1
            done = self.everyone & ~self._take(_ACTIVE)
        return done

    def settle(self, done: int) -> int:
        """Settle the components of finished pivots; return all pivots in these components."""
        self._device.run(_judge, self._count, self.arrays, done)
        ended, finders = self._take(_ENDED), self._take(_FINDERS)
        self._device.run(_settle, self._vertices, self.arrays, finders, ended)
        self.settlements += 1
        self.found += finders.bit_count()
        self.wasted += (ended & ~finders).bit_count()
        return ended


def quach(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Label the components of a graph by concurrent searches of several pivots (section 4.1.2).

    Prunes vertices without a neighbour on one side until none is left. Then several pivots search forward and backward,
    each launch over all vertices advancing all searches by a level. When both searches of a pivot are finished, the
    vertices that both reached and that have no component yet are its component. New pivots replace all pivots in that
    component.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs. The option ``pivots`` is the number of concurrent pivots, at most `MOST_PIVOTS` of
        `cyscc.host.baselines.algorithms`.
    """
    device, vertices = setting.device, graph.vertices
    run = _Run(graph, transpose, setting)
    arrays = run.arrays
    run.prune()
    pruning = int(device.read(arrays.looked).sum())
    sampler = PivotSampler(device, arrays.component, setting.seed)
    left = sampler.left
    setting.watch(vertices - left, vertices)
    new = run.everyone
    while run.begin(new, sampler):
        new = run.settle(run.go_on())
        if run.settlements % _OFTEN == 0:
            sampler.renew()
            setting.watch(vertices - sampler.left, vertices)
    return Decomposition(
        labels=device.read(arrays.component).astype(np.int64),
        counts={
            "edges": int(device.read(arrays.looked).sum()),
            "edges_pruning": pruning,
            "edges_by_pivot": pruning + int(device.read(arrays.by_pivot).sum()),
            "passes": run.rounds + run.levels + run.settlements,
            "prune_rounds": run.rounds,
            "levels": run.levels,
            "pruned": vertices - left,
            "components_searched": run.found,
            "pivots_wasted": run.wasted,
        },
    )
