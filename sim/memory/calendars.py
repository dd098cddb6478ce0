"""Calendars of crossbar links: which cycles are taken, so that a later request can use a gap (compiled)."""

from sim.memory import state as s
from sim.memory.compiled import inlined, load, store, trailing_zeros

__all__ = ["book"]


@inlined
def book(calendars: int, blocks: int, links: int, link: int, cycle: int, now: int, take: int) -> int:
    """Find the first free cycle of a link from `cycle` on, and return it; -1 where that is too far ahead of `now`.

    A calendar has a bit a cycle, 64 to a block, and names the block that its bits belong to, so that bits of the past
    need no clearing. The blocks of all links for the same cycles are neighbours.

    Parameters
    ----------
    calendars : int
        Address of the calendars of one direction.
    blocks : int
        Blocks of each, a power of two.
    links, link : int
        How many links there are, and which is asked.
    cycle, now : int
        The first cycle that will do; the cycle that nothing is booked before any more.
    take : int
        1 to take the cycle that was found, 0 to leave it free.
    """
    number = cycle >> 6
    allowed = -1 << (cycle & 63)
    while True:
        block = calendars + ((number & (blocks - 1)) * links + link) * (s.BLOCK_WORDS * 8)
        taken = load(block, 1)
        if load(block, 0) != number:
            if number - (now >> 6) >= blocks:
                return -1
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
