"""The steps of forward-backward search with trimming (algorithms 2 and 3), and the arrays that they work on.

The entries of three arrays are 29 bits of a position or a state, and three bits of bookkeeping above them:

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

In a search, threads write entries of `offsets` and `results` that others read and write at the same time, without
atomic operations. What they write differs in the two bits of the search only, which go from none to `FRONTIER` to
`EXPLORED`. A thread that has seen none of them may put a state back into the frontier that has been explored meanwhile:
it is explored once more. None is lost, since who writes `FRONTIER` also tells of it, by a flag or in its block's cache,
and who writes `EXPLORED` explores the state afterwards.

After a search each region gets a pivot, claimed in the array of transitions, where a region's hash is. The hashes of
two regions can be the same: those of what the backward search from pivot p has reached, and of what no search from
pivot p + 1 has. The two become one region then. That is harmless: all that the search needs is that each component lies
within one region, and that each region has one pivot. For within a region the states that a pivot reaches, and that
reach it, are its component, whatever else the region is made of.
"""

from typing import Any, NamedTuple

from host.devices.steps import DeviceArray, atomic_add, atomic_min, atomic_swap, block_step, device_function, step

__all__ = [
    "BACKWARD",
    "FOLLOWING",
    "FORWARD",
    "FRONTIER",
    "MASK",
    "MOST",
    "PADDING",
    "PIVOTS",
    "REMOVED",
    "TRIMMED",
    "WARP",
    "States",
    "Way",
    "begin_states",
    "claim_pivots",
    "merge_searches",
    "revert_transitions",
    "search_cached",
    "search_once",
    "trim_states",
]

_LOCK = -(2**31)
"""The highest bit, of an integer with a sign."""
FRONTIER = 2**30
_EXPLORED = 2**29
_REACHED = FRONTIER | _EXPLORED
_SHIFT = 29
"""Shifted so far, the two bits of `results` are 1 for the backward search and 2 for the forward one."""
_PENDING = _EXPLORED
"""Between searches, of `offsets`."""
MASK = 2**29 - 1
MOST = 2**29 - 1
"""States, and places of `trans`: positions and states are below it."""
REMOVED = -1
"""In `results`: the state is none of the subgraph."""
WARP = 32
"""States of a segment."""
PADDING = 2**31 - 1
"""A transition that is none; those of a state come before it."""

FORWARD, BACKWARD = 1, 2
"""Directions of a search; in the cells, the last iteration that put a state into a frontier of theirs."""
TRIMMED, FOLLOWING, PIVOTS = 0, 3, 4
"""The other cells: the last round that trimmed a state, the next hash, pivots."""

_EMPTY = -1
_SLOTS = 2
"""Places of a thread in its block's cache, for each direction."""
_NEAR = 5
"""Threads whose numbers differ in so many of the lowest bits only share a cell of a counter."""


class Way(NamedTuple):
    """The transitions of one direction on a device."""

    offsets: DeviceArray
    """int32, shape (n + 1,): where the transitions of each state begin; forward with bits of bookkeeping."""
    trans: DeviceArray
    """int32: targets of the transitions, those of a segment 32 apart."""
    segmented: int
    """States in segments, which are the first ones."""
    interval: int
    """Transitions of each of them, padding included."""


class States(NamedTuple):
    """The arrays of a run, which every step takes."""

    forward: Way
    backward: Way
    results: DeviceArray
    """int32, shape (n,): the region of each state, with bits of bookkeeping."""
    edges: DeviceArray
    """int64: transitions looked at, spread over many cells, so that threads rarely wait for each other."""
    done: DeviceArray
    """int64: states that got a component, spread likewise."""
    cells: DeviceArray
    """int64, shape (5,)."""


@device_function
def _add_at(counter: DeviceArray, thread: int, number: int) -> None:
    """Add to a counter that is spread over cells, a power of two of them."""
    atomic_add(counter, (thread >> _NEAR) & (counter.size - 1), number)


