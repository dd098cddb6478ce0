"""The compiled scanner that all text formats share: bytes to pairs of numbers."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from host.graph.formats.tokens import (
    MINUS,
    NINE,
    ZERO,
    digits_end,
    ends_token,
    line_end,
    next_line,
    number_end,
    skip_blanks,
    token_end,
    word_at,
)
from sim.caching.code import njit

__all__ = ["Fault", "scan"]


class Fault(IntEnum):
    """What stopped the scanner."""

    NONE = 0
    LINE_TYPE = 1
    NOT_AN_ID = 2
    NEGATIVE = 3
    TOO_LARGE = 4
    OUTSIDE = 5
    TOO_FEW_COLUMNS = 6
    TOO_MANY_COLUMNS = 7
    NOT_A_NUMBER = 8
    OTHER_COLUMNS = 9
    SURPLUS = 10
    NOT_TEXT = 11
    BANNER = 12


_BANNER = b"%%matrixmarket"
_MOST_DIGITS = 19  # as many always fit in 64 bits without a sign


@njit(cache=True, nogil=True)
def _id_fault(buffer: NDArray[np.uint8], start: int) -> Fault:
    """Say what is wrong with a token that is not digits only."""
    if buffer[start] == MINUS:
        stop = digits_end(buffer, start + 1)
        if stop > start + 1 and stop == token_end(buffer, start):
            return Fault.NEGATIVE
    return Fault.NOT_AN_ID


@njit(cache=True, nogil=True)
def _comment_end(buffer: NDArray[np.uint8], position: int) -> tuple[int, Fault]:
    """Return where the comment at `position` ends, or what is wrong and where."""
    length = len(_BANNER)
    if position + length < len(buffer) and word_at(buffer, position, position + length, _BANNER):
        return position, Fault.BANNER
    while not line_end(buffer[position]):
        if buffer[position] == 0:
            return position, Fault.NOT_TEXT
        position += 1
    return position, Fault.NONE


@njit(cache=True, nogil=True)
def scan(
    buffer: NDArray[np.uint8],
    line: int,
    rules: NDArray[np.int64],
    columns_seen: NDArray[np.int64],
    room: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> tuple[int, Fault, int, int, int]:
    """Scan whole lines into pairs of ids.

    A line ends with LF, CR LF or CR. Empty lines and comments are passed over. A line is two ids, and numbers that are
    checked and ignored.

    Parameters
    ----------
    buffer : ndarray of uint8
        The text; the last byte ends a line.
    line : int
        Number of the first line.
    rules : ndarray of int64, shape (7,)
        Letter that begins each line with ids (0: none), two characters that begin comments, fewest and most columns,
        smallest and largest id.
    columns_seen : ndarray of int64, shape (3,)
        Columns that all lines have (0: as long as none has come; -1: they may differ) and the line that was the first;
        updated. Third, the columns of the line that differs.
    room : int
        Number of pairs that may follow; one more is a fault.
    first, second : ndarray of int64
        Where the pairs go; large enough for a quarter of the text.

    Returns
    -------
    count, fault, line, start, stop : int
        Number of pairs; why the scan ended; the line it ended on, one past the last when there is no
        fault; and the token at fault, ``buffer[start:stop]``.
    """
    letter, comment, other_comment = rules[0], rules[1], rules[2]
    fewest, most, smallest, largest = rules[3], rules[4], rules[5], rules[6]
    position = 0
    count = 0
    while position < len(buffer):
        position = skip_blanks(buffer, position)
        byte = np.int64(buffer[position])
        if byte in (comment, other_comment):
            position, fault = _comment_end(buffer, position)
            if fault != Fault.NONE:
                return count, fault, line, position, position + 1
        if line_end(buffer[position]):
            position = next_line(buffer, position)
            line += 1
            continue
        if letter:
            start = position
            position += 1
            if byte != letter or not ends_token(buffer[position]):
                return count, Fault.LINE_TYPE, line, start, token_end(buffer, start)
            position = skip_blanks(buffer, position)
        if count == room:
            return count, Fault.SURPLUS, line, position, position
        columns = 0
        while not line_end(buffer[position]):
            start = position
            if columns < 2:
                value = np.uint64(0)
                while buffer[position] == ZERO:
                    position += 1
                significant = position
                while ZERO <= buffer[position] <= NINE:
                    value = value * np.uint64(10) + np.uint64(buffer[position] - ZERO)
                    position += 1
                if position == start or not ends_token(buffer[position]):
                    return count, _id_fault(buffer, start), line, start, token_end(buffer, start)
                if position - significant > _MOST_DIGITS or value >> np.uint64(63):
                    return count, Fault.TOO_LARGE, line, start, position
                identifier = np.int64(value)
                if identifier < smallest or identifier > largest:
                    return count, Fault.OUTSIDE, line, start, position
                if columns == 0:
                    first[count] = identifier
                else:
                    second[count] = identifier
            elif columns == most:
                return count, Fault.TOO_MANY_COLUMNS, line, start, token_end(buffer, start)
            else:
                position = number_end(buffer, start)
                if position == start or not ends_token(buffer[position]):
                    return count, Fault.NOT_A_NUMBER, line, start, token_end(buffer, start)
            columns += 1
            position = skip_blanks(buffer, position)
        if columns < fewest:
            return count, Fault.TOO_FEW_COLUMNS, line, position, position
        if columns != columns_seen[0] and columns_seen[0] >= 0:
            if columns_seen[0]:
                columns_seen[2] = columns
                return count, Fault.OTHER_COLUMNS, line, position, position
            columns_seen[0], columns_seen[1] = columns, line
        count += 1
        position = next_line(buffer, position)
        line += 1
    return count, Fault.NONE, line, position, position
