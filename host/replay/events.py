"""Events of a recorded run: from its record where that suffices, and from the run made again where it does not."""

import math
from dataclasses import replace

import pandas as pd

from cyscc.host.analysis.event_kinds import LONGER, EventQuery
from cyscc.host.analysis.events import FoundEvents, Nearest, RecordEvents
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher
from cyscc.host.replay.finding import kernel_name
from cyscc.host.replay.pushes import PushWatcher
from cyscc.host.replay.replaying import RecordReplay
from cyscc.host.replay.waits import WaitWatcher
from cyscc.host.replay.watching import Watcher, watch_run
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
        known = RecordEvents(record, query)
        if not query.replayed:
            return known.events()
    replay = RecordReplay(record, setting)
    longer = LONGER if query.longer is None else query.longer
    causes = _LIMITS if query.cause is None else [Cause[query.cause.upper()]]
    waits, pushes = WaitWatcher(min(longer + 1, _LEAST), causes=causes), PushWatcher(record)
    of_kind: dict[str, Watcher] = {"wait": waits, "duplicate": pushes, "overflow": pushes}
    watchers = list(dict.fromkeys(of_kind[kind] for kind in query.chosen if kind in of_kind))
    if watchers:
        watch_run(replay, watchers, last=record.cycles - 1, aim="looking for events")
    beside: dict[str, tuple[pd.DataFrame, Nearest]] = {}
    if "wait" in query.chosen:
        rows = _waits(known, waits.frame())
        if rows.empty:
            # Not even short ones: what is nearest takes another replay, which collects all.
            waits = WaitWatcher(1, causes=causes)
            watch_run(replay, [waits], last=record.cycles - 1, aim="looking for shorter waits")
            rows = _waits(known, waits.frame())
        beside["wait"] = rows[rows["cycles"] > longer], _longest(known, rows, longer)
    if "duplicate" in query.chosen:
        beside["duplicate"] = _pushed_again(known, pushes.duplicates()), Nearest("no vertex is pushed twice there")
    if "overflow" in query.chosen:
        beside["overflow"] = _dropped(known, pushes.overflows()), Nearest("no queue overflows")
    events = known.events(beside)
    return replace(events, replayed=True, hottest=_hottest(events, replay))


def _hottest(events: FoundEvents, replay: RecordReplay) -> pd.DataFrame | None:
    """Return what was accessed most in the first of the hottest banks, in its interval; None without one."""
    banks = events.of("bank")
    if banks.empty:
        return None
    bank = banks.iloc[0]
    last = int(bank["cycle"] + bank["cycles"]) - 1
    accesses = AccessWatcher(window=(int(bank["cycle"]), last), completions=True)
    watch_run(replay, [accesses], first=int(bank["cycle"]), last=last, aim=f"to cycle {last:,}")
    rows = accesses.named(events.record)
    rows = rows[(rows["controller"] == bank["controller"]) & (rows["bank"] == bank["bank"])]
    rows = rows.astype({"array": str}).assign(latency=rows["answered"] - rows["cycle"])
    groups = rows.groupby(["array", "address", "vertex"])
    table = groups.agg(accesses=("cycle", "size"), first=("cycle", "min"), latency=("latency", "mean")).reset_index()
    table["vertex"] = table["vertex"].where(table["vertex"] >= 0).astype("Int64")
    return table.sort_values("accesses", ascending=False, kind="stable").reset_index(drop=True)


def _pushed_again(known: RecordEvents, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the pushes of vertices that an instruction had pushed before, given all of such vertices."""
    frame = frame[frame.duplicated(["instruction", "vertex"])]
    frame = _within(known, frame[frame["instruction"].isin(known.rows.index)])
    return _of_vertices(frame, frame["times"])


def _dropped(known: RecordEvents, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the vertices that found no room in the queues."""
    frame = _within(known, known.place.rows_of(frame, INSTRUCTION))
    at = [str(Place(event="overflow", nth=attempt + 1)) for attempt in frame["attempt"]]
    return _of_vertices(frame.assign(at=at), math.nan)


def _within(known: RecordEvents, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the events in the cycles that are looked at."""
    return frame if known.place.cycles is None else frame[frame["cycle"].between(*known.place.cycles)]


def _of_vertices(frame: pd.DataFrame, amount: "pd.Series[float] | float") -> pd.DataFrame:
    """Return events of vertices, whose places in the memory are those of their accesses."""
    frame = frame.assign(cycles=1, amount=amount, exact=True, module="bfs").drop(columns=[*INSTRUCTION])
    return frame.astype({"amount": float})


def _waits(known: RecordEvents, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the waits of the instructions and kernels that are looked at."""
    frame = frame.rename(columns={"begin": "cycle"}).astype({"module": str, "cause": str})
    its = known.record.instructions_at(frame["cycle"])
    inside = its["instruction"].isin(known.rows.index) & (frame["cycle"] < its["end"])
    frame = frame.assign(instruction=its["instruction"])[inside]
    frame = _within(known, known.place.rows_of(frame, KERNEL))
    return frame.assign(amount=frame["cycles"].astype(float), exact=True)


def _longest(known: RecordEvents, waits: pd.DataFrame, longer: int) -> Nearest:
    """Return the longest wait, as the nearest to longer ones."""
    if waits.empty:
        return Nearest(f"no kernel waits{'' if known.query.cause is None else f' for {known.query.cause}'} there")
    row = waits.loc[waits["cycles"].idxmax()]
    return Nearest(
        f"no wait there is longer than {count_text(longer, 'cycle')}; the longest: {row['cause']} of "
        f"{kernel_name(row)} for {count_text(row['cycles'], 'cycle')} from cycle "
        f"{row['cycle']:,} on",
        known.command(row["cycle"], row["cycles"], exact=True),
    )
