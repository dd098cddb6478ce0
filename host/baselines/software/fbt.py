"""Forward-backward search with trimming, after Wijs, Katoen and Bošnački (CAV 2014).

Algorithm 1, in all regions at once, starting from one region or from given ones, with the steps of algorithms 2 and 3.
The layout of the graph can renumber states, and interleave the transitions of states that have few.

An entry of the following three arrays has a position or a state in 29 bits, and three bits of bookkeeping above them:

=========  =====================================  =======================================  ====================
bit        `offsets`                              `results`                                `trans`
=========  =====================================  =======================================  ====================
31         the state has its component, or is     the same                                 locked: it holds a
           none of the subgraph                                                            pivot
30         in the frontier of the forward search  of the backward one; between searches:   part of the target
                                                  reached by the forward one
29         explored by it; between searches: the  by the backward one; between searches:   part of the target
           state has no region yet                reached by it
28 to 0    where its transitions begin            its region: the number of a pivot        the target
=========  =====================================  =======================================  ====================

In a search, threads read and write entries of `offsets` and `results` concurrently, without atomic operations. The
values written differ only in the two bits of the search, which go from none to `FRONTIER` to `EXPLORED`. A thread that
read an old value may put a state back into the frontier that has been explored meanwhile; it is then explored once
more. No state is lost: the thread that writes `FRONTIER` also announces the state, by a flag or in its block's cache,
and the thread that writes `EXPLORED` explores the state afterwards.

After a search each region gets a pivot. Threads compete for it at the region's hash in the array of transitions. Two
regions can have the same hash: the states reached only by the backward search from pivot p, and those reached by no
search from pivot p + 1. They then merge into one region. This is harmless: the search only requires that each component
lies within one region, and that each region has one pivot. The states of a region that a pivot reaches, and that reach
the pivot, are the pivot's component, whatever other states the region has.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.devices.primitives import DeviceGraph
from cyscc.host.baselines.devices.steps import (
    Device,
    DeviceArray,
    atomic_add,
    atomic_min,
    atomic_swap,
    block_step,
    device_function,
    step,
)
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError

__all__ = ["FRONTIER", "MOST", "PADDING", "Fbt", "Layout", "decompose_regions", "fbt", "lay_out", "search_cached"]

_LOCK = -(2**31)
"""The highest bit of a signed 32-bit integer."""
FRONTIER = 2**30
_EXPLORED = 2**29
_REACHED = FRONTIER | _EXPLORED
_SHIFT = 29
"""Shift after which the two bits of `results` are 1 for the backward search and 2 for the forward one."""
_PENDING = _EXPLORED
"""Bit of `offsets` between searches: the state has no region yet."""
MASK = 2**29 - 1
MOST = 2**29 - 1
"""Most states, and longest array of transitions."""
REMOVED = -1
"""Entry of `results` of a state outside of the subgraph."""
WARP = 32
"""States of a segment."""
PADDING = 2**31 - 1
"""Padding entry of `trans`, after the transitions of a state."""

FORWARD, BACKWARD = 1, 2
"""Directions of a search, and indices of cells: the last iteration that put a state into the frontier."""
TRIMMED, FOLLOWING, PIVOTS = 0, 3, 4
"""Indices of the other cells: the last round that trimmed a state, the next hash, number of pivots."""

_EMPTY = -1
_SLOTS = 2
"""Entries of a thread in its block's cache, for each direction."""
_NEAR = 5
"""Threads whose numbers differ only in this many low bits share a cell of a counter."""

_FEWEST = 2
"""Smallest interval to interleave: with one transition each, the transitions of 32 states are adjacent already."""
_CELLS = 5
_COUNTED = 1024
"""Cells of a counter."""
_NO_HASH = 2**40
_BITS = 3
"""Largest difference between a hash and the region's number."""


class Transitions(NamedTuple):
    """The transitions of one direction on a device."""

    offsets: DeviceArray
    """int32, shape (n + 1,): where the transitions of each state begin; forward with bits of bookkeeping."""
    trans: DeviceArray
    """int32: targets of the transitions; within a segment, those of a state are 32 apart."""
    segmented: int
    """Number of states in segments, which come first."""
    interval: int
    """Transitions of each state in a segment, padding included."""


class States(NamedTuple):
    """The arrays of a run, which every step takes."""

    forward: Transitions
    backward: Transitions
    results: DeviceArray
    """int32, shape (n,): the region of each state, with bits of bookkeeping."""
    edges: DeviceArray
    """int64: transitions inspected, spread over many cells to reduce contention."""
    done: DeviceArray
    """int64: states that got a component, spread over many cells."""
    cells: DeviceArray
    """int64, shape (5,)."""


