"""Families of models whose states are products of small machines, one digit each: their protocols, step by step."""

import numpy as np
from numpy.typing import NDArray

from host.mdp.families.states import Chunk, Ranks, digit, end_choice, end_state, fill_states, put, put_new, rank_states
from host.mdp.model import Mdp
from host.progress import OnStep
from sim.caching.code import njit

__all__ = ["coin", "leader", "philosophers"]

_THINKS, _WANTS_LEFT, _WANTS_RIGHT, _HAS_LEFT, _HAS_RIGHT, _EATS, _CRASHED, _LOST = range(8)


@njit(cache=True, nogil=True)
def _has_left(state: int) -> bool:
    return state in (_HAS_LEFT, _EATS)


@njit(cache=True, nogil=True)
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
def _fill_philosophers(radix: int, count: int, ranks: Ranks, first: int, last: int, chunk: Chunk) -> None:
    for state in range(first, last):
        code = np.int64(ranks.codes[state])
        unit = 1
        for each in range(count):
            own = digit(code, radix, each)
            left_free = not _has_right(digit(code, radix, (each + count - 1) % count))
            right_free = not _has_left(digit(code, radix, (each + 1) % count))
            one, other = _next(radix, own, left_free, right_free)
            if one >= 0:
                put(chunk, ranks.ranks[code + (one - own) * unit])
                if other >= 0:
                    put(chunk, ranks.ranks[code + (other - own) * unit])
                end_choice(chunk)
            if own < _CRASHED:
                put(chunk, ranks.ranks[code + (_CRASHED - own) * unit])
                end_choice(chunk)
            unit *= radix
        end_state(chunk, state)


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
    ranks = rank_states(radix**philosophers, lambda marks: _forks_agree(radix, philosophers, marks))
    return fill_states(_fill_philosophers, (radix, philosophers, ranks), len(ranks.codes), 3 * philosophers, on_step)


_TOSSES, _UP, _DOWN, _LOOKS, _HEADS, _TAILS = range(6)
_RADIX = 6


@njit(cache=True, nogil=True)
def _fill_coin(processes: int, bound: int, first: int, last: int, chunk: Chunk) -> None:
    floor = _RADIX**processes
    middle = (bound + 1) * processes
    for state in range(first, last):
        counter = state // floor - middle
        unit = 1
        for each in range(processes):
            own = digit(state, _RADIX, each)
            base = state - own * unit
            if own == _TOSSES:
                put(chunk, base + _UP * unit)
                put(chunk, base + _DOWN * unit)
            elif own == _UP:
                put(chunk, base + _LOOKS * unit + (floor if counter < middle else 0))
            elif own == _DOWN:
                put(chunk, base + _LOOKS * unit - (floor if counter > -middle else 0))
            elif own == _LOOKS:
                decided = _HEADS if counter >= bound * processes else _TAILS
                put(chunk, base + (decided if abs(counter) >= bound * processes else _TOSSES) * unit)
            if own not in (_HEADS, _TAILS):
                end_choice(chunk)
            unit *= _RADIX
        end_state(chunk, state)


def coin(processes: int, bound: int, *, on_step: OnStep | None = None) -> Mdp:
    """Make the model of a shared coin.

    A process tosses a coin, counts the common counter up or down by it, and looks: at `bound` times the number of
    processes, above or below 0, it decides; otherwise it tosses again. A choice is who does the next step.

    The walk is a large component that falls apart state by state from the ends of the counter. Nobody can put the
    decision off for sure: the MECs are the states in which all have decided, each by itself, one for each value of the
    counter (of which few can be reached from its middle) and each of the 2**n decisions.

    Parameters
    ----------
    processes, bound : int
        Number of processes; where they decide.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        All values of the counter and all states of the processes.
    """
    states = (2 * (bound + 1) * processes + 1) * _RADIX**processes
    return fill_states(_fill_coin, (processes, bound), states, 2 * processes, on_step)


_OUT, _WAITS, _FIRST = 0, 1, 2


@njit(cache=True, nogil=True)
def _somebody_waits(radix: int, count: int, marks: NDArray[np.bool_]) -> None:
    """Mark the states in which a number is still to be drawn: a round that is complete is the next."""
    for code in range(len(marks)):
        marks[code] = False
        for each in range(count):
            marks[code] = marks[code] or digit(code, radix, each) == _WAITS


@njit(cache=True, nogil=True)
def _settled(code: int, radix: int, count: int) -> int:
    """Return the state after a draw: that of the next round, with those that drew most, when nobody waits."""
    largest = 0
    for each in range(count):
        own = digit(code, radix, each)
        if own == _WAITS:
            return code
        largest = max(largest, own)
    settled, unit = 0, 1
    for each in range(count):
        settled += unit * (_WAITS if digit(code, radix, each) == largest else _OUT)
        unit *= radix
    return settled


@njit(cache=True, nogil=True)
def _fill_leader(radix: int, count: int, restart: int, ranks: Ranks, first: int, last: int, chunk: Chunk) -> None:
    everybody = (radix**count - 1) // (radix - 1) * _WAITS
    for state in range(first, last):
        code = np.int64(ranks.codes[state])
        present, unit = 0, 1
        for each in range(count):
            present += digit(code, radix, each) != _OUT
        if present == 1 and restart:
            put(chunk, ranks.ranks[everybody])
            end_choice(chunk)
        for each in range(count if present > 1 else 0):
            if digit(code, radix, each) == _WAITS:
                # Draws below the most lead to one state, and those above to another.
                for drawn in range(_FIRST, radix):
                    put_new(chunk, ranks.ranks[_settled(code + (drawn - _WAITS) * unit, radix, count)])
                end_choice(chunk)
            unit *= radix
        end_state(chunk, state)


def leader(processes: int, numbers: int, restart: int, *, on_step: OnStep | None = None) -> Mdp:
    """Make the model of an election.

    In a round each process that is still in it draws a number; those that drew the most are in the next round. When
    one is left, it leads. A choice is who draws next.

    Without a restart, rounds lead down to fewer processes, each set of which is a component of its own that must be
    left; the MECs are the leaders, n single states. With it, all states are one MEC.

    Parameters
    ----------
    processes, numbers : int
        Number of processes; how many numbers they draw from.
    restart : int
        1 when everybody takes part again after an election, otherwise 0.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        Its states are those in which somebody has yet to draw, the leaders among them.
    """
    radix = numbers + _FIRST
    ranks = rank_states(radix**processes, lambda marks: _somebody_waits(radix, processes, marks))
    return fill_states(_fill_leader, (radix, processes, restart, ranks), len(ranks.codes), processes * numbers, on_step)
