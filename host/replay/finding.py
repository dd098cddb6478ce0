"""Finding points in a record: the cycle, or the instructions in which a replay finds it, or what is nearest to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.host.specification.place import ANY, KERNEL, Place
from cyscc.sim.observation.causes import CAUSES

_WHERE = ("iteration", "phase", "level", "module")
"""Restrictions to instructions, in the order in which they are checked."""
RESTRICTIONS = tuple(dict.fromkeys((*_WHERE, *KERNEL)))
"""All restrictions."""
_NEAR = 3
"""Most points to try as the nearest one."""
_NO_WAIT = "no wait is that long there"


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
    near : sequence of Place or None
        What to try if there is none, see `MissingPointError`.
    """

    spans: Sequence[tuple[int, int]]
    nth: int
    near: Sequence[Place] | None = ()


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
    near : sequence of Place or None
        Points that the run may have, the nearest first; None for waits, which only a replay can tell.
    """

    def __init__(self, point: Place, record: Record, why: str, near: Sequence[Place] | None = ()) -> None:
        super().__init__(f"there is no {point} in the run: {why}", path=record.folder)
        self.point = point
        self.near = near

    @classmethod
    def few(cls, point: Place, record: Record, count: int, near: Sequence[Place] | None = ()) -> Self:
        """Return the error that there are fewer such events than asked for; `near` is what to try if there is none."""
        if not count:
            return cls(point, record, "it never happens there" if near is not None else _NO_WAIT, near)
        return cls(point, record, f"it happens {count_text(count, 'time')}", [replace(point, nth=count)])


def causes_of(point: Place) -> tuple[str, ...]:
    """Return the causes of a point's waits; empty for other events."""
    if point.cause == ANY:
        return tuple(cause.name for cause in CAUSES if cause.kind == "limit")
    return () if point.cause is None else (point.cause,)


def limits_of(point: Place, fifos: "Sequence[tuple[str, int]]") -> list[int]:
    """Return the entries that each FIFO of a module's kernels exceeds at a point, given their names and depths."""
    unlimited = 1 << 40
    return [
        unlimited if point.fifo not in (None, name) else depth - 1 if point.event == "full" else point.above or 0
        for name, depth in fifos
    ]


def last_attempt(record: Record) -> pd.DataFrame:
    """Return the instructions of the last attempt, to which points refer."""
    every = record.attempts
    return every[every["attempt"] == every["attempt"].max()]


