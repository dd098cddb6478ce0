"""Finding points in a record: the cycle, or the instructions in which a replay finds it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.host.record.display import instruction_text
from cyscc.host.record.reader import Record
from cyscc.host.specification.place import ANY, KERNEL, Place
from cyscc.sim.observation.causes import CAUSES

_WHERE = ("iteration", "phase", "level", "module")
"""Restrictions to instructions, in the order in which they are checked."""
RESTRICTIONS = tuple(dict.fromkeys((*_WHERE, *KERNEL)))
"""All restrictions."""
_UNLIMITED = 1 << 40
"""More entries than a FIFO has."""


@dataclass(frozen=True, kw_only=True)
class Located:
    """A point that was found.

    Parameters
    ----------
    cycle : int
        The cycle.
    kernel : str or None
        The kernel of the event, such as ``engine0.bfs3``; None if it is not that of one kernel.
    cause : str or None
        The cause of a wait.
    cycles : int or None
        Length of the event in cycles; None if it has none.
    event : str
        The event in words, if the point leaves it open.
    """

    cycle: int
    kernel: str | None = None
    cause: str | None = None
    cycles: int | None = None
    event: str = ""

    @property
    def about(self) -> str:
        """Kernel, length and kind of the event in words; may be empty."""
        length = "" if self.cycles is None else count_text(self.cycles, "cycle")
        return ", ".join(filter(None, (self.kernel, length, self.event)))


@dataclass(frozen=True, kw_only=True)
class Search:
    """Instructions in which a replay searches for a point.

    Parameters
    ----------
    spans : sequence of Span
        The instructions, in their order.
    nth : int
        Number of the event among those in them, from 1.
    """

    spans: Sequence[tuple[int, int]]
    nth: int


class MissingPointError(InputError):
    """The run has no such point.

    Parameters
    ----------
    point : Place
        The point.
    record : Record
        The record.
    why : str
        What the run has.
    """

    def __init__(self, point: Place, record: Record, why: str) -> None:
        super().__init__(f"there is no {point} in the run: {why}", path=record.folder)

    @classmethod
    def few(cls, point: Place, record: Record, count: int) -> Self:
        """Return the error that there are fewer such events than asked for."""
        return cls(point, record, f"it happens {count_text(count, 'time')}" if count else "it never happens there")


def causes_of(point: Place) -> tuple[str, ...]:
    """Return the causes of a point's waits; empty for other events."""
    if point.cause == ANY:
        return tuple(cause.name for cause in CAUSES if cause.kind == "limit")
    return () if point.cause is None else (point.cause,)


def limits_of(point: Place, record: Record) -> dict[str, dict[str, int]]:
    """Return the entries that each FIFO exceeds at a point, by module and name, in the order of the machine."""

    def limit(name: str, depth: int) -> int:
        if point.fifo not in (None, name):
            return _UNLIMITED
        return depth - 1 if point.event == "full" else point.above or 0

    fifos = record.machine["fifos"].items()
    return {module: {each["name"]: limit(each["name"], each["depth"]) for each in its} for module, its in fifos}


def find(point: Place, record: Record) -> Located | Search:
    """Return a point if the record gives it, otherwise what a replay has to search.

    Raises
    ------
    InputError
        The machine has no such kernel or FIFO.
    MissingPointError
        The run has no such point.
    """
    if point.cycles is not None:
        cycle, _ = point.cycles
        if cycle >= record.cycles:
            raise InputError(f"the run has {record.cycles:,} cycles, and no cycle {cycle:,}", path=record.folder)
        return Located(cycle=cycle)
    return _Finder(point, record).find()


