"""Points of a run, and finding them in a record.

A point is a cycle or an event; events may be restricted to some instructions and kernels. A record gives the exact
cycle of a point, or spans of cycles that contain it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import MODULES, PHASES
from cyscc.host.specification.run import whole_number
from cyscc.sim.observation.causes import CAUSES, IDLE_CAUSES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CAUSE_EVENTS", "EVENTS", "Found", "Point", "Span", "find"]

CAUSE_EVENTS = tuple(cause.name for cause in CAUSES if cause.name not in IDLE_CAUSES)
"""Events defined as the first cycle with a cause."""

EVENTS = ("start", *CAUSE_EVENTS, "full", "duplicate", "overflow", "idle", "error", "hang")
"""All events; ``start``, the dispatch of an instruction, is the default of a point that names none."""

_NOWHERE = ("start", "duplicate", "overflow", "error", "hang")
"""Events that cannot be restricted to kernels."""
_NUMBERS = {"level": 0, "iteration": 1, "engine": 0, "kernel": 0}
_TEXTS = {"phase": PHASES, "module": MODULES}


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a run.

    Parameters
    ----------
    cycle : int or None
        The cycle; None for an event.
    event : str
        The event, one of `EVENTS`.
    fifo : str or None
        The FIFO of the event ``full``; None for any FIFO.
    level, iteration, phase, module, engine, kernel : optional
        Restrictions of the event.
    """

    cycle: int | None = None
    event: str = "start"
    fifo: str | None = None
    level: int | None = None
    iteration: int | None = None
    phase: str | None = None
    module: str | None = None
    engine: int | None = None
    kernel: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Point":
        """Return the point that a text describes: ``120000``, ``level=3``, ``slot,engine=0,kernel=3,level=3``.

        Raises
        ------
        ValueError
            The text describes no point.
        """
        first, *rest = text.split(",")
        values: dict[str, int | str] = {}
        if first[:1].isdecimal():
            if rest:
                raise ValueError(f"{text!r} is a cycle, and nothing can be said about it")
            return cls(cycle=_number("a cycle", first, 0))
        if "=" in first:
            rest = [first, *rest]
        else:
            event, colon, fifo = first.partition(":")
            if event not in EVENTS or (colon and event != "full"):
                raise ValueError(f"there is no point {first!r}: there are a cycle, level=N, {', '.join(EVENTS)}")
            values["event"] = event
            if colon:
                values["fifo"] = fifo
        for part in rest:
            name, _, value = part.partition("=")
            if name in values:
                raise ValueError(f"{name} is there twice in {text!r}")
            if name in _NUMBERS:
                values[name] = _number(name, value, _NUMBERS[name])
            elif name in _TEXTS:
                if value not in _TEXTS[name]:
                    raise ValueError(f"{name} must be {' or '.join(_TEXTS[name])}, not {value!r}")
                values[name] = value
            else:
                raise ValueError(f"{part!r} restricts nothing: there are {', '.join([*_NUMBERS, *_TEXTS])}")
        point = cls(**values)  # type: ignore[arg-type]  # each has been checked
        if point.event in _NOWHERE:
            for name in ("engine", "kernel"):
                if getattr(point, name) is not None:
                    raise ValueError(f"{name} says nothing about {point.event}")
        return point

    def __str__(self) -> str:
        if self.cycle is not None:
            return f"cycle {self.cycle:,}"
        where = [f"{name}={value}" for name in (*_NUMBERS, *_TEXTS) if (value := getattr(self, name)) is not None]
        if self.event == "start" and where:
            return ",".join(where)
        return ",".join([self.event + ("" if self.fifo is None else f":{self.fifo}"), *where])


def _number(name: str, text: str, low: int) -> int:
    """Return the whole number in a text, in the command line's notation: ``1000``, ``1e3``, ``2^10``."""
    try:
        return whole_number(text, low=low)
    except ValueError:
        raise ValueError(f"{name} must be a number from {low} on, not {text!r}") from None