def place_of(cycle: int, record: Record) -> str:
    """Return the instruction of a cycle in words; empty if none runs."""
    rows = record.attempts
    rows = rows[(rows["start"] <= cycle) & (cycle < rows["end"])]
    if rows.empty:
        return ""
    row = rows.iloc[0]
    if not row["iteration"]:
        return f"level {row['level']}"
    level = f" level {row['level']}" if row["level"] >= 0 else ""
    return f"{row['phase']}{level} of iteration {row['iteration']}"


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
        last = last_attempt(record)
        self._tried = record.attempts.drop(last.index) if point.event == "overflow" else last
        self._own = self._selected(self._tried)

    def find(self) -> Located | Search:
        event = self._point.kind
        if event == "start":
            return Located(cycle=int(self._nth_of(self._own)["start"]))
        if event == "idle":
            return self._idle()
        if event == "overflow":
            return self._overflow()
        if event == "duplicate":
            return self._duplicate()
        if event in ("full", "fifo"):
            return self._fifo()
        if event == "vertex":
            return self._search(self._own, self._nth)
        if causes := causes_of(self._point):
            return self._caused(list(causes))
        raise self._missing("the run did not fail")

    def _missing(self, why: str, rows: pd.DataFrame | None = None) -> MissingPointError:
        """Return the error that there is no such point, given the instructions, or their kernels, that have some."""
        return MissingPointError(self._point, self._record, why, () if rows is None else _near(self._point, rows))

    def _selected(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the instructions to which the point is restricted."""
        if rows.empty:
            raise self._missing("it ran no instruction" if self._record.attempts.empty else "no queue overflows")
        every = rows
        for name in _WHERE:
            left = self._point.rows_of(rows, [name])
            if left.empty:
                there = rows[name].unique()
                if name in ("level", "iteration"):
                    there = there[there >= (name == "iteration")]
                    shown = f"{name}s {there.min()} to {there.max()}" if there.size else f"no {name}s"
                else:
                    shown = ", ".join(map(str, there))
                raise self._missing(f"there are {shown}", every)
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

    def _search(self, rows: pd.DataFrame, nth: int, near: Sequence[Place] | None = ()) -> Search:
        spans = list(zip(rows["start"].tolist(), rows["end"].tolist(), strict=True))
        return Search(spans=spans, nth=nth, near=near)

    def _caused(self, causes: list[str]) -> Search:
        kernels = self._kernels()
        most = kernels[causes].max(axis=1)
        having = self._of_kernels(kernels[most > (self._point.longer or 0)])
        rows = self._own[self._own.index.isin(having["instruction"])]
        if not rows.empty:
            return self._search(rows, self._nth, near=None)
        some = kernels[most > 0]
        if some.empty:
            raise self._missing(f"{self._point.cause} never happens")
        if self._point.longer:
            raise MissingPointError(self._point, self._record, _NO_WAIT, near=None)
        raise self._missing(f"it happens in {some['instruction'].nunique():,} other instructions", some)

    def _duplicate(self) -> Search:
        rows = self._own[self._own["duplicates"] > 0]
        if rows.empty:
            elsewhere = self._tried[self._tried["duplicates"] > 0]
            if elsewhere.empty:
                raise self._missing("duplicate never happens")
            raise self._missing(f"it happens in {len(elsewhere):,} other instructions", elsewhere)
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
            raise self._missing("every kernel is done with the last one", kernels)
        rows = rows.assign(cycle=rows["start"] + rows["done"]).sort_values("cycle", kind="stable")
        row = self._nth_of(rows)
        return Located(cycle=int(row["cycle"]), kernel=kernel_name(row), cycles=int(row["no_work"]))

    def _overflow(self) -> Search:
        """Return the instruction whose queues overflowed: the last one of an abandoned attempt."""
        last = self._tried.groupby("attempt").tail(1)
        rows = self._own[self._own.index.isin(last.index)]
        if rows.empty:
            raise self._missing("no queue overflows there", last)
        self._nth_of(rows)
        return self._search(rows.iloc[self._nth - 1 : self._nth], 1)

    def _fifo(self) -> Search:
        point = self._point
        sizes = {
            (module, each["name"]): (each["depth"], limit)
            for module, fifos in self._record.machine["fifos"].items()
            for each, limit in zip(fifos, limits_of(point, [(it["name"], it["depth"]) for it in fifos]), strict=True)
        }
        rows = self._record.frame("fifos").astype({"module": str, "fifo": str})
        rows = rows[rows["most"] > 0] if point.fifo is None else rows[(rows["fifo"] == point.fifo) & (rows["most"] > 0)]
        # An interval may have several instructions, each of which has its own most.
        its = self._tried[["module", "iteration", "phase", "level", "start"]].reset_index()
        rows = rows.merge(self._record.overlaps[["cycle", "instruction"]], on="cycle")
        rows = rows.merge(its, on=["instruction", "module"])
        bounds = self._record.frame("instruction_fifos").astype({"fifo": str})
        rows = rows.merge(bounds[["instruction", "fifo", "most"]], on=["instruction", "fifo"], suffixes=("", "_there"))
        rows["most"] = rows[["most", "most_there"]].min(axis=1)
        own_sizes = np.array([sizes[key] for key in zip(rows["module"], rows["fifo"], strict=True)]).reshape(-1, 2)
        above = rows["most"].to_numpy() > own_sizes[:, 1]
        rows["share"] = rows["most"] / own_sizes[:, 0]
        there = self._of_kernels(rows[rows["instruction"].isin(self._own.index)])
        less = [
            replace(point, event=None, fifo=fifo, above=min(int(most), point.above or 1 << 40) - 1, nth=None)
            for fifo, most in there.sort_values("share", ascending=False, kind="stable")[["fifo", "most"]]
            .drop_duplicates()
            .values[:_NEAR]
        ]
        elsewhere = _near(point, rows[above])
        near = [*elsewhere, *less] if point.event == "full" else [*less, *elsewhere]
        own = self._own[self._own.index.isin(there["instruction"][above[there.index]])]
        if not own.empty:
            return self._search(own, self._nth, near)
        most = int(there["most"].max()) if len(there) else 0
        why = "no FIFO is full there" if point.fifo is None else f"it holds {count_text(most, 'entry')} at most"
        raise MissingPointError(point, self._record, why, near)


def nearest_waits(point: Place, longest: pd.DataFrame, record: Record) -> list[Place]:
    """Return points with the waits nearest to one that there is none of, given the longest in each instruction.

    A shorter wait in the same place is nearer than one that is long enough in another.

    Parameters
    ----------
    point : Place
        The point.
    longest : DataFrame
        The longest wait of each kernel in each instruction, as of `cyscc.host.replay.spells.WaitWatcher.frame`.
    record : Record
        The record.
    """
    longest = longest.reset_index(drop=True)
    rows = longest.join(record.instructions_at(longest["begin"])[["iteration", "phase", "level", "start"]])
    here = point.rows_of(rows, RESTRICTIONS)
    enough = rows[rows["cycles"] > (point.longer or 0)]
    if here.empty and not enough.empty:
        return _near(point, enough)
    longest_one = (rows if here.empty else here).nlargest(1, "cycles")
    return [replace(near, longer=int(longest_one["cycles"].iloc[0]) - 1) for near in _near(point, longest_one)]


def _near(point: Place, rows: pd.DataFrame) -> list[Place]:
    """Return the points of some rows, those first that differ in the fewest restrictions, and in these the least."""
    misses, far = np.zeros(len(rows)), np.zeros(len(rows))
    differing = {}
    for name in RESTRICTIONS:
        value = getattr(point, name)
        if value is None or name not in rows:
            continue
        differing[name] = ~rows.index.isin(point.rows_of(rows, [name]).index)
        misses += differing[name]
        if not isinstance(value, str):
            low, high = value if isinstance(value, tuple) else (value, value)
            numbers = rows[name].to_numpy().astype(np.int64)
            far += np.maximum(np.maximum(low - numbers, numbers - high), 0)
    near = []
    for place in np.lexsort([rows["start"], far, misses])[:_NEAR]:
        row = rows.iloc[place]
        changes = {name: _restriction(name, row[name]) for name, differs in differing.items() if differs[place]}
        near.append(replace(point, nth=None, **changes))
    return list(dict.fromkeys(near))


def _restriction(name: str, value: Any) -> Any:
    """Return a value of a table as a restriction; an intersection has no level, and `cyscc bfs` no iteration."""
    if isinstance(value, str):
        return value
    if name not in ("iteration", "level"):
        return int(value)
    return None if value < (name == "iteration") else (int(value), int(value))


def kernel_name(row: Any) -> str:
    """Return the name of the kernel in a row of a frame."""
    return f"engine{row['engine']}.{row['module']}{row['kernel']}"