@device_function
def _add_at(counter: DeviceArray, thread: int, number: int) -> None:
    """Add to a counter that is spread over a power of two of cells."""
    atomic_add(counter, (thread >> _NEAR) & (counter.size - 1), number)


@device_function
def _range(state: int, transitions: Transitions) -> Any:
    """Return start, end and stride of a state's transitions."""
    first = transitions.offsets[state] & MASK
    if state < transitions.segmented:
        return first, first + WARP * transitions.interval, WARP
    return first, transitions.offsets[state + 1] & MASK, 1


@device_function
def _looked(state: int, word: int, transitions: Transitions, results: DeviceArray) -> int:
    """Return the number n of transitions inspected to find one within the region, or -n - 1 if there is none.

    Between searches, two states are in the same region if their entries of `results` are equal: the bits of the
    searches distinguish the new regions. It does not matter whether states trimmed concurrently are seen, since they
    belong to no larger component.
    """
    looked = 0
    first, last, stride = _range(state, transitions)
    for place in range(first, last, stride):
        target = transitions.trans[place]
        if target == PADDING:
            break
        looked += 1
        if target != state and results[target] == word:
            return looked
    return -1 - looked


@step
def trim_states(thread: int, on: States, number: int) -> None:
    """Make a state a component if it has no predecessor, or no successor, in its region.

    Then ``cells[TRIMMED]`` becomes the round's number.
    """
    word = on.results[thread]
    if word < 0:
        return
    looked = _looked(thread, word, on.forward, on.results)
    single = looked < 0
    if single:
        looked = -1 - looked
    else:
        behind = _looked(thread, word, on.backward, on.results)
        single = behind < 0
        looked += -1 - behind if single else behind
    if looked > 0:
        _add_at(on.edges, thread, looked)
    if single:
        on.results[thread] = _LOCK | thread
        on.forward.offsets[thread] = _LOCK | (on.forward.offsets[thread] & MASK)
        _add_at(on.done, thread, 1)
        on.cells[TRIMMED] = number


@device_function
def _reach(target: int, infos: DeviceArray, cache: DeviceArray, base: int, room: int) -> int:
    """Put a state into the frontier; return 1 if another iteration is needed for it, 0 if the cache holds it."""
    infos[target] = infos[target] | FRONTIER
    if room > 0 and atomic_swap(cache, base + target % room, _EMPTY, target) == _EMPTY:
        return 0
    return 1


@device_function
def _taken(cache: DeviceArray, place: int) -> int:
    """Take the state from an entry of the cache."""
    state = int(cache[place])
    # Clear only an occupied entry: another thread may fill an empty one at any time.
    if state != _EMPTY:
        cache[place] = _EMPTY
    return state


@device_function
def _explore_forward(state: int, on: States, cache: DeviceArray, room: int) -> int:
    """Explore a state if it is in the frontier; return whether another iteration is needed."""
    offsets, results = on.forward.offsets, on.results
    info = offsets[state]
    if info < 0 or info & FRONTIER == 0:
        return 0
    offsets[state] = (info & MASK) | _EXPLORED
    region = results[state] & MASK
    looked = 0
    found = 0
    first, last, stride = _range(state, on.forward)
    for place in range(first, last, stride):
        target = on.forward.trans[place]
        if target == PADDING:
            break
        looked += 1
        # No bit is set: neither reached nor in a component. The region is compared last, as the bits exclude most
        # states.
        if 0 <= offsets[target] <= MASK and results[target] & MASK == region:
            found |= _reach(target, offsets, cache, 0, room)
    _add_at(on.edges, state, looked)
    return found


@device_function
def _explore_backward(state: int, on: States, cache: DeviceArray, base: int, room: int) -> int:
    """Explore a state against the transitions, with the bits of `results`; see `_explore_forward`."""
    results = on.results
    word = results[state]
    if word < 0 or word & FRONTIER == 0:
        return 0
    region = word & MASK
    results[state] = region | _EXPLORED
    first = on.backward.offsets[state]
    last = on.backward.offsets[state + 1]
    found = 0
    for place in range(first, last):
        source = on.backward.trans[place]
        # The region number without bookkeeping bits.
        if results[source] == region:
            found |= _reach(source, results, cache, base, room)
    _add_at(on.edges, state, last - first)
    return found


@step
def search_once(thread: int, on: States, directions: int, number: int) -> None:
    """Explore a state in each direction; set ``cells[direction]`` to `number` if another iteration is needed."""
    if directions & FORWARD != 0 and _explore_forward(thread, on, on.results, 0):
        on.cells[FORWARD] = number
    if directions & BACKWARD != 0 and _explore_backward(thread, on, on.results, 0, 0):
        on.cells[BACKWARD] = number


