"""Tables of a record as they are stored: in the parts of a run that goes on or has ended early, joined in a whole one.

What is read from a folder is compared with its digest first, and with the schema and the number of rows that a table
must have, before memory is allocated for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyscc.host.graph.available_memory import available_memory, check_available_memory
from cyscc.host.output.documents import read_verified
from cyscc.host.output.errors import InputError, locating_errors, reason, refusing
from cyscc.host.record.arrow import array_of, numbers
from cyscc.host.record.document import SettingDocument, check_setting
from cyscc.host.record.parts import SEARCHING, SETTING, PartTable, Reached, file_of, read_parts
from cyscc.host.record.tables import TABLES, schema_of
from cyscc.sim.observation.causes import CAUSE_NAMES

if TYPE_CHECKING:
    import pyarrow as pa

Range = tuple[int, int]
"""Half-open range of numbers of instructions."""
Filters = list[tuple[str, str, int]]

_GIVEN_UP = ("kernels", "instruction_kernels")
"""Tables whose cycles become ``restarted`` when an attempt is abandoned."""

_BYTES = 8
"""Bytes of a value while a table is read."""
_UNASKED = 1 << 28
"""Bytes that may be read without asking how many are available, which takes a millisecond."""


class StoredTables:
    """The tables of a record, each in a file of every part that has rows of it.

    Parameters
    ----------
    folder : Path
        The folder of the files.
    parts : sequence of mapping
        The parts in order, each with its tables by name.
    numbered : bool
        Whether files have the numbers of their parts; the one part of a complete record has none.
    reached : Reached, optional
        How far the parts reach: which of them are of attempts that were given up; by default none.
    interval : int
        Cycles of an interval, if any were given up.

    Attributes
    ----------
    rows : dict of str to int
        Number of rows of each table.
    """

    def __init__(
        self,
        folder: Path,
        parts: Sequence[Mapping[str, PartTable]],
        *,
        numbered: bool = False,
        reached: Reached | None = None,
        interval: int = 0,
    ) -> None:
        self.folder, self.reached = folder, reached or Reached()
        self._parts, self._numbered, self._interval = parts, numbered, interval
        self._kept: dict[Path, bytes] = {}
        self.rows = {table.name: sum(part[table.name].rows for part in parts if table.name in part) for table in TABLES}

    def path(self, name: str, number: int = 0) -> Path:
        """Return a table's file of a part."""
        return file_of(self.folder, name, number if self._numbered else None)

    def place(self, name: str) -> Path:
        """Return where a table is, for messages."""
        return self.folder if self._numbered else self.path(name)

    def read(self, name: str, columns: Sequence[str], within: Range | None) -> "pa.Table":
        """Return columns of a table, of the rows of some instructions or of all.

        Raises
        ------
        InputError
            A file is damaged.
        """
        filters = [] if within is None else [("instruction", ">=", within[0]), ("instruction", "<", within[1])]
        return self._joined(name, columns, filters)

    def _joined(self, name: str, columns: Sequence[str], filters: Filters) -> "pa.Table":
        import pyarrow as pa

        blocks = self.blocks(name, columns, filters, keep=True)
        return pa.concat_tables([_schema(name).empty_table().select(columns), *blocks])

    def blocks(
        self, name: str, columns: Sequence[str] = (), filters: Filters | None = None, *, keep: bool = False
    ) -> "Iterator[pa.Table]":
        """Yield the rows of a table part by part; cycles of attempts given up are moved to ``restarted``.

        Parameters
        ----------
        name : str
            The table.
        columns : sequence of str
            Its columns that are wanted; all by default.
        filters : list, optional
            Conditions on rows, as pyarrow takes them.
        keep : bool
            Whether to keep the files' contents, so that each is read and compared with its digest once.

        Raises
        ------
        InputError
            A file is damaged.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        every = _schema(name).names
        for number, part in enumerate(self._parts):
            if name not in part:
                continue
            path = self.path(name, number)
            data = self._kept[path] if path in self._kept else self.content(name, number)
            if keep:
                self._kept[path] = data
            abandoned = self._is_given_up(name, number)
            wanted = every if abandoned else list(columns or every)
            try:
                rows = pq.read_table(pa.BufferReader(data), columns=wanted, filters=filters or None)
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(error, path) from None
            # The file's metadata would tell pandas what to make of them, and its schema whether values may be missing.
            rows = pa.table(rows.columns, schema=pa.schema([_schema(name).field(each) for each in wanted]))
            if abandoned:
                rows = _given_up(rows, self.reached.readouts, interval=self._interval).select(columns or every)
            yield rows

    def _is_given_up(self, name: str, number: int) -> bool:
        return name in _GIVEN_UP and number < self.reached.abandoned

    def only_part(self, name: str) -> int | None:
        """Return the number of the part whose file has all rows of a table as `blocks` yields them; None if none."""
        numbers = [number for number, part in enumerate(self._parts) if name in part]
        return numbers[0] if len(numbers) == 1 and not self._is_given_up(name, numbers[0]) else None

    def content(self, name: str, number: int) -> bytes:
        """Return the contents of a table's file of a part.

        Raises
        ------
        InputError
            It is damaged, does not have the table's schema or rows, or they do not fit into memory.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        stored, schema, path = self._parts[number][name], _schema(name), self.path(name, number)
        try:
            most = _UNASKED if path.stat().st_size <= _UNASKED else available_memory().bytes
            data = read_verified(path, stored.sha256, most=most)
            with pq.ParquetFile(pa.BufferReader(data)) as file:
                wanted, found = file.schema_arrow, file.metadata.num_rows
        except FileNotFoundError:
            raise InputError("is not there: the record is not complete", path=path) from None
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(error, path) from None
        if [(field.name, field.type) for field in wanted] != [(field.name, field.type) for field in schema]:
            raise InputError("does not have the columns of its table", path=path)
        if found != stored.rows:
            raise InputError(f"has {found:,} rows, and the record says {stored.rows:,}", path=path)
        if (needed := found * len(schema) * _BYTES) > _UNASKED:
            with locating_errors(path=path):
                check_available_memory("the rows of a record's table", needed)
        return data


