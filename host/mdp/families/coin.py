"""The shared coin of Aspnes and Herlihy (1990): a random walk on which processes agree."""

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep
from host.mdp.families.family import Family, Size, fill_states
from host.mdp.families.product import digit
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["FAMILY", "shared_coin"]

_TOSSES, _UP, _DOWN, _LOOKS, _HEADS, _TAILS = range(6)
_RADIX = 6


@njit(cache=True, nogil=True)
def _fill(
    processes: int,
    bound: int,
    first: int,
    last: int,
    targets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    counts: NDArray[np.uint32],
) -> tuple[int, int]:
    floor = _RADIX**processes
    middle = (bound + 1) * processes
    place, choice = 0, 0
    for state in range(first, last):
        counter = state // floor - middle
        begin = choice
        unit = 1
        for each in range(processes):
            own = digit(state, _RADIX, each)
            base = state - own * unit
            targets_before = place
            if own == _TOSSES:
                targets[place] = base + _UP * unit
                targets[place + 1] = base + _DOWN * unit
                place += 2
            elif own == _UP:
                targets[place] = base + _LOOKS * unit + (floor if counter < middle else 0)
                place += 1
            elif own == _DOWN:
                targets[place] = base + _LOOKS * unit - (floor if counter > -middle else 0)
                place += 1
            elif own == _LOOKS:
                decided = _HEADS if counter >= bound * processes else _TAILS
                targets[place] = base + (decided if abs(counter) >= bound * processes else _TOSSES) * unit
                place += 1
            if place > targets_before:
                lengths[choice] = place - targets_before
                choice += 1
            unit *= _RADIX
        if choice == begin:
            targets[place], lengths[choice] = state, 1
            place += 1
            choice += 1
        counts[state - first] = choice - begin
    return place, choice


def _states(processes: int, bound: int) -> int:
    return (2 * (bound + 1) * processes + 1) * _RADIX**processes


def shared_coin(processes: int, bound: int, *, on_step: OnStep | None = None) -> Mdp:
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

    def fill(
        first: int, last: int, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> tuple[int, int]:
        found: tuple[int, int] = _fill(processes, bound, first, last, targets, lengths, counts)
        return found

    return fill_states(_states(processes, bound), processes, 2 * processes, fill, on_step)


FAMILY = Family(
    sizes={
        "processes": Size(default=3, least=1, most=10, text="processes"),
        "bound": Size(default=2, least=1, most=1 << 20, text="where they decide, times their number"),
    },
    bound=lambda processes, bound: (_states(processes, bound), _states(processes, bound) * processes),
    make=shared_coin,
)
