"""Records of a part of a run, with intervals of their own: the run is made again up to there, at full speed."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.output.documents import write_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import check_apart
from cyscc.host.record.document import DOCUMENT
from cyscc.host.record.parts import DETAIL_FOLDER
from cyscc.host.record.parts import Reached as PartsReached
from cyscc.host.record.reader import Record
from cyscc.host.record.rows import Rows
from cyscc.host.record.tables import PHASES
from cyscc.host.record.traffic import write_traffic
from cyscc.host.record.writer import Columns, RecordFolder, TableWriter
from cyscc.host.replay.replaying import RecordReplay
from cyscc.host.replay.spells import Reached
from cyscc.host.runs.recorder import kernel_cycles
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.specification.place import INSTRUCTION, Place
from cyscc.host.specification.run import DETAIL_INTERVAL
from cyscc.sim.executors.base import sync_interval
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.machine import Machine
from cyscc.sim.memory import RecordedSums
from cyscc.sim.recording import InstructionCounts, Intervals, RanInstruction

_GATHERED = 3_000_000
"""Rows that are buffered before they are written."""


def cycles_of(place: Place, record: Record) -> tuple[int, int]:
    """Return the first cycle of a place of a recorded run, and the cycle after its last.

    Of levels, iterations and phases, it is the first instructions without a gap, in the attempt that counts.

    Raises
    ------
    InputError
        The run has no such place.
    """
    if place.cycles is not None:
        first, last = place.cycles
        ends = int(record.attempts["end"].max()) if len(record.attempts) else 0
        if first >= ends:
            raise InputError(f"the run's instructions end at cycle {ends:,}, before {first:,}", path=record.folder)
        return first, min(last + 1, ends)
    rows = record.attempts[record.attempts["attempt"] == record.attempt]
    wanted = rows.index.isin(place.rows_of(rows, INSTRUCTION).index)
    if not wanted.any():
        raise InputError(f"there is no {place} in the run: no level, iteration or phase fits", path=record.folder)
    begin = int(np.argmax(wanted))
    end = begin + int(np.argmin([*wanted[begin:], False]))
    return int(rows["start"].iloc[begin]), int(rows["end"].iloc[end - 1])


class _Part:
    """Receives what is recorded of a part, and writes its tables, whose cycles and instructions count from 0.

    Parameters
    ----------
    machine : Machine
        The machine, within an instruction before the part.
    writer : TableWriter
        Writer of the tables.
    interval : int
        Cycles of an interval.
    wanted : int
        The first cycle that is wanted: instructions that began before are left out.
    begin, end : int
        First cycle, a multiple of the interval, and the cycle after the last.
    """

    def __init__(
        self, machine: Machine, writer: TableWriter, *, interval: int, wanted: int, begin: int, end: int
    ) -> None:
        self._rows = Rows(machine, interval)
        self._writer = writer
        self._wanted, self._begin, self._end = wanted, begin, end
        self._kernels = machine.config.engines * (machine.config.bfs_kernels + machine.config.intersection_kernels)
        self._gathered = 0
        self._ran: list[RanInstruction] = []
        self._counted = 0
        self.starts: list[int] = []
        self.instructions = self.host = 0

    def take_intervals(self, intervals: "Intervals") -> None:
        """Add intervals of the part to the tables."""
        for name, columns in self._rows.of_intervals(intervals).items():
            cycle = columns["cycle"]
            columns = _where((cycle >= self._begin) & (cycle < self._end), columns)
            if name == "kernels":
                self.host += int(columns["host"][:: self._kernels].sum())
            self._add(name, {**columns, "cycle": columns["cycle"] - self._begin})

    def take_instruction(self, ran: RanInstruction) -> None:
        """Note a completed instruction."""
        self._ran.append(ran)

    def take_counts(self, counts: "Sequence[InstructionCounts]", memory: "Sequence[RecordedSums]") -> None:
        """Add the counts of the latest instructions, of those wholly within the part."""
        first, self._counted = self._counted, self._counted + len(memory)
        numbers = np.full(self._counted, -1, np.int32)
        for place in range(first, self._counted):
            ran = self._ran[place]
            if ran.start >= self._wanted and ran.start + ran.cycles <= self._end:
                numbers[place] = len(self.starts)
                self.starts.append(ran.start)
                self.instructions += ran.cycles
        for name, columns in self._rows.of_instructions(first, counts, memory).items():
            number = numbers[columns["instruction"]]
            self._add(name, _where(number >= 0, {**columns, "instruction": number}))

    def take_restart(self, cycle: int, readouts: list[tuple[int, int]]) -> None:
        """Do nothing: a restart is before the part, or ends it."""

    def _add(self, table: str, columns: Columns) -> None:
        self._writer.add({table: columns})
        self._gathered += len(next(iter(columns.values())))
        if self._gathered > _GATHERED:
            self._gathered = 0
            self._writer.flush(PartsReached())


def _where(mask: Any, columns: Columns) -> dict[str, Any]:
    return {name: values[mask] for name, values in columns.items()}


def record_place(
    record: Record,
    place: Place,
    setting: RerunSetting,
    *,
    output: Path | None = None,
    interval: int | None = None,
    checkpoint: str | None = None,
) -> Record:
    """Record a place of a recorded run in detail: the run is made again up to there.

    Parameters
    ----------
    record : Record
        The record.
    place : Place
        The place; all intervals that overlap it are recorded.
    setting : RerunSetting
        How the run is made again.
    output : Path, optional
        The folder of the new record; by default `DETAIL_FOLDER` in that of the record.
    interval : int, optional
        Cycles of an interval there; `DETAIL_INTERVAL` by default.
    checkpoint : str or None
        The folder of a checkpoint of the run, to resume from.

    Returns
    -------
    Record
        The new record.

    Raises
    ------
    InputError
        The run has no such place; the record is not complete; the new record's folder cannot be used.
    SimulationError
        See `Replay.make`.
    """
    if record.interrupted is not None:
        raise InputError(f"cannot be recorded in detail: {record.ending}", path=record.folder)
    cycles, interval = cycles_of(place, record), interval or DETAIL_INTERVAL
    begin, end = cycles[0] // interval * interval, -(-cycles[1] // interval) * interval
    replay = RecordReplay(record, setting)
    about = {name: value for name, value in record.document.items() if name not in _OWN}
    folder = record.folder / DETAIL_FOLDER if output is None else output
    if output is not None:
        check_apart({"-o": str(output)}, {})
    with replay.resumed(checkpoint), closing(RecordFolder(folder, resumed=False)) as locked:
        complete = False
        try:
            about["interval"] = interval
            _simulate(replay, folder, about, wanted=cycles[0], begin=begin, end=end)
            complete = True
        finally:
            locked.clear(complete=complete)
    return Record(folder)


_OWN = ("cycles", "causes", "tables", "digests", "result", "sha256")
"""Fields of a record's document that describe its tables and its result."""