@dataclass(frozen=True, kw_only=True)
class Found:
    """Where a point was found.

    Parameters
    ----------
    cycle : int
        The cycle.
    kernel : str or None
        The kernel of the event, such as ``engine0.bfs3``; None if it is not that of one kernel.
    """

    cycle: int
    kernel: str | None = None


@dataclass(frozen=True, kw_only=True)
class Span:
    """A span of cycles within an instruction.

    Parameters
    ----------
    module : str
        The module that executes the instruction.
    start : int
        Cycle of the instruction's dispatch.
    first, end : int
        First cycle of the span, and the cycle after its last.
    """

    module: str
    start: int
    first: int
    end: int


def find(point: Point, record: Record) -> int | list[Span]:
    """Return the cycle of a point if the record gives it, otherwise the spans to search, the earliest first.

    Raises
    ------
    InputError
        The run has no such point; the message says what it has.
    """
    if point.cycle is not None:
        if point.cycle >= record.cycles:
            raise InputError(f"the run has {record.cycles:,} cycles, and no cycle {point.cycle:,}", path=record.folder)
        return point.cycle
    return _Finder(point, record).find()


class _Finder:
    """Finds an event in the tables of a record."""

    def __init__(self, point: Point, record: Record) -> None:
        self._point = point
        self._record = record
        self._check_names()
        self._every = record.attempts
        attempts = self._every["attempt"]
        tried = attempts < attempts.max() if point.event == "overflow" else attempts == attempts.max()
        self._own = self._selected(self._every[tried])

    def find(self) -> int | list[Span]:
        event = self._point.event
        if event == "start":
            return int(self._own["start"].iloc[0])
        if event == "idle":
            return self._idle()
        if event == "overflow":
            return self._overflow()
        if event == "duplicate":
            rows = self._own[self._own["duplicates"] > 0]
            return self._spans(rows, None)
        if event == "full":
            return self._full()
        if event in CAUSE_EVENTS:
            kernels = self._of_kernels(self._record.frame("instruction_kernels"))
            kernels = kernels[kernels[event] > 0]
            rows = self._own[self._own.index.isin(kernels["instruction"])]
            cycles = self._of_kernels(self._record.frame("kernels"))
            return self._spans(rows, cycles[cycles[event] > 0])
        raise self._nothing("the run did not fail")

    def _check_names(self) -> None:
        """Refuse kernels and FIFOs that the machine lacks."""
        point, machine = self._point, self._record.machine
        modules = [point.module] if point.module else list(machine["kernels"])
        for name, most in (
            ("engine", machine["engines"]),
            ("kernel", max(machine["kernels"][module] for module in modules)),
        ):
            value = getattr(point, name)
            if value is not None and value >= most:
                raise InputError(f"there is no {name} {value}: there are 0 to {most - 1}", path=self._record.folder)
        names = dict.fromkeys(each["name"] for module in modules for each in machine["fifos"][module])
        if point.fifo is not None and point.fifo not in names:
            raise InputError(f"there is no FIFO {point.fifo}: there are {', '.join(names)}", path=self._record.folder)

    def _nothing(self, there_is: str) -> InputError:
        return InputError(f"there is no {self._point} in the run: {there_is}", path=self._record.folder)

    def _selected(self, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return the instructions to which the point is restricted."""
        point = self._point
        if rows.empty:
            raise self._nothing("it ran no instruction" if self._every.empty else "no queue overflows")
        for name in ("iteration", "phase", "level", "module"):
            value = getattr(point, name)
            if value is None:
                continue
            left = rows[rows[name] == value]
            if left.empty:
                there = rows[name].unique()
                if name in ("level", "iteration"):
                    shown = f"{name}s {there[there >= 0].min()} to {there.max()}" if (there >= 0).any() else "none"
                else:
                    shown = ", ".join(map(str, there))
                raise self._nothing(f"there are {shown}")
            rows = left
        return rows

    def _of_kernels(self, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return the rows of the kernels to which the point is restricted."""
        for name in ("module", "engine", "kernel"):
            value = getattr(self._point, name)
            if value is not None:
                rows = rows[rows[name] == value]
        return rows

    def _spans(self, rows: "pd.DataFrame", intervals: "pd.DataFrame | None") -> int | list[Span]:
        """Return the overlap of the first instruction with some intervals, or all of it if no intervals are given."""
        if rows.empty:
            raise self._nothing(self._elsewhere())
        # By the tables of instructions, the event is in the first one.
        row = rows.iloc[:1]
        if intervals is not None:
            return self._overlaps(row, np.unique(intervals["cycle"].to_numpy()))
        first, end, module = (row[name].iloc[0] for name in ("start", "end", "module"))
        return [Span(module=str(module), start=int(first), first=int(first), end=int(end))]

    def _elsewhere(self) -> str:
        """Return the text that says where else in the run the event occurs."""
        event = self._point.event
        if event == "duplicate":
            rows = self._every[self._every["duplicates"] > 0]
        else:
            kernels = self._record.frame("instruction_kernels")
            rows = self._every[self._every.index.isin(kernels[kernels[event] > 0]["instruction"])]
        if rows.empty:
            return f"{event} never happens"
        first = rows.iloc[0]
        level = f", level {first['level']}" if first["level"] >= 0 else ""
        iteration = f" of iteration {first['iteration']}" if first["iteration"] else ""
        return f"it happens in {len(rows):,} instructions, first in {first['phase']}{level}{iteration}"

    def _idle(self) -> int | list[Span]:
        rows = self._of_kernels(self._record.frame("instruction_kernels")).set_index("instruction")
        rows = rows[(rows["no_work"] > 0) & rows.index.isin(self._own.index)]
        if rows.empty:
            raise self._nothing("every kernel is done with the last one")
        cycles = self._own["start"].reindex(rows.index) + rows["done"]
        return int(cycles.min())

    def _overflow(self) -> int | list[Span]:
        """Return the instructions whose queues overflowed: the last one of each abandoned attempt."""
        last = self._every.groupby("attempt").tail(1)
        rows = self._own[self._own.index.isin(last.index)]
        if rows.empty:
            raise self._nothing("no queue overflows there")
        return self._spans(rows, None)

    def _full(self) -> int | list[Span]:
        point = self._point
        depths = {
            (module, each["name"]): each["depth"]
            for module, fifos in self._record.machine["fifos"].items()
            for each in fifos
        }
        rows = self._of_kernels(self._record.frame("fifos"))
        if point.fifo is not None:
            rows = rows[rows["fifo"] == point.fifo]
        rows = rows.astype({"module": str, "fifo": str})
        spans: list[Span] = []
        rows = rows[rows["most"] >= [depths[key] for key in zip(rows["module"], rows["fifo"], strict=True)]]
        for module, its in rows.groupby("module"):
            cycles = np.unique(its["cycle"].to_numpy())
            own = self._own[self._own["module"] == module]
            spans += self._overlaps(own, cycles)
        if not spans:
            raise self._nothing("no FIFO is full there" if rows.empty else "it is full at other times")
        return sorted(spans, key=lambda span: span.first)

    def _overlaps(self, rows: "pd.DataFrame", cycles: Any) -> list[Span]:
        """Return the overlaps of instructions with intervals, given by their first cycles."""
        spans = []
        for row in rows.itertuples():
            low = np.searchsorted(cycles, row.start - self._record.interval, side="right")
            high = np.searchsorted(cycles, row.end)
            for cycle in cycles[low:high].tolist():
                first, end = max(cycle, row.start), min(cycle + self._record.interval, row.end)
                if first < end:
                    spans.append(Span(module=str(row.module), start=int(row.start), first=int(first), end=int(end)))
        return spans
