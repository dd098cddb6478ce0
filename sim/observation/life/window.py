"""Signals of one kernel in a window: matching of in-order events, and stages of many items at once."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.sim.observation.life.lives import Span, Stage, Wait
from cyscc.sim.observation.wave_reader import WaveReader

Cycles = npt.NDArray[np.int64]
"""Cycles, counted from the first of the window."""

NEVER = 1 << 62
"""Cycle of an event that does not happen in the window."""


def matched(events: Cycles, first: int, count: int) -> Cycles:
    """Return `count` events from number `first` on, padded with `NEVER`."""
    found = np.full(count, NEVER, np.int64)
    there = events[first : first + count]
    found[: len(there)] = there
    return found


def next_of(events: Cycles, cycles: Cycles) -> Cycles:
    """Return for each cycle the first event in or after it."""
    return np.append(events, NEVER)[np.searchsorted(events, cycles)]


class KernelWindow:
    """The signals of a kernel, by their names in its components.

    Parameters
    ----------
    reader : WaveReader
        The file.
    name : str
        Path of the kernel.
    """

    def __init__(self, reader: WaveReader, name: str) -> None:
        self._reader = reader
        self.name = name
        self.cycles = reader.cycles
        self.first = reader.first
        self._known: dict[str, npt.NDArray[np.uint64]] = {}

    def has(self, name: str) -> bool:
        """Whether the kernel has a signal."""
        return f"{self.name}.{name}" in self._reader

    def values(self, name: str) -> npt.NDArray[np.uint64]:
        """Return the values of a signal in each cycle."""
        if name not in self._known:
            self._known[name] = self._reader.values(f"{self.name}.{name}")
        return self._known[name]

    def width(self, name: str) -> int:
        """Return the bits of a signal."""
        return self._reader.width(f"{self.name}.{name}")

    def high(self, name: str) -> npt.NDArray[np.bool_]:
        """Return the cycles in which a signal is not zero, as a mask."""
        return self.values(name) != 0

    def initial(self, name: str) -> int:
        """Return the value of a signal in the first cycle."""
        return int(self.values(name)[0])

    def passes(self, stream: str) -> Cycles:
        """Return the cycles in which a stream transfers a payload."""
        return np.flatnonzero(self.high(f"{stream}__valid") & self.high(f"{stream}__ready"))

    def when(self, name: str) -> Cycles:
        """Return the cycles in which a signal is high."""
        return np.flatnonzero(self.high(name))

    def away(self, process: str) -> int:
        """Return the credits of a process in use in the first cycle."""
        name = f"{process}.credits.count"
        # The count has a maximum of depth, a power of two, so its width gives the depth.
        depth = 1 << (self.width(name) - 1)
        return depth - self.initial(name)

    def offered(self, asked: Cycles) -> tuple[Cycles, Cycles]:
        """Return when the reads of queue entries were offered, given when they were taken, and in which run.

        An entry is offered when its predecessor was taken, or when the run begins.
        """
        starts = self.when("control.start")
        run = np.searchsorted(starts, asked)
        started = np.concatenate(([-1], starts))[run]
        return np.maximum(np.concatenate(([-1], asked[:-1]))[: len(asked)], started) + 1, run

    def source_waits(self, source: int, *, writes: bool, starved: str | None) -> Mapping[Wait, npt.NDArray[np.bool_]]:
        """Return the cycles in which a source of the multiplexer had a request that was not granted, by reason.

        Parameters
        ----------
        source : int
            Number of the source.
        writes : bool
            It writes.
        starved : str, optional
            Signal that its process lacks a credit.
        """
        waiting = self.high(f"mux.source{source}__valid") & ~self.high(f"mux.source{source}__ready")
        held, resting = self.high("mux.hold"), self.high("mux.resting")
        refused = ~self.high(f"mux.{'write' if writes else 'read'}_address.command__ready")
        found = {
            Wait.HELD: waiting & held,
            Wait.RESTING: waiting & resting & ~held,
            Wait.PORT: waiting & refused & ~held & ~resting,
            Wait.OTHER: waiting & ~refused & ~held & ~resting,
        }
        return found if starved is None else {Wait.CREDIT: self.high(starved), **found}


_Reasons = Mapping[Wait, npt.NDArray[np.bool_]]


class Column(NamedTuple):
    """One stage, for all items of a kind."""

    stage: Stage
    first: Cycles
    """First cycle, for each item."""
    end: Cycles
    """First cycle after it."""
    reasons: _Reasons = MappingProxyType({})
    """Masks over the window's cycles in which an item in this stage does not advance, by reason."""


def after(events: Cycles) -> Cycles:
    """Return the cycle after each event."""
    return np.where(events == NEVER, NEVER, events + 1)


def spans_of(columns: list[Column], *, start: int, cycles: int) -> list[list[Span]]:
    """Return the stages of each item, without empty ones, up to the stage cut by the end of the window.

    Parameters
    ----------
    columns : list of Column
        The stages in order.
    start, cycles : int
        First cycle and length of the window.
    """
    counted = [_counted(column, cycles) for column in columns]
    found: list[list[Span]] = []
    for row in range(len(columns[0].first)):
        spans: list[Span] = []
        for column, waits in zip(columns, counted, strict=True):
            first, end = int(column.first[row]), int(column.end[row])
            if first >= cycles:
                break
            if end > first:
                known = tuple((wait, int(number[row])) for wait, number in waits.items() if number[row])
                spans.append(Span(column.stage, start + first, None if end == NEVER else start + end, known))
        found.append(spans)
    return found


def _counted(column: Column, cycles: int) -> dict[Wait, npt.NDArray[np.int64]]:
    """Return the number of cycles of each item's stage by reason."""
    first, end = np.minimum(column.first, cycles), np.minimum(column.end, cycles)
    counted = {}
    for wait, mask in column.reasons.items():
        before = np.concatenate(([0], np.cumsum(mask)))
        number = np.maximum(before[end] - before[first], 0)
        if number.any():
            counted[wait] = number
    return counted
