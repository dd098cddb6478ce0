"""Concurrent pivots after pruning (Quach, Abuzaid and Chen, CUDA Implementation of Large Graph Algorithms, 2012).

What a vertex knows of the searches in one direction is a word of bits: two for each pivot, as the text has booleans.
The lower half of a word has the searches that have come to the vertex, the upper half those of them that have not gone
on from it yet: the text's frontier. One atomic operation sets both.
"""

from typing import NamedTuple

import numpy as np

from host.algorithms.names import MOST_PIVOTS, PIVOTS
from host.algorithms.software.decomposition import Decomposition, Setting
from host.devices.primitives import DeviceGraph, upload
from host.devices.steps import Device, DeviceArray, atomic_and, atomic_or, device_function, step
from host.graph.csr import Graph

__all__ = ["Lots", "quach"]

_HALF = 32
"""Where the upper half of a word begins."""
_GONE = (1 << MOST_PIVOTS) - 1
"""The word of a vertex with a component: every search has been there and none goes on, so that none enters it."""
_BOTH = (1 << _HALF) + 1
"""Times a set of pivots: that set in both halves."""
_TRIES = 8
"""Draws, after which the vertices are listed anew: nearly always at least half of them have got a component then."""
_OFTEN = 64
"""Settlements from one report of progress to the next."""


class _Arrays(NamedTuple):
    """The arrays of a run, which every step takes."""

    graph: DeviceGraph
    transpose: DeviceGraph
    component: DeviceArray
    """int32, shape (n,): a vertex of its component, -1 without one."""
    forward: DeviceArray
    """int64, shape (n,): words of the forward searches."""
    backward: DeviceArray
    """int64, shape (n,): words of the backward searches."""
    looked: DeviceArray
    """int64, shape (n,): edges of a vertex that were looked at."""
    by_pivot: DeviceArray
    """int64, shape (n,): of those the searches', each as often as there were pivots whose searches went along it."""
    pivots: DeviceArray
    """int64: the vertex of each pivot."""
    told: DeviceArray
    """int64, shape (4,): what launches tell the host, by `_PRUNED` and the others."""


_PRUNED, _ACTIVE, _ENDED, _FINDERS = range(4)
"""Whether a round pruned anything; pivots whose searches go on; pivots in components found; those that tell of them."""


@device_function
def _neighbour(vertex: int, graph: DeviceGraph, component: DeviceArray) -> int:
    """Return the first edge to another vertex without a component, where the edges end if there is none."""
    last = graph.offsets[vertex + 1]
    for edge in range(graph.offsets[vertex], last):
        target = graph.targets[edge]
        if component[target] < 0 and target != vertex:
            return edge
    return last


@device_function
def _alone(vertex: int, graph: DeviceGraph, on: _Arrays) -> bool:
    """Tell whether a vertex has no neighbour left in one direction."""
    first = graph.offsets[vertex]
    last = graph.offsets[vertex + 1]
    edge = _neighbour(vertex, graph, on.component)
    on.looked[vertex] += min(edge + 1, last) - first
    return edge == last


@step
def _prune(vertex: int, on: _Arrays) -> None:
    """Make a component of a vertex without a neighbour before it or behind it (section 4.1.1).

    Neighbours are pruned in the same launch. Whether that is seen decides only about the round in which a vertex goes.
    """
    if on.component[vertex] < 0 and (_alone(vertex, on.graph, on) or _alone(vertex, on.transpose, on)):
        on.component[vertex] = vertex
        on.forward[vertex] = _GONE
        on.backward[vertex] = _GONE
        on.told[_PRUNED] = 1  # all that write it write the same


@device_function
def _bits(number: int) -> int:
    count = 0
    while number != 0:
        number &= number - 1
        count += 1
    return count


@device_function
def _expand(vertex: int, graph: DeviceGraph, words: DeviceArray, on: _Arrays) -> int:
    """Go on from a vertex in one direction with all searches that wait there; return those that came to a new one."""
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
    """Go on from a vertex with all searches, the text's SCCFinderKernel (section 4.1.2).

    A search comes to a vertex in the launch in which the vertex's own thread runs, before it or after. If before, it
    goes on in this launch, else in the next one; the thread takes what waits there in one operation, so nothing is
    lost. Two threads may both bring a search to a vertex at a time; then it may go on from there twice, to vertices
    that it has come to.
    """
    came = _expand(vertex, on.graph, on.forward, on) | _expand(vertex, on.transpose, on.backward, on)
    if (came & ~on.told[_ACTIVE]) != 0:
        atomic_or(on.told, _ACTIVE, came)


