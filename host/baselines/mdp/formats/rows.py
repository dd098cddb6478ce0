"""Transitions of a file while it is read, and assembly of the model from them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.model import Mdp, check_size, offsets_of
from cyscc.host.graph.available_memory import GrowingColumns
from cyscc.host.output.errors import InputError

__all__ = ["TOLERANCE", "Rows"]

TOLERANCE = 1e-5
"""Tolerance of the sum of a choice's probabilities: PRISM's bound for models that it builds, ``-sumroundoff``.

It is needed for rounded decimals: Storm writes ten digits of each probability, and many small errors add up."""

_TYPES = np.uint32, np.uint32, np.uint32, np.float64, np.int64
_BUILT = 28  # bytes of a row in the model and in temporary arrays


class Rows:
    """Buffer of transitions while a file is read."""

    def __init__(self) -> None:
        self._columns = GrowingColumns(*_TYPES, of="transitions", extra=_BUILT)

    @property
    def count(self) -> int:
        """Number of transitions so far."""
        return self._columns.count

    def append(self, *values: NDArray[Any]) -> None:
        """Append transitions: source, number of the choice in its state, target, probability and line of each.

        Raises
        ------
        InputError
            The total exceeds 32 bits or the memory.
        """
        check_size(0, self.count + len(values[0]))
        self._columns.append(*values)

    def mdp(self, states: int | None, choices: int | None) -> Mdp:
        """Build the model, without transitions of probability 0, and empty the buffer.

        Parameters
        ----------
        states, choices : int, optional
            Numbers in the header.

        Raises
        ------
        InputError
            A state has no choice, a choice no transition, the probabilities of a choice do not sum to 1 within
            `TOLERANCE`, or the number of choices differs from the header.
        """
        if self.count == 0:
            raise InputError("the model is empty: it has no transitions")
        columns = self._columns.take()
        sources, numbers = columns[:2]
        same, later = sources[1:] == sources[:-1], sources[1:] > sources[:-1]
        if not (later | same & (numbers[1:] >= numbers[:-1])).all():
            order = np.lexsort((numbers, sources))
            columns = [column[order] for column in columns]
        sources, numbers, targets, probabilities, lines = columns
        if states is None:
            states = int(max(sources.max(), targets.max())) + 1
        begins = np.append(True, (sources[1:] != sources[:-1]) | (numbers[1:] != numbers[:-1]))
        firsts = np.flatnonzero(begins)
        owners, ordinals, totals = sources[firsts], numbers[firsts], np.add.reduceat(probabilities, firsts)
        same = np.append(False, owners[1:] == owners[:-1])
        skipped = np.append(owners[0] > 0, owners[1:] > owners[:-1] + 1)
        missing = ordinals != np.where(same, np.append(np.uint32(0), ordinals[:-1]) + 1, 0)
        wrong = skipped | missing | ~(np.abs(totals - 1) <= TOLERANCE)
        if wrong.any():
            first = int(wrong.argmax())
            state, before = int(owners[first]), int(ordinals[first - 1]) if same[first] else -1
            cause = (
                f"the probabilities of choice {ordinals[first]} of state {state} sum to {totals[first]:.10g}, "
                f"not to 1 within {TOLERANCE:g}"
            )
            if missing[first]:
                cause = f"choice {before + 1} of state {state} has no transitions"
            if skipped[first]:
                cause = f"state {int(owners[first - 1]) + 1 if first else 0} has no choices"
            raise InputError(cause, line=int(lines[firsts[first]]))
        if (last := int(owners[-1])) < states - 1:
            raise InputError(f"state {last + 1} has no choices")
        if choices not in (None, len(firsts)):
            raise InputError(f"the header announces {choices:,} choices, but there are {len(firsts):,}")
        kept = probabilities > 0
        return Mdp(
            choices=offsets_of(np.bincount(owners)),
            transitions=offsets_of(np.add.reduceat(kept, firsts, dtype=np.int64)),
            targets=targets[kept],
        )
