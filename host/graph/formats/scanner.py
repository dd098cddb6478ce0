"""The compiled scanner that all text formats share: bytes to pairs of numbers."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

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
    SURPLUS = 9


_NEWLINE, _SPACE, _TAB, _RETURN = 10, 32, 9, 13
_ZERO, _NINE, _PLUS, _MINUS, _POINT = 48, 57, 43, 45, 46
_LOWER_CASE = 32
_E = 101
_MOST_DIGITS = 19  # as many always fit in 64 bits without a sign


@njit(cache=True, nogil=True, inline="always")
def _blank(byte: int) -> bool:
    return byte in (_SPACE, _TAB, _RETURN)


@njit(cache=True, nogil=True, inline="always")
def _skip_blanks(buffer: NDArray[np.uint8], position: int) -> int:
    while _blank(buffer[position]):
        position += 1
    return position


@njit(cache=True, nogil=True)
def _token_end(buffer: NDArray[np.uint8], position: int) -> int:
    while not _blank(buffer[position]) and buffer[position] != _NEWLINE:
        position += 1
    return position


@njit(cache=True, nogil=True, inline="always")
def _digits_end(buffer: NDArray[np.uint8], position: int) -> int:
    while _ZERO <= buffer[position] <= _NINE:
        position += 1
    return position


@njit(cache=True, nogil=True)
def _word_at(buffer: NDArray[np.uint8], start: int, stop: int, word: bytes) -> bool:
    same = stop - start == len(word)
    for index in range(len(word) if same else 0):
        same = same and buffer[start + index] | _LOWER_CASE == word[index]
    return same


@njit(cache=True, nogil=True)
def _number_end(buffer: NDArray[np.uint8], start: int) -> int:
    """Return where the decimal number, infinity or NaN at `start` ends; `start` itself when there is none."""
    position = start + 1 if buffer[start] == _PLUS or buffer[start] == _MINUS else start
    stop = _token_end(buffer, position)
    if buffer[position] > _NINE and (
        _word_at(buffer, position, stop, b"nan")
        or _word_at(buffer, position, stop, b"inf")
        or _word_at(buffer, position, stop, b"infinity")
    ):
        return stop
    whole = _digits_end(buffer, position)
    digits = whole - position
    position = whole
    if buffer[position] == _POINT:
        fraction = _digits_end(buffer, position + 1)
        digits += fraction - position - 1
        position = fraction
    if digits == 0:
        return start
    if buffer[position] | _LOWER_CASE == _E:
        exponent = position + 1
        if buffer[exponent] == _PLUS or buffer[exponent] == _MINUS:
            exponent += 1
        stop = _digits_end(buffer, exponent)
        if stop > exponent:
            return stop
    return position


@njit(cache=True, nogil=True)
def _id_fault(buffer: NDArray[np.uint8], start: int) -> Fault:
    """Say what is wrong with a token that is not digits only."""
    if buffer[start] == _MINUS:
        stop = _digits_end(buffer, start + 1)
        if stop > start + 1 and stop == _token_end(buffer, start):
            return Fault.NEGATIVE
    return Fault.NOT_AN_ID


@njit(cache=True, nogil=True)
def scan(
    buffer: NDArray[np.uint8],
    size: int,
    line: int,
    rules: NDArray[np.int64],
    room: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> tuple[int, Fault, int, int, int]:
    """Scan whole lines into pairs of ids.

    Empty lines and comments are passed over. A line is two ids, and numbers that are checked and ignored.

    Parameters
    ----------
    buffer : ndarray of uint8
        The text; byte `size` - 1 is a newline.
    size : int
        Number of bytes to scan.
    line : int
        Number of the first line.
    rules : ndarray of int64, shape (7,)
        Letter that begins each line with ids (0: none), two characters that begin comments, fewest and most columns,
        smallest and largest id.
    room : int
        Number of pairs that may follow; one more is a fault.
    first, second : ndarray of int64
        Where the pairs go; large enough for a quarter of `size`.

    Returns
    -------
    count, fault, line, start, stop : int
        Number of pairs; why the scan ended ; the line it ended on, one past the last when there is no
        fault; and the token at fault, ``buffer[start:stop]``.
    """
    letter, comment, other_comment = rules[0], rules[1], rules[2]
    fewest, most, smallest, largest = rules[3], rules[4], rules[5], rules[6]
    position = 0
    count = 0
    while position < size:
        position = _skip_blanks(buffer, position)
        byte = np.int64(buffer[position])
        if byte in (_NEWLINE, comment, other_comment):
            while buffer[position] != _NEWLINE:
                position += 1
            position += 1
            line += 1
            continue
        if letter:
            start = position
            position += 1
            if byte != letter or not (_blank(buffer[position]) or buffer[position] == _NEWLINE):
                return count, Fault.LINE_TYPE, line, start, _token_end(buffer, start)
            position = _skip_blanks(buffer, position)
        if count == room:
            return count, Fault.SURPLUS, line, position, position
        columns = 0
        while buffer[position] != _NEWLINE:
            start = position
            if columns < 2:
                value = np.uint64(0)
                while buffer[position] == _ZERO:
                    position += 1
                significant = position
                while _ZERO <= buffer[position] <= _NINE:
                    value = value * np.uint64(10) + np.uint64(buffer[position] - _ZERO)
                    position += 1
                if position == start or not (_blank(buffer[position]) or buffer[position] == _NEWLINE):
                    return count, _id_fault(buffer, start), line, start, _token_end(buffer, start)
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
                return count, Fault.TOO_MANY_COLUMNS, line, start, _token_end(buffer, start)
            else:
                position = _number_end(buffer, start)
                if position == start or not (_blank(buffer[position]) or buffer[position] == _NEWLINE):
                    return count, Fault.NOT_A_NUMBER, line, start, _token_end(buffer, start)
            columns += 1
            position = _skip_blanks(buffer, position)
        if columns < fewest:
            return count, Fault.TOO_FEW_COLUMNS, line, position, position
        count += 1
        position += 1
        line += 1
    return count, Fault.NONE, line, position, position
