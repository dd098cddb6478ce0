"""The model of a record, common to all analyses and charts: its document, its tables and their joins."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cyscc.host.answer.answer import Answer, Displayed
from cyscc.host.output.errors import InputError, refusing
from cyscc.host.record.arrow import numbers
from cyscc.host.record.checking import TableChecks
from cyscc.host.record.document import DOCUMENT, RECORD, Document, read_checked, read_failure
from cyscc.host.record.parts import PARTS_FOLDER, PartTable
from cyscc.host.record.stored import PartTables, StoredTables
from cyscc.host.record.tables import CATEGORIES, table_of
from cyscc.host.specification.place import Place
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

GROWING, SATURATED, ENDING = "growing", "saturated", "ending"
"""Parts of a search: levels before, with and after enough work to hide a level's fixed cost."""
PARTS = (GROWING, SATURATED, ENDING, "")
"""All parts in their order; the part of an intersection is empty."""

DEPENDENT_WAITS = 4
"""Memory latencies that the smallest level needs: entry, neighbour's id, neighbour's word, flush. A level is dominated
by this fixed cost if its kernels issue, on average, fewer requests than these latencies have cycles."""


class MemoryPart(NamedTuple):
    """A kind of parts of the memory that accesses wait for.

    Parameters
    ----------
    table : str
        Table with its accesses in intervals.
    noun : str
        Column with their number.
    keys : tuple of str
        Columns that name a part.
    busy : float
        Cycles that a part is busy with an access, on average.
    """

    table: str
    noun: str
    keys: tuple[str, ...]
    busy: float


def memory_parts(record: "Record") -> dict[str, MemoryPart]:
    """Return the kinds of parts of a memory that has banks and links, by name."""
    memory = record.machine["memory"]
    busy = float(memory["bank_busy"])
    return {
        "bank": MemoryPart("banks", "accesses", ("controller", "bank"), busy),
        "controller": MemoryPart("banks", "accesses", ("controller",), busy / memory["banks"]),
        "link": MemoryPart("links", "requests", ("engine", "link"), 1.0),
    }


