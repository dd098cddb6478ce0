"""Calendars of crossbar links: which cycles are taken, so that a later request can use a gap (compiled)."""

from sim.memory import state as s
from sim.memory.compiled import inlined, jit, load, store, trailing_zeros

__all__ = ["book"]


@jit
def _search(calendars: int, blocks: int, links: int, cycle: int, now: int, take: int) -> int:
    """Do what `book` does, in any block."""
    number = cycle >> 6
    allowed = -1 << (cycle & 63)
    while number - (now >> 6) < blocks:
        block = calendars + (number & (blocks - 1)) * links * (s.BLOCK_WORDS * 8)
        taken = load(block, 1)
        if load(block, 0) != number:
            store(block, 0, number)
            taken = 0
        free = ~taken & allowed
        if free != 0:
            bit = trailing_zeros(free)
            store(block, 1, taken | take << bit)
            return number << 6 | bit
        store(block, 1, taken)
        number += 1
        allowed = -1
    return -1


@inlined
def book(calendars: int, blocks: int, links: int, cycle: int, now: int, take: int) -> int:
    """Find the first free cycle of a link from `cycle` on, and return it; -1 where that is too far ahead of `now`.

    A calendar has a bit a cycle, 64 to a block, and names the block that its bits belong to, so that bits of the past
    need no clearing. The blocks of all links for the same cycles are neighbours.

    Parameters
    ----------
    calendars : int
        Address of the link's first block.
    blocks : int
        Blocks of each link, a power of two.
    links : int
        How many links there are.
    cycle, now : int
        The first cycle that will do; the cycle that nothing is booked before any more.
    take : int
        1 to take the cycle that was found, 0 to leave it free.
    """
    number = cycle >> 6
    block = calendars + (number & (blocks - 1)) * links * (s.BLOCK_WORDS * 8)
    taken = load(block, 1)
    free = ~taken & (-1 << (cycle & 63))
    if load(block, 0) != number or free == 0:
        return _search(calendars, blocks, links, cycle, now, take)
    bit = trailing_zeros(free)
    store(block, 1, taken | take << bit)
    return (cycle & -64) | bit
