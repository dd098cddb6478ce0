"""Buffers of transitions and names while a model is read, from which the model is built."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.model import Actions, Mdp, check_size, offsets_of
from cyscc.host.graph.available_memory import GrowingColumns, check_available_memory
from cyscc.host.output.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

TOLERANCE = 1e-5
"""Tolerance of the sum of a choice's probabilities: PRISM's bound for models that it builds, ``-sumroundoff``.

It is needed for rounded decimals: Storm writes ten digits of each probability, and many small errors add up."""

_TYPES = np.uint32, np.uint32, np.uint32, np.float64, np.int64, np.int32
_BUILT = 28  # bytes of a row in the model and in temporary arrays


_NAME = 150
"""Bytes of a name in memory, besides its letters."""
_CHECKED = 1 << 24
"""Bytes of names between two checks of the available memory."""


class NameBuffer:
    """Buffer of the different names of actions while a file is read.

    Parameters
    ----------
    none : bytes
        Regular expression of tokens that stand for no name.
    """

    def __init__(self, none: bytes = b"") -> None:
        self._none = re.compile(none)
        self._numbers: dict[bytes, int] = {}
        self._bytes = self._checked = 0

    def _number(self, token: bytes) -> int:
        """Return the number of a name, a new one if it is new, and -1 for none."""
        name = token.strip(b" \t")
        if self._none.fullmatch(name):
            return -1
        if name not in self._numbers:
            self._bytes += len(name) + _NAME
        return self._numbers.setdefault(name, len(self._numbers))

    def numbers(self, tokens: "pa.Array") -> NDArray[np.int32]:
        """Return the number of each name, -1 for an empty one.

        Raises
        ------
        InputError
            The memory cannot hold the names.
        """
        encoded = tokens.dictionary_encode()
        numbers = np.array([self._number(token) for token in encoded.dictionary.to_pylist()], np.int32)
        if self._bytes > self._checked + _CHECKED:
            check_available_memory("the names of the actions", self._bytes - self._checked)
            self._checked = self._bytes
        return numbers[np.from_dlpack(encoded.indices)]

    def names(self) -> tuple[str, ...]:
        """Return the names by number."""
        return tuple(name.decode(errors="replace") for name in self._numbers)


class TransitionBuffer:
    """Buffer of transitions while a file is read.

    Parameters
    ----------
    ordered : bool
        Whether the numbers of the choices only order them, and do not count from 0 in each state.
    """

    def __init__(self, *, ordered: bool = False) -> None:
        self._columns = GrowingColumns(*_TYPES, of="transitions", extra=_BUILT)
        self._ordered = ordered

    @property
    def count(self) -> int:
        """Number of transitions so far."""
        return self._columns.count

    def append(self, *values: NDArray[Any]) -> None:
        """Append transitions: source, number of the choice in its state, target, probability, line and action of each.

        Raises
        ------
        InputError
            The total exceeds 32 bits or the memory.
        """
        check_size(0, self.count + len(values[0]))
        self._columns.append(*values)

    def mdp(self, states: int | None, choices: int | None, names: tuple[str, ...]) -> Mdp:
        """Build the model, without transitions of probability 0, and empty the buffer.

        Parameters
        ----------
        states, choices : int, optional
            Numbers in the header.
        names : tuple of str
            Names of the actions, by number; a choice has that of its first transition.

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
        sources, numbers, targets, probabilities, lines, actions = columns
        if states is None:
            states = int(max(sources.max(), targets.max())) + 1
        begins = np.append(True, (sources[1:] != sources[:-1]) | (numbers[1:] != numbers[:-1]))
        firsts = np.flatnonzero(begins)
        owners, ordinals, totals = sources[firsts], numbers[firsts], np.add.reduceat(probabilities, firsts)
        same = np.append(False, owners[1:] == owners[:-1])
        if self._ordered:
            places = np.arange(len(firsts))
            ordinals = places - np.maximum.accumulate(np.where(same, 0, places))
        skipped = np.append(owners[0] > 0, owners[1:] > owners[:-1] + 1)
        missing = ordinals != np.where(same, np.append(ordinals[:1], ordinals[:-1]) + 1, 0)
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
            actions=Actions(actions[firsts], names) if names else None,
        )
