"""Where the tables of a record are: in the files of a complete record, in parts on disk, or in memory.

What is read from a folder is compared with its digest first, and with the schema and the number of rows that a table
must have, before memory is allocated for it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cyscc.host.graph.available_memory import available_memory, check_available_memory
from cyscc.host.output.documents import read_verified
from cyscc.host.output.errors import InputError, locating_errors
from cyscc.host.output.files import reason
from cyscc.host.record.arrow import numbers
from cyscc.host.record.document import SettingDocument, check_setting
from cyscc.host.record.parts import GIVEN_UP, SEARCHING, SETTING, Reached, file_of, given_up, read_parts
from cyscc.host.record.tables import TABLES, schema_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["CompleteTables", "MemoryTables", "PartTables", "Range", "StoredTables", "TableFiles", "rows_of"]

Range = tuple[int, int]
"""Half-open range of numbers of instructions."""

_BYTES = 8
"""Bytes of a value while a table is read."""
_UNASKED = 1 << 28
"""Bytes that may be read without asking how many are available, which takes a millisecond."""


class StoredTables(Protocol):
    """The tables of a record."""

    def read(self, name: str, columns: Sequence[str], within: Range | None) -> "pa.Table":
        """Return columns of a table, of the rows of some instructions or of all.

        Raises
        ------
        InputError
            A file is damaged.
        """

    def path(self, name: str) -> Path:
        """Return the place of a table, for messages."""


class TableFiles:
    """Parquet files of a folder; each is read and compared with its digest once."""

    def __init__(self) -> None:
        self._read: dict[Path, bytes] = {}

    def read(self, path: Path, schema: "pa.Schema", *, rows: int, digest: str) -> bytes:
        """Return the contents of a file.

        Raises
        ------
        InputError
            It is damaged, does not have this schema or these rows, or they do not fit into memory.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        if path not in self._read:
            try:
                most = _UNASKED if path.stat().st_size <= _UNASKED else available_memory().bytes
                data = read_verified(path, digest, most=most)
                with pq.ParquetFile(pa.BufferReader(data)) as file:
                    wanted, found = file.schema_arrow, file.metadata.num_rows
            except FileNotFoundError:
                raise InputError("is not there: the record is not complete", path=path) from None
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(error, path) from None
            if not wanted.equals(schema):
                raise InputError("does not have the columns of its table", path=path)
            if found != rows:
                raise InputError(f"has {found:,} rows, and the record says {rows:,}", path=path)
            if (needed := rows * len(schema) * _BYTES) > _UNASKED:
                with locating_errors(path=path):
                    check_available_memory("the rows of a record's table", needed)
            self._read[path] = data
        return self._read[path]


def _unreadable(error: Exception, path: Path) -> InputError:
    text = reason(error) if isinstance(error, OSError) else str(error)
    return InputError(f"is damaged: {text.splitlines()[0] if text else type(error).__name__}", path=path)


