"""Events of a recorded run: from its record where that suffices, and from the run made again where it does not."""

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from cyscc.host.analysis.event_kinds import LONGER, EventQuery
from cyscc.host.analysis.events import FoundEvents, Nearest, RecordEvents
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher
from cyscc.host.replay.finding import kernel_name
from cyscc.host.replay.pushes import PushWatcher
from cyscc.host.replay.replaying import RecordReplay, Watcher
from cyscc.host.replay.spells import WaitWatcher
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.specification.place import INSTRUCTION, KERNEL, Place
from cyscc.sim.coprocessor import Cause

_LEAST = 16
"""Cycles of the shortest wait that is collected: enough of them to say what is nearest if none is long enough."""

_LIMITS = tuple(cause for cause in Cause if cause.row.kind == "limit")


def events_of(record: Record, query: EventQuery, setting: RerunSetting) -> FoundEvents:
    """Return events of a recorded run.

    Parameters
    ----------
    record : Record
        The record.
    query : EventQuery
        The events that are looked for.
    setting : RerunSetting
        How the run is made again where it must be.

    Raises
    ------
    InputError
        The record or the graph cannot be used, or the run does not have what the query names.
    SimulationError
        The run that is made again failed.
    """
    with setting.progress.step("reading the record"):
        if not query.replayed:
            return RecordEvents(record, query).events()
    return _ReplayedEvents(record, query, setting).events()


class _ReplayedEvents(RecordEvents):
    """Finds events in the tables of a record, and in the run made again; its parameters are those of `events_of`."""

    def __init__(self, record: Record, query: EventQuery, setting: RerunSetting) -> None:
        super().__init__(record, query)
        self._replay = RecordReplay(record, setting)
        self._longer = LONGER if query.longer is None else query.longer
        self._asked = _LIMITS if query.cause is None else [Cause[query.cause.upper()]]
        self._spells = WaitWatcher(min(self._longer + 1, _LEAST), causes=self._asked)
        self._pushes = PushWatcher(record)

    def events(self) -> FoundEvents:
        """Return the events; those that are not in the record are collected at once, for all their kinds."""
        of_kind: dict[str, Watcher] = {"wait": self._spells, "duplicate": self._pushes, "overflow": self._pushes}
        watchers = dict.fromkeys(of_kind[kind] for kind in self.query.chosen if kind in of_kind)
        if watchers:
            self._replay.watch([*watchers], last=self._replay.end - 1, aim="looking for events")
        found = super().events()
        return replace(found, hottest=self._hottest(found))

    @property
    def finders(self) -> dict[str, Callable[[], tuple[pd.DataFrame, Nearest]]]:
        """See `RecordEvents.finders`."""
        return {**super().finders, "wait": self._waits, "duplicate": self._pushed_again, "overflow": self._dropped}

    def _hottest(self, events: FoundEvents) -> pd.DataFrame | None:
        """Return what was accessed most in the first of the hottest banks, in its interval; None without one."""
        banks = events.of("bank")
        if banks.empty:
            return None
        bank = banks.iloc[0]
        last = int(bank["cycle"] + bank["cycles"]) - 1
        accesses = AccessWatcher(window=(int(bank["cycle"]), last), completions=True)
        self._replay.watch([accesses], first=int(bank["cycle"]), last=last, aim=f"to cycle {last:,}")
        rows = accesses.named(self.record)
        rows = rows[(rows["controller"] == bank["controller"]) & (rows["bank"] == bank["bank"])]
        rows = rows.astype({"array": str}).assign(latency=rows["answered"] - rows["cycle"])
        sums = {"accesses": ("cycle", "size"), "first": ("cycle", "min"), "latency": ("latency", "mean")}
        table = rows.groupby(["array", "address", "vertex"]).agg(**sums).reset_index()
        table["vertex"] = table["vertex"].where(table["vertex"] >= 0).astype("Int64")
        return table.sort_values("accesses", ascending=False, kind="stable").reset_index(drop=True)

    def _pushed_again(self) -> tuple[pd.DataFrame, Nearest]:
        """Return the pushes of vertices that an instruction had pushed before."""
        frame = self._pushes.duplicates()
        frame = frame[frame.duplicated(["instruction", "vertex"])]
        frame = self._within(frame[frame["instruction"].isin(self.rows.index)])
        return _of_vertices(frame, frame["times"]), Nearest("no vertex is pushed twice there")

    def _dropped(self) -> tuple[pd.DataFrame, Nearest]:
        """Return the vertices that found no room in the queues."""
        frame = self._within(self.place.rows_of(self._pushes.overflows(), INSTRUCTION))
        at = [str(Place(event="overflow", nth=attempt + 1)) for attempt in frame["attempt"]]
        return _of_vertices(frame.assign(at=at), math.nan), Nearest("no queue overflows")

    def _waits(self) -> tuple[pd.DataFrame, Nearest]:
        """Return the waits that are long enough, and the longest, as the nearest to longer ones."""
        waits = self._here(self._spells)
        if waits.empty:
            # Not even short ones: what is nearest takes another replay, which collects all.
            every = WaitWatcher(1, causes=self._asked)
            self._replay.watch([every], last=self._replay.end - 1, aim="looking for shorter waits")
            waits = self._here(every)
        nearest = Nearest(f"no kernel waits{'' if self.query.cause is None else f' for {self.query.cause}'} there")
        if len(waits):
            row = waits.loc[waits["cycles"].idxmax()]
            nearest = Nearest(
                f"no wait there is longer than {count_text(self._longer, 'cycle')}; the longest: {row['cause']} of "
                f"{kernel_name(row)} for {count_text(row['cycles'], 'cycle')} from cycle {row['cycle']:,} on",
                self.command(row["cycle"], row["cycles"], exact=True),
            )
        return waits[waits["cycles"] > self._longer], nearest

    def _here(self, spells: WaitWatcher) -> pd.DataFrame:
        """Return the waits of the instructions and kernels that are looked at."""
        frame = spells.frame().rename(columns={"begin": "cycle"}).astype({"module": str, "cause": str})
        its = self.record.instructions_at(frame["cycle"])
        inside = its["instruction"].isin(self.rows.index) & (frame["cycle"] < its["end"])
        frame = frame.assign(instruction=its["instruction"])[inside]
        frame = self._within(self.place.rows_of(frame, KERNEL))
        return frame.assign(amount=frame["cycles"].astype(float), exact=True)

    def _within(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the events in the cycles that are looked at."""
        return frame if self.place.cycles is None else frame[frame["cycle"].between(*self.place.cycles)]


def _of_vertices(frame: pd.DataFrame, amount: "pd.Series[float] | float") -> pd.DataFrame:
    """Return events of vertices, whose places in the memory are those of their accesses."""
    frame = frame.assign(cycles=1, amount=amount, exact=True, module="bfs").drop(columns=[*INSTRUCTION])
    return frame.astype({"amount": float})