@block_step(words=2 * _SLOTS)
def search_cached(
    block: int,
    thread: int,
    threads: int,
    phase: int,
    shared: DeviceArray,
    iterations: int,
    on: States,
    directions: int,
    number: int,
) -> None:
    """Run several iterations, one per phase: the first on the block's states, the others on those in its cache.

    A phase before them clears the cache. The last iteration does not use the cache, whose contents would be lost.
    """
    size = _SLOTS * threads
    if phase == 0:
        for slot in range(thread, 2 * size, threads):
            shared[slot] = _EMPTY
        return
    room = size if phase < iterations else 0
    first, last, stride = thread, size, threads
    if phase == 1:
        first = block * threads + thread
        last = min(first + 1, on.results.size)
        stride = 1
    # Another thread may have explored the state meanwhile.
    if directions & FORWARD != 0:
        for place in range(first, last, stride):
            state = place if phase == 1 else _taken(shared, place)
            if state != _EMPTY and _explore_forward(state, on, shared, room):
                on.cells[FORWARD] = number
    if directions & BACKWARD != 0:
        for place in range(first, last, stride):
            state = place if phase == 1 else _taken(shared, size + place)
            if state != _EMPTY and _explore_backward(state, on, shared, size, room):
                on.cells[BACKWARD] = number


@step
def begin_states(thread: int, on: States) -> None:
    """Mark the states that wait for a region, and clear the mark of the others."""
    offsets = on.forward.offsets
    offsets[thread] = (offsets[thread] & MASK) | (_LOCK if on.results[thread] < 0 else _PENDING)


@step
def merge_searches(thread: int, on: States) -> None:
    """Make a component of the states that both searches reached; store for the others in `results` which one did."""
    offsets, results = on.forward.offsets, on.results
    word = results[thread]
    if word < 0:
        return
    info = offsets[thread]
    forward = info & _REACHED
    backward = word & _REACHED
    if forward != 0 and backward != 0:
        results[thread] = _LOCK | (word & MASK)
        offsets[thread] = _LOCK | (info & MASK)
        _add_at(on.done, thread, 1)
        return
    word = word & MASK
    if forward != 0:
        word = word | FRONTIER
    if backward != 0:
        word = word | _EXPLORED
    results[thread] = word
    offsets[thread] = (info & MASK) | _PENDING


@step
def claim_pivots(thread: int, on: States, places: int, first: int) -> None:
    """Assign a state to the region of its hash; the first state with that hash becomes the pivot.

    Handles hashes from `first` to ``first + places - 1``; the least of the larger ones goes to ``cells[FOLLOWING]``.
    The pivot saves the overwritten transition in `results`.
    """
    offsets, results, trans = on.forward.offsets, on.results, on.forward.trans
    info = offsets[thread]
    if info < 0 or info & _PENDING == 0:
        return
    word = results[thread]
    # 1 for the backward search, 2 for the forward one.
    hashed = (word & MASK) + ((word >> _SHIFT) & 3)
    place = hashed - first
    if place >= places:
        if hashed < on.cells[FOLLOWING]:
            atomic_min(on.cells, FOLLOWING, hashed)
        return
    held = trans[place]
    if held >= 0:
        before = atomic_swap(trans, place, held, _LOCK | thread)
        if before == held:
            results[thread] = held
            offsets[thread] = (info & MASK) | FRONTIER
            return
        held = before
    results[thread] = held & MASK
    offsets[thread] = info & MASK


@step
def revert_transitions(thread: int, on: States) -> None:
    """Restore the transition that a pivot saved, and count the pivot.

    Runs over the entries of the array, because a pivot no longer knows which entry it overwrote.
    """
    held = on.forward.trans[thread]
    if held < 0:
        pivot = held & MASK
        on.forward.trans[thread] = on.results[pivot]
        on.results[pivot] = pivot | FRONTIER
        atomic_add(on.cells, PIVOTS, 1)


class Layout(NamedTuple):
    """A graph and its transpose on a device."""

    names: NDArray[np.int64] | None
    """int64, shape (n,): original number of each state; None if states are not renumbered."""
    places: int
    """Length of the array of transitions."""
    forward: Transitions
    backward: Transitions


