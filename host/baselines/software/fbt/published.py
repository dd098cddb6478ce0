"""The published scheme: algorithm 1 in all regions at once, with the steps of algorithms 2 and 3.

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

from cyscc.host.baselines.devices.steps import (
    DeviceArray,
    atomic_add,
    atomic_min,
    atomic_swap,
    block_step,
    device_function,
    step,
)
from cyscc.host.baselines.software.decomposition import SoftwareSetting
from cyscc.host.baselines.software.fbt.layout import PADDING, WARP, Layout, Transitions

__all__ = [
    "BACKWARD",
    "FORWARD",
    "FRONTIER",
    "MASK",
    "REACHED",
    "REMOVED",
    "TRIMMED",
    "Published",
    "States",
    "add_at",
    "claim",
    "merge",
    "search_cached",
    "state_range",
    "trim",
    "unlock",
]

_LOCK = -(2**31)
"""The highest bit of a signed 32-bit integer."""
FRONTIER = 2**30
_EXPLORED = 2**29
REACHED = FRONTIER | _EXPLORED
_SHIFT = 29
"""Shift after which the two bits of `results` are 1 for the backward search and 2 for the forward one."""
_PENDING = _EXPLORED
"""Bit of `offsets` between searches: the state has no region yet."""
MASK = 2**29 - 1
REMOVED = -1
"""Entry of `results` of a state outside of the subgraph."""

FORWARD, BACKWARD = 1, 2
"""Directions of a search, and indices of cells: the last iteration that put a state into the frontier."""
TRIMMED, FOLLOWING, PIVOTS = 0, 3, 4
"""Indices of the other cells: the last round that trimmed a state, the next hash, number of pivots."""

_EMPTY = -1
_SLOTS = 2
"""Entries of a thread in its block's cache, for each direction."""
_NEAR = 5
"""Threads whose numbers differ only in this many low bits share a cell of a counter."""

_CELLS = 5
_COUNTED = 1024
"""Cells of a counter."""
_NO_HASH = 2**40
_BITS = 3
"""Largest difference between a hash and the region's number."""


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
def add_at(counter: DeviceArray, thread: int, number: int) -> None:
    """Add to a counter that is spread over a power of two of cells."""
    atomic_add(counter, (thread >> _NEAR) & (counter.size - 1), number)


@device_function
def state_range(state: int, transitions: Transitions) -> Any:
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
    first, last, stride = state_range(state, transitions)
    for place in range(first, last, stride):
        target = transitions.trans[place]
        if target == PADDING:
            break
        looked += 1
        if target != state and results[target] == word:
            return looked
    return -1 - looked


@device_function
def trim(state: int, on: States, number: int) -> None:
    """Make a state a component if it has no predecessor, or no successor, in its region.

    Then ``cells[TRIMMED]`` becomes the round's number.
    """
    word = on.results[state]
    if word < 0:
        return
    looked = _looked(state, word, on.forward, on.results)
    single = looked < 0
    if single:
        looked = -1 - looked
    else:
        behind = _looked(state, word, on.backward, on.results)
        single = behind < 0
        looked += -1 - behind if single else behind
    if looked > 0:
        add_at(on.edges, state, looked)
    if single:
        on.results[state] = _LOCK | state
        on.forward.offsets[state] = _LOCK | (on.forward.offsets[state] & MASK)
        add_at(on.done, state, 1)
        on.cells[TRIMMED] = number


@step
def trim_states(state: int, on: States, number: int) -> None:
    """Trim every state."""
    trim(state, on, number)


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
    first, last, stride = state_range(state, on.forward)
    for place in range(first, last, stride):
        target = on.forward.trans[place]
        if target == PADDING:
            break
        looked += 1
        # No bit is set: neither reached nor in a component. The region is compared last, as the bits exclude most
        # states.
        if 0 <= offsets[target] <= MASK and results[target] & MASK == region:
            found |= _reach(target, offsets, cache, 0, room)
    add_at(on.edges, state, looked)
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
    add_at(on.edges, state, last - first)
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


@device_function
def merge(state: int, on: States) -> None:
    """Make a component of the states that both searches reached; store for the others in `results` which one did."""
    offsets, results = on.forward.offsets, on.results
    word = results[state]
    if word < 0:
        return
    info = offsets[state]
    forward = info & REACHED
    backward = word & REACHED
    if forward != 0 and backward != 0:
        results[state] = _LOCK | (word & MASK)
        offsets[state] = _LOCK | (info & MASK)
        add_at(on.done, state, 1)
        return
    word = word & MASK
    if forward != 0:
        word = word | FRONTIER
    if backward != 0:
        word = word | _EXPLORED
    results[state] = word
    offsets[state] = (info & MASK) | _PENDING


@step
def merge_searches(state: int, on: States) -> None:
    """Merge the searches at every state."""
    merge(state, on)


@device_function
def claim(state: int, on: States, places: int, first: int) -> int:
    """Assign a state to the region of its hash; the first state with that hash becomes the pivot.

    Handles hashes from `first` to ``first + places - 1``; the least of the larger ones goes to ``cells[FOLLOWING]``.
    The pivot saves the overwritten transition in `results`. Returns the place of the hash if the state is the pivot,
    else -1.
    """
    offsets, results, trans = on.forward.offsets, on.results, on.forward.trans
    info = offsets[state]
    if info < 0 or info & _PENDING == 0:
        return -1
    word = results[state]
    # 1 for the backward search, 2 for the forward one.
    hashed = (word & MASK) + ((word >> _SHIFT) & 3)
    place = hashed - first
    if place >= places:
        if hashed < on.cells[FOLLOWING]:
            atomic_min(on.cells, FOLLOWING, hashed)
        return -1
    held = trans[place]
    if held >= 0:
        before = atomic_swap(trans, place, held, _LOCK | state)
        if before == held:
            results[state] = held
            offsets[state] = (info & MASK) | FRONTIER
            return place
        held = before
    results[state] = held & MASK
    offsets[state] = info & MASK
    return -1


