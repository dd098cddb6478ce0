"""The transitions of a file as they are read, and the model that they are put together to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.formats.scanner import Fault
from host.graph.growing import Growing
from host.mdp.model import Mdp, check_size
from sim.caching.code import njit

__all__ = ["TOLERANCE", "Rows"]

TOLERANCE = 1e-5
"""By how much the probabilities of a choice may miss 1: PRISM's own bound for models that it builds, ``-sumroundoff``.

Files have decimals: Storm writes ten digits of each probability, and many small ones add up."""

_TYPES = np.uint32, np.uint32, np.uint32, np.float64, np.int64
_BUILT = 12  # bytes of a row in the model, and in between


@njit(cache=True, nogil=True)
def _assemble(
    sources: NDArray[np.uint32],
    numbers: NDArray[np.uint32],
    probabilities: NDArray[np.float64],
    targets: NDArray[np.uint32],
    counts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    tolerance: float,
) -> tuple[int, int, Fault, int, int, float]:
    """Count what ordered rows have, and move the targets of those that have a probability to the front.

    Returns the numbers of choices and of transitions; or why it ended, in which row, for which state, and a sum.
    """
    state, choice, kept, row = -1, 0, 0, 0
    while row < len(sources):
        if sources[row] != state:
            if sources[row] != state + 1:
                return choice, kept, Fault.NO_CHOICES, row, state + 1, 0.0
            state += 1
        if numbers[row] != counts[state + 1]:
            return choice, kept, Fault.NO_TRANSITIONS, row, state, 0.0
        first, total, begin = row, 0.0, kept
        while row < len(sources) and sources[row] == state and numbers[row] == numbers[first]:
            total += probabilities[row]
            if probabilities[row] > 0:
                targets[kept] = targets[row]
                kept += 1
            row += 1
        if not abs(total - 1) <= tolerance:
            return choice, kept, Fault.NOT_A_PROBABILITY, first, state, total
        counts[state + 1] += 1
        choice += 1
        lengths[choice] = kept - begin
    if state + 2 < len(counts):
        return choice, kept, Fault.NO_CHOICES, -1, state + 1, 0.0
    return choice, kept, Fault.NONE, 0, 0, 0.0


class Rows:
    """Transitions as they are read."""

    def __init__(self) -> None:
        self._columns = Growing(*_TYPES, of="transitions", extra=_BUILT)

    @property
    def count(self) -> int:
        """Number of transitions so far."""
        return self._columns.count

    def append(self, *values: NDArray[Any]) -> None:
        """Add transitions: source, number of the choice in its state, target, probability and line of each.

        Raises
        ------
        InputError
            When there are more than 32 bits or memory hold.
        """
        check_size(0, self.count + len(values[0]))
        self._columns.append(*values)

    def mdp(self, states: int | None, choices: int | None) -> Mdp:
        """Return the model of these transitions, which are given up; those of probability 0 are no part of it.

        Parameters
        ----------
        states, choices : int, optional
            What the header announces.

        Raises
        ------
        InputError
            When a state has no choice, a choice no transition, the probabilities of a choice do not sum to 1 within
            `TOLERANCE`, or there are more or fewer choices than announced.
        """
        if self.count == 0:
            raise InputError("the model is empty: it has no transitions")
        count, columns = self.count, self._columns.take()
        sources, numbers = columns[:2]
        same, later = sources[1:] == sources[:-1], sources[1:] > sources[:-1]
        if not (later | same & (numbers[1:] >= numbers[:-1])).all():
            order = np.lexsort((numbers, sources))
            columns = [column[order] for column in columns]
        sources, numbers, targets, probabilities, lines = columns
        if states is None:
            states = int(max(sources.max(), targets.max())) + 1
        # Where there are fewer transitions than states, one of the first states has none: the rest takes no memory.
        counts = np.zeros(min(states, count + 1) + 1, np.int64)
        lengths = np.zeros(count + 1, np.int64)
        choice, kept, fault, row, state, total = _assemble(
            sources, numbers, probabilities, targets, counts, lengths, TOLERANCE
        )
        line = int(lines[row]) if row >= 0 else None
        if fault == Fault.NO_CHOICES:
            raise InputError(f"state {state} has no choices", line=line)
        if fault == Fault.NO_TRANSITIONS:
            raise InputError(f"choice {counts[state + 1]} of state {state} has no transitions", line=line)
        if fault == Fault.NOT_A_PROBABILITY:
            raise InputError(
                f"the probabilities of choice {numbers[row]} of state {state} sum to {total:.10g}, "
                f"not to 1 within {TOLERANCE:g}",
                line=line,
            )
        if choices not in (None, choice):
            raise InputError(f"the header announces {choices:,} choices, but there are {choice:,}")
        return Mdp(
            choices=np.cumsum(counts, out=counts),
            transitions=np.cumsum(lengths[: choice + 1]),
            targets=targets[:kept].copy(),
        )