def _simulate(
    replay: RecordReplay, folder: Path, about: Mapping[str, Any], *, wanted: int, begin: int, end: int
) -> None:
    """Make the run again, and write the record."""
    interval, every = about["interval"], replay.record.attempts
    parts: list[_Part] = []
    writers: list[TableWriter] = []
    stopped: list[int] = []

    def on_end(cycle: int) -> None:
        stopped.append(cycle)
        raise Reached

    def watch(machine: Machine, graphs: "Sequence[PlacedGraph]") -> None:
        sync = sync_interval(machine.config, machine.memory)
        target = _joining(every, begin - interval - sync, sync)

        def on_sync(cycle: int) -> int:
            left = target - cycle
            if left >= sync:
                return left - sync + 1
            if not parts:
                writers.append(TableWriter(folder, fifos=Rows(machine, interval).fifos, about=about))
                parts.append(_Part(machine, writers[0], interval=interval, wanted=wanted, begin=begin, end=end))
                machine.record_part(interval, parts[0], begin=wanted, end=end, on_end=on_end)
            return LONGEST_INTERVAL

        machine.on_sync = on_sync

    try:
        replay.make(watch, by=max(_joining(every, begin - interval, 0), 0), aim=f"recording from cycle {begin:,} on")
        (part,), (writer,) = parts, writers
        reached = min(end, stopped[0])
        writer.add({"instructions": _instructions(every, part.starts, begin)})
        tables, digests = writer.finish(PartsReached())
    finally:
        for each in writers:
            each.close()
    total = reached - begin
    write_sealed(
        folder / DOCUMENT,
        {
            **about,
            "part": {"begin": begin, "end": reached},
            "cycles": {
                "instructions": part.instructions,
                "host": part.host,
                "restarted": 0,
                "readout": 0,
                "unfinished": total - part.instructions - part.host,
                "total": total,
            },
            "causes": kernel_cycles(folder),
            "tables": tables,
            "digests": digests,
        },
    )


