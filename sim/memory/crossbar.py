"""Reservation of crossbar links by cycle (compiled).

A calendar has a bit for each cycle of a link, 64 to a block, so that a later request can use a gap. The blocks of all
links for the same cycles form a row. Rows are reused cyclically, and cleared when their cycles are over. Parts of the
service have calendars of the same rows, each for links of its own.
"""

import numpy as np
from numpy import void
from numpy.typing import NDArray

from cyscc.sim.memory.compiling import apart, out_of_line, prefetch, trailing_zeros
from cyscc.sim.memory.records import NEVER
from cyscc.sim.memory.structures import LINE_WORDS, Arena, Constant, Record, Words

_AHEAD = 4
"""Rows prefetched ahead of the current one: more than most responses take."""


class Calendar(Record):
    """Calendars of the links of one direction; `rows` is a power of two, `now` the number of the current row.

    Of the `links` of a row, those from `first` until before `end` are booked here.
    """

    links: Constant
    first: Constant
    end: Constant
    rows: Constant
    now: int
    taken: Words

    def advance(self, cycle: int) -> None:
        """Clear the rows before a cycle, before which nothing will be booked any more."""
        if self.now != cycle >> 6:
            _clear(self, cycle >> 6)

    def book(self, link: int, cycle: int, now: int, take: int) -> int:
        """Return the first free cycle of a link from `cycle` on; far below 0 if it is beyond the calendar.

        Parameters
        ----------
        link, cycle, now : int
            The link; the earliest cycle; the cycle that `advance` was called with.
        take : int
            1 to reserve the cycle, 0 to leave it free.
        """
        number = cycle >> 6
        block = (number & (self.rows - 1)) * self.links + link
        taken = self.taken[block]
        free = ~taken >> (cycle & 63)
        if number - (now >> 6) >= self.rows or free == 0:
            return _search(self, link, cycle, now, take)
        found = cycle + trailing_zeros(free)
        self.taken[block] = taken | take << (found & 63)
        return found


@apart
def _clear(calendar: Calendar, now: int) -> None:
    out_of_line()
    links, taken = calendar.links, calendar.taken
    for number in range(max(calendar.now, now - calendar.rows), now):
        first = (number & (calendar.rows - 1)) * links
        for link in range(calendar.first, calendar.end):
            taken[first + link] = 0
    first = ((now + _AHEAD) & (calendar.rows - 1)) * links
    for link in range(calendar.first, calendar.end, LINE_WORDS):
        prefetch(taken, first + link)
    calendar.now = now


@apart
def _search(calendar: Calendar, link: int, cycle: int, now: int, take: int) -> int:
    """Book in any row; see `book`."""
    number = cycle >> 6
    allowed = -1 << (cycle & 63)
    while number - (now >> 6) < calendar.rows:
        block = (number & (calendar.rows - 1)) * calendar.links + link
        taken = calendar.taken[block]
        free = ~taken & allowed
        if free != 0:
            bit = trailing_zeros(free)
            calendar.taken[block] = taken | take << bit
            return number << 6 | bit
        number += 1
        allowed = -1
    return -NEVER


def make_calendars(arena: Arena, owners: NDArray[void], *, links: int, horizon: int, common: bool = False) -> None:
    """Allocate the rows of calendars.

    Parameters
    ----------
    arena : Arena
        Owner of the arrays.
    owners : ndarray of Calendar
        The calendars.
    links : int
        Links of each.
    horizon : int
        Most cycles that a link can be reserved ahead.
    common : bool
        Whether all have the same rows, for `divide_calendars`.
    """
    rows = 1 << (horizon // 64 + 1).bit_length()
    owners["links"], owners["end"], owners["rows"] = links, links, rows
    arena.link(owners[:1] if common else owners, "taken", int, links * rows)
    if common:
        arena.share(owners, "taken")


def divide_calendars(calendars: NDArray[void], parts: int) -> None:
    """Divide the links equally among the first of several calendars of the same rows, which are up to date."""
    number = np.arange(calendars.size)
    for name, ahead in (("first", 0), ("end", 1)):
        calendars[name] = np.minimum(number + ahead, parts) * calendars["links"] // parts
