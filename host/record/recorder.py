"""A run as it is recorded: what the machine tells goes into tables, under the names that the host's program gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from host.algorithms.driver import LevelAccount, Observer
from host.record.arrow import array_of
from host.record.rows import Rows
from host.record.tables import ARRAYS, MODULES, PHASES
from host.record.writer import Columns, TableWriter
from sim.machine import Machine
from sim.memory import RecordedSums
from sim.observation.causes import CAUSES
from sim.recorded import InstructionCounts, Intervals, RanInstruction
from sim.recording import RecordingState

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Recorder", "RecorderState"]


_GATHERED = 3_000_000
"""Rows that are gathered before they are written: some 60 MB."""
_GATHERED_IN_MEMORY = 500_000
"""The same of a record in memory, whose parts take little once they are packed."""

_TOGETHER = 1024
"""Rows of instructions of which columns are made together."""


@dataclass(kw_only=True)
class InstructionRow:
    """A row of the table ``instructions`` that is not written, since its search is not over."""

    instruction: int
    attempt: int
    iteration: int
    phase: int
    level: int
    start: int
    cycles: int
    working: int
    frontier: int = 0
    edges: int = 0
    pushed: int = 0
    duplicates: int = 0


@dataclass(kw_only=True)
class RecorderState:
    """Where a recorder is.

    Parameters
    ----------
    recording : RecordingState
        Where the machine's recording is.
    parts : int
        Parts of the tables that are written.
    instructions : int
        Instructions that are complete.
    iteration, phase, level : int
        What the next instruction is; the phase by its number.
    rows : list of InstructionRow
        Instructions of the search that goes on.
    memory : list of dict, or None
        The parts of a record in memory, Parquet by table.
    """

    recording: RecordingState
    parts: int = 0
    instructions: int = 0
    iteration: int = 0
    phase: int = 0
    level: int = 0
    rows: list[InstructionRow] = field(default_factory=list)
    memory: list[dict[str, npt.NDArray[np.uint8]]] | None = None


class Recorder(Observer):
    """Records the run of a machine in a folder, or what its instructions did in memory.

    Parameters
    ----------
    machine : Machine
        The machine, before its first instruction.
    folder : Path or None
        Where to; it exists. None for a record in memory, which has `LEVEL_TABLES` only.
    interval : int
        Cycles of an interval.
    state : RecorderState, optional
        Where to go on from, before the machine is loaded.

    Attributes
    ----------
    state : RecorderState
        Where it is; after `catch_up` up to date.

    Raises
    ------
    ValueError
        The interval is too short for the memory.
    """

    def __init__(
        self, machine: Machine, folder: Path | None, *, interval: int, state: RecorderState | None = None
    ) -> None:
        self._machine = machine
        self._interval = interval
        self._recording = machine.record(interval, self, None if state is None else state.recording)
        memory: list[dict[str, npt.NDArray[np.uint8]]] | None = None if folder is not None else []
        self.state = state or RecorderState(recording=self._recording.state, memory=memory)
        self._rows = Rows(machine, interval)
        self._writer = TableWriter(
            folder,
            categories={"module": MODULES, "phase": PHASES, "array": ARRAYS, "fifo": self._rows.fifos},
            parts=self.state.parts,
            memory=self.state.memory,
        )
        self._gathered = 0
        self._most = _GATHERED if folder is not None else _GATHERED_IN_MEMORY
        self._complete: list[InstructionRow] = []

    def catch_up(self) -> None:
        """Bring the state, and the parts that it counts, up to where the machine is."""
        self._recording.catch_up(self._machine.cycle)
        self._flush(wait=True)

    def begin(self, iteration: int, phase: str) -> None:
        """Take the name of the instructions to come."""
        self.state.iteration, self.state.phase, self.state.level = iteration, PHASES.index(phase), 0

    def on_instruction(self, entries: int, pushed: int) -> None:
        """Take what the instruction that is complete has read and pushed."""
        self.state.rows[-1].frontier, self.state.rows[-1].pushed = entries, pushed

    def end(self, account: Callable[[], LevelAccount] | None = None) -> None:
        """Take the instructions of a search, or an intersection, as complete."""
        if account is not None:
            found = account()
            for row, once, edges in zip(self.state.rows, found.pushed.tolist(), found.edges.tolist(), strict=True):
                row.duplicates, row.edges = row.pushed - once, edges
        self._write_rows()

    def take_intervals(self, make: Callable[[], Intervals], count: int) -> None:
        """Take intervals."""
        if self.state.memory is not None:
            return
        self._add(lambda: self._rows.of_intervals(make()), count * self._rows.of_interval)

    def take_instruction(self, ran: RanInstruction) -> None:
        """Take an instruction that is complete."""
        state = self.state
        searching = PHASES[state.phase] != "intersection"
        state.rows.append(
            InstructionRow(
                instruction=state.instructions,
                attempt=ran.attempt,
                iteration=state.iteration,
                phase=state.phase,
                level=state.level if searching else -1,
                start=ran.start,
                cycles=ran.cycles,
                working=ran.working,
            )
        )
        state.instructions += 1
        state.level += 1

    def take_counts(self, counts: Sequence[InstructionCounts], memory: Sequence[RecordedSums]) -> None:
        """Take what was counted in the last instructions."""
        # Made at once: what an instruction brings is larger than the rows that come of it.
        rows = self._rows.of_instructions(self.state.instructions - len(memory), counts, memory)
        self._add(lambda: rows, sum(each.begun.size for each in counts))

    def take_restart(self, cycle: int, readouts: list[tuple[int, int]]) -> None:
        """Call everything before a cycle restarted, but for readouts."""
        self._write_rows()
        self._flush(wait=True)
        for table in ("instruction_kernels",) if self.state.memory is not None else ("kernels", "instruction_kernels"):
            self._writer.rewrite(table, lambda rows: _given_up(rows, readouts, interval=self._interval))

    def finish(self) -> dict[str, int]:
        """Write everything; return the rows of each table."""
        self._recording.finish(self._machine.cycle)
        self._add_complete()
        return self._writer.finish()

    def close(self) -> None:
        """Wait for what is written."""
        self._writer.close()

    def _write_rows(self) -> None:
        self._complete += self.state.rows
        self.state.rows.clear()
        if len(self._complete) >= _TOGETHER:
            self._add_complete()

    def _add_complete(self) -> None:
        """Add the rows of instructions whose searches are over."""
        rows = [vars(row) for row in self._complete]
        self._complete.clear()
        if rows:
            columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
            self._writer.add(lambda: {"instructions": columns})
            self._gathered += len(rows)

    def _add(self, make: Callable[[], Mapping[str, Columns]], rows: int) -> None:
        """Add about so many rows."""
        self._writer.add(make)
        self._gathered += rows
        if self._gathered > self._most:
            self._flush()

    def _flush(self, *, wait: bool = False) -> None:
        self._add_complete()
        self._writer.flush(wait=wait)
        self._gathered = 0
        self.state.parts = self._writer.parts


def _given_up(rows: "pa.Table", readouts: list[tuple[int, int]], *, interval: int) -> "pa.Table":
    """Return rows with causes whose cycles are all ``restarted``, but for those in which event counters were read.

    Parameters
    ----------
    rows : pyarrow.Table
        Rows of the tables ``kernels`` or ``instruction_kernels``.
    readouts : list of tuple of int
        First cycle, and the cycle after the last, of each readout: in them the host was at work.
    interval : int
        Cycles of an interval.
    """
    names = [cause.name for cause in CAUSES]
    total = np.sum([rows[name].to_numpy() for name in names], axis=0, dtype=np.int64)
    host = np.zeros_like(total)
    if "cycle" in rows.column_names:
        cycle = rows["cycle"].to_numpy()
        for begin, end in readouts:
            host += np.maximum(np.minimum(cycle + interval, end) - np.maximum(cycle, begin), 0)
    for name in names:
        counts = {"restarted": total - host, "host": host}.get(name, np.zeros_like(total))
        index = rows.column_names.index(name)
        rows = rows.set_column(index, rows.schema.field(index), array_of(counts, rows.schema.field(index).type))
    return rows
