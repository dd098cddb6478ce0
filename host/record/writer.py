"""The folder of a record, which one run uses at a time, and the writer of its tables.

Rows are buffered and written in parts, which are joined at the end. Until then `cyscc.host.record.parts` has them.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cyscc.host.output.documents import file_digest
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import reason, removing_empty, writing
from cyscc.host.record.arrow import array_of, texts_of
from cyscc.host.record.document import DOCUMENT, FAILURE
from cyscc.host.record.parts import (
    GIVEN_UP,
    PARTS_FOLDER,
    SEARCHING,
    SETTING,
    PartDocument,
    PartTable,
    Reached,
    file_of,
    given_up,
    is_of_parts,
    read_parts,
    write_part,
    write_setting,
)
from cyscc.host.record.stored import TableFiles, rows_of
from cyscc.host.record.tables import LEVEL_TABLES, TABLES, schema_of
from cyscc.sim.files import is_temporary, lock_folder

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DETAIL_FOLDER", "LAST_CYCLES", "Columns", "RecordFolder", "TableWriter", "remove_parts"]

_CODEC = "zstd"
_INDEX = (
    "cycle",
    "engine",
    "kernel",
    "controller",
    "bank",
    "link",
    "instruction",
    "attempt",
    "iteration",
    "source",
    "level",
)

Columns = Mapping[str, npt.NDArray[Any]]
"""Columns of some rows by name; category columns hold codes."""


LAST_CYCLES = "last.fst"
"""File name of the waveforms of a failed run's last cycles."""

DETAIL_FOLDER = "detail"
"""Subfolder with the record of a region of the run, in detail."""

_LEFT = {FAILURE, LAST_CYCLES, "last.gtkw", "last.sucl"}
"""Files that a failed run leaves: also the views of its waveforms."""

