"""Calendars of crossbar links by cycle; `native/calendar.h` books them.

A calendar has a bit for each cycle of a link, 64 to a block, so that a later request can use a gap. The blocks of all
links for the same cycles form a row. Rows are reused cyclically, and cleared when their cycles are over. Parts of the
service have calendars of the same rows, each for links of its own.
"""

import numpy as np
from numpy import void
from numpy.typing import NDArray

from cyscc.sim.memory.structures import Arena, Constant, Record, Words


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
    (arena.link_all if common else arena.link)(owners, "taken", int, links * rows)


def divide_calendars(calendars: NDArray[void], parts: int) -> None:
    """Divide the links equally among the first of several calendars of the same rows, which are up to date."""
    number = np.arange(calendars.size)
    for name, ahead in (("first", 0), ("end", 1)):
        calendars[name] = np.minimum(number + ahead, parts) * calendars["links"] // parts