def rows_of(data: Any, columns: Sequence[str], filters: list[tuple[str, str, int]], path: Path) -> "pa.Table":
    """Return columns of Parquet data, without the file's metadata, which would tell pandas what to make of them.

    Raises
    ------
    InputError
        The data are damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(pa.BufferReader(pa.py_buffer(data)), columns=list(columns), filters=filters or None)
        return rows.replace_schema_metadata(None)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(error, path) from None


def _of_range(within: Range | None) -> list[tuple[str, str, int]]:
    return [] if within is None else [("instruction", ">=", within[0]), ("instruction", "<", within[1])]


class CompleteTables:
    """The tables of a complete record.

    Parameters
    ----------
    folder : Path
        The record's folder.
    rows, digests : mapping of str
        Number of rows, and SHA-256 of the file, of each table.
    """

    def __init__(self, folder: Path, *, rows: Mapping[str, int], digests: Mapping[str, str]) -> None:
        self._folder, self._rows, self._digests = folder, rows, digests
        self._files = TableFiles()

    def path(self, name: str) -> Path:
        """Return the file of a table."""
        return self._folder / f"{name}.parquet"

    def read(self, name: str, columns: Sequence[str], within: Range | None) -> "pa.Table":
        """Return columns of a table, see `StoredTables`."""
        path = self.path(name)
        data = self._files.read(path, schema_of(name), rows=self._rows[name], digest=self._digests[name])
        return rows_of(data, columns, _of_range(within), path)


class PartTables:
    """The tables of an interrupted run's record: of its complete parts, up to the last instruction wholly in them.

    Parameters
    ----------
    folder : Path
        The folder of the parts.

    Attributes
    ----------
    setting : dict
        Description of the run.
    reached : Reached
        How far the parts reach.
    rows : dict of str to int
        Number of rows of each table in the parts.

    Raises
    ------
    FileNotFoundError
        There is no description of the run.
    InputError
        A document is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.setting, self._parts, _ = read_parts(folder)
        try:
            check_setting(self.setting, SettingDocument)
        except ValueError as error:
            raise InputError(f"is no document of a record: {error}", path=folder / SETTING) from None
        self.reached = self._parts[-1].reached if self._parts else Reached()
        self._files = TableFiles()
        self._instructions = self._known_instructions()
        self.rows = {
            table.name: sum(part.tables[table.name].rows for part in self._parts if table.name in part.tables)
            for table in TABLES
        }

    @property
    def instructions(self) -> int:
        """Number of the instructions."""
        return int(self._instructions.num_rows)

    def path(self, name: str) -> Path:
        """Return the folder of the parts."""
        return self._folder

    def read(self, name: str, columns: Sequence[str], within: Range | None) -> "pa.Table":
        """Return columns of a table, see `StoredTables`."""
        if name == "instructions":
            first, end = within or (0, self.instructions)
            return self._instructions.select(list(columns)).slice(first, max(end - first, 0))
        filters = _of_range(within)
        if "cycle" in schema_of(name).names:
            filters.append(("cycle", "<", self.reached.cycle))
        else:
            filters.append(("instruction", "<", self.instructions))
        return self._read(name, columns, filters)

    def _read(self, name: str, columns: Sequence[str], filters: list[tuple[str, str, int]]) -> "pa.Table":
        import pyarrow as pa

        schema = schema_of("instructions" if name == SEARCHING else name)
        found = [schema.empty_table().select(list(columns))]
        for number, part in enumerate(self._parts):
            if (stored := part.tables.get(name)) is None:
                continue
            path = file_of(self._folder, name, number)
            data = self._files.read(path, schema, rows=stored.rows, digest=stored.sha256)
            if name in GIVEN_UP and number < self.reached.abandoned:
                rows = rows_of(data, schema.names, filters, path)
                rows = given_up(rows, self.reached.readouts, interval=self.setting["interval"])
                found.append(rows.select(list(columns)))
            else:
                found.append(rows_of(data, columns, filters, path))
        return pa.concat_tables(found)

    def _known_instructions(self) -> "pa.Table":
        """Return the first instructions, up to the last one whose counts and cycles are in the parts."""
        import pyarrow as pa

        names = schema_of("instructions").names
        rows = pa.concat_tables([self._read(name, names, []) for name in ("instructions", SEARCHING)])
        # Rows of complete searches come first, and count.
        known, places = np.unique(numbers(rows["instruction"]), return_index=True)
        ends = (numbers(rows["start"]) + numbers(rows["cycles"]))[places]
        whole = (known == np.arange(known.size)) & (known < self.reached.instructions) & (ends <= self.reached.cycle)
        return rows.take(places[: int(np.argmin([*whole, False]))])


class MemoryTables:
    """The tables of a record in memory, without any but `cyscc.host.record.tables.LEVEL_TABLES`.

    Parameters
    ----------
    parts : sequence of mapping
        The parts of the tables in order, each with Parquet data by table.
    """

    def __init__(self, parts: "Sequence[Mapping[str, npt.NDArray[np.uint8]]]") -> None:
        self._parts = parts

    def path(self, name: str) -> Path:
        """Return a name for messages."""
        return Path("memory")

    def read(self, name: str, columns: Sequence[str], within: Range | None) -> "pa.Table":
        """Return columns of a table, see `StoredTables`."""
        import pyarrow as pa

        found = [schema_of(name).empty_table().select(list(columns))]
        for part in self._parts:
            if name in part:
                found.append(rows_of(part[name], columns, _of_range(within), self.path(name)))
        return pa.concat_tables(found)
