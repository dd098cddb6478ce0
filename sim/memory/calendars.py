"""Calendars of crossbar links: which cycles are taken, so that a later request can use a gap (compiled).

A calendar has a bit a cycle, 64 to a block. The blocks of all links for the same cycles are neighbours; the rows that
they form are used in turn, and cleared when their cycles are over.
"""

from sim.memory.compiled import inlined, jit, load, prefetch, store, trailing_zeros

__all__ = ["book", "pass_blocks"]

_AHEAD = 4
"""Rows that a row is fetched into the cache before its cycles come: more than most answers take."""


@jit
def pass_blocks(calendars: int, blocks: int, links: int, before: int, now: int) -> None:
    """Clear the rows from block number `before` up to that of the present, `now`.

    Parameters
    ----------
    calendars : int
        Address of the calendars of one direction.
    blocks : int
        Rows, a power of two.
    links : int
        How many links there are.
    before, now : int
        Block numbers.
    """
    for number in range(max(before, now - blocks), now):
        row = calendars + (number & (blocks - 1)) * links * 8
        for link in range(links):
            store(row, link, 0)
    row = calendars + ((now + _AHEAD) & (blocks - 1)) * links * 8
    for link in range(0, links, 8):
        prefetch(row + link * 8)


@jit
def _search(calendar: int, blocks: int, links: int, cycle: int, now: int, take: int) -> int:
    """Do what `book` does, in any block."""
    number = cycle >> 6
    allowed = -1 << (cycle & 63)
    while number - (now >> 6) < blocks:
        block = calendar + (number & (blocks - 1)) * links * 8
        taken = load(block, 0)
        free = ~taken & allowed
        if free != 0:
            bit = trailing_zeros(free)
            store(block, 0, taken | take << bit)
            return number << 6 | bit
        number += 1
        allowed = -1
    return -1


@inlined
def book(calendar: int, blocks: int, links: int, cycle: int, now: int, take: int) -> int:
    """Find the first free cycle of a link from `cycle` on, and return it; -1 where that is too far ahead of `now`.

    Parameters
    ----------
    calendar : int
        Address of the link's first block.
    blocks : int
        Rows, a power of two.
    links : int
        How many links there are.
    cycle, now : int
        The first cycle that will do; the cycle that nothing is booked before any more, in the row that `pass_blocks`
        has come to.
    take : int
        1 to take the cycle that was found, 0 to leave it free.
    """
    number = cycle >> 6
    block = calendar + (number & (blocks - 1)) * links * 8
    taken = load(block, 0)
    free = ~taken & (-1 << (cycle & 63))
    if number - (now >> 6) >= blocks or free == 0:
        return _search(calendar, blocks, links, cycle, now, take)
    bit = trailing_zeros(free)
    store(block, 0, taken | take << bit)
    return (cycle & -64) | bit