@device_function
def _range(state: int, way: Way) -> Any:
    """Return the first place of a state's transitions, where they end, and how far apart they are."""
    first = way.offsets[state] & MASK
    if state < way.segmented:
        return first, first + WARP * way.interval, WARP
    return first, way.offsets[state + 1] & MASK, 1


@device_function
def _looked(state: int, word: int, way: Way, results: DeviceArray) -> int:
    """Return how many transitions were looked at to find one within the region; if there is none, minus that minus 1.

    Between searches two states are of one region when their entries of `results` are the same: the bits of the searches
    tell apart what becomes different regions. What is trimmed meanwhile may be seen or not: it is no part of a larger
    component either way.
    """
    looked = 0
    first, last, stride = _range(state, way)
    for place in range(first, last, stride):
        target = way.trans[place]
        if target == PADDING:
            break
        looked += 1
        if target != state and results[target] == word:
            return looked
    return -1 - looked


@step
def trim_states(thread: int, on: States, number: int) -> None:
    """Make a component of a state, if it is one by itself; ``cells[TRIMMED]`` becomes the round's number then.

    That is a state without another of its region before it, or behind it.
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
    """Put a state into the frontier; return 1 if the host must know, and 0 if the cache has it."""
    infos[target] = infos[target] | FRONTIER
    if room > 0 and atomic_swap(cache, base + target % room, _EMPTY, target) == _EMPTY:
        return 0
    return 1


@device_function
def _taken(cache: DeviceArray, place: int) -> int:
    """Return the state at a place of the cache, which is empty then."""
    state = int(cache[place])
    # Only if there was one: another thread may put one into an empty place at any time.
    if state != _EMPTY:
        cache[place] = _EMPTY
    return state


@device_function
def _explore_forward(state: int, on: States, cache: DeviceArray, room: int) -> int:
    """Explore a state if it is in the frontier; return whether the host must know of what was found."""
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
        # No bit is set: neither reached nor in a component. The region is read last, as most are known by then.
        if 0 <= offsets[target] <= MASK and results[target] & MASK == region:
            found |= _reach(target, offsets, cache, 0, room)
    _add_at(on.edges, state, looked)
    return found


@device_function
def _explore_backward(state: int, on: States, cache: DeviceArray, base: int, room: int) -> int:
    """Do the same against the transitions, with the bits of `results`."""
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
        # The region without a bit.
        if results[source] == region:
            found |= _reach(source, results, cache, base, room)
    _add_at(on.edges, state, last - first)
    return found


@step
def search_once(thread: int, on: States, directions: int, number: int) -> None:
    """Explore a state where it is in a frontier; ``cells[direction]`` becomes `number` where another one follows."""
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
    """Do several iterations, a phase each: the first on the block's states, the others on those in its cache.

    The cache is emptied in a phase before. In the last iteration nothing is put there, as it would be lost.
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
    # Another thread may have explored what is in the cache meanwhile.
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
    """Have each state without a region of its own wait for one, and none of the others."""
    offsets = on.forward.offsets
    offsets[thread] = (offsets[thread] & MASK) | (_LOCK if on.results[thread] < 0 else _PENDING)


@step
def merge_searches(thread: int, on: States) -> None:
    """Make a component of what both searches have reached; keep of the others which has, in `results`."""
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
    """Give a state the region that the first of those with its hash is the pivot of.

    Hashes from `first` to ``first + places - 1`` count; of larger ones the least is told, in ``cells[FOLLOWING]``. The
    pivot keeps in `results` what was in the array of transitions.
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
    """Give the array of transitions back what a pivot has kept, and count the pivot.

    A pivot no longer knows its place then, so the places look for their pivots.
    """
    held = on.forward.trans[thread]
    if held < 0:
        pivot = held & MASK
        on.forward.trans[thread] = on.results[pivot]
        on.results[pivot] = pivot | FRONTIER
        atomic_add(on.cells, PIVOTS, 1)
