"""States that are made of digits: those of a product of small machines that can be, numbered one after the other."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.caching.code import njit

__all__ = ["Ranks", "digit", "rank_states"]


class Ranks(NamedTuple):
    """The states among the codes."""

    codes: NDArray[np.uint32]
    """The code of each state, ascending."""
    ranks: NDArray[np.uint32]
    """The state of each code; of a code that is none, the state of the next."""


@njit(cache=True, nogil=True, inline="always")
def digit(code: int, radix: int, place: int) -> int:
    """Return a digit of a code; that of place 0 counts least."""
    for _ in range(place):
        code //= radix
    return code % radix


def rank_states(codes: int, mark: Callable[[NDArray[np.bool_]], None]) -> Ranks:
    """Return the numbering of those codes that are states.

    Parameters
    ----------
    codes : int
        Number of codes.
    mark : callable
        Given an array of bool, shape (codes,), sets whether each code is a state.
    """
    marks = np.empty(codes, np.bool_)
    mark(marks)
    ranks = np.cumsum(marks, dtype=np.uint32)
    ranks -= marks
    return Ranks(np.flatnonzero(marks).astype(np.uint32), ranks)
