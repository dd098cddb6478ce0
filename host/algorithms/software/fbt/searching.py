"""An iteration of both searches, or of one: each state looks whether it is in a frontier (algorithms 2 and 3).

Threads write entries of `offsets` and `results` that others read and write at the same time, without atomic
operations. What they write differs in the two bits of the search only, which go from none to `FRONTIER` to `EXPLORED`.
A thread that has seen none of them may put a state back into the frontier that has been explored meanwhile: it is
explored once more. None is lost, since who writes `FRONTIER` also tells of it, by a flag or in its block's cache, and
who writes `EXPLORED` explores the state afterwards.
"""

from typing import Any

from host.algorithms.software.fbt.bits import EXPLORED, FRONTIER, MASK
from host.algorithms.software.fbt.counting import add_at
from host.algorithms.software.fbt.layout import PADDING, WARP
from host.devices import atomic_swap, block_step, device_function, step

__all__ = ["BACKWARD", "FORWARD", "search_cached", "search_once"]

FORWARD = 1
BACKWARD = 2

_EMPTY = -1
_SLOTS = 2
"""Places of a thread in its block's cache, for each direction."""


@device_function
def _reach(target: int, infos: Any, cache: Any, base: int, room: int) -> int:
    """Put a state into the frontier; return 1 if the host must know, and 0 if the cache has it."""
    infos[target] = infos[target] | FRONTIER
    if room > 0 and atomic_swap(cache, base + target % room, _EMPTY, target) == _EMPTY:
        return 0
    return 1


@device_function
def _taken(cache: Any, place: int) -> int:
    """Return the state at a place of the cache, which is empty then."""
    state = int(cache[place])
    # Only if there was one: another thread may put one into an empty place at any time.
    if state != _EMPTY:
        cache[place] = _EMPTY
    return state


@device_function
def _explore_forward(
    state: int,
    info: int,
    results: Any,
    offsets: Any,
    trans: Any,
    segmented: int,
    interval: int,
    edges: Any,
    cache: Any,
    base: int,
    room: int,
) -> int:
    """Explore a state of the frontier; return whether the host must know of what was found."""
    offsets[state] = (info & MASK) | EXPLORED
    region = results[state] & MASK
    first = info & MASK
    last = first
    stride = 1
    if state < segmented:
        stride = WARP
        last = first + WARP * interval
    else:
        last = offsets[state + 1] & MASK
    looked = 0
    found = 0
    for place in range(first, last, stride):
        target = trans[place]
        if target == PADDING:
            break
        looked += 1
        # No bit is set: neither reached nor in a component. The region is read last, as most are known by then.
        if 0 <= offsets[target] <= MASK and results[target] & MASK == region:
            found |= _reach(target, offsets, cache, base, room)
    add_at(edges, state, looked)
    return found


@device_function
def _explore_backward(
    state: int,
    word: int,
    results: Any,
    backward_offsets: Any,
    backward_trans: Any,
    edges: Any,
    cache: Any,
    base: int,
    room: int,
) -> int:
    """Do the same against the transitions, with the bits of `results`."""
    region = word & MASK
    results[state] = region | EXPLORED
    first = backward_offsets[state]
    last = backward_offsets[state + 1]
    found = 0
    for place in range(first, last):
        source = backward_trans[place]
        # The region without a bit.
        if results[source] == region:
            found |= _reach(source, results, cache, base, room)
    add_at(edges, state, last - first)
    return found


@step
def search_once(
    thread: int,
    directions: int,
    results: Any,
    offsets: Any,
    trans: Any,
    segmented: int,
    interval: int,
    backward_offsets: Any,
    backward_trans: Any,
    edges: Any,
    cells: Any,
    number: int,
) -> None:
    """Explore a state where it is in a frontier; ``cells[direction]`` becomes `number` where another one follows."""
    if directions & FORWARD != 0:
        info = offsets[thread]
        if (
            info >= 0
            and info & FRONTIER != 0
            and _explore_forward(thread, info, results, offsets, trans, segmented, interval, edges, results, 0, 0)
        ):
            cells[FORWARD] = number
    if directions & BACKWARD != 0:
        word = results[thread]
        if (
            word >= 0
            and word & FRONTIER != 0
            and _explore_backward(thread, word, results, backward_offsets, backward_trans, edges, results, 0, 0)
        ):
            cells[BACKWARD] = number


@block_step(words=2 * _SLOTS)
def search_cached(
    block: int,
    thread: int,
    threads: int,
    phase: int,
    shared: Any,
    iterations: int,
    states: int,
    directions: int,
    results: Any,
    offsets: Any,
    trans: Any,
    segmented: int,
    interval: int,
    backward_offsets: Any,
    backward_trans: Any,
    edges: Any,
    cells: Any,
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
        last = min(first + 1, states)
        stride = 1
    if directions & FORWARD != 0:
        for place in range(first, last, stride):
            state = place if phase == 1 else _taken(shared, place)
            if state == _EMPTY:
                continue
            info = offsets[state]
            # Another thread may have explored it meanwhile.
            if (
                info >= 0
                and info & FRONTIER != 0
                and _explore_forward(state, info, results, offsets, trans, segmented, interval, edges, shared, 0, room)
            ):
                cells[FORWARD] = number
    if directions & BACKWARD != 0:
        for place in range(first, last, stride):
            state = place if phase == 1 else _taken(shared, size + place)
            if state == _EMPTY:
                continue
            word = results[state]
            if (
                word >= 0
                and word & FRONTIER != 0
                and _explore_backward(state, word, results, backward_offsets, backward_trans, edges, shared, size, room)
            ):
                cells[BACKWARD] = number
