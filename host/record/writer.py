"""The folder of a record, one run at a time, and its tables while that goes on.

Rows are gathered, and written in parts that are joined at the end; a record is complete or not there.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from host.errors import InputError
from host.output import reason, writing
from host.record.arrow import array_of, texts_of
from host.record.reader import DOCUMENT, FAILURE
from host.record.tables import LEVEL_TABLES, TABLES, schema_of
from sim.files import is_temporary, lock_folder

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LAST_CYCLES", "Columns", "RecordFolder", "TableWriter"]

_PARTS = "parts"
"""Folder of what is written while a run goes on."""

_CODEC = "zstd"
_INDEX = ("cycle", "engine", "kernel", "controller", "bank", "link", "instruction", "attempt", "iteration", "level")

Columns = Mapping[str, npt.NDArray[Any]]
"""Columns of some rows by name; those of categories hold numbers of their values."""


LAST_CYCLES = "last.fst"
"""File of the waveforms of the cycles in which a run failed."""

_LEFT = {FAILURE, LAST_CYCLES}
_OWN = {_PARTS, *(f"{table.name}.parquet" for table in TABLES)}


class RecordFolder:
    """A folder that a run is recorded in; nobody else may use it meanwhile.

    Parameters
    ----------
    path : Path
        The folder, made if it is not there.
    resumed : bool
        Whether the run is taken up again, so that the folder may hold what was written of it.

    Raises
    ------
    InputError
        It cannot be used, holds a record or something else, or is in use.
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
        except OSError as error:
            raise InputError(f"{reason(error)} (--record)", path=path) from None
        if self._lock is None:
            raise InputError("is in use by another run (--record)", path=path)

    def clear(self, *, complete: bool) -> None:
        """Remove what only a run that goes on needs, and all else that was written of a record that is not complete."""
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
        """Let others use the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class TableWriter:
    """Writes the tables of a record.

    What rows are made of is kept in memory until `flush`, which has them made, and written to files of their own, by
    another thread: while the machine is simulated that takes no time where a core is free.

    Parameters
    ----------
    folder : Path or None
        Folder of the record; it exists. None to keep the parts of `LEVEL_TABLES` in memory.
    categories : mapping of str to sequence of str
        Values of the columns that are categories.
    parts : int
        Parts that are there already, of a run that is taken up again. Later ones are removed.
    memory : list of dict, optional
        The parts in memory, Parquet by table; it grows.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        categories: Mapping[str, tuple[str, ...]],
        parts: int = 0,
        memory: list[dict[str, npt.NDArray[np.uint8]]] | None = None,
    ) -> None:
        # Here rather than in the first flush: to import it takes a third of a second.
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
        """Parts that were flushed."""
        return self._written

    def add(self, make: Callable[[], Mapping[str, Columns]]) -> None:
        """Add rows: what is called when they are written, and returns their columns by table."""
        self._gathered.append(make)

    def flush(self, *, wait: bool = False) -> None:
        """Have what was gathered written; `wait` until it is.

        Raises
        ------
        InputError
            This part, or the one before it, cannot be written.
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
        """Change the rows of a table that were flushed: `change` takes and returns an Arrow table."""
        import pyarrow.parquet as pq

        self._wait()
        for number in range(self._written):
            if (part := self._part(table, number)) is not None:
                self._put(change(pq.read_table(part)), table, number)

    def finish(self) -> dict[str, int]:
        """Write what is left, and join the parts of each table's file; return the rows of each.

        Raises
        ------
        InputError
            Something cannot be written.
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
                # The part stays until the record is complete: a run that is killed now is taken up with it.
                os.link(parts[0], target)
            else:
                with writing(target), pq.ParquetWriter(target, schema, **self._encoding(schema)) as writer:
                    for path in parts:
                        writer.write_table(pq.ParquetFile(path).read())
            rows[name] = pq.read_metadata(target).num_rows
        return rows

    def close(self) -> None:
        """Let go of the thread, when it has written what it was given."""
        self._pool.shutdown()

    def _wait(self) -> None:
        if self._pending is not None:
            pending, self._pending = self._pending, None
            pending.result()

    def _path(self, table: str, number: int) -> Path:
        assert self._folder is not None
        return self._folder / _PARTS / f"{table}-{number}.parquet"

    def _part(self, table: str, number: int) -> Any:
        """Return what a part of a table can be read from, None where it has no rows."""
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
        """Write a part of a table; a file is there for good when this returns."""
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
        """Return how columns are written: those of counts have no values that come back, as in a dictionary."""
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
    """Return which part a file is of."""
    return int(path.stem.rpartition("-")[2])
