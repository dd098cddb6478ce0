"""The model of a record, common to all analyses and charts: its document, its tables and their joins."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cyscc.host.output.errors import InputError
from cyscc.host.output.files import reason
from cyscc.host.record.tables import CATEGORIES, TABLES, schema_of
from cyscc.sim.observation.causes import CAUSES, WORK

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
"""File name of a record's document."""
FAILURE = "failed.json"
"""File name of the document that a failed run leaves."""
RECORD_SCHEMA = 2
"""Schema version of records; increased when a table, column or field is removed or changes its meaning."""

CAUSE_NAMES = [cause.name for cause in CAUSES]
GROWING, SATURATED, ENDING = "growing", "saturated", "ending"
"""Parts of a search: levels before, with and after enough work to hide a level's fixed cost."""
PARTS = (GROWING, SATURATED, ENDING, "")
"""All parts in their order; the part of an intersection is empty."""

DEPENDENT_WAITS = 4
"""Memory latencies that the smallest level needs: entry, neighbour's id, neighbour's word, flush. A level is dominated
by this fixed cost if its kernels issue, on average, fewer requests than these latencies have cycles."""


def _document(path: Path) -> dict[str, Any] | None:
    """Return a document of the current schema version; None if there is no file.

    Raises
    ------
    InputError
        The document cannot be read.
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
    """Return the document that a failed run has left in a folder; None if there is none.

    Raises
    ------
    InputError
        The document cannot be read.
    """
    return _document(folder / FAILURE)


class Record:
    """A record: a run's activity over time.

    Tables are read once. Joins, such as the instructions with their kernels' causes, are computed here.

    Parameters
    ----------
    folder : Path or str
        The folder that ``--record`` wrote.

    Attributes
    ----------
    folder : Path
        The folder; of a record in memory, a name for messages.
    document : dict
        ``record.json``: the run, its result, and the meaning of the tables' numbers; see
        ``host/record/record.schema.json``.

    Raises
    ------
    InputError
        The folder holds no complete record.
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
        """Return a record in memory, which has only the tables `cyscc.host.record.tables.LEVEL_TABLES`.

        Parameters
        ----------
        document : dict
            The record's document.
        parts : sequence of mapping
            The parts of the tables in order, each with Parquet data by table.
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
            self._frames[name] = frame
        # Callers may change their frame without an effect on others.
        return self._frames[name].copy(deep=False)

    def of_instructions(self, name: str, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return the rows of a table for the given instructions, which are rows of `instructions`."""
        frame = self.frame(name)
        return frame[frame["instruction"].isin(rows.index)]

    @cached_property
    def machine(self) -> dict[str, Any]:
        """Sizes of the machine, from the record's document."""
        return dict(self.document["machine"])

    @cached_property
    def memory(self) -> dict[str, Any] | None:
        """Banks and links of the memory; None if it has none."""
        return self.machine["memory"]

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

    @cached_property
    def instructions(self) -> "pd.DataFrame":
        """Instructions by number: the table's columns, `module`, `part`, and `requests`, those issued by their kernels.

        Abandoned attempts are left out: their cycles count as `restarted`.
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
        """Minimum latency of a read in the run, in cycles: an estimate of the memory's latency without contention."""
        latencies = self.frame("instruction_latencies")
        return int(latencies["latency"].min()) if len(latencies) else 0

    def _parts(self, frame: "pd.DataFrame") -> "np.ndarray":
        """Return the part of a search to which each instruction belongs."""
        enough = DEPENDENT_WAITS * max(self.least_latency, 1) * self.kernels("bfs")
        parts = np.full(len(frame), "", dtype=object)
        searching = (frame["module"] == "bfs").to_numpy()
        requests = frame["requests"].to_numpy()
        # The levels of a search are consecutive and start from level 0.
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
        """Return the instructions of the given phase, level and iteration; None selects all.

        Raises
        ------
        InputError
            No instruction matches.
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
