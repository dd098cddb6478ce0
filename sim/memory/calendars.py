"""Calendars of crossbar links: which cycles are taken, so that a later request can use a gap (compiled)."""

from sim.memory import state as s
from sim.memory.addresses import LINKS
from sim.memory.compiled import inlined, load, store, trailing_zeros

__all__ = ["book"]


@inlined
def book(calendars: int, blocks: int, ae: int, link: int, cycle: int, now: int) -> int:
    """Take the first free cycle of a link from `cycle` on, and return it; -1 where that is too far ahead of `now`.

    A calendar has a bit a cycle, 64 to a block, and names the block that its bits belong to, so that bits of the past
    need no clearing.

    Parameters
    ----------
    calendars : int
        Address of the calendars of one direction.
    blocks : int
        Blocks of each, a power of two.
    ae, link : int
        The engine and its link.
    cycle, now : int
        The first cycle that will do; the cycle that nothing is booked before any more.
    """
    calendar = calendars + (ae * LINKS + link) * (s.BLOCK_WORDS * blocks + s.LINE_WORDS) * 8
    block = cycle >> 6
    allowed = -1 << (cycle & 63)
    while True:
        place = (block & (blocks - 1)) * s.BLOCK_WORDS
        taken = load(calendar, place + 1)
        if load(calendar, place) != block:
            if block - (now >> 6) >= blocks:
                return -1
            store(calendar, place, block)
            taken = 0
        free = ~taken & allowed
        if free != 0:
            bit = trailing_zeros(free)
            store(calendar, place + 1, taken | 1 << bit)
            return block << 6 | bit
        block += 1
        allowed = -1
