"""Time in columns: some hundred of a run's, however long it is, each with as many intervals."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from host.record.arrow import Integers
from host.record.reader import Record

__all__ = ["Timeline"]


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """Columns of time.

    Parameters
    ----------
    width : int
        Cycles of a column; the last one may have fewer.
    cycles : int
        Cycles of the run.
    """

    width: int
    cycles: int

    @classmethod
    def of(cls, record: Record, *, most: int) -> Self:
        """Return columns of whole intervals, at most so many."""
        intervals = -(-record.cycles // record.interval)
        return cls(width=record.interval * max(1, -(-intervals // most)), cycles=record.cycles)

    @property
    def columns(self) -> int:
        """How many there are."""
        return max(1, -(-self.cycles // self.width))

    @property
    def starts(self) -> Integers:
        """First cycle of each."""
        return np.arange(self.columns) * self.width

    @property
    def lengths(self) -> Integers:
        """Cycles of each."""
        return np.minimum(self.starts + self.width, max(1, self.cycles)) - self.starts

    @property
    def middles(self) -> Integers:
        """The cycle in the middle of each."""
        return self.starts + self.lengths // 2

    def at(self, cycles: Integers) -> Integers:
        """Return the columns that cycles are in."""
        return cycles // self.width
