"""Recording of a run: writes the machine's events to tables, labelled with the host program's iterations and phases.

A document goes with the tables: the run, its result, and the meaning of the tables' numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.search import Checkpointer, LevelAccount, Observer
from cyscc.host.graph.csr import Graph, graph_digest
from cyscc.host.output.documents import write_sealed
from cyscc.host.output.errors import InputError, refusing
from cyscc.host.output.files import identity
from cyscc.host.record.arrow import numbers_of
from cyscc.host.record.document import DOCUMENT, FAILURE, RECORD_SCHEMA, SettingDocument, check_setting
from cyscc.host.record.parts import PART_FILES, SEARCHING, Reached, file_of, read_files, write_files
from cyscc.host.record.reader import Record
from cyscc.host.record.rows import Rows
from cyscc.host.record.tables import MODULES, PHASES, table_of
from cyscc.host.record.writer import Columns, RecordFolder, TableWriter
from cyscc.host.runs.environment import run_environment
from cyscc.host.runs.results import Result, input_name
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.run import RunSpec
from cyscc.sim.errors import HangError, SimulationError
from cyscc.sim.executors.factory import watchdog_cycles
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.machine import Machine
from cyscc.sim.memory import Contention, RecordedSums
from cyscc.sim.observation.causes import CAUSE_NAMES
from cyscc.sim.recording import InstructionCounts, Intervals, RanInstruction, RecordingState

_GATHERED = 3_000_000
"""Rows that are buffered before a part is written: some 60 MB."""
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
        Seal of the last one.
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
    files : dict of str to ndarray, or None
        Of a record in a temporary folder, the files of its parts by name.
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
    files: dict[str, npt.NDArray[np.uint8]] | None = None

    def check(self) -> None:
        """Refuse a state that no recorder has.

        Raises
        ------
        ValueError
            Something is out of range.
        """
        numbers = [self.parts, self.abandoned, self.instructions, self.iteration, self.level, self.source]
        told = [value for row in self.rows for name, value in row.items() if name != "level"]
        columns = {column.name for column in table_of("instructions").columns}
        if (
            min(numbers + told) < 0
            or max(numbers + told) > _MOST
            or self.phase not in range(len(PHASES))
            or self.level != len(self.rows)
            or any(row.keys() != columns or row["phase"] not in range(len(PHASES)) for row in self.rows)
            or not all(map(PART_FILES.fullmatch, self.files or ()))
        ):
            raise ValueError("the state of its record is impossible")


class RunRecorder(Observer):
    """Records a run in a folder, which is locked meanwhile.

    Parameters
    ----------
    spec : RunSpec
        The run.
    folder : Path
        The folder of the record: that of the specification, or a temporary one, of which checkpoints keep the parts.

    Attributes
    ----------
    spec, folder
        The parameters.
    state : RecorderState
        The current state, once recording has started; up to date after `catch_up`.

    Raises
    ------
    InputError
        The folder cannot be used.
    """

    def __init__(self, spec: RunSpec, folder: Path) -> None:
        self.spec, self.folder = spec, folder
        self._lock = RecordFolder(folder, resumed=spec.resume is not None)
        self._interval = spec.record_interval or LONGEST_INTERVAL
        self._begun = self._complete = False
        self._gathered = 0
        self._ended: list[dict[str, int]] = []

    def start(self, machine: Machine, graph: Graph, source: int, checkpointer: Checkpointer) -> None:
        """Start recording a machine on which nothing has run yet.

        Raises
        ------
        InputError
            The machine is too large, or the length of the intervals is not supported; the parts of a resumed run's
            record are damaged, or others.
        """
        spec, self._machine = self.spec, machine
        named = input_name(graph, source) if spec.algorithm == "bfs" else None
        self._run = {
            "command": spec.algorithm,
            "run": {
                "graph": spec.graph,
                "folder": str(Path.cwd()),
                "digest": graph_digest(graph),
                "vertices": graph.vertices,
                "edges": graph.edges,
                "options": {**spec.document(), "threads": spec.threads, "source": named},
            },
            "interval": self._interval,
            "environment": run_environment(),
        }
        state = checkpointer.restored("record", RecorderState, RecorderState.check)
        about = self._setting()
        with refusing(ValueError, before="cannot be recorded: ", after=" (--record)", path=self.folder):
            check_setting(about, SettingDocument)
        with refusing(ValueError, before="--record-interval: "):
            self._recording = machine.record(self._interval, self, None if state is None else state.recording)
        self.state = state or RecorderState(recording=self._recording.state, files={} if spec.record is None else None)
        if spec.record is None and self.state.files:
            write_files(self.folder, self.state.files)
        self._rows = Rows(machine, self._interval)
        fifos, parts = self._rows.fifos, self.state.parts
        self._writer = TableWriter(self.folder, fifos=fifos, about=about, parts=parts, seal=self.state.seal)
        self._begun = True
        # All counts have been delivered before a checkpoint, and all rows but the last of the search are in its parts.
        self._counted = self.state.instructions
        self._told = self._next_told()
        checkpointer.register("record", self.state, refresh=self.catch_up)

    def _setting(self) -> dict[str, Any]:
        """Return the description of the run: its options, configuration and memory."""
        machine = self._machine
        return {
            "record": RECORD_SCHEMA,
            **identity(),
            "program": sources_digest(),
            **self._run,
            "clock_hz": machine.clock,
            "configuration": asdict(machine.config),
            "memory_profile": machine.memory.profile.describe(),
            "machine": machine_document(machine),
        }

    def catch_up(self) -> None:
        """Update the state, and the parts that it refers to, to the machine's current cycle."""
        self._recording.catch_up(self._machine.cycle)
        self._flush(wait=True)
        self.state.seal = self._writer.seal
        if self.state.files is not None:
            self.state.files = read_files(self.folder)

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

    def take_intervals(self, intervals: Intervals) -> None:
        """Add intervals to the tables."""
        self._add(self._rows.of_intervals(intervals), len(intervals.turns) * self._rows.of_interval)

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
        self._add(rows, sum(each.begun.size for each in counts))

    def take_restart(self, cycle: int, readouts: list[tuple[int, int]]) -> None:
        """Begin a new part: those so far belong to an abandoned attempt."""
        self._write_rows()
        self.state.abandoned = self.state.parts + 1
        self._flush(wait=True)

    def finish(self) -> None:
        """Write the tables up to the machine's current cycle."""
        self._recording.finish(self._machine.cycle)
        self._add_ended()
        self._stored = self._writer.finish(self._reached())

    def complete(self, result: Result) -> Result:
        """Write the record's document, which includes the result's; return the result with its record attached."""
        tables, digests = self._stored
        document = {
            **self._setting(),
            "cycles": result.statistics["cycles"],
            "causes": kernel_cycles(self.folder),
            "tables": tables,
            "digests": digests,
            "result": result.document(),
        }
        write_sealed(self.folder / DOCUMENT, document)
        self._complete = True
        return replace(result, record=Record(self.folder))

    def failed(self, error: SimulationError) -> bool:
        """Write what a replay of the failed run needs to the folder; return whether recording had started."""
        if not self._begun:
            return False
        machine = self._machine
        silent = watchdog_cycles(machine.memory.profile) if isinstance(error, HangError) else 0
        failure = {
            "message": str(error),
            "diagnosis": error.diagnosis,
            "cycle": machine.reached,
            "moved": max(machine.reached - silent - 1, 0) if silent else None,
        }
        document = {**self._setting(), "failure": failure, "checkpoint": self.spec.checkpoint}
        write_sealed(self.folder / FAILURE, document)
        return True

    def close(self) -> None:
        """Wait until all parts are written, and release the folder.

        An incomplete record is removed, unless a checkpoint refers to it.
        """
        if self._begun:
            self._writer.close()
        resumable = self.spec.checkpoint is not None and (self._begun or self.spec.resume is not None)
        if self._complete or not resumable:
            self._lock.clear(complete=self._complete, resumable=resumable)
        self._lock.close()

    def _write_rows(self) -> None:
        self._ended += self.state.rows
        self.state.rows.clear()
        if len(self._ended) >= _TOGETHER:
            self._add_ended()

    def _add_ended(self) -> None:
        """Add the rows of completed searches to the table ``instructions``."""
        self._add_rows("instructions", self._ended)
        self._gathered += len(self._ended)
        self._ended.clear()

    def _add(self, rows: Mapping[str, Columns], count: int) -> None:
        """Add rows, about the given number, and flush if the buffer is full."""
        self._writer.add(rows)
        self._gathered += count
        if self._gathered > _GATHERED:
            self._flush()

    def _next_told(self) -> int:
        """Return the first instruction that has no row in a part: the last one of a search may not be complete."""
        return self.state.rows[-1]["instruction"] if self.state.rows else self.state.instructions

    def _add_rows(self, table: str, rows: Sequence[Mapping[str, int]]) -> None:
        if rows:
            self._writer.add({table: {name: np.array([row[name] for row in rows]) for name in rows[0]}})

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
        rows = [row for row in self.state.rows[:-1] if row["instruction"] >= self._told]
        self._told = self._next_told()
        self._add_rows(SEARCHING, rows)
        self._add_ended()
        self._writer.flush(self._reached(), wait=wait)
        self._gathered = 0
        self.state.parts = self._writer.parts


def machine_document(machine: Machine) -> dict[str, Any]:
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
    with file_of(folder, "kernels").open("rb") as stored, pq.ParquetFile(stored) as file:
        # Read in batches: the rows of a long run do not fit into memory.
        for rows in file.iter_batches(columns=["module", *CAUSE_NAMES], use_threads=False):
            module = rows.column("module")
            own = np.array([MODULES.index(str(name)) for name in module.dictionary])[numbers_of(module.indices)]
            for place, name in enumerate(CAUSE_NAMES):
                cycles = numbers_of(rows.column(name))
                sums[:, place] += np.bincount(own, weights=cycles, minlength=len(MODULES)).astype(np.int64)
    return {
        module: dict(zip(CAUSE_NAMES, row, strict=True)) for module, row in zip(MODULES, sums.tolist(), strict=True)
    }