@step
def _place(thread: int, names: DeviceArray, numbers: DeviceArray, source: DeviceGraph, placed: Transitions) -> None:
    """Copy the transitions of a state to the place of its new number."""
    first = source.offsets[names[thread]]
    degree = source.offsets[names[thread] + 1] - first
    place = placed.offsets[thread]
    stride = WARP if thread < placed.segmented else 1
    for each in range(degree):
        placed.trans[place + each * stride] = numbers[source.targets[first + each]]
    if thread < placed.segmented:
        for each in range(degree, placed.interval):
            placed.trans[place + each * stride] = PADDING


def _positions(degrees: NDArray[np.int64], segmented: int, interval: int) -> NDArray[np.int64]:
    """Return the start of each state's transitions, and the end of the last one's."""
    states = np.arange(segmented)
    offsets = np.empty(degrees.size + 1, np.int64)
    offsets[:segmented] = states // WARP * (WARP * interval) + states % WARP
    offsets[segmented] = segmented * interval
    np.cumsum(degrees[segmented:], out=offsets[segmented + 1 :])
    offsets[segmented + 1 :] += offsets[segmented]
    return offsets


def _check(states: int, places: int) -> None:
    if max(states, places) > MOST:
        raise InputError(
            f"fbt takes at most {MOST} states and as many transitions, padding included, not {states} and {places}"
        )