@step
def _judge(slot: int, on: _Arrays, done: int) -> None:
    """Find out whether a pivot is in the component of one that is done, and whether it is the one that tells of it.

    Of several pivots in one component that are done at once, the first does. One that is not done is of no more use.
    """
    vertex = on.pivots[slot]
    finders = on.forward[vertex] & on.backward[vertex] & done
    if finders != 0:
        atomic_or(on.told, _ENDED, 1 << slot)
        if finders & ((2 << slot) - 1) == 1 << slot:
            atomic_or(on.told, _FINDERS, 1 << slot)


@step
def _settle(vertex: int, on: _Arrays, finders: int, ended: int) -> None:
    """Put a vertex into the component of a pivot whose searches both came to it; forget the searches that ended.

    The searches of a vertex with a component are forgotten with it, also those that wait there.
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
    """Begin both searches of a pivot that is new."""
    if new >> slot & 1 != 0:
        atomic_or(on.forward, on.pivots[slot], (1 << slot) * _BOTH)
        atomic_or(on.backward, on.pivots[slot], (1 << slot) * _BOTH)


class Lots:
    """Draws pivots at random: keeps a list of the vertices without a component, or of before with some more.

    Parameters
    ----------
    device : Device
        The device.
    component : array of int32, shape (n,)
        Below 0 for a vertex without one.
    seed : int
        Of the draws.
    """

    def __init__(self, device: Device, component: DeviceArray, seed: int) -> None:
        self._device = device
        self._component = component
        self._random = np.random.default_rng(seed)
        self.renew()

    @property
    def left(self) -> int:
        """How many vertices are listed."""
        return self._vertices.size

    def renew(self) -> None:
        """List the vertices anew."""
        self._vertices = np.flatnonzero(self._device.read(self._component) < 0)

    def draw(self) -> int | None:
        """Return one of the vertices without a component, each as likely as the others; None when there is none."""
        while self._vertices.size:
            for place in self._random.integers(self._vertices.size, size=_TRIES).tolist():
                vertex = int(self._vertices[place])
                if self._device.value(self._component, vertex) < 0:
                    return vertex
            self.renew()
        return None


class _Run:
    """A run of the algorithm, and what is counted of it.

    Sets of pivots are integers, with a bit for each.
    """

    def __init__(self, graph: Graph, transpose: Graph, setting: Setting) -> None:
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
        """Return what launches have told, and set it back."""
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

    def begin(self, new: int, lots: Lots) -> bool:
        """Draw pivots, and begin their searches; tell whether there were vertices for them."""
        for slot in range(self._count):
            if new >> slot & 1:
                vertex = lots.draw()
                if vertex is None:
                    return False
                self._device.store(self.arrays.pivots, slot, vertex)
        self._device.run(_begin, self._count, self.arrays, new)
        return True

    def go_on(self) -> int:
        """Go on with all searches until those of some pivots are over; return the pivots."""
        done = 0
        while not done:
            self._device.run(_go_on, self._vertices, self.arrays)
            self.levels += 1
            done = self.everyone & ~self._take(_ACTIVE)
        return done

    def settle(self, done: int) -> int:
        """Make components of pivots whose searches are over; return those pivots, and the others in the components."""
        self._device.run(_judge, self._count, self.arrays, done)
        ended, finders = self._take(_ENDED), self._take(_FINDERS)
        self._device.run(_settle, self._vertices, self.arrays, finders, ended)
        self.settlements += 1
        self.found += finders.bit_count()
        self.wasted += (ended & ~finders).bit_count()
        return ended


def quach(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Label the components of a graph by searches of several pivots at a time (section 4.1.2).

    Vertices without a neighbour on one side are pruned until there are none left. Then each of some pivots searches
    forward and backward, all of them a level in a launch over all vertices. When both searches of a pivot are over,
    what both came to and has no component yet is its component. New pivots take the place of it and of those that it
    has in its component.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs. Its option ``pivots`` is the number of pivots at a time, at most `MOST_PIVOTS` of
        `host.algorithms.names`.
    """
    device, vertices = setting.device, graph.vertices
    run = _Run(graph, transpose, setting)
    arrays = run.arrays
    run.prune()
    pruning = int(device.read(arrays.looked).sum())
    lots = Lots(device, arrays.component, setting.seed)
    left = lots.left
    setting.watch(vertices - left, vertices)
    new = run.everyone
    while run.begin(new, lots):
        new = run.settle(run.go_on())
        if run.settlements % _OFTEN == 0:
            lots.renew()
            setting.watch(vertices - lots.left, vertices)
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
