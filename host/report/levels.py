"""The instructions of a run as bars: each by itself where they are few, else the longest, and the others together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from host.record.arrow import Integers, codes, numbers
from host.record.reader import Record
from host.record.tables import PHASES

__all__ = ["Instructions", "Key", "Levels", "key_point", "key_title"]


class Key(NamedTuple):
    """What identifies an instruction in a run, and what it is compared by in others."""

    iteration: int
    phase: int
    level: int


def key_title(key: Key) -> str:
    """Return what an axis calls an instruction: ``level 3``, ``2 forward 3``, ``2 intersection``."""
    if key.iteration == 0:
        return f"level {key.level}"
    phase = PHASES[key.phase]
    return f"{key.iteration} {phase}" if key.level < 0 else f"{key.iteration} {phase} {key.level}"


def key_point(key: Key) -> str:
    """Return the point of the run at which an instruction begins: ``level=3``, ``iteration=2,phase=intersection``."""
    iteration = f"iteration={key.iteration},phase={PHASES[key.phase]}" if key.iteration else ""
    level = f"level={key.level}" if key.level >= 0 else ""
    return ",".join(part for part in (iteration, level) if part)


@dataclass(frozen=True, kw_only=True)
class Instructions:
    """The instructions of a run's last attempt, and where their numbers are among all.

    Parameters
    ----------
    numbers, iteration, phase, level, start, cycles, frontier, pushed, duplicates : ndarray of int64
        Columns of the table, the phase as its place in `host.record.tables.PHASES`.
    """

    numbers: Integers
    iteration: Integers
    phase: Integers
    level: Integers
    start: Integers
    cycles: Integers
    frontier: Integers
    pushed: Integers
    duplicates: Integers

    @classmethod
    def of(cls, record: Record) -> Self:
        """Read them."""
        table = record.table("instructions")
        attempt = numbers(table, "attempt")
        last = attempt == attempt.max(initial=0)
        names = ("iteration", "level", "start", "cycles", "frontier", "pushed", "duplicates")
        return cls(
            numbers=numbers(table, "instruction")[last],
            phase=codes(table, "phase", PHASES)[last],
            **{name: numbers(table, name)[last] for name in names},
        )

    @property
    def count(self) -> int:
        """How many there are."""
        return self.numbers.size

    def keys(self) -> list[Key]:
        """Return what identifies each."""
        columns = (self.iteration.tolist(), self.phase.tolist(), self.level.tolist())
        return [Key(*each) for each in zip(*columns, strict=True)]

    @cached_property
    def _places(self) -> Integers:
        places = np.full(int(self.numbers.max(initial=-1)) + 2, -1, np.int64)
        places[self.numbers] = np.arange(self.count)
        return places

    def places(self, instructions: Integers) -> Integers:
        """Return where the instructions of these numbers stand; -1 for those of attempts that were given up."""
        return self._places[np.minimum(instructions, self._places.size - 1)]


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Groups of instructions, in the order in which they are shown.

    Parameters
    ----------
    titles : tuple of str
        What each group is called.
    of : ndarray of int64, shape (instructions,)
        The group of each instruction.
    sizes : ndarray of int64, shape (groups,)
        Instructions of each group.
    """

    titles: tuple[str, ...]
    of: Integers
    sizes: Integers

    @classmethod
    def group(cls, keys: Sequence[Key], weights: Integers, *, most: int) -> Self:
        """Return one group for each key, or where they are more than `most`, for those of the largest weights.

        The others are put together by phase.
        """
        count = len(keys)
        if count <= most:
            return cls(titles=tuple(map(key_title, keys)), of=np.arange(count), sizes=np.ones(count, np.int64))
        longest = np.sort(np.argsort(-weights, kind="stable")[:most])
        of = np.full(count, -1, np.int64)
        of[longest] = np.arange(longest.size)
        titles = [key_title(keys[place]) for place in longest]
        phases = np.array([key.phase for key in keys])
        for number, name in enumerate(PHASES):
            rest = (of < 0) & (phases == number)
            if rest.any():
                of[rest] = len(titles)
                what = "levels" if any(key.iteration == 0 for key in keys[:1]) else name
                titles.append(f"other {what} ({int(rest.sum()):,})")
        return cls(titles=tuple(titles), of=of, sizes=np.bincount(of, minlength=len(titles)))

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.titles)

    @property
    def detailed(self) -> bool:
        """Whether every instruction is shown by itself."""
        return bool((self.sizes == 1).all())