class Record(Displayed):
    """A record: a run's activity over time.

    Tables are read once. Joins, such as the instructions with their kernels' causes, are computed here.

    The record of a run that was killed, or has failed, is readable up to its last complete part: see `interrupted`.

    Parameters
    ----------
    folder : Path or str
        The folder that ``--record`` wrote, or that of a result of a sweep, which has it in ``record``.

    Attributes
    ----------
    folder : Path
        The folder.
    document : dict
        ``record.json``: the run, its result, and the meaning of the tables' numbers; see
        ``host/record/record.schema.json``. Without the result if the run was interrupted or has failed.
    interrupted : int or None
        The cycle at which the record of an interrupted or failed run, or of a part of a run, ends; None if the record
        is complete.
    failed : str or None
        The message of a failed run.

    Raises
    ------
    InputError
        The folder holds no record, or a damaged one.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        if os.path.exists(self.folder / RECORD / DOCUMENT):
            self.folder /= RECORD
        self.interrupted: int | None = None
        self.failed: str | None = None
        self._frames: dict[str, pd.DataFrame] = {}
        if self.folder.is_file():
            raise InputError(
                "is a file, and no folder of a record, as --record of scc and bfs writes", path=self.folder
            )
        read = read_checked(self.folder / DOCUMENT, Document)
        if read is None:
            self._open_parts()
            return
        self.document = read
        tables = {name: PartTable(rows=rows, sha256=read["digests"][name]) for name, rows in read["tables"].items()}
        self._stored = StoredTables(self.folder, [tables])
        self._checks = self._checks_of(tables["instructions"].rows)
        if self.part is not None:
            self.interrupted = self.cycles

    def _open_parts(self) -> None:
        """Open the record of an interrupted or failed run.

        Raises
        ------
        InputError
            There are no parts, or they are damaged.
        """
        failure = read_failure(self.folder)
        try:
            stored = PartTables(self.folder / PARTS_FOLDER)
        except FileNotFoundError:
            message = None if failure is None else failure["failure"]["message"]
            why = f"there is no {DOCUMENT}" if message is None else f"the run failed: {message}"
            raise InputError(f"holds no complete record: {why}", path=self.folder) from None
        self._stored = stored
        self.interrupted = total = stored.reached.cycle
        # The failed run may have been resumed, and then interrupted behind the cycle of its failure.
        if failure is not None and failure["failure"]["cycle"] >= total:
            self.failed = failure["failure"]["message"]
        self.document = {**stored.setting, "cycles": {"total": total}, "tables": stored.rows}
        self._checks = self._checks_of(stored.instructions)
        rows = self.frame("instructions")
        counted = int(rows["cycles"][rows["attempt"] == stored.reached.attempt].sum())
        # Every kernel has the same cycles outside of instructions; the first one is of each interval's first row.
        kernels = self.frame("kernels")
        first = kernels[~kernels["cycle"].duplicated()]
        host, restarted = (int(first[name].sum()) for name in ("host", "restarted"))
        self.document["cycles"] = {
            "instructions": counted,
            "host": host,
            "restarted": restarted,
            "readout": 0,
            "unfinished": total - counted - host - restarted,
            "total": total,
        }

    def _checks_of(self, instructions: int) -> TableChecks:
        """Return the checks of the tables of a record with so many instructions."""
        return TableChecks(self.machine, interval=self.interval, cycles=self.cycles, instructions=instructions)

    @property
    def part(self) -> tuple[int, int] | None:
        """First cycle of the run that is in the record of a part, and the cycle after the last; None of a whole run.

        In the tables of a part, cycles and instructions count from 0 at its begin.
        """
        part = self.document.get("part")
        return None if part is None else (part["begin"], part["end"])

    @cached_property
    def interval(self) -> int:
        """Cycles of an interval."""
        return int(self.document["interval"])

    @cached_property
    def cycles(self) -> int:
        """Simulated cycles, including those of the host."""
        return int(self.document["cycles"]["total"])

    def table(
        self, name: str, columns: Sequence[str] | None = None, *, instructions: tuple[int, int] | None = None
    ) -> "pa.Table":
        """Return a table of `cyscc.host.record.tables.TABLES` as an Arrow table.

        Parameters
        ----------
        name : str
            Name of the table.
        columns : sequence of str, optional
            The columns to read; all by default.
        instructions : (int, int), optional
            Half-open range of instructions whose rows are read.

        Raises
        ------
        InputError
            The table's file cannot be read.
        KeyError
            There is no table of this name.
        """
        every = [column.name for column in table_of(name).columns]
        rows = self._stored.read(name, every if columns is None else columns, instructions)
        with self._naming(name):
            self._checks.columns(name, rows)
        return rows

    def _naming(self, table: str) -> AbstractContextManager[None]:
        """Name a table in the errors of its checks."""
        return refusing(ValueError, before=f"{table} is not of this run: ", path=self._stored.place(table))

    def frame(self, name: str) -> "pd.DataFrame":
        """Return a table as a data frame; its file is read only once.

        Raises
        ------
        InputError, KeyError
            See `table`.
        """
        if name not in self._frames:
            frame = self.table(name).to_pandas()
            for column, values in CATEGORIES.items():
                if column in frame:
                    frame[column] = frame[column].astype("category").cat.set_categories(values)
            instructions = frame if name == "instructions" else self.frame("instructions")
            with self._naming(name):
                self._checks.rows(name, frame, instructions)
            self._frames[name] = frame
        # Callers may change their frame without an effect on others.
        return self._frames[name].copy(deep=False)

    def of_instructions(self, name: str, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return the rows of a table for the given instructions, which are rows of `instructions`."""
        frame = self.frame(name)
        return frame[frame["instruction"].isin(rows.index)]

    @property
    def result(self) -> dict[str, Any]:
        """The result of the run.

        Raises
        ------
        InputError
            The run was interrupted, or has failed.
        """
        if self.interrupted is not None:
            raise InputError(f"has no result: {self.ending}", path=self.folder)
        return dict(self.document["result"])

    @property
    def ending(self) -> str:
        """How the record of an interrupted or failed run ends; empty for a complete one."""
        if self.interrupted is None:
            return ""
        if self.part is not None:
            begin, end = self.part
            return f"the record is of cycles {begin:,} to {end - 1:,} of the run, and counts them from 0"
        how = "was interrupted, and its" if self.failed is None else f"failed: {self.failed}; its"
        return f"the run {how} record ends at cycle {self.interrupted:,}"

    @property
    def attempt(self) -> int:
        """The last attempt: those before were abandoned."""
        if isinstance(self._stored, PartTables):
            return self._stored.reached.attempt
        return int(numbers(self.attempts["attempt"]).max(initial=0))

    @cached_property
    def machine(self) -> dict[str, Any]:
        """Sizes of the machine, from the record's document."""
        return dict(self.document["machine"])

    @cached_property
    def memory(self) -> dict[str, Any] | None:
        """Banks and links of the memory; None if it has none."""
        return self.machine["memory"]

    def bank_peak(self, controller: int, bank: int) -> tuple[int, int] | None:
        """Return the first cycle of the interval in which a bank had most accesses, and these; None if it had none."""
        frame = self.frame("banks")
        rows = frame[(frame["controller"] == controller) & (frame["bank"] == bank)]
        if rows.empty:
            return None
        peak = rows.loc[rows["accesses"].idxmax()]
        return int(peak["cycle"]), int(peak["accesses"])

    def kernels(self, module: str) -> int:
        """Return the number of a module's kernels in the whole machine."""
        return int(self.machine["kernels"][module]) * int(self.machine["engines"])

    @cached_property
    def attempts(self) -> "pd.DataFrame":
        """Instructions of all attempts by number: the table's columns, `module`, and `end`, the cycle after them."""
        frame = self.frame("instructions").set_index("instruction")
        frame["phase"] = frame["phase"].astype(str)
        frame["module"] = np.where(frame["phase"] == "intersection", "intersection", "bfs")
        frame["end"] = frame["start"] + frame["cycles"]
        return frame

    def instructions_at(self, cycles: "npt.ArrayLike") -> "pd.DataFrame":
        """Return the row of `attempts` of the instruction that was dispatched last in or before each of some cycles.

        The rows are numbered from 0, and column ``instruction`` has the number of the instruction. No cycle may lie
        before the first dispatch.
        """
        every = self.attempts.reset_index()
        places = np.searchsorted(every["start"].to_numpy(), cycles, side="right") - 1
        return every.iloc[places].reset_index(drop=True)

    @cached_property
    def overlaps(self) -> "pd.DataFrame":
        """The instructions of all attempts that ran in each interval, a row for each: by `instruction`, then `cycle`.

        `cycle` is the first one of the interval, `instruction` the number, `both` the cycles that they have in common.
        """
        import pandas as pd

        every, width = self.attempts, self.interval
        starts, ends = numbers(every["start"]), numbers(every["end"]).clip(max=self.cycles)
        first = starts // width
        counts = np.maximum(-(-ends // width) - first, 0)
        row = np.repeat(np.arange(len(every)), counts)
        before = np.repeat(np.cumsum(counts) - counts, counts)
        cycles = (first[row] + np.arange(row.size) - before) * width
        both = np.minimum(ends[row], cycles + width) - np.maximum(starts[row], cycles)
        return pd.DataFrame({"cycle": cycles, "instruction": every.index.to_numpy()[row], "both": both})

    def ran_in(self, rows: "pd.DataFrame") -> "pd.Series[int]":
        """Return the cycles of each interval, by its first cycle, in which some of the instructions ran."""
        pairs = self.overlaps
        return pairs[pairs["instruction"].isin(rows.index)].groupby("cycle")["both"].sum()

    @cached_property
    def instructions(self) -> "pd.DataFrame":
        """Instructions by number: the table's columns, `module`, `part`, and `requests`, those issued by their kernels.

        Abandoned attempts are left out: their cycles count as `restarted`.
        """
        every = self.attempts
        frame = every[every["attempt"] == self.attempt].drop(columns="end")
        issued = self.stacks[list(WORK)].sum(axis=1)
        frame["requests"] = issued.reindex(frame.index).fillna(0).astype("int64")
        frame["part"] = self._parts(frame)
        return frame

    @cached_property
    def stacks(self) -> "pd.DataFrame":
        """Kernel-cycles of each instruction by cause, over all kernels of its module."""
        return self.frame("instruction_kernels").groupby("instruction")[CAUSE_NAMES].sum()

    @cached_property
    def least_latency(self) -> int:
        """Minimum latency of a read in the run, in cycles: an estimate of the memory's latency without contention."""
        latencies = self.frame("instruction_latencies")
        return int(latencies["latency"].min()) if len(latencies) else 0

    def _parts(self, frame: "pd.DataFrame") -> "pd.Series[str]":
        """Return the part of a search to which each instruction belongs."""
        import pandas as pd

        rows = frame[frame["module"] == "bfs"]
        full = rows["requests"] >= DEPENDENT_WAITS * max(self.least_latency, 1) * self.kernels("bfs")
        # The levels of a search are consecutive and start from level 0.
        search = (frame["level"] <= 0).cumsum()[rows.index]
        requests = rows["requests"].groupby(search)
        level = requests.cumcount()
        last = level.where(full, -1).groupby(search).transform("max")
        # Without a full level, the level with most requests is the last growing one.
        begins = full | ((last < 0) & (rows["requests"] == requests.transform("max")))
        first = level.where(begins, len(rows)).groupby(search).transform("min")
        growing = level < first.where(last >= 0, first + 1)
        parts = pd.Series(ENDING, rows.index, dtype="str").mask(level <= last, SATURATED).mask(growing, GROWING)
        return parts.reindex(frame.index, fill_value="")

    def select(
        self,
        at: "Place | str | int | None" = None,
        *,
        phase: str | None = None,
        level: "int | str | None" = None,
        iteration: "int | str | None" = None,
    ) -> "pd.DataFrame":
        """Return the instructions of a place: those of its phase, levels and iterations that overlap its cycles.

        Parameters
        ----------
        at : Place, str or int, optional
            The place, such as ``"level=3-5,phase=backward"`` or ``"1000:2000"``; by default the whole run.
        phase, level, iteration : optional
            Further parts of it.

        Raises
        ------
        ValueError
            No run has such a place.
        InputError
            No instruction matches.
        """
        place = Place.of(at, phase=phase, level=level, iteration=iteration)
        frame = place.instructions_of(self.instructions)
        if frame.empty:
            missing = f"has no {place}" if place.given else "ran no instruction: there is nothing to explain"
            missing = missing if place.cycles is None else f"no instruction ran in {place}"
            if self.interrupted is not None:
                missing = f"{missing} ({self.ending})"
            raise InputError(missing, path=self.folder)
        return frame

    def check_names(self, place: Place) -> None:
        """Refuse kernels, FIFOs and banks of a place that the machine lacks.

        Raises
        ------
        InputError
            There is none; says which there are.
        """
        modules = [place.module] if place.module else list(self.machine["kernels"])
        kernels = max(self.machine["kernels"][module] for module in modules)
        for name, most in (("engine", self.machine["engines"]), ("kernel", kernels)):
            value = getattr(place, name)
            if value is not None and value >= most:
                raise InputError(f"there is no {name} {value}: there are 0 to {most - 1}", path=self.folder)
        names = dict.fromkeys(each["name"] for module in modules for each in self.machine["fifos"][module])
        if place.fifo is not None and place.fifo not in names:
            raise InputError(f"there is no FIFO {place.fifo}: there are {', '.join(names)}", path=self.folder)
        if place.bank is None:
            return
        if self.memory is None:
            raise InputError("its memory has no banks", path=self.folder)
        sizes = self.memory["controllers"], self.memory["banks"]
        if any(value >= count for value, count in zip(place.bank, sizes, strict=True)):
            raise InputError(
                f"there is no bank {place.bank[0]}.{place.bank[1]}: there are {sizes[0]} controllers with {sizes[1]} "
                "banks each",
                path=self.folder,
            )

    def __repr__(self) -> str:
        return f"Record({str(self.folder)!r})"

    def answer(self) -> Answer:
        """Return the record as an answer, which notebooks display: its run, its result, its cycles by cause."""
        from cyscc.host.record.display import record_answer

        return record_answer(self)
