"""Compiled steps through the bytes of a text: blanks, line ends, digits, numbers."""

import numpy as np
from numpy.typing import NDArray

from sim.caching.code import njit

__all__ = [
    "LOWER_CASE",
    "MINUS",
    "NINE",
    "PLUS",
    "POINT",
    "ZERO",
    "blank",
    "digits_end",
    "ends_token",
    "line_end",
    "next_line",
    "number_end",
    "rest_end",
    "skip_blanks",
    "token_end",
    "word_at",
]

ZERO, NINE, PLUS, MINUS, POINT = 48, 57, 43, 45, 46
LOWER_CASE = 32
"""The bit by which a small letter differs from the large one."""

_NEWLINE, _SPACE, _TAB, _RETURN = 10, 32, 9, 13
_E = 101


@njit(cache=True, nogil=True, inline="always")
def blank(byte: int) -> bool:
    """Whether a byte stands between tokens of a line."""
    return byte in (_SPACE, _TAB)


@njit(cache=True, nogil=True, inline="always")
def line_end(byte: int) -> bool:
    """Whether a byte ends a line, alone or as one of two."""
    return byte in (_NEWLINE, _RETURN)


@njit(cache=True, nogil=True, inline="always")
def ends_token(byte: int) -> bool:
    """Whether a byte can follow a token."""
    return blank(byte) or line_end(byte)


@njit(cache=True, nogil=True, inline="always")
def next_line(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the line after the line end at `position` begins: CR LF is one."""
    following = position + 1
    if buffer[position] == _RETURN and following < len(buffer) and buffer[following] == _NEWLINE:
        following += 1
    return following


@njit(cache=True, nogil=True, inline="always")
def skip_blanks(buffer: NDArray[np.uint8], position: int) -> int:
    """Return the first place from `position` on that is not blank."""
    while blank(buffer[position]):
        position += 1
    return position


@njit(cache=True, nogil=True)
def token_end(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the token at `position` ends."""
    while not ends_token(buffer[position]):
        position += 1
    return position


@njit(cache=True, nogil=True)
def rest_end(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the line that `position` is in ends."""
    while not line_end(buffer[position]):
        position += 1
    return position


@njit(cache=True, nogil=True, inline="always")
def digits_end(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the digits at `position` end; `position` itself when there are none."""
    while ZERO <= buffer[position] <= NINE:
        position += 1
    return position


@njit(cache=True, nogil=True)
def word_at(buffer: NDArray[np.uint8], start: int, stop: int, word: bytes) -> bool:
    """Whether a token is a word of small letters, in letters of any size."""
    same = stop - start == len(word)
    for index in range(len(word) if same else 0):
        same = same and buffer[start + index] | LOWER_CASE == word[index]
    return same


@njit(cache=True, nogil=True)
def number_end(buffer: NDArray[np.uint8], start: int) -> int:
    """Return where the decimal number, infinity or NaN at `start` ends; `start` itself when there is none."""
    position = start + 1 if buffer[start] == PLUS or buffer[start] == MINUS else start
    stop = token_end(buffer, position)
    if buffer[position] > NINE and (
        word_at(buffer, position, stop, b"nan")
        or word_at(buffer, position, stop, b"inf")
        or word_at(buffer, position, stop, b"infinity")
    ):
        return stop
    whole = digits_end(buffer, position)
    digits = whole - position
    position = whole
    if buffer[position] == POINT:
        fraction = digits_end(buffer, position + 1)
        digits += fraction - position - 1
        position = fraction
    if digits == 0:
        return start
    if buffer[position] | LOWER_CASE == _E:
        exponent = position + 1
        if buffer[exponent] == PLUS or buffer[exponent] == MINUS:
            exponent += 1
        stop = digits_end(buffer, exponent)
        if stop > exponent:
            return stop
    return position
