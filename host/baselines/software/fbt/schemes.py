"""The published scheme: algorithm 1 in all regions at once, with the steps of algorithms 2 and 3; and additions to it.

An entry of the following three arrays has a position or a state in 29 bits, and three bits of bookkeeping above them:

=========  =====================================  =======================================  ====================
bit        `offsets`                              `results`                                `trans`
=========  =====================================  =======================================  ====================
31         the state has its component            the same                                 locked: it holds a
                                                                                           pivot
30         in the frontier of the forward search  of the backward one; between searches:   part of the target
                                                  reached by the forward one
29         explored by it; between searches: the  by the backward one; between searches:   part of the target
           state has no region yet                reached by it
28 to 0    where its transitions begin            its region: the number of a pivot        the target
=========  =====================================  =======================================  ====================

In a search, threads read and write entries of `offsets` and `results` concurrently, without atomic operations. The
values written differ only in the two bits of the search, which go from none to `_FRONTIER` to `EXPLORED`. A thread that
read an old value may put a state back into the frontier that has been explored meanwhile; it is then explored once
more. No state is lost: the thread that writes `_FRONTIER` also announces the state, by a flag or in its block's cache,
and the thread that writes `EXPLORED` explores the state afterwards.

After a search each region gets a pivot. Threads compete for it at the region's hash in the array of transitions. Two
regions can have the same hash: the states reached only by the backward search from pivot p, and those reached by no
search from pivot p + 1. They then merge into one region. This is harmless: the search only requires that each component
lies within one region, and that each region has one pivot. The states of a region that a pivot reaches, and that reach
the pivot, are the pivot's component, whatever other states the region has.

The additions are for graphs with many components beside a giant one. Each launch runs over a list of the states that
are left, or over a queue of those that a search has reached. The first pivot is a hub. Before each later round colours
divide the regions, so that many components get a pivot at once: every state has a colour of its own at first, and then
gets the largest one that reaches it within the region. The states of a component are reached by the same states, and so
get the same colour: no cycle passes through two of the new regions.
"""

from typing import Any, NamedTuple

import numpy as np

from cyscc.host.baselines.devices import atomic
from cyscc.host.baselines.devices.primitives import OpenList
from cyscc.host.baselines.devices.steps import DeviceArray, Step, block_step, device_function, step
from cyscc.host.baselines.software.decomposition import SoftwareSetting
from cyscc.host.baselines.software.fbt.layout import PADDING, WARP, Layout, Transitions

_LOCK = -(2**31)
"""The highest bit of a signed 32-bit integer."""
_FRONTIER = 2**30
_EXPLORED = 2**29
_REACHED = _FRONTIER | _EXPLORED
_SHIFT = 29
"""Shift after which the two bits of `results` are 1 for the backward search and 2 for the forward one."""
_PENDING = _EXPLORED
"""Bit of `offsets` between searches: the state has no region yet."""
MASK = 2**29 - 1

_FORWARD, _BACKWARD = 1, 2
"""Directions of a search, and indices of cells: the last iteration that put a state into the frontier."""
_TRIMMED, _FOLLOWING, _PIVOTS = 0, 3, 4
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

_CHANGED = 3
"""Indices of counters: whether a colour changed; `_FORWARD`, `_BACKWARD`: lengths of the queues."""
_HOPS = 32
"""Most states that a thread explores one after the other."""
_SCANS = 6
"""Iterations of the first search that look at all states, as published: most of them are then reached."""
_FEW = 30
"""Trimming stops after a launch that trims fewer than one in this many states."""
_STRIDE = 2654435761
"""A prime above all lengths of lists: its multiples modulo a length are a permutation without pattern."""


class _States(NamedTuple):
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
    left: DeviceArray
    """int32, shape (n,): list of the states without a component; as published of all states."""


@device_function
def _add_at(counter: DeviceArray, thread: int, number: int) -> None:
    """Add to a counter that is spread over a power of two of cells."""
    atomic.add(counter, (thread >> _NEAR) & (counter.size - 1), number)


@device_function
def _state_range(state: int, transitions: Transitions) -> Any:
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
    first, last, stride = _state_range(state, transitions)
    for place in range(first, last, stride):
        target = transitions.trans[place]
        if target == PADDING:
            break
        looked += 1
        if target != state and results[target] == word:
            return looked
    return -1 - looked