_FILES = {f"{table.name}.parquet" for table in TABLES}


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
            self._made = not resumed and not path.exists()
            with removing_empty(path):
                if self._made:
                    path.mkdir()
                held = {entry.name for entry in os.scandir(path) if not is_temporary(entry.name)}
                if DOCUMENT in held and not resumed:
                    raise InputError("holds a record: remove it, or name another folder (--record)", path=path)
                if FAILURE in held and not resumed:
                    raise InputError(
                        "holds what a failed run left: remove it, or name another folder (--record)", path=path
                    )
                other = min(self._foreign(), default=None)
                if other is not None:
                    raise InputError(f"is no folder of a record: it holds {other} (--record)", path=path)
                self._lock = lock_folder(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{reason(error)} (--record)", path=path) from None
        if self._lock is None:
            raise InputError("is in use by another run (--record)", path=path)

    def _foreign(self) -> list[str]:
        """Return the names of what no run wrote into the folder: it is not to be removed, nor links followed."""
        files = {DOCUMENT, *_LEFT, *_FILES}
        found = []
        for entry in os.scandir(self.path):
            plain = entry.is_file(follow_symlinks=False)
            if entry.name == DETAIL_FOLDER and entry.is_dir(follow_symlinks=False):
                continue
            if entry.name == PARTS_FOLDER and entry.is_dir(follow_symlinks=False):
                found += [
                    f"{PARTS_FOLDER}/{each.name}"
                    for each in os.scandir(entry)
                    if not (is_of_parts(each.name) and each.is_file(follow_symlinks=False))
                ]
            elif not (plain and (entry.name in files or is_temporary(entry.name))):
                found.append(entry.name)
        return found

    def clear(self, *, complete: bool, resumable: bool = False) -> None:
        """Remove the parts, and, unless the record is complete, everything else written of it.

        A complete record keeps its parts if the run is resumable: it may end before its outputs are written.
        """
        if not resumable:
            remove_parts(self.path)
        if complete:
            for name in _LEFT:
                (self.path / name).unlink(missing_ok=True)
        else:
            for name in _FILES:
                (self.path / name).unlink(missing_ok=True)
            if self._made and not (self.path / FAILURE).exists():
                with suppress(OSError):
                    self.path.rmdir()

    def close(self) -> None:
        """Release the lock on the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_parts(path: Path) -> None:
    """Remove the parts from the folder of a record, which no run needs any more."""
    with suppress(OSError):
        _clear_parts(path / PARTS_FOLDER)
        (path / PARTS_FOLDER).rmdir()


def _clear_parts(folder: Path, *, keep: int = 0) -> None:
    """Remove the files of the parts from a number on; without any to keep, the description of the run, too."""
    for entry in os.scandir(folder):
        number = entry.name.rpartition(".")[0].rpartition("-")[2]
        kept = keep > 0 and (int(number) < keep if number.isdecimal() else entry.name == SETTING)
        if is_of_parts(entry.name) and not kept:
            os.unlink(entry.path)


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
    about : mapping
        Description of the run; only for a folder.
    parts : int
        Number of existing parts of a resumed run; any later parts are removed.
    seal : str
        Seal of the last one of these.
    memory : list of dict, optional
        The parts in memory, Parquet data by table; new parts are appended.

    Raises
    ------
    InputError
        The existing parts are damaged, or others.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        categories: Mapping[str, tuple[str, ...]],
        about: Mapping[str, Any],
        parts: int = 0,
        seal: str = "",
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
        self._documents: list[PartDocument] = []
        self._seal = seal
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="record")
        self._pending: Future[None] | None = None
        if folder is None:
            return
        self._schemas[SEARCHING] = self._schemas["instructions"]
        own = folder / PARTS_FOLDER
        # Later parts are removed only if the folder is that of the run.
        if parts:
            try:
                _, self._documents, found = read_parts(own, most=parts)
            except FileNotFoundError:
                raise InputError("holds no parts of the run's record", path=folder) from None
            if found != seal:
                raise InputError("holds the parts of another run's record", path=folder)
        with writing(own):
            own.mkdir(exist_ok=True)
            _clear_parts(own, keep=parts)
        if not parts:
            self._seal = write_setting(own, about)

    @property
    def parts(self) -> int:
        """Number of flushed parts."""
        return self._written

    @property
    def seal(self) -> str:
        """Seal of the last part that has been written."""
        return self._seal

    def add(self, make: Callable[[], Mapping[str, Columns]]) -> None:
        """Add rows, given as a function that returns their columns by table and is called when they are written."""
        self._gathered.append(make)

    def flush(self, reached: Reached, *, wait: bool = False) -> None:
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
        self._pending = self._pool.submit(self._write, gathered, self._written, reached)
        self._written += 1
        if wait:
            self._wait()

    def finish(self, reached: Reached, *, interval: int) -> tuple[dict[str, int], dict[str, str]]:
        """Write the rows that are left, join the parts of each table, and return rows and digests by table.

        Parameters
        ----------
        reached : Reached
            How far the run has come.
        interval : int
            Cycles of an interval.

        Raises
        ------
        InputError
            A file cannot be written, or a part is damaged.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.flush(reached, wait=True)
        rows: dict[str, int] = {}
        digests: dict[str, str] = {}
        if self._memory is not None:
            for part in self._memory[: reached.abandoned]:
                for name in part.keys() & set(GIVEN_UP):
                    table = pq.read_table(pa.BufferReader(pa.py_buffer(part[name])))
                    part[name] = self._encoded(given_up(table, reached.readouts, interval=interval))
            return rows, digests
        assert self._folder is not None
        # That of a run which had finished before it was resumed: no document speaks of tables that are being written.
        (self._folder / DOCUMENT).unlink(missing_ok=True)
        for table in TABLES:
            name, schema = table.name, self._schemas[table.name]
            parts = [number for number, part in enumerate(self._documents) if name in part.tables]
            target = self._folder / f"{name}.parquet"
            with writing(target):
                target.unlink(missing_ok=True)
                if len(parts) == 1 and not (name in GIVEN_UP and reached.abandoned):
                    self._stored(name, parts[0])
                    # Keep the part until the record is complete: a run killed now resumes with it.
                    os.link(file_of(self._folder / PARTS_FOLDER, name, parts[0]), target)
                else:
                    # Opened here: Arrow takes some names for addresses, and no name that is not UTF-8.
                    with target.open("wb") as file, pq.ParquetWriter(file, schema, **self._encoding(schema)) as writer:
                        for number in parts:
                            path = file_of(self._folder / PARTS_FOLDER, name, number)
                            found = rows_of(self._stored(name, number), schema.names, [], path)
                            if name in GIVEN_UP and number < reached.abandoned:
                                found = given_up(found, reached.readouts, interval=interval)
                            writer.write_table(found)
                with target.open("rb") as written:
                    digests[name] = file_digest(written)
            rows[name] = sum(self._documents[number].tables[name].rows for number in parts)
        return rows, digests

    def close(self) -> None:
        """Stop the thread, after it has written its rows."""
        self._pool.shutdown()

    def _wait(self) -> None:
        if self._pending is not None:
            pending, self._pending = self._pending, None
            pending.result()

    def _stored(self, table: str, number: int) -> bytes:
        """Return the file with a part of a table.

        Raises
        ------
        InputError
            It is damaged, or not of this table.
        """
        assert self._folder is not None
        path, kept = file_of(self._folder / PARTS_FOLDER, table, number), self._documents[number].tables[table]
        return TableFiles().read(path, self._schemas[table], rows=kept.rows, digest=kept.sha256)

    def _write(self, gathered: Sequence[Callable[[], Mapping[str, Columns]]], number: int, reached: Reached) -> None:
        """Write a part of every table that has rows."""
        import pyarrow as pa

        found: dict[str, list[Columns]] = {}
        for make in gathered:
            for name, columns in make().items():
                found.setdefault(name, []).append(columns)
        tables = {}
        for name, blocks in found.items():
            if (schema := self._schemas.get(name)) is None:
                continue
            arrays = [self._array(schema.field(index), blocks) for index in range(len(schema))]
            rows = pa.Table.from_arrays(arrays, schema=schema)
            blocks.clear()
            if rows.num_rows:
                tables[name] = self._put(rows, name, number)
        if self._folder is not None:
            document = PartDocument(previous=self._seal, tables=tables, reached=reached)
            self._seal = write_part(self._folder / PARTS_FOLDER, number, document)
            self._documents.append(document)

    def _put(self, rows: "pa.Table", table: str, number: int) -> PartTable:
        """Write a part of a table; when this returns, the file is on disk."""
        data = self._encoded(rows)
        if self._memory is not None:
            self._memory[number][table] = data
        else:
            assert self._folder is not None
            path = file_of(self._folder / PARTS_FOLDER, table, number)
            with writing(path), path.open("wb") as file:
                file.write(data.data)
                file.flush()
                os.fsync(file.fileno())
        return PartTable(rows=rows.num_rows, sha256=sha256(data.data).hexdigest())

    def _encoded(self, rows: "pa.Table") -> npt.NDArray[np.uint8]:
        """Return rows as Parquet data."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, **self._encoding(rows.schema))
        return np.frombuffer(sink.getvalue(), np.uint8)

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