def lay_out(device: Device, graph: Graph, transpose: Graph, segment: int) -> Layout:
    """Copy a graph to a device.

    Parameters
    ----------
    device : Device
        The device.
    graph, transpose : Graph
        The graph and its transpose.
    segment : int
        States with at most this many transitions come first, in order, in segments of 32. A remainder that does not
        fill a segment is placed with the other states. With 0 or 1 the layout is unchanged.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    states = graph.vertices
    if segment < _FEWEST:
        _check(states, graph.edges)
        # A copy: pivots overwrite forward targets, and the graph's arrays may be mapped from a file.
        forward, backward = (
            Transitions(device.array(each.offsets.astype(np.int32)), device.array(targets.view(np.int32)), 0, 0)
            for each, targets in ((graph, graph.targets.copy()), (transpose, transpose.targets))
        )
        return Layout(None, graph.edges, forward, backward)
    degrees = graph.out_degrees()
    few = np.flatnonzero(degrees <= segment)
    segmented = few.size // WARP * WARP
    behind = np.ones(states, np.bool_)
    behind[few[:segmented]] = False
    # Before computing positions in 64-bit integers: Python integers cannot overflow.
    places = segmented * segment + int(degrees[behind].sum())
    _check(states, places)
    names = np.concatenate([few[:segmented], np.flatnonzero(behind)])
    numbers = np.empty(states, np.int32)
    numbers[names] = np.arange(states, dtype=np.int32)
    device_names, device_numbers = device.array(names), device.array(numbers)
    layouts = []
    for source, first in ((graph, segmented), (transpose, 0)):
        positions = _positions(source.out_degrees()[names], first, segment)
        trans = device.zeros(int(positions[-1]), np.int32)
        layouts.append(Transitions(device.array(positions.astype(np.int32)), trans, first, segment))
        given = DeviceGraph(device.array(source.offsets), device.array(source.targets.view(np.int32)))
        device.run(_place, states, device_names, device_numbers, given, layouts[-1])
    return Layout(names, places, *layouts)


class Fbt:
    """A graph on a device, decomposed once or, as its subgraphs shrink, several times.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs. Options: ``cached``, iterations of a search in a launch (0); ``segment``, the most transitions of
        a state in a segment (0); ``no-hybrid``, a launch for each direction.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """

    def __init__(self, graph: Graph, transpose: Graph, setting: SoftwareSetting) -> None:
        options = setting.options
        self._device = setting.device
        self._states = graph.vertices
        self._watch = setting.watch
        self._iterations = int(options.get("cached", 0))
        self._hybrid = not options.get("no-hybrid", False)
        self._layout = lay_out(setting.device, graph, transpose, int(options.get("segment", 0)))

    def decompose(self, regions: NDArray[np.integer] | None = None) -> Decomposition:
        """Find the components within regions.

        Parameters
        ----------
        regions : ndarray of integers, shape (n,), optional
            Region of each state, 0 to n - 1, or -1 for a state outside of the subgraph. No cycle of the subgraph may
            pass through two regions. Edges between regions, and those of states outside, are ignored. By default all
            states are in one region.

        Returns
        -------
        Decomposition
            The label of a state is the pivot of its component, or -1. Counts: ``rounds``, in each of which every region
            gets a pivot; ``pivots``; ``trimming_rounds`` and ``search_iterations``, one launch each; ``passes``, all
            launches including these; ``edges``, transitions inspected.

        Raises
        ------
        ValueError
            The regions are invalid.
        """
        device, initial = self._device, self._initial(regions)
        counters = (device.zeros(size) for size in (_COUNTED, _COUNTED, _CELLS))
        self._on = States(self._layout.forward, self._layout.backward, device.array(initial), *counters)
        self._removed = int(np.count_nonzero(initial == REMOVED))
        self._rounds = self._trims = self._searches = self._others = 0
        device.run(begin_states, self._states, self._on)
        while True:
            self._trim()
            self._watch(int(device.read(self._on.done).sum()) + self._removed, self._states)
            if not self._claim():
                return Decomposition(labels=self._labels(), counts=self._counts())
            self._search()
            device.run(merge_searches, self._states, self._on)
            self._others += 1

    def _initial(self, regions: NDArray[np.integer] | None) -> NDArray[np.int32]:
        """Return the initial contents of `results`."""
        states, names = self._states, self._layout.names
        if regions is None:
            return np.zeros(states, np.int32)
        if regions.shape != (states,):
            raise ValueError(f"regions must be of {states} states, not of shape {regions.shape}")
        if regions.size and not REMOVED <= regions.min() <= regions.max() < states:
            raise ValueError(f"regions must be -1 to {states - 1}, not {regions.min()} to {regions.max()}")
        return (regions if names is None else regions[names]).astype(np.int32)

    def _labels(self) -> NDArray[np.int64]:
        """Return the labels in the graph's original numbering."""
        names = self._layout.names
        words = self._device.read(self._on.results)
        pivots = (words & MASK).astype(np.int64)
        pivots[words == REMOVED] = -1
        if names is None:
            return pivots
        labels = np.empty_like(pivots)
        labels[names] = np.where(pivots < 0, -1, names[pivots])
        return labels

    def _counts(self) -> dict[str, int]:
        """Return the work counters."""
        return {
            "rounds": self._rounds,
            "pivots": self._device.value(self._on.cells, PIVOTS),
            "trimming_rounds": self._trims,
            "search_iterations": self._searches,
            "passes": self._trims + self._searches + self._others,
            "edges": int(self._device.read(self._on.edges).sum()),
        }

    def _trim(self) -> None:
        """Trim to a fixpoint."""
        trimmed = True
        while trimmed:
            self._trims += 1
            self._device.run(trim_states, self._states, self._on, self._trims)
            trimmed = self._device.value(self._on.cells, TRIMMED) == self._trims

    def _claim(self) -> bool:
        """Assign regions to states and pivots to regions; return whether any region is left."""
        device, cells, length = self._device, self._on.cells, self._layout.places
        before = device.value(cells, PIVOTS)
        # Hashes may exceed the length of the array, which then serves one range of hashes after the other. Empty ranges
        # are skipped: with few transitions there are many of them.
        first = 0
        while first < _NO_HASH and length:
            places = min(length, self._states + _BITS - first)
            device.store(cells, FOLLOWING, _NO_HASH)
            device.run(claim_pivots, self._states, self._on, places, first)
            device.run(revert_transitions, places, self._on)
            self._others += 2
            following = device.value(cells, FOLLOWING)
            first = following if following == _NO_HASH else following // length * length
        return device.value(cells, PIVOTS) > before

    def _search(self) -> None:
        """Search both layouts until no state is in a frontier."""
        directions = FORWARD | BACKWARD
        while directions:
            self._searches += 1
            for direction in (directions,) if self._hybrid else (directions & FORWARD, directions & BACKWARD):
                if direction:
                    self._launch(direction)
            found = self._device.read(self._on.cells)
            directions = sum(way for way in (FORWARD, BACKWARD) if found[way] == self._searches)
        self._rounds += 1

    def _launch(self, directions: int) -> None:
        """Launch one iteration, or several with the cache."""
        device, iterations = self._device, self._iterations
        arguments = (self._on, directions, self._searches)
        if iterations == 0:
            device.run(search_once, self._states, *arguments)
        else:
            device.run_blocks(search_cached, self._states, 1 + iterations, iterations, *arguments)


def decompose_regions(
    graph: Graph, transpose: Graph, setting: SoftwareSetting, regions: NDArray[np.integer]
) -> Decomposition:
    """Find the components within given regions of a graph; see `Fbt` for parameters, result and errors."""
    return Fbt(graph, transpose, setting).decompose(regions)


def fbt(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Label the components of a graph by forward-backward search with trimming (Wijs et al. 2014, section 3.3).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs, see `Fbt`.

    Returns
    -------
    Decomposition
        Labels are pivots; counts are those of `Fbt.decompose`.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    return Fbt(graph, transpose, setting).decompose()