@step
def _trim(thread: int, on: _States, number: int) -> None:
    """Make a state that is left a component if it has no predecessor, or no successor, in its region.

    Then ``cells[_TRIMMED]`` becomes the round's number.
    """
    state = on.left[thread]
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
        _add_at(on.edges, state, looked)
    if single:
        on.results[state] = _LOCK | state
        on.forward.offsets[state] = _LOCK | (on.forward.offsets[state] & MASK)
        _add_at(on.done, state, 1)
        on.cells[_TRIMMED] = number


@device_function
def _reach(target: int, infos: DeviceArray, cache: DeviceArray, base: int, room: int) -> int:
    """Put a state into the frontier; return 1 if another iteration is needed for it, 0 if the cache holds it."""
    infos[target] = infos[target] | _FRONTIER
    if room > 0 and atomic.swap(cache, base + target % room, _EMPTY, target) == _EMPTY:
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
def _explore(
    state: int, infos: DeviceArray, side: Transitions, on: _States, cache: DeviceArray, base: int, room: int
) -> int:
    """Explore a state if it is in the frontier of a search; return whether another iteration is needed.

    The bits of the search are those of `infos`: `offsets` for the forward search, `results` for the backward one.
    """
    results = on.results
    info = infos[state]
    if info < 0 or info & _FRONTIER == 0:
        return 0
    infos[state] = (info & MASK) | _EXPLORED
    region = results[state] & MASK
    looked = 0
    found = 0
    first, last, stride = _state_range(state, side)
    for place in range(first, last, stride):
        target = side.trans[place]
        if target == PADDING:
            break
        looked += 1
        # No bit is set: neither reached nor in a component. The region is compared last, as the bits exclude most
        # states.
        if 0 <= infos[target] <= MASK and results[target] & MASK == region:
            found |= _reach(target, infos, cache, base, room)
    _add_at(on.edges, state, looked)
    return found


@step
def _search_once(thread: int, on: _States, directions: int, number: int) -> None:
    """Explore a state in each direction; set ``cells[direction]`` to `number` if another iteration is needed."""
    if directions & _FORWARD != 0 and _explore(thread, on.forward.offsets, on.forward, on, on.results, 0, 0):
        on.cells[_FORWARD] = number
    if directions & _BACKWARD != 0 and _explore(thread, on.results, on.backward, on, on.results, 0, 0):
        on.cells[_BACKWARD] = number


