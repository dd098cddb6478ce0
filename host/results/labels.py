"""Writing a number for each vertex as text: components, levels."""

from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from numba import njit

from host.results.output import write_output

__all__ = ["write_pairs"]

_CHUNK = 1 << 16
_LINE = 42  # two signed 64-bit numbers, a space and the end of the line


@njit(cache=True, nogil=True)
def _put(value: int, text: npt.NDArray[np.uint8], end: int) -> int:
    """Write a number's digits so that they stop before `end`; return where they begin."""
    rest = np.uint64(value) if value >= 0 else np.uint64(-value)
    while True:
        end -= 1
        text[end] = np.uint8(48) + np.uint8(rest % np.uint64(10))
        rest //= np.uint64(10)
        if rest == 0:
            break
    if value < 0:
        end -= 1
        text[end] = 45
    return end


@njit(cache=True, nogil=True)
def _lines(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64], text: npt.NDArray[np.uint8]) -> int:
    """Write the lines, the last one first, at the end of `text`; return where they begin."""
    end = text.size
    for index in range(left.size - 1, -1, -1):
        text[end - 1] = 10
        end = _put(right[index], text, end - 1)
        text[end - 1] = 32
        end = _put(left[index], text, end - 1)
    return end


def write_pairs(path: str, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> None:
    """Write one line ``left right`` for each pair of numbers.

    Parameters
    ----------
    path : str
        The file, or `host.results.output.STANDARD_OUTPUT`.
    left, right : ndarray of int64, shape (lines,)
        The numbers.

    Raises
    ------
    InputError
        The file could not be written.
    """

    def write(file: BinaryIO) -> None:
        text = np.empty(_CHUNK * _LINE, np.uint8)
        for begin in range(0, left.size, _CHUNK):
            first = _lines(left[begin : begin + _CHUNK], right[begin : begin + _CHUNK], text)
            file.write(text[first:].data)

    write_output(path, write)