class _Finder:
    """Finds an event in the tables of a record."""

    def __init__(self, point: Place, record: Record) -> None:
        self._point = point
        self._record = record
        self._nth = point.nth or 1
        record.check_names(point)
        every = record.attempts
        last = every["attempt"] == every["attempt"].max()
        self._tried = every[~last if point.event == "overflow" else last]
        self._own = self._selected(self._tried)

    def find(self) -> Located | Search:
        event = self._point.kind
        if event == "start":
            return Located(cycle=int(self._nth_of(self._own)["start"]))
        if event == "idle":
            return self._idle()
        if event == "overflow":
            # The last instruction of an abandoned attempt.
            rows = self._own[self._own.index.isin(self._tried.groupby("attempt").tail(1).index)]
            if rows.empty:
                raise self._missing("no queue overflows there")
            self._nth_of(rows)
            return self._search(rows.iloc[self._nth - 1 : self._nth], 1)
        if event == "duplicate":
            return self._duplicate()
        if event in ("full", "fifo"):
            return self._fifo()
        if event == "vertex":
            return self._search(self._own, self._nth)
        if causes := causes_of(self._point):
            return self._caused(list(causes))
        raise self._missing("the run did not fail")

    def _missing(self, why: str) -> MissingPointError:
        return MissingPointError(self._point, self._record, why)

    def _elsewhere(self, rows: pd.DataFrame) -> MissingPointError:
        """Return the error that there is such a point only in other instructions, or in other kernels of them."""
        first = rows.sort_values("start", kind="stable").iloc[0]
        kernel = f"{kernel_name(first)}, " if "kernel" in rows else ""
        count = count_text(rows["start"].nunique(), "instruction")
        return self._missing(f"elsewhere it happens in {count}, first in {kernel}{instruction_text(first)}")

    def _selected(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the instructions to which the point is restricted."""
        if rows.empty:
            raise self._missing("it ran no instruction" if self._record.attempts.empty else "no queue overflows")
        for name in _WHERE:
            left = self._point.rows_of(rows, [name])
            if left.empty:
                there = rows[name].unique()
                if name in ("level", "iteration"):
                    there = there[there >= (name == "iteration")]
                    shown = f"{name}s {there.min()} to {there.max()}" if there.size else f"no {name}s"
                else:
                    shown = ", ".join(map(str, there))
                raise self._missing(f"there are {shown}")
            rows = left
        return rows

    def _nth_of(self, rows: pd.DataFrame) -> "pd.Series":
        """Return the row of the event that is asked for, of those in their order."""
        if len(rows) < self._nth:
            raise MissingPointError.few(self._point, self._record, len(rows))
        return rows.iloc[self._nth - 1]

    def _of_kernels(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the kernels to which the point is restricted."""
        return self._point.rows_of(rows, KERNEL)

    def _kernels(self) -> pd.DataFrame:
        """Return the kernels of all instructions, with the columns of their instructions."""
        kernels = self._record.frame("instruction_kernels")
        return kernels.merge(self._tried[["iteration", "phase", "level", "start"]], on="instruction")

    def _search(self, rows: pd.DataFrame, nth: int) -> Search:
        return Search(spans=list(zip(rows["start"].tolist(), rows["end"].tolist(), strict=True)), nth=nth)

    def _caused(self, causes: list[str]) -> Search:
        kernels = self._kernels()
        kernels = kernels.assign(most=kernels[causes].max(axis=1))
        there = self._of_kernels(kernels[kernels["instruction"].isin(self._own.index)])
        having = there[there["most"] > (self._point.longer or 0)]
        if not having.empty:
            return self._search(self._own[self._own.index.isin(having["instruction"])], self._nth)
        if not kernels["most"].any():
            raise self._missing(f"{self._point.cause} never happens")
        if there["most"].any():
            raise self._missing(f"no kernel there has it for more than {count_text(there['most'].max(), 'cycle')}")
        raise self._elsewhere(kernels[kernels["most"] > 0])

    def _duplicate(self) -> Search:
        rows = self._own[self._own["duplicates"] > 0]
        if rows.empty:
            elsewhere = self._tried[self._tried["duplicates"] > 0]
            if elsewhere.empty:
                raise self._missing("duplicate never happens")
            raise self._elsewhere(elsewhere)
        counts = rows["duplicates"].cumsum().to_numpy()
        if counts[-1] < self._nth:
            raise MissingPointError.few(self._point, self._record, int(counts[-1]))
        place = int(np.searchsorted(counts, self._nth))
        return self._search(rows.iloc[place : place + 1], self._nth - (int(counts[place - 1]) if place else 0))

    def _idle(self) -> Located:
        kernels = self._kernels()
        kernels = kernels[kernels["no_work"] > 0]
        rows = self._of_kernels(kernels[kernels["instruction"].isin(self._own.index)])
        if rows.empty:
            raise self._missing("every kernel is done with the last one")
        rows = rows.assign(cycle=rows["start"] + rows["done"]).sort_values("cycle", kind="stable")
        row = self._nth_of(rows)
        return Located(cycle=int(row["cycle"]), kernel=kernel_name(row), cycles=int(row["no_work"]))

    def _fifo(self) -> Search:
        point, limits = self._point, limits_of(self._point, self._record)
        rows = self._record.frame("fifos").astype({"module": str, "fifo": str})
        rows = rows[rows["most"] > 0] if point.fifo is None else rows[(rows["fifo"] == point.fifo) & (rows["most"] > 0)]
        # An interval may have several instructions, each of which has its own most.
        its = self._tried[["module", "iteration", "phase", "level", "start"]].reset_index()
        rows = rows.merge(self._record.overlaps[["cycle", "instruction"]], on="cycle")
        rows = rows.merge(its, on=["instruction", "module"])
        bounds = self._record.frame("instruction_fifos").astype({"fifo": str})
        rows = rows.merge(bounds[["instruction", "fifo", "most"]], on=["instruction", "fifo"], suffixes=("", "_there"))
        rows["most"] = rows[["most", "most_there"]].min(axis=1)
        own_limits = [limits[module][fifo] for module, fifo in zip(rows["module"], rows["fifo"], strict=True)]
        above = rows["most"].to_numpy() > np.array(own_limits, np.int64)
        there = self._of_kernels(rows[rows["instruction"].isin(self._own.index)])
        own = self._own[self._own.index.isin(there["instruction"][above[there.index]])]
        if not own.empty:
            return self._search(own, self._nth)
        most = int(there["most"].max()) if len(there) else 0
        why = "no FIFO is full there" if point.fifo is None else f"it holds {count_text(most, 'entry')} at most"
        raise self._missing(why)


def kernel_name(row: Any) -> str:
    """Return the name of the kernel in a row of a frame."""
    return f"engine{row['engine']}.{row['module']}{row['kernel']}"