@step
def claim_pivots(state: int, on: States, places: int, first: int) -> None:
    """Claim a pivot for the region of every state."""
    claim(state, on, places, first)


@device_function
def unlock(place: int, on: States) -> int:
    """Restore the transition that a pivot saved, and count the pivot, which is returned."""
    pivot = on.forward.trans[place] & MASK
    on.forward.trans[place] = on.results[pivot]
    on.results[pivot] = pivot | FRONTIER
    atomic_add(on.cells, PIVOTS, 1)
    return pivot


@step
def revert_transitions(place: int, on: States) -> None:
    """Restore the transition that a pivot saved.

    Runs over the entries of the array, because a pivot no longer knows which entry it overwrote.
    """
    if on.forward.trans[place] < 0:
        unlock(place, on)


class Published:
    """A decomposition by the published scheme alone.

    Parameters
    ----------
    layout : Layout
        The graph on the device.
    setting : SoftwareSetting
        How it runs, see `cyscc.host.baselines.software.fbt.Fbt`.
    initial : array of int32, shape (n,)
        Region of each state, or `REMOVED`.
    removed : int
        Number of states that are removed.

    Attributes
    ----------
    on : States
        The arrays of the run.
    """

    def __init__(self, layout: Layout, setting: SoftwareSetting, initial: DeviceArray, removed: int) -> None:
        device, options = setting.device, setting.options
        self._device = device
        self._watch = setting.watch
        self._iterations = int(options.get("cached", 0))
        self._hybrid = not options.get("no-hybrid", False)
        self._places = layout.places
        counters = (device.zeros(size) for size in (_COUNTED, _COUNTED, _CELLS))
        self.on = States(layout.forward, layout.backward, initial, *counters)
        self._states = initial.size
        self._removed = removed
        self._rounds = self._trims = self._searches = self._others = 0

    def finish(self) -> None:
        """Find all components."""
        self._begin()
        while True:
            self._trim()
            self._watch(self._done(), self._states)
            if not self._claim():
                return
            self._search()
            self._merge()
            self._rounds += 1

    def counts(self) -> dict[str, int]:
        """Return the work counters."""
        return {
            "rounds": self._rounds,
            "pivots": self._device.value(self.on.cells, PIVOTS),
            "trimming_rounds": self._trims,
            "search_iterations": self._searches,
            "passes": self._trims + self._searches + self._others,
            "edges": int(self._device.read(self.on.edges).sum()),
        }

    def _begin(self) -> None:
        """Prepare the bits of the states."""
        self._device.run(begin_states, self._states, self.on)

    def _done(self) -> int:
        """Return the number of states that have a component, or are none of the subgraph."""
        return int(self._device.read(self.on.done).sum()) + self._removed

    def _trim(self) -> None:
        """Trim to a fixpoint."""
        trimmed = True
        while trimmed:
            self._trims += 1
            self._device.run(trim_states, self._states, self.on, self._trims)
            trimmed = self._device.value(self.on.cells, TRIMMED) == self._trims

    def _claim(self) -> bool:
        """Assign regions to states and pivots to regions; return whether any region is left."""
        device, cells, length = self._device, self.on.cells, self._places
        before = device.value(cells, PIVOTS)
        # Hashes may exceed the length of the array, which then serves one range of hashes after the other. Empty ranges
        # are skipped: with few transitions there are many of them.
        first = 0
        while first < _NO_HASH and length:
            device.store(cells, FOLLOWING, _NO_HASH)
            self._claim_range(min(length, self._states + _BITS - first), first)
            following = device.value(cells, FOLLOWING)
            first = following if following == _NO_HASH else following // length * length
        return device.value(cells, PIVOTS) > before

    def _claim_range(self, places: int, first: int) -> None:
        """Claim the pivots of a range of hashes."""
        self._device.run(claim_pivots, self._states, self.on, places, first)
        self._device.run(revert_transitions, places, self.on)
        self._others += 2

    def _search(self) -> None:
        """Search both layouts until no state is in a frontier."""
        directions = FORWARD | BACKWARD
        while directions:
            directions = self._iterate(directions)

    def _iterate(self, directions: int) -> int:
        """Search once in each direction; return the directions that need another iteration."""
        self._searches += 1
        for direction in (directions,) if self._hybrid else (directions & FORWARD, directions & BACKWARD):
            if direction:
                self._launch(direction)
        found = self._device.read(self.on.cells)
        return sum(way for way in (FORWARD, BACKWARD) if found[way] == self._searches)

    def _launch(self, directions: int) -> None:
        """Launch one iteration, or several with the cache."""
        device, iterations = self._device, self._iterations
        arguments = (self.on, directions, self._searches)
        if iterations == 0:
            device.run(search_once, self._states, *arguments)
        else:
            device.run_blocks(search_cached, self._states, 1 + iterations, iterations, *arguments)

    def _merge(self) -> None:
        """Make components of what both searches reached, and regions of the rest."""
        self._device.run(merge_searches, self._states, self.on)
        self._others += 1