def _schema(name: str) -> "pa.Schema":
    return schema_of("instructions" if name == SEARCHING else name)


def _unreadable(error: Exception, path: Path) -> InputError:
    text = reason(error) if isinstance(error, OSError) else str(error)
    return InputError(f"is damaged: {text.splitlines()[0] if text else type(error).__name__}", path=path)


class PartTables(StoredTables):
    """The tables of an interrupted run's record: of its complete parts, up to the last instruction wholly in them.

    Parameters
    ----------
    folder : Path
        The folder of the parts.

    Attributes
    ----------
    setting : dict
        Description of the run.
    instructions : int
        Number of the instructions.

    Raises
    ------
    FileNotFoundError
        There is no description of the run.
    InputError
        A document is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.setting, parts, _ = read_parts(folder)
        with refusing(ValueError, before="is no document of a record: ", path=folder / SETTING):
            check_setting(self.setting, SettingDocument)
        reached = parts[-1].reached if parts else Reached()
        tables = [part.tables for part in parts]
        super().__init__(folder, tables, numbered=True, reached=reached, interval=self.setting["interval"])
        import pyarrow as pa

        # The first instructions, up to the last one whose counts and cycles are in the parts.
        rows = pa.concat_tables([self._joined(name, _schema(name).names, []) for name in ("instructions", SEARCHING)])
        # Rows of complete searches come first, and count.
        known, places = np.unique(numbers(rows["instruction"]), return_index=True)
        ends = (numbers(rows["start"]) + numbers(rows["cycles"]))[places]
        whole = (known == np.arange(known.size)) & (known < self.reached.instructions) & (ends <= self.reached.cycle)
        self._instructions = rows.take(places[: int(np.argmin([*whole, False]))])
        self.instructions = int(self._instructions.num_rows)

    def read(self, name: str, columns: Sequence[str], within: Range | None) -> "pa.Table":
        """Return columns of a table, see `StoredTables`."""
        first, end = within or (0, self.instructions)
        if name == "instructions":
            return self._instructions.select(list(columns)).slice(first, max(end - first, 0))
        if "cycle" in _schema(name).names:
            return self._joined(name, columns, [("cycle", "<", self.reached.cycle)])
        return super().read(name, columns, (first, min(end, self.instructions)))


def _given_up(rows: "pa.Table", readouts: Sequence[tuple[int, int]], *, interval: int) -> "pa.Table":
    """Return rows of one of the tables `_GIVEN_UP` with all cycles moved to ``restarted``, except for readouts.

    Parameters
    ----------
    rows : pyarrow.Table
        The rows.
    readouts : sequence of (int, int)
        See `Reached`.
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