@block_step(words=2 * _SLOTS)
def _search_cached(
    block: int,
    thread: int,
    threads: int,
    phase: int,
    shared: DeviceArray,
    iterations: int,
    on: _States,
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
    if directions & _FORWARD != 0:
        for place in range(first, last, stride):
            state = place if phase == 1 else _taken(shared, place)
            if state != _EMPTY and _explore(state, on.forward.offsets, on.forward, on, shared, 0, room):
                on.cells[_FORWARD] = number
    if directions & _BACKWARD != 0:
        for place in range(first, last, stride):
            state = place if phase == 1 else _taken(shared, size + place)
            if state != _EMPTY and _explore(state, on.results, on.backward, on, shared, size, room):
                on.cells[_BACKWARD] = number


@step
def _begin_states(thread: int, on: _States) -> None:
    """Have a state wait for a region."""
    offsets = on.forward.offsets
    offsets[thread] = (offsets[thread] & MASK) | _PENDING


@step
def _merge(thread: int, on: _States) -> None:
    """Make a component of the states that both searches reached; store for the others in `results` which one did."""
    offsets, results = on.forward.offsets, on.results
    state = on.left[thread]
    word = results[state]
    if word < 0:
        return
    info = offsets[state]
    forward = info & _REACHED
    backward = word & _REACHED
    if forward != 0 and backward != 0:
        results[state] = _LOCK | (word & MASK)
        offsets[state] = _LOCK | (info & MASK)
        _add_at(on.done, state, 1)
        return
    word = word & MASK
    if forward != 0:
        word = word | _FRONTIER
    if backward != 0:
        word = word | _EXPLORED
    results[state] = word
    offsets[state] = (info & MASK) | _PENDING


@device_function
def _claim(state: int, on: _States, places: int, first: int) -> int:
    """Assign a state to the region of its hash; the first state with that hash becomes the pivot.

    Handles hashes from `first` to ``first + places - 1``; the least of the larger ones goes to ``cells[_FOLLOWING]``.
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
        if hashed < on.cells[_FOLLOWING]:
            atomic.minimum(on.cells, _FOLLOWING, hashed)
        return -1
    held = trans[place]
    if held >= 0:
        before = atomic.swap(trans, place, held, _LOCK | state)
        if before == held:
            results[state] = held
            offsets[state] = (info & MASK) | _FRONTIER
            return place
        held = before
    results[state] = held & MASK
    offsets[state] = info & MASK
    return -1


@step
def _claim_pivots(state: int, on: _States, places: int, first: int) -> None:
    """Claim a pivot for the region of every state."""
    _claim(state, on, places, first)


@device_function
def _unlock(place: int, on: _States) -> int:
    """Restore the transition that a pivot saved, and count the pivot, which is returned."""
    pivot = on.forward.trans[place] & MASK
    on.forward.trans[place] = on.results[pivot]
    on.results[pivot] = pivot | _FRONTIER
    atomic.add(on.cells, _PIVOTS, 1)
    return pivot


@step
def _revert_transitions(place: int, on: _States) -> None:
    """Restore the transition that a pivot saved.

    Runs over the entries of the array, because a pivot no longer knows which entry it overwrote.
    """
    if on.forward.trans[place] < 0:
        _unlock(place, on)


class Published:
    """A decomposition by the published scheme alone.

    Parameters
    ----------
    layout : Layout
        The graph on the device.
    setting : SoftwareSetting
        How it runs, see `cyscc.host.baselines.software.fbt.algorithm.decompose_regions`.
    initial : array of int32, shape (n,)
        Region of each state.

    Attributes
    ----------
    on : _States
        The arrays of the run.
    """

    def __init__(self, layout: Layout, setting: SoftwareSetting, initial: DeviceArray) -> None:
        device, options = setting.device, setting.options
        self._device = device
        self._watch = setting.watch
        self._iterations = int(options.get("cached", 0))
        self._hybrid = not options.get("no-hybrid", False)
        self._places = layout.places
        self._states = initial.size
        self._open = OpenList(device, initial)
        edges, done, cells = (device.zeros(size) for size in (_COUNTED, _COUNTED, _CELLS))
        self.on = _States(layout.forward, layout.backward, initial, edges, done, cells, self._open.vertices)
        self._rounds = self._trims = self._searches = self._others = 0

    def finish(self) -> None:
        """Find all components."""
        self._device.run(_begin_states, self._states, self.on)
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
            "pivots": self._device.value(self.on.cells, _PIVOTS),
            "trimming_rounds": self._trims,
            "search_iterations": self._searches,
            "passes": self._trims + self._searches + self._others,
            "edges": int(self._device.read(self.on.edges).sum()),
        }

    def _each(self, step: Step, *arguments: Any) -> None:
        """Launch a step over the states that are left."""
        self._others += 1
        self._device.run(step, self._open.length, self.on, *arguments)

    def _done(self) -> int:
        """Return the number of states that have a component."""
        return int(self._device.read(self.on.done).sum())

    def _trim(self) -> None:
        """Trim to a fixpoint."""
        while self._trim_once():
            pass

    def _trim_once(self) -> bool:
        """Trim the states that are left; return whether that found any."""
        self._trims += 1
        self._device.run(_trim, self._open.length, self.on, self._trims)
        return self._device.value(self.on.cells, _TRIMMED) == self._trims

    def _claim(self) -> bool:
        """Assign regions to states and pivots to regions; return whether any region is left."""
        device, cells, length = self._device, self.on.cells, self._places
        before = device.value(cells, _PIVOTS)
        # Hashes may exceed the length of the array, which then serves one range of hashes after the other. Empty ranges
        # are skipped: with few transitions there are many of them.
        first = 0
        while first < _NO_HASH and length:
            device.store(cells, _FOLLOWING, _NO_HASH)
            self._claim_range(min(length, self._states + _BITS - first), first)
            following = device.value(cells, _FOLLOWING)
            first = following if following == _NO_HASH else following // length * length
        return device.value(cells, _PIVOTS) > before

    def _claim_range(self, places: int, first: int) -> None:
        """Claim the pivots of a range of hashes."""
        self._each(_claim_pivots, places, first)
        self._device.run(_revert_transitions, places, self.on)
        self._others += 1

    def _search(self) -> None:
        """Search both layouts until no state is in a frontier."""
        directions = _FORWARD | _BACKWARD
        while directions:
            directions = self._iterate(directions)

    def _iterate(self, directions: int) -> int:
        """Search once in each direction; return the directions that need another iteration."""
        self._searches += 1
        for direction in (directions,) if self._hybrid else (directions & _FORWARD, directions & _BACKWARD):
            arguments = (self.on, direction, self._searches)
            if direction and self._iterations == 0:
                self._device.run(_search_once, self._states, *arguments)
            elif direction:
                times = self._iterations
                self._device.run_blocks(_search_cached, self._states, 1 + times, times, *arguments)
        found = self._device.read(self.on.cells)
        return sum(way for way in (_FORWARD, _BACKWARD) if found[way] == self._searches)

    def _merge(self) -> None:
        """Make components of what both searches reached, and regions of the rest."""
        self._each(_merge)


class _Lists(NamedTuple):
    """Lists of states, each of which has room for all."""

    forward: DeviceArray
    """int32: the states that the forward search has reached; a queue of states that pass on their colours."""
    backward: DeviceArray
    """int32: those of the backward search; by state, the colours; the places that pivots have locked."""
    counters: DeviceArray
    """int64, shape (4,)."""


@step
def _plant(thread: int, on: _States, lists: _Lists, length: int) -> None:
    """Give a state that is left a colour of its own, at random."""
    lists.backward[on.left[thread]] = (thread + 1) * _STRIDE % length


@step
def _mark(thread: int, on: _States) -> None:
    """Mark a state that is left as queued."""
    state = on.left[thread]
    on.forward.offsets[state] = on.forward.offsets[state] | _FRONTIER


@step
def _spread(thread: int, on: _States, lists: _Lists, queue: DeviceArray, following: DeviceArray) -> None:
    """Pass the colour of a state on to its successors in the region; continue with one of them, queue the others.

    `_FRONTIER` marks queued states, so that none is in a queue twice.
    """
    offsets, results, colours = on.forward.offsets, on.results, lists.backward
    state = queue[thread]
    word = results[state]
    looked = 0
    hops = _HOPS
    while state >= 0:
        # First: a thread that changes the colour later queues the state again.
        atomic.and_(offsets, state, ~_FRONTIER)
        colour = colours[state]
        first, last, stride = _state_range(state, on.forward)
        state = -1
        hops -= 1
        for place in range(first, last, stride):
            target = on.forward.trans[place]
            if target == PADDING:
                break
            looked += 1
            if (
                results[target] != word
                or colours[target] >= colour
                or atomic.maximum(colours, target, colour) >= colour
            ):
                continue
            lists.counters[_CHANGED] = 1
            if atomic.or_(offsets, target, _FRONTIER) & _FRONTIER == 0:
                if state < 0 and hops > 0:
                    state = target
                else:
                    following[atomic.add(lists.counters, _FORWARD, 1)] = target
    _add_at(on.edges, thread, looked)


@step
def _divide(thread: int, on: _States, lists: _Lists) -> None:
    """Make the colour of a state its region."""
    state = on.left[thread]
    on.results[state] = lists.backward[state]


@step
def _claim_listed(
    thread: int, on: _States, lists: _Lists, listed: DeviceArray, length: int, places: int, first: int
) -> None:
    """Claim pivots for the regions of listed states, in no particular order; note the places that they have locked."""
    place = _claim(listed[(thread + 1) * _STRIDE % length], on, places, first)
    if place >= 0:
        lists.backward[atomic.add(lists.counters, _BACKWARD, 1)] = place


@step
def _revert(thread: int, on: _States, lists: _Lists, before: int) -> None:
    """Restore the transition that a pivot saved, and put the pivot into the queues."""
    pivot = _unlock(lists.backward[before + thread], on)
    lists.forward[before + thread] = pivot
    lists.backward[before + thread] = pivot


@step
def _collect(thread: int, on: _States, lists: _Lists) -> None:
    """Queue a state that is in a frontier."""
    state = on.left[thread]
    if on.forward.offsets[state] & _FRONTIER != 0:
        lists.forward[atomic.add(lists.counters, _FORWARD, 1)] = state
    if on.results[state] & _FRONTIER != 0:
        lists.backward[atomic.add(lists.counters, _BACKWARD, 1)] = state


@device_function
def _follow(
    state: int, infos: DeviceArray, side: Transitions, on: _States, queue: DeviceArray, counters: DeviceArray, end: int
) -> None:
    """Explore a state and up to `_HOPS` that it leads to, one after the other; queue the others that it reaches.

    The bits of the search are those of `infos`, see `_explore`; ``counters[end]`` is the length of the queue.
    """
    region = on.results[state] & MASK
    looked = 0
    hops = _HOPS
    following = state
    while following >= 0:
        first, last, stride = _state_range(following, side)
        following = -1
        hops -= 1
        for place in range(first, last, stride):
            target = side.trans[place]
            if target == PADDING:
                break
            looked += 1
            if not 0 <= infos[target] <= MASK or on.results[target] & MASK != region:
                continue
            # Of several threads, the first to set the bit explores it.
            if atomic.or_(infos, target, _FRONTIER) & _REACHED == 0:
                if following < 0 and hops > 0:
                    following = target
                else:
                    queue[atomic.add(counters, end, 1)] = target
    _add_at(on.edges, state, looked)


@step
def _search(thread: int, on: _States, lists: _Lists, forward: int, count: int, backward: int) -> None:
    """Explore a queued state: of `count` in the forward queue from place `forward`, or of the other from `backward`."""
    if thread < count:
        state = lists.forward[forward + thread]
        _follow(state, on.forward.offsets, on.forward, on, lists.forward, lists.counters, _FORWARD)
    else:
        state = lists.backward[backward + thread - count]
        _follow(state, on.results, on.backward, on, lists.backward, lists.counters, _BACKWARD)


class Listed(Published):
    """A decomposition with the additions; see `Published` for parameters and attributes."""

    def __init__(self, layout: Layout, setting: SoftwareSetting, initial: DeviceArray) -> None:
        super().__init__(layout, setting, initial)
        self._hub = layout.hub
        forward, backward = (self._device.zeros(self._states, np.int32) for _ in range(2))
        self._lists = _Lists(forward, backward, self._device.zeros(4))

    def _done(self) -> int:
        return self._states - self._open.length

    def _compact(self) -> None:
        """Drop the states that have a component from the list."""
        self._others += 1
        self._open.compact()
        self.on = self.on._replace(left=self._open.vertices)

    def _trim(self) -> None:
        """Trim until a launch finds few states."""
        trimmed = before = self._open.length
        while trimmed * _FEW > before:
            before, trimmed = self._open.length, 0
            if self._trim_once():
                self._compact()
                trimmed = before - self._open.length

    def _claim(self) -> bool:
        """Divide regions after the first round, then claim; return whether any region is left."""
        if self._open.length == 0:
            return False
        if self._rounds > 0:
            self._colour()
        self._device.store(self._lists.counters, _BACKWARD, 0)
        return super()._claim()

    def _colour(self) -> None:
        """Divide the regions by colours."""
        device, lists = self._device, self._lists
        queue, following = lists.forward, self._open.spare
        self._each(_plant, lists, self._open.length)
        # Until a launch over all states changes nothing: one that reads a colour while it changes may miss it.
        changed = True
        while changed:
            device.store(lists.counters, _CHANGED, 0)
            self._each(_mark)
            items = self._spread(self._open.length, self.on.left, queue)
            changed = device.value(lists.counters, _CHANGED) != 0
            while items:
                items = self._spread(items, queue, following)
                queue, following = following, queue
        self._each(_divide, lists)

    def _spread(self, items: int, queue: DeviceArray, following: DeviceArray) -> int:
        """Pass on the colours of queued states; return how many states that queues."""
        self._others += 1
        self._device.store(self._lists.counters, _FORWARD, 0)
        self._device.run(_spread, items, self.on, self._lists, queue, following)
        return self._device.value(self._lists.counters, _FORWARD)

    def _claim_range(self, places: int, first: int) -> None:
        device, lists = self._device, self._lists
        before = device.value(lists.counters, _BACKWARD)
        if self._rounds == 0:
            self._others += 1
            device.store(self._open.spare, 0, self._hub)
            device.run(_claim_listed, 1, self.on, lists, self._open.spare, 1, places, first)
        self._each(_claim_listed, lists, self.on.left, self._open.length, places, first)
        after = device.value(lists.counters, _BACKWARD)
        self._others += 1
        device.run(_revert, after - before, self.on, lists, before)
        device.store(lists.counters, _FORWARD, after)

    def _search(self) -> None:
        """Search from the pivots, with queues unless a launch is to have several iterations."""
        if self._iterations > 0:
            super()._search()
            return
        device, lists = self._device, self._lists
        if self._rounds == 0:
            directions = _FORWARD | _BACKWARD
            for _ in range(_SCANS):
                if directions:
                    directions = self._iterate(directions)
            for queue in (_FORWARD, _BACKWARD):
                device.store(lists.counters, queue, 0)
            self._each(_collect, lists)
        forward = backward = 0
        while True:
            ends = device.read(lists.counters)
            ahead, behind = int(ends[_FORWARD]) - forward, int(ends[_BACKWARD]) - backward
            if ahead + behind == 0:
                return
            self._searches += 1
            for some, others in ((ahead, behind),) if self._hybrid else ((ahead, 0), (0, behind)):
                device.run(_search, some + others, self.on, lists, forward, some, backward)
            forward += ahead
            backward += behind

    def _merge(self) -> None:
        super()._merge()
        self._compact()
