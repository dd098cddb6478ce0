"""Regions after a search, and a pivot for each: claimed in the array of transitions, where a region's hash is.

The hashes of two regions can be the same: those of what the backward search from pivot p has reached, and of what no
search from pivot p + 1 has. The two become one region then. That is harmless: all that the search needs is that each
component lies within one region, and that each region has one pivot. For within a region the states that a pivot
reaches, and that reach it, are its component, whatever else the region is made of.
"""

from typing import Any

from host.algorithms.software.fbt.bits import EXPLORED, FRONTIER, LOCK, MASK, PENDING, REACHED, SHIFT
from host.algorithms.software.fbt.counting import add_at
from host.devices import atomic_add, atomic_min, atomic_swap, step

__all__ = ["begin_states", "claim_pivots", "merge_searches", "revert_transitions"]


@step
def begin_states(thread: int, results: Any, offsets: Any) -> None:
    """Have each state without a region of its own wait for one, and none of the others."""
    offsets[thread] = (offsets[thread] & MASK) | (LOCK if results[thread] < 0 else PENDING)


@step
def merge_searches(thread: int, results: Any, offsets: Any, done: Any) -> None:
    """Make a component of what both searches have reached; keep of the others which has, in `results`."""
    word = results[thread]
    if word < 0:
        return
    info = offsets[thread]
    forward = info & REACHED
    backward = word & REACHED
    if forward != 0 and backward != 0:
        results[thread] = LOCK | (word & MASK)
        offsets[thread] = LOCK | (info & MASK)
        add_at(done, thread, 1)
        return
    word = word & MASK
    if forward != 0:
        word = word | FRONTIER
    if backward != 0:
        word = word | EXPLORED
    results[thread] = word
    offsets[thread] = (info & MASK) | PENDING


@step
def claim_pivots(
    thread: int, results: Any, offsets: Any, trans: Any, places: int, first: int, cells: Any, following: int
) -> None:
    """Give a state the region that the first of those with its hash is the pivot of.

    Hashes from `first` to ``first + places - 1`` count; of larger ones the least is told, in ``cells[following]``. The
    pivot keeps in `results` what was in the array of transitions.
    """
    info = offsets[thread]
    if info < 0 or info & PENDING == 0:
        return
    word = results[thread]
    # 1 for the backward search, 2 for the forward one.
    hashed = (word & MASK) + ((word >> SHIFT) & 3)
    place = hashed - first
    if place >= places:
        if hashed < cells[following]:
            atomic_min(cells, following, hashed)
        return
    held = trans[place]
    if held >= 0:
        before = atomic_swap(trans, place, held, LOCK | thread)
        if before == held:
            results[thread] = held
            offsets[thread] = (info & MASK) | FRONTIER
            return
        held = before
    results[thread] = held & MASK
    offsets[thread] = info & MASK


@step
def revert_transitions(thread: int, results: Any, trans: Any, cells: Any, pivots: int) -> None:
    """Give the array of transitions back what a pivot has kept, and count the pivot.

    A pivot no longer knows its place then, so the places look for their pivots.
    """
    held = trans[thread]
    if held < 0:
        pivot = held & MASK
        trans[thread] = results[pivot]
        results[pivot] = pivot | FRONTIER
        atomic_add(cells, pivots, 1)
