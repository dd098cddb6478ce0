"""A run as it is recorded: what the machine tells goes into tables, under the names that the host's program gives.

Beside them goes the document: what ran, with which result, and what the numbers of the tables mean.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from host.algorithms.driver import LevelAccount, Observer
from host.record.arrow import array_of, numbers_of
from host.record.reader import CAUSE_NAMES, RECORD_SCHEMA
from host.record.rows import Rows
from host.record.tables import ARRAYS, MODULES, PHASES
from host.record.writer import Columns, TableWriter
from host.results.version import identity
from host.sources import sources_digest
from sim.errors import HangError, SimulationError
from sim.executors.making import watchdog_cycles
from sim.machine import Machine
from sim.memory import Contention, RecordedSums
from sim.recording import InstructionCounts, Intervals, RanInstruction, RecordingState

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Recorder", "RecorderState", "failure_document", "setting_document"]


_GATHERED = 3_000_000
"""Rows that are gathered before they are written: some 60 MB."""
_GATHERED_IN_MEMORY = 500_000
"""The same of a record in memory, whose parts take little once they are packed."""

_TOGETHER = 1024
"""Rows of instructions of which columns are made together."""


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
    rows : list of dict
        Rows of the table ``instructions`` of the search that goes on.
    memory : list of dict, or None
        The parts of a record in memory, Parquet by table.
    """

    recording: RecordingState
    parts: int = 0
    instructions: int = 0
    iteration: int = 0
    phase: int = 0
    level: int = 0
    rows: list[dict[str, int]] = field(default_factory=list)
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
        self._folder = folder
        self._interval = interval
        self._tables: dict[str, int] = {}
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
        self._complete: list[dict[str, int]] = []

    def catch_up(self) -> None:
        """Bring the state, and the parts that it counts, up to where the machine is."""
        self._recording.catch_up(self._machine.cycle)
        self._flush(wait=True)

    def begin(self, iteration: int, phase: str) -> None:
        """Take the name of the instructions to come."""
        self.state.iteration, self.state.phase, self.state.level = iteration, PHASES.index(phase), 0

    def on_instruction(self, entries: int, pushed: int) -> None:
        """Take what the instruction that is complete has read and pushed."""
        self.state.rows[-1] |= {"frontier": entries, "pushed": pushed}

    def end(self, account: Callable[[], LevelAccount] | None = None) -> None:
        """Take the instructions of a search, or an intersection, as complete."""
        if account is not None:
            found = account()
            for row, once, edges in zip(self.state.rows, found.pushed.tolist(), found.edges.tolist(), strict=True):
                row |= {"duplicates": row["pushed"] - once, "edges": edges}
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
        row = {"instruction": state.instructions, "iteration": state.iteration, "phase": state.phase}
        row |= {"level": state.level if searching else -1, **vars(ran)}
        state.rows.append(row | dict.fromkeys(("frontier", "edges", "pushed", "duplicates"), 0))
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

    def finish(self) -> None:
        """Write everything."""
        self._recording.finish(self._machine.cycle)
        self._add_complete()
        self._tables = self._writer.finish()

    def document(self, run: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document of a record in a folder, when everything is written.

        Parameters
        ----------
        run : mapping
            ``command``, the algorithm; ``run``, what a replay needs: the graph's file and digest, the folder of the
            run, and its options; ``interval``, cycles of an interval.
        result : mapping
            The result, as ``--json`` has it.
        """
        assert self._folder is not None, "the record is in memory"
        return {
            **setting_document(self._machine, run),
            "cycles": result["statistics"]["cycles"],
            "causes": _kernel_cycles(self._folder),
            "tables": self._tables,
            "result": dict(result),
        }

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
        if self._complete:
            columns = {name: np.array([row[name] for row in self._complete]) for name in self._complete[0]}
            self._writer.add(lambda: {"instructions": columns})
            self._gathered += len(self._complete)
            self._complete.clear()

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
    total = np.sum([rows[name].to_numpy() for name in CAUSE_NAMES], axis=0, dtype=np.int64)
    host = np.zeros_like(total)
    if "cycle" in rows.column_names:
        cycle = rows["cycle"].to_numpy()
        for begin, end in readouts:
            host += np.maximum(np.minimum(cycle + interval, end) - np.maximum(cycle, begin), 0)
    for name in CAUSE_NAMES:
        counts = {"restarted": total - host, "host": host}.get(name, np.zeros_like(total))
        index = rows.column_names.index(name)
        rows = rows.set_column(index, rows.schema.field(index), array_of(counts, rows.schema.field(index).type))
    return rows


def _machine_document(machine: Machine) -> dict[str, Any]:
    """Return the sizes of a machine that the tables speak of, JSON-able."""
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
    """Return the cycles of a bank for an access: where banks have rows, on average of those that were made."""
    accesses = sum(statistics["banks"]) if contention.rows is not None else 0
    return statistics["bank_busy_cycles"] / accesses if accesses else contention.bank_busy


def _kernel_cycles(folder: Path) -> dict[str, dict[str, int]]:
    """Return the cycles of all kernels by module and cause, from the table ``kernels`` in a folder."""
    import pyarrow.parquet as pq

    sums = np.zeros((len(MODULES), len(CAUSE_NAMES)), np.int64)
    with pq.ParquetFile(folder / "kernels.parquet") as file:
        # Piece by piece: a long run has more rows than fit into memory.
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
    """Return what ran."""
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
    machine: Machine,
    error: SimulationError,
    *,
    run: Mapping[str, Any],
    checkpoint: str | None,
) -> dict[str, Any]:
    """Return the document of a run that failed, of which there are no tables.

    Parameters
    ----------
    machine : Machine
        The machine.
    error : SimulationError
        How it failed.
    run : mapping
        As of `Recorder.document`.
    checkpoint : str or None
        The folder that the run is kept in.
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
