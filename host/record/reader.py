"""The model of a record, on which all stands that is said and drawn of one: document, tables, and their joins."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from host.errors import InputError
from host.output import reason
from host.record.tables import CATEGORIES, TABLES, schema_of
from sim.observation.causes import CAUSES, WORK

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "CAUSE_NAMES",
    "DEPENDENT_WAITS",
    "DOCUMENT",
    "ENDING",
    "FAILURE",
    "GROWING",
    "PARTS",
    "RECORD_SCHEMA",
    "SATURATED",
    "Record",
    "read_failure",
]

DOCUMENT = "record.json"
"""File of a record's document."""
FAILURE = "failed.json"
"""File of what is left of a run that failed."""
RECORD_SCHEMA = 2
"""Version of records; a table, column or field that goes or changes its meaning makes it one more."""

CAUSE_NAMES = [cause.name for cause in CAUSES]
GROWING, SATURATED, ENDING = "growing", "saturated", "ending"
"""Parts of a search: levels before, with and after enough work to hide a level's fixed cost."""
PARTS = (GROWING, SATURATED, ENDING, "")
"""All parts in their order; an intersection has none."""

DEPENDENT_WAITS = 4
"""Memory latencies that the smallest level needs: entry, neighbour's id, neighbour's word, flush. A level whose kernels
issue on average fewer requests than these latencies have cycles is shorter than its own fixed cost."""


def _document(path: Path) -> dict[str, Any] | None:
    """Return a document of the version that this program reads, None where there is none.

    Raises
    ------
    InputError
        It cannot be read.
    """
    try:
        document: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(reason(error), path=path) from None
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", path=path) from None
    found = document.get("record") if isinstance(document, dict) else None
    if found != RECORD_SCHEMA:
        raise InputError(f"is no record of version {RECORD_SCHEMA}, but {found!r}", path=path)
    return dict(document)


def read_failure(folder: Path) -> dict[str, Any] | None:
    """Return what a run that failed has left in its record's folder, None where none has.

    Raises
    ------
    InputError
        It cannot be read.
    """
    return _document(folder / FAILURE)


