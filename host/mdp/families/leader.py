"""Leader election by rounds of random numbers, after Itai and Rodeh (1990)."""

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep
from host.mdp.families.family import Family, Size, fill_states
from host.mdp.families.product import Ranks, digit, rank_states
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["FAMILY", "leader_election"]

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
def _fill(
    radix: int,
    count: int,
    restart: int,
    codes: NDArray[np.uint32],
    ranks: NDArray[np.uint32],
    first: int,
    last: int,
    targets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    counts: NDArray[np.uint32],
) -> tuple[int, int]:
    place, choice = 0, 0
    everybody = (radix**count - 1) // (radix - 1) * _WAITS
    for state in range(first, last):
        code = np.int64(codes[state])
        begin = choice
        present = 0
        for each in range(count):
            present += digit(code, radix, each) != _OUT
        if present == 1:
            targets[place] = ranks[everybody] if restart else state
            lengths[choice] = 1
            place += 1
            choice += 1
        else:
            unit = 1
            for each in range(count):
                if digit(code, radix, each) == _WAITS:
                    start = place
                    for drawn in range(_FIRST, radix):
                        target = ranks[_settled(code + (drawn - _WAITS) * unit, radix, count)]
                        # Draws below the most lead to one state, and those above to another.
                        if place == start or targets[place - 1] != target:
                            targets[place] = target
                            place += 1
                    lengths[choice] = place - start
                    choice += 1
                unit *= radix
        counts[state - first] = choice - begin
    return place, choice


def leader_election(processes: int, numbers: int, restart: int, *, on_step: OnStep | None = None) -> Mdp:
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
    table: Ranks = rank_states(radix**processes, lambda marks: _somebody_waits(radix, processes, marks))

    def fill(
        first: int, last: int, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> tuple[int, int]:
        found: tuple[int, int] = _fill(radix, processes, restart, *table, first, last, targets, lengths, counts)
        return found

    return fill_states(len(table.codes), processes, processes * numbers, fill, on_step)


FAMILY = Family(
    sizes={
        "processes": Size(default=4, least=2, most=16, text="processes"),
        "numbers": Size(default=3, least=2, most=1 << 10, text="numbers that are drawn from"),
        "restart": Size(default=0, least=0, most=1, text="whether there is another election after each"),
    },
    bound=lambda processes, numbers, restart: (
        (numbers + _FIRST) ** processes,
        (numbers + _FIRST) ** (processes - 1) * processes * numbers,
    ),
    make=leader_election,
)