def _joining(every: pd.DataFrame, cycle: int, sync: int) -> int:
    """Return a cycle up to another one, in which an instruction runs: the AEs' sync points are seen only then."""
    before = every[every["start"] <= cycle]
    if before.empty:
        return 0
    last = before.iloc[-1]
    return int(min(cycle, max(last["start"], last["end"] - 2 * sync)))


def _instructions(every: pd.DataFrame, starts: Sequence[int], begin: int) -> Columns:
    """Return the rows of the table ``instructions`` of those that started in some cycles."""
    rows = every[every["start"].isin(starts)]
    columns = {name: rows[name].to_numpy() for name in rows.columns if name not in ("module", "end", "phase", "start")}
    return {
        **columns,
        "instruction": np.arange(len(rows), dtype=np.int32),
        "phase": np.array([PHASES.index(phase) for phase in rows["phase"]], np.int8),
        "start": rows["start"].to_numpy() - begin,
    }


_SPAN = 1024
"""Most cycles between two readings of the memory's log, which has room for that many."""


class _RequestWatcher:
    """Collects all requests that the memory accepts in a window of cycles."""

    waiting = done = False

    def __init__(self, first: int, end: int) -> None:
        self._first, self._end = first, end
        self._parts: list[npt.NDArray[np.void]] = []

    def begin(self, machine: Machine, graphs: Sequence[PlacedGraph]) -> None:
        """Start following."""
        self._profile = machine.memory.profile
        self._log = machine.memory.log_accesses(span=_SPAN)
        self._log.follow(self._first, self._end)

    def look(self, cycle: int) -> int:
        """Take the requests up to a cycle; return the most cycles until the next call."""
        self._parts.append(self._log.take_entered())
        return max(self._first - cycle, _SPAN)

    def frame(self) -> pd.DataFrame:
        """Return the requests by arrival: clock of the memory, byte address, whether it writes, channel."""
        rows = np.concatenate(self._parts)
        clock, address = self._profile.arrival(rows["answered"]), rows["address"]
        order = np.lexsort((rows["port"], rows["engine"], rows["cycle"], clock))
        columns = {
            "clock": clock,
            "address": address,
            "write": rows["write"].astype(np.int64),
            "channel": self._profile.channel_of(address),
        }
        return pd.DataFrame({name: values[order] for name, values in columns.items()})


def write_requests(
    record: Record, place: Place, path: str, setting: RerunSetting, *, checkpoint: str | None = None
) -> tuple[int, int, int]:
    """Make a recorded run again up to a place, and write the requests there to a file; see `write_traffic`.

    Parameters
    ----------
    record : Record
        The record.
    place : Place
        Cycles, or a level, iteration or phase.
    path : str
        The file, ``.csv`` or ``.parquet``.
    setting : RerunSetting
        How the run is made again.
    checkpoint : str, optional
        Folder of a checkpoint to go on from.

    Returns
    -------
    (int, int, int)
        First cycle, the cycle after the last, and the number of requests.

    Raises
    ------
    InputError
        The record, checkpoint or graph cannot be used, the run has no such place, or the file cannot be written.
    SimulationError
        The run failed before the end of the place.
    """
    first, end = cycles_of(place, record)
    replay, watcher = RecordReplay(record, setting), _RequestWatcher(first, end)
    with replay.resumed(checkpoint):
        replay.watch([watcher], first=first, last=end - 1, aim=f"to cycle {end - 1:,}")
    rows = watcher.frame()
    write_traffic(rows, path)
    return first, end, len(rows)
