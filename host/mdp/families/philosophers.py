"""Dining philosophers who toss a coin for their first fork (Lehmann and Rabin 1981), and crash, and may be repaired."""

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep
from host.mdp.families.family import Family, Size, fill_states
from host.mdp.families.product import Ranks, digit, rank_states
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["FAMILY", "philosophers"]

_THINKS, _WANTS_LEFT, _WANTS_RIGHT, _HAS_LEFT, _HAS_RIGHT, _EATS, _CRASHED, _LOST = range(8)


@njit(cache=True, nogil=True, inline="always")
def _has_left(state: int) -> bool:
    return state in (_HAS_LEFT, _EATS)


@njit(cache=True, nogil=True, inline="always")
def _has_right(state: int) -> bool:
    return state in (_HAS_RIGHT, _EATS)


@njit(cache=True, nogil=True)
def _forks_agree(radix: int, count: int, marks: NDArray[np.bool_]) -> None:
    """Mark the states in which no fork is in two hands: the right one of each is the left one of the next."""
    for code in range(len(marks)):
        agree = True
        for each in range(count):
            following = digit(code, radix, (each + 1) % count)
            agree = agree and not (_has_right(digit(code, radix, each)) and _has_left(following))
        marks[code] = agree


@njit(cache=True, nogil=True)
def _next(radix: int, own: int, left_free: bool, right_free: bool) -> tuple[int, int]:
    """Return what a philosopher may become by the step that is not a crash: one state, or one of two, or none (-1)."""
    first, second = -1, -1
    if own == _THINKS:
        first, second = _WANTS_LEFT, _WANTS_RIGHT
    elif own == _WANTS_LEFT:
        first = _HAS_LEFT if left_free else -1
    elif own == _WANTS_RIGHT:
        first = _HAS_RIGHT if right_free else -1
    elif own == _HAS_LEFT:
        first = _EATS if right_free else _THINKS
    elif own == _HAS_RIGHT:
        first = _EATS if left_free else _THINKS
    elif own == _EATS:
        first = _THINKS
    elif own == _CRASHED:
        first, second = _THINKS, (_LOST if radix > _LOST else -1)
    return first, second


@njit(cache=True, nogil=True)
def _fill(
    radix: int,
    count: int,
    codes: NDArray[np.uint32],
    ranks: NDArray[np.uint32],
    first: int,
    last: int,
    targets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    counts: NDArray[np.uint32],
) -> tuple[int, int]:
    place, choice = 0, 0
    for state in range(first, last):
        code = np.int64(codes[state])
        begin = choice
        unit = 1
        for each in range(count):
            own = digit(code, radix, each)
            left_free = not _has_right(digit(code, radix, (each + count - 1) % count))
            right_free = not _has_left(digit(code, radix, (each + 1) % count))
            one, other = _next(radix, own, left_free, right_free)
            if one >= 0:
                targets[place] = ranks[code + (one - own) * unit]
                place += 1
                if other >= 0:
                    targets[place] = ranks[code + (other - own) * unit]
                    place += 1
                lengths[choice] = 1 + (other >= 0)
                choice += 1
            if own < _CRASHED:
                targets[place] = ranks[code + (_CRASHED - own) * unit]
                place += 1
                lengths[choice] = 1
                choice += 1
            unit *= radix
        if choice == begin:
            targets[place], lengths[choice] = state, 1
            place += 1
            choice += 1
        counts[state - first] = choice - begin
    return place, choice


def philosophers(philosophers: int, risky: int, *, on_step: OnStep | None = None) -> Mdp:
    """Make the model of some philosophers round a table.

    One thinks, tosses a coin for the fork that is first, waits for it, and puts it down again when the other is not
    there, or eats. At any time one may crash, which puts the forks down; a repair lets him think again, or, when it
    is risky, loses him for good half of the time. A choice is who does the next step, and whether that is a crash.

    When repairs are safe, all states are one MEC. When they are risky, the philosophers who still go round, those who
    are left crashed, and those lost are one for each such division of the table, unless all are left crashed or lost:
    3**n - 2**n + 1 MECs, of sizes from 1 to all states in which nobody is down.

    Parameters
    ----------
    philosophers : int
        How many.
    risky : int
        1 when a repair may fail, otherwise 0.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        Its states are those in which no fork is in two hands; the one in which everybody thinks is the first.
    """
    radix = _LOST + risky
    table: Ranks = rank_states(radix**philosophers, lambda marks: _forks_agree(radix, philosophers, marks))

    def fill(
        first: int, last: int, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> tuple[int, int]:
        found: tuple[int, int] = _fill(radix, philosophers, *table, first, last, targets, lengths, counts)
        return found

    return fill_states(len(table.codes), 2 * philosophers, 3 * philosophers, fill, on_step)


FAMILY = Family(
    sizes={
        "philosophers": Size(default=4, least=2, most=10, text="philosophers"),
        "risky": Size(default=1, least=0, most=1, text="whether a repair may fail"),
    },
    # Of the products of their states the forks leave about half each time one more sits down.
    bound=lambda philosophers, risky: ((_LOST + risky) ** philosophers, (_LOST + risky) ** philosophers * philosophers),
    make=philosophers,
)