class Record:
    """What happened in a run over time.

    Tables are read once, and joined here: instructions with their kernels' causes, and what belongs to some of them.

    Parameters
    ----------
    folder : Path or str
        The folder that ``--record`` wrote.

    Attributes
    ----------
    folder : Path
        The folder; of a record in memory a name for messages.
    document : dict
        ``record.json``: what ran, with which result, and what the tables' numbers mean; see
        ``host/record/record.schema.json``.

    Raises
    ------
    InputError
        There is no complete record in it.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        document = _document(self.folder / DOCUMENT)
        if document is None:
            raise InputError(f"holds no complete record: there is no {DOCUMENT}", path=self.folder)
        self.document = document
        self._memory: Sequence[Mapping[str, npt.NDArray[np.uint8]]] | None = None
        self._frames: dict[str, pd.DataFrame] = {}

    @classmethod
    def in_memory(cls, document: dict[str, Any], parts: "Sequence[Mapping[str, npt.NDArray[np.uint8]]]") -> Self:
        """Return a record in memory, which has the tables `host.record.tables.LEVEL_TABLES`.

        Parameters
        ----------
        document : dict
            What ran.
        parts : sequence of mapping
            Parts of the tables in their order, Parquet by table.
        """
        record = cls.__new__(cls)
        record.folder, record.document, record._memory, record._frames = Path("memory"), document, parts, {}
        return record

    @cached_property
    def interval(self) -> int:
        """Cycles of an interval."""
        return int(self.document["interval"])

    @cached_property
    def cycles(self) -> int:
        """Cycles simulated, those of the host included."""
        return int(self.document["cycles"]["total"])

    def table(
        self, name: str, columns: Sequence[str] | None = None, *, instructions: tuple[int, int] | None = None
    ) -> "pa.Table":
        """Return a table of `host.record.tables.TABLES`, as Arrow has it.

        Parameters
        ----------
        name : str
            The table.
        columns : sequence of str, optional
            Only these columns.
        instructions : (int, int), optional
            Only the rows of the instructions from one number on, and before another.

        Raises
        ------
        InputError
            Its file cannot be read.
        KeyError
            There is no table of this name.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = {table.name: [column.name for column in table.columns] for table in TABLES}[name]
        path = self.folder / f"{name}.parquet"
        reading: dict[str, Any] = {"columns": None if columns is None else list(columns)}
        if instructions is not None:
            first, end = instructions
            reading["filters"] = [("instruction", ">=", first), ("instruction", "<", end)]
        try:
            if self._memory is not None:
                found = [pa.BufferReader(pa.py_buffer(part[name])) for part in self._memory if name in part]
                empty = schema_of(name).empty_table().select(list(columns or wanted))
                return pa.concat_tables([empty, *(pq.read_table(each, **reading) for each in found)])
            missing = set(wanted) - set(pq.read_schema(path).names)
            if missing:
                raise InputError(f"has no column {min(missing)}", path=path)
            return pq.read_table(path, **reading)
        except FileNotFoundError:
            raise InputError("is not there: the record is not complete", path=path) from None
        except (OSError, pa.ArrowException) as error:
            raise InputError(reason(error) if isinstance(error, OSError) else str(error), path=path) from None

    def frame(self, name: str) -> "pd.DataFrame":
        """Return a table as a data frame; it is read once.

        Raises
        ------
        InputError, KeyError
            As of `table`.
        """
        if name not in self._frames:
            frame = self.table(name).to_pandas()
            for column, values in CATEGORIES.items():
                if column in frame:
                    frame[column] = frame[column].astype("category").cat.set_categories(values)
            self._frames[name] = frame
        # What is changed in it does not change what others are given.
        return self._frames[name].copy(deep=False)

    def of_instructions(self, name: str, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return the rows of a table that are of some instructions, given as rows of `instructions`."""
        frame = self.frame(name)
        return frame[frame["instruction"].isin(rows.index)]

    @cached_property
    def machine(self) -> dict[str, Any]:
        """The machine, as the record's document has it."""
        return dict(self.document["machine"])

    @cached_property
    def memory(self) -> dict[str, Any] | None:
        """Banks and links of the memory, None where it has none."""
        return self.machine["memory"]

    def kernels(self, module: str) -> int:
        """Return the kernels of a module in the whole machine."""
        return int(self.machine["kernels"][module]) * int(self.machine["engines"])

    @cached_property
    def attempts(self) -> "pd.DataFrame":
        """The instructions of all attempts by number: their columns, `module`, and the cycle that they `end` before."""
        frame = self.frame("instructions").set_index("instruction")
        frame["phase"] = frame["phase"].astype(str)
        frame["module"] = np.where(frame["phase"] == "intersection", "intersection", "bfs")
        frame["end"] = frame["start"] + frame["cycles"]
        return frame

    @cached_property
    def instructions(self) -> "pd.DataFrame":
        """The instructions by number: their columns, `module`, `part`, and the `requests` that their kernels issued.

        Those of attempts that were given up are left out: their cycles are `restarted`.
        """
        every = self.attempts
        frame = every[every["attempt"] == every["attempt"].max()].drop(columns="end")
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
        """The shortest time of a read in cycles: that of the memory without contention, as far as the run shows."""
        latencies = self.frame("instruction_latencies")
        return int(latencies["latency"].min()) if len(latencies) else 0

    def _parts(self, frame: "pd.DataFrame") -> "np.ndarray":
        """Return each instruction's part of its search."""
        enough = DEPENDENT_WAITS * max(self.least_latency, 1) * self.kernels("bfs")
        parts = np.full(len(frame), "", dtype=object)
        searching = (frame["module"] == "bfs").to_numpy()
        requests = frame["requests"].to_numpy()
        # A search's levels follow each other, from level 0 on.
        search = np.cumsum(frame["level"].to_numpy() <= 0)
        for number in np.unique(search[searching]):
            at = np.flatnonzero((search == number) & searching)
            full = np.flatnonzero(requests[at] >= enough)
            peak = int(np.argmax(requests[at]))
            first, last = (int(full[0]), int(full[-1])) if full.size else (peak + 1, peak)
            parts[at[:first]] = GROWING
            parts[at[first : last + 1]] = SATURATED
            parts[at[last + 1 :]] = ENDING
        return parts

    def select(
        self, *, phase: str | None = None, level: int | None = None, iteration: int | None = None
    ) -> "pd.DataFrame":
        """Return the instructions of a phase, a level and an iteration, as far as they are given.

        Raises
        ------
        InputError
            There are none.
        """
        frame = self.instructions
        given = {"phase": phase, "level": level, "iteration": iteration}
        words = []
        for name, value in given.items():
            if value is not None:
                frame = frame[frame[name] == value]
                words.append(f"{name} {value}")
        if frame.empty:
            missing = f"has no {', '.join(words)}" if words else "ran no instruction: there is nothing to explain"
            raise InputError(missing, path=self.folder)
        return frame
