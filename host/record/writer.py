"""The folder of a record, which one run uses at a time, and the writer of its tables.

Rows are buffered and written in parts, which are joined at the end: a record is either complete or absent.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cyscc.host.output.errors import InputError
from cyscc.host.output.files import reason, writing
from cyscc.host.record.arrow import array_of, texts_of
from cyscc.host.record.reader import DOCUMENT, FAILURE
from cyscc.host.record.tables import LEVEL_TABLES, TABLES, schema_of
from cyscc.sim.files import is_temporary, lock_folder

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LAST_CYCLES", "Columns", "RecordFolder", "TableWriter"]

_PARTS = "parts"
"""Subfolder of the parts that are written during a run."""

_CODEC = "zstd"
_INDEX = ("cycle", "engine", "kernel", "controller", "bank", "link", "instruction", "attempt", "iteration", "level")

Columns = Mapping[str, npt.NDArray[Any]]
"""Columns of some rows by name; category columns hold codes."""


LAST_CYCLES = "last.fst"
"""File name of the waveforms of a failed run's last cycles."""

_LEFT = {FAILURE, LAST_CYCLES}
_OWN = {_PARTS, *(f"{table.name}.parquet" for table in TABLES)}


class RecordFolder:
    """The folder of a record, locked for one run.

    Parameters
    ----------
    path : Path
        The folder; created if it does not exist.
    resumed : bool
        Whether a run is being resumed, so that the folder may hold parts of its record.

    Raises
    ------
    InputError
        The folder cannot be used, holds a record or other files, or is in use.
    """

    def __init__(self, path: Path, *, resumed: bool) -> None:
        self.path = path
        try:
            self._made = not path.exists()
            if self._made:
                path.mkdir()
            held = {entry.name for entry in os.scandir(path) if not is_temporary(entry.name)} - _OWN
            if DOCUMENT in held and not resumed:
                raise InputError("holds a record: remove it, or name another folder (--record)", path=path)
            if FAILURE in held and not resumed:
                raise InputError(
                    "holds what a failed run left: remove it, or name another folder (--record)", path=path
                )
            other = min(held - {DOCUMENT} - _LEFT, default=None)
            if other is not None:
                raise InputError(f"is no folder of a record: it holds {other} (--record)", path=path)
            self._lock = lock_folder(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{reason(error)} (--record)", path=path) from None
        if self._lock is None:
            raise InputError("is in use by another run (--record)", path=path)

    def clear(self, *, complete: bool) -> None:
        """Remove the temporary files, and, unless the record is complete, everything else written of it."""
        with suppress(OSError):
            for entry in os.scandir(self.path / _PARTS):
                os.unlink(entry.path)
            (self.path / _PARTS).rmdir()
        if complete:
            for name in _LEFT:
                (self.path / name).unlink(missing_ok=True)
        else:
            for name in _OWN - {_PARTS}:
                (self.path / name).unlink(missing_ok=True)
            if self._made and not (self.path / FAILURE).exists():
                with suppress(OSError):
                    self.path.rmdir()

    def close(self) -> None:
        """Release the lock on the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class TableWriter:
    """Writes the tables of a record.

    Rows are added as functions that make them. `flush` has another thread call these and write the rows to files of a
    new part, which costs the simulation no time if a core is free.

    Parameters
    ----------
    folder : Path or None
        An existing folder; None to keep the parts of `LEVEL_TABLES` in memory.
    categories : mapping of str to sequence of str
        Values of the category columns.
    parts : int
        Number of existing parts of a resumed run; any later parts are removed.
    memory : list of dict, optional
        The parts in memory, Parquet data by table; new parts are appended.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        categories: Mapping[str, tuple[str, ...]],
        parts: int = 0,
        memory: list[dict[str, npt.NDArray[np.uint8]]] | None = None,
    ) -> None:
        # Import it here, not in the first flush: this takes a third of a second.
        import pyarrow.parquet  # noqa: F401

        self._folder = folder
        self._memory = memory
        self._categories = categories
        self._written = parts
        self._schemas = {table.name: schema_of(table.name) for table in TABLES if folder or table.name in LEVEL_TABLES}
        self._gathered: list[Callable[[], Mapping[str, Columns]]] = []
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="record")
        self._pending: Future[None] | None = None
        if folder is None:
            return
        (folder / _PARTS).mkdir(exist_ok=True)
        for path in (folder / _PARTS).iterdir():
            if _number(path) >= parts:
                path.unlink()

    @property
    def parts(self) -> int:
        """Number of flushed parts."""
        return self._written

    def add(self, make: Callable[[], Mapping[str, Columns]]) -> None:
        """Add rows, given as a function that returns their columns by table and is called when they are written."""
        self._gathered.append(make)

    def flush(self, *, wait: bool = False) -> None:
        """Start writing the rows added so far as a part; with `wait`, return when it is written.

        Raises
        ------
        InputError
            This part, or the previous one, cannot be written.
        """
        self._wait()
        gathered, self._gathered = self._gathered, []
        if self._memory is not None:
            self._memory.append({})
        self._pending = self._pool.submit(self._write, gathered, self._written)
        self._written += 1
        if wait:
            self._wait()

    def rewrite(self, table: str, change: Any) -> None:
        """Rewrite the flushed rows of a table with `change`, a function from and to an Arrow table."""
        import pyarrow.parquet as pq

        self._wait()
        for number in range(self._written):
            if (part := self._part(table, number)) is not None:
                self._put(change(pq.read_table(part)), table, number)

    def finish(self) -> dict[str, int]:
        """Write the rows that are left, join the parts of each table, and return the number of rows by table.

        Raises
        ------
        InputError
            A file cannot be written.
        """
        import pyarrow.parquet as pq

        self.flush(wait=True)
        rows: dict[str, int] = {}
        if self._folder is None:
            return rows
        for name, schema in self._schemas.items():
            parts = [part for number in range(self._written) if (part := self._part(name, number)) is not None]
            target = self._folder / f"{name}.parquet"
            target.unlink(missing_ok=True)
            if len(parts) == 1:
                # Keep the part until the record is complete: a run killed now resumes with it.
                os.link(parts[0], target)
            else:
                with writing(target), pq.ParquetWriter(target, schema, **self._encoding(schema)) as writer:
                    for path in parts:
                        writer.write_table(pq.ParquetFile(path).read())
            rows[name] = pq.read_metadata(target).num_rows
        return rows

    def close(self) -> None:
        """Stop the thread, after it has written its rows."""
        self._pool.shutdown()

    def _wait(self) -> None:
        if self._pending is not None:
            pending, self._pending = self._pending, None
            pending.result()

    def _path(self, table: str, number: int) -> Path:
        assert self._folder is not None
        return self._folder / _PARTS / f"{table}-{number}.parquet"

    def _part(self, table: str, number: int) -> Any:
        """Return a file or buffer with a part of a table; None if the part has no rows."""
        import pyarrow as pa

        if self._memory is not None:
            rows = self._memory[number].get(table)
            return None if rows is None else pa.BufferReader(pa.py_buffer(rows))
        path = self._path(table, number)
        return path if path.exists() else None

    def _write(self, gathered: list[Callable[[], Mapping[str, Columns]]], number: int) -> None:
        """Write a part of every table that has rows."""
        import pyarrow as pa

        found: dict[str, list[Columns]] = {}
        for make in gathered:
            for name, columns in make().items():
                found.setdefault(name, []).append(columns)
        for name, blocks in found.items():
            if (schema := self._schemas.get(name)) is None:
                continue
            arrays = [self._array(schema.field(index), blocks) for index in range(len(schema))]
            self._put(pa.Table.from_arrays(arrays, schema=schema), name, number)
            blocks.clear()

    def _put(self, rows: "pa.Table", table: str, number: int) -> None:
        """Write a part of a table; when this returns, the file is on disk."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._memory is not None:
            sink = pa.BufferOutputStream()
            pq.write_table(rows, sink, **self._encoding(rows.schema))
            self._memory[number][table] = np.frombuffer(sink.getvalue(), np.uint8)
            return
        path = self._path(table, number)
        with writing(path), path.open("wb") as file:
            pq.write_table(rows, file, **self._encoding(rows.schema))
            file.flush()
            os.fsync(file.fileno())

    def _encoding(self, schema: "pa.Schema") -> dict[str, Any]:
        """Return the encoding of the columns: a dictionary does not pay for counts, whose values hardly repeat."""
        repeated = [*self._categories, *_INDEX]
        counts = [name for name in schema.names if name not in repeated]
        return {
            "compression": _CODEC,
            "use_dictionary": repeated,
            "column_encoding": dict.fromkeys(counts, "BYTE_STREAM_SPLIT"),
        }

    def _array(self, field: Any, blocks: list[Columns]) -> "pa.Array":
        import pyarrow as pa

        values = np.concatenate([block[field.name] for block in blocks])
        if pa.types.is_dictionary(field.type):
            names = texts_of(self._categories[field.name])
            return pa.DictionaryArray.from_arrays(array_of(values, field.type.index_type), names)
        return array_of(values, field.type)


def _number(path: Path) -> int:
    """Return the part's number in the name of a file."""
    return int(path.stem.rpartition("-")[2])
