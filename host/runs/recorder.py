"""Recording of a run: writes the machine's events to tables, labelled with the host program's iterations and phases.

A document goes with the tables: the run, its result, and the meaning of the tables' numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.search import LevelAccount, Observer
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import identity
from cyscc.host.record.arrow import numbers_of
from cyscc.host.record.document import RECORD_SCHEMA
from cyscc.host.record.parts import SEARCHING, Reached
from cyscc.host.record.rows import Rows
from cyscc.host.record.tables import ARRAYS, MODULES, PHASES
from cyscc.host.record.writer import Columns, TableWriter
from cyscc.host.runs.sources import sources_digest
from cyscc.sim.errors import HangError, SimulationError
from cyscc.sim.executors.factory import watchdog_cycles
from cyscc.sim.machine import Machine
from cyscc.sim.memory import Contention, RecordedSums
from cyscc.sim.observation.causes import CAUSE_NAMES
from cyscc.sim.recording import InstructionCounts, Intervals, RanInstruction, RecordingState

__all__ = ["RecorderState", "RunRecorder", "failure_document", "kernel_cycles", "setting_document"]


_GATHERED = 3_000_000
"""Rows that are buffered before a part is written: some 60 MB."""
_GATHERED_IN_MEMORY = 500_000
"""The same for a record in memory, whose parts are small once they are compressed."""

_MOST = 1 << 60
"""A number larger than any in a record."""

_TOGETHER = 1024
"""Rows of the table ``instructions`` that are converted to columns in one batch."""


@dataclass(kw_only=True)
class RecorderState:
    """State of a recorder, for checkpoints.

    Parameters
    ----------
    recording : RecordingState
        State of the machine's recording.
    parts : int
        Number of parts of the tables that have been written.
    seal : str
        Seal of the last one; empty for a record in memory.
    abandoned : int
        Number of those that belong to abandoned attempts.
    instructions : int
        Number of completed instructions.
    iteration, phase, level : int
        Iteration, phase and level of the next instruction; the phase as an index into `PHASES`.
    source : int
        Vertex at which the searches of its iteration begin.
    rows : list of dict
        Rows of the table ``instructions`` for the current search.
    memory : list of dict, or None
        For a record in memory, its parts: Parquet data by table.
    """

    recording: RecordingState
    parts: int = 0
    seal: str = ""
    abandoned: int = 0
    instructions: int = 0
    iteration: int = 0
    phase: int = 0
    level: int = 0
    source: int = 0
    rows: list[dict[str, int]] = field(default_factory=list)
    memory: list[dict[str, npt.NDArray[np.uint8]]] | None = None

    def check(self) -> None:
        """Refuse a state that no recorder has.

        Raises
        ------
        ValueError
            Something is out of range.
        """
        numbers = [self.parts, self.abandoned, self.instructions, self.iteration, self.level, self.source]
        told = [value for row in self.rows for name, value in row.items() if name != "level"]
        columns = {
            "instruction",
            "iteration",
            "source",
            "phase",
            "level",
            *(each.name for each in fields(RanInstruction)),
        }
        columns |= {"frontier", "edges", "pushed", "duplicates"}
        if (
            min(numbers + told) < 0
            or max(numbers + told) > _MOST
            or self.phase not in range(len(PHASES))
            or self.level != len(self.rows)
            or any(row.keys() != columns or row["phase"] not in range(len(PHASES)) for row in self.rows)
        ):
            raise ValueError("the state of its record is impossible")


class RunRecorder(Observer):
    """Records a machine's run in a folder, or its instructions in memory.

    Parameters
    ----------
    machine : Machine
        The machine, before its first instruction.
    folder : Path or None
        An existing folder; None for a record in memory, which has `LEVEL_TABLES` only.
    interval : int
        Cycles of an interval.
    about : mapping
        Description of the run, see `setting_document`; only for a folder.
    state : RecorderState, optional
        State to resume from; the machine's own state must not be loaded yet.

    Attributes
    ----------
    state : RecorderState
        The current state; up to date after `catch_up`.

    Raises
    ------
    ValueError
        The interval is too short for this memory.
    InputError
        The parts of a resumed run's record are damaged, or others.
    """

    def __init__(
        self,
        machine: Machine,
        folder: Path | None,
        *,
        interval: int,
        about: Mapping[str, Any] | None = None,
        state: RecorderState | None = None,
    ) -> None:
        self._machine = machine
        self._folder = folder
        self._interval = interval
        self._tables: dict[str, int] = {}
        self._digests: dict[str, str] = {}
        self._recording = machine.record(interval, self, None if state is None else state.recording)
        memory: list[dict[str, npt.NDArray[np.uint8]]] | None = None if folder is not None else []
        self.state = state or RecorderState(recording=self._recording.state, memory=memory)
        self._rows = Rows(machine, interval)
        self._writer = TableWriter(
            folder,
            categories={"module": MODULES, "phase": PHASES, "array": ARRAYS, "fifo": self._rows.fifos},
            about=about or {},
            parts=self.state.parts,
            seal=self.state.seal,
            memory=self.state.memory,
        )
        # All counts have been delivered before a checkpoint, and all rows but the last of the search are in its parts.
        self._counted = self.state.instructions
        self._told = self._next_told()
        self._gathered = 0
        self._most = _GATHERED if folder is not None else _GATHERED_IN_MEMORY
        self._complete: list[dict[str, int]] = []

    def catch_up(self) -> None:
        """Update the state, and the parts that it refers to, to the machine's current cycle."""
        self._recording.catch_up(self._machine.cycle)
        self._flush(wait=True)
        self.state.seal = self._writer.seal

    def begin(self, iteration: int, phase: str, source: int) -> None:
        """Set iteration, phase and source of the next instructions."""
        self.state.iteration, self.state.phase, self.state.level = iteration, PHASES.index(phase), 0
        self.state.source = source

    def on_instruction(self, entries: int, pushed: int) -> None:
        """Add the numbers of entries read and pushed to the completed instruction."""
        self.state.rows[-1] |= {"frontier": entries, "pushed": pushed}

    def end(self, account: Callable[[], LevelAccount] | None = None) -> None:
        """Complete the instructions of a search, or an intersection."""
        if account is not None:
            found = account()
            rows = self.state.rows
            # The first rows of a resumed run are from its checkpoint.
            if len(rows) != found.pushed.size or any([row["pushed"] for row in rows] < found.pushed):
                raise InputError("the checkpoint has the record of another search")
            for row, once, edges in zip(rows, found.pushed.tolist(), found.edges.tolist(), strict=True):
                row |= {"duplicates": row["pushed"] - once, "edges": edges}
        self._write_rows()

    def take_intervals(self, make: Callable[[], Intervals], count: int) -> None:
        """Add intervals to the tables."""
        if self.state.memory is not None:
            return
        self._add(lambda: self._rows.of_intervals(make()), count * self._rows.of_interval)

    def take_instruction(self, ran: RanInstruction) -> None:
        """Add a completed instruction."""
        state = self.state
        searching = PHASES[state.phase] != "intersection"
        row = {"instruction": state.instructions, "iteration": state.iteration, "phase": state.phase}
        row |= {"source": state.source, "level": state.level if searching else -1, **vars(ran)}
        state.rows.append(row | dict.fromkeys(("frontier", "edges", "pushed", "duplicates"), 0))
        state.instructions += 1
        state.level += 1

    def take_counts(self, counts: Sequence[InstructionCounts], memory: Sequence[RecordedSums]) -> None:
        """Add the counts of the latest instructions to the tables."""
        self._counted = self.state.instructions
        # Convert at once: the counts of an instruction are larger than its rows.
        rows = self._rows.of_instructions(self.state.instructions - len(memory), counts, memory)
        self._add(lambda: rows, sum(each.begun.size for each in counts))

    def take_restart(self, cycle: int, readouts: list[tuple[int, int]]) -> None:
        """Begin a new part: those so far belong to an abandoned attempt."""
        self._write_rows()
        self.state.abandoned = self.state.parts + 1
        self._flush(wait=True)

    def finish(self) -> None:
        """Write all rows that are left."""
        self._recording.finish(self._machine.cycle)
        self._add_complete()
        self._tables, self._digests = self._writer.finish(self._reached(), interval=self._interval)

    def document(self, run: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document of a record in a folder, after `finish`.

        Parameters
        ----------
        run : mapping
            ``command``, the algorithm; ``run``, the data that a replay needs: graph file and digest, working folder,
            options; ``interval``, cycles of an interval; ``environment``, where and when it ran.
        result : mapping
            The result, as in ``--json``.
        """
        assert self._folder is not None, "the record is in memory"
        return {
            **setting_document(self._machine, run),
            "cycles": result["statistics"]["cycles"],
            "causes": kernel_cycles(self._folder),
            "tables": self._tables,
            "digests": self._digests,
            "result": dict(result),
        }

    def close(self) -> None:
        """Wait until all parts are written."""
        self._writer.close()

    def _write_rows(self) -> None:
        self._complete += self.state.rows
        self.state.rows.clear()
        if len(self._complete) >= _TOGETHER:
            self._add_complete()

    def _add_complete(self) -> None:
        """Add the rows of completed searches to the table ``instructions``."""
        if self._complete:
            columns = {name: np.array([row[name] for row in self._complete]) for name in self._complete[0]}
            self._writer.add(lambda: {"instructions": columns})
            self._gathered += len(self._complete)
            self._complete.clear()

    def _add(self, make: Callable[[], Mapping[str, Columns]], rows: int) -> None:
        """Add rows, about the given number, and flush if the buffer is full."""
        self._writer.add(make)
        self._gathered += rows
        if self._gathered > self._most:
            self._flush()

    def _next_told(self) -> int:
        """Return the first instruction that has no row in a part: the last one of a search may not be complete."""
        return self.state.rows[-1]["instruction"] if self.state.rows else self.state.instructions

    def _tell_rows(self) -> None:
        """Add the rows of the search so far: its edges and duplicates are known at its end."""
        rows = [row for row in self.state.rows[:-1] if row["instruction"] >= self._told]
        self._told = self._next_told()
        if rows and self._folder is not None:
            columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
            self._writer.add(lambda: {SEARCHING: columns})

    def _reached(self) -> Reached:
        recording = self._recording.state
        return Reached(
            cycle=recording.position * self._interval,
            instructions=self._counted,
            attempt=recording.attempt,
            abandoned=self.state.abandoned,
            readouts=list(recording.readouts),
        )

    def _flush(self, *, wait: bool = False) -> None:
        self._tell_rows()
        self._add_complete()
        self._writer.flush(self._reached(), wait=wait)
        self._gathered = 0
        self.state.parts = self._writer.parts


def _machine_document(machine: Machine) -> dict[str, Any]:
    """Return the machine's sizes that the tables refer to, as JSON values."""
    config, memory = machine.config, machine.memory
    contention = memory.profile.contention
    return {
        "engines": config.engines,
        "kernels": dict(zip(MODULES, (config.bfs_kernels, config.intersection_kernels), strict=True)),
        "fifos": {
            module: [
                {
                    "name": fifo.name,
                    "depth": getattr(config, fifo.parameter),
                    "parameter": fifo.parameter,
                    "answers": fifo.answers and fifo.answers.row.name,
                }
                for fifo in its
            ]
            for module, its in machine.fifos.items()
        },
        "memory": None
        if contention is None
        else {
            "controllers": contention.controllers,
            "banks": contention.banks // contention.controllers,
            "links": contention.links,
            "bank_busy": _bank_busy(machine.memory.statistics(), contention),
        },
    }


def _bank_busy(statistics: Mapping[str, Any], contention: Contention) -> float:
    """Return the cycles that an access occupies a bank; for banks with rows, the mean over the accesses made."""
    accesses = sum(statistics["banks"]) if contention.rows is not None else 0
    return statistics["bank_busy_cycles"] / accesses if accesses else contention.bank_busy


def kernel_cycles(folder: Path) -> dict[str, dict[str, int]]:
    """Return the cycles of all kernels by module and cause, summed over the table ``kernels`` in a folder."""
    import pyarrow.parquet as pq

    sums = np.zeros((len(MODULES), len(CAUSE_NAMES)), np.int64)
    with (folder / "kernels.parquet").open("rb") as stored, pq.ParquetFile(stored) as file:
        # Read in batches: the rows of a long run do not fit into memory.
        for rows in file.iter_batches(columns=["module", *CAUSE_NAMES]):
            module = rows.column("module")
            own = np.array([MODULES.index(str(name)) for name in module.dictionary])[numbers_of(module.indices)]
            for place, name in enumerate(CAUSE_NAMES):
                cycles = numbers_of(rows.column(name))
                sums[:, place] += np.bincount(own, weights=cycles, minlength=len(MODULES)).astype(np.int64)
    return {
        module: dict(zip(CAUSE_NAMES, row, strict=True)) for module, row in zip(MODULES, sums.tolist(), strict=True)
    }


def setting_document(machine: Machine, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a run: its options, configuration and memory."""
    return {
        "record": RECORD_SCHEMA,
        **identity(),
        "program": sources_digest(),
        **run,
        "clock_hz": machine.clock,
        "configuration": asdict(machine.config),
        "memory_profile": machine.memory.profile.describe(),
        "machine": _machine_document(machine),
    }


def failure_document(
    machine: Machine, error: SimulationError, *, run: Mapping[str, Any], checkpoint: str | None
) -> dict[str, Any]:
    """Return the document of a failed run, which has no tables.

    Parameters
    ----------
    machine : Machine
        The machine.
    error : SimulationError
        The failure.
    run : mapping
        See `RunRecorder.document`.
    checkpoint : str or None
        The folder of the run's checkpoint, if any.
    """
    silent = watchdog_cycles(machine.memory.profile) if isinstance(error, HangError) else 0
    return {
        **setting_document(machine, run),
        "failure": {
            "message": str(error),
            "diagnosis": error.diagnosis,
            "cycle": machine.reached,
            "moved": max(machine.reached - silent - 1, 0) if silent else None,
        },
        "checkpoint": checkpoint,
    }
