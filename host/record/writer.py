"""The folder of a record, which one run uses at a time, and the writer of its tables.

Rows are buffered and written in parts, which are joined at the end. Until then `cyscc.host.record.parts` has them.
"""

import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import to_builtins

from cyscc.host.output.documents import file_digest
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import writing
from cyscc.host.output.folders import OwnFolder
from cyscc.host.record.arrow import array_of, texts_of
from cyscc.host.record.document import DOCUMENT, FAILURE
from cyscc.host.record.parts import (
    DETAIL_FOLDER,
    PART_FILES,
    PARTS_FOLDER,
    SEARCHING,
    SETTING,
    PartDocument,
    PartTable,
    Reached,
    clear_parts,
    file_of,
    read_parts,
    remove_parts,
    write_document,
)
from cyscc.host.record.stored import StoredTables
from cyscc.host.record.tables import CATEGORIES, TABLES, schema_of, table_of
from cyscc.sim.processors import available_cores

_CODEC = "lz4"
"""Makes files that are a quarter larger than those of zstd, in less than half of the time."""

Columns = Mapping[str, npt.NDArray[Any]]
"""Columns of some rows by name; category columns hold codes."""


LAST_CYCLES = "last.fst"
"""File name of the waveforms of a failed run's last cycles."""

_LEFT = (FAILURE, LAST_CYCLES, "last.gtkw", "last.sucl")
"""Files that a failed run leaves: also the views of its waveforms."""
_TABLES = tuple(f"{table.name}.parquet" for table in TABLES)


class RecordFolder(OwnFolder):
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

    CONTENT = "a record"
    NOTE = " (--record)"
    FILES = re.compile("|".join(map(re.escape, (DOCUMENT, *_LEFT, *_TABLES))))
    FOLDERS = MappingProxyType({PARTS_FOLDER: PART_FILES, DETAIL_FOLDER: None})
    PLAIN = True

    def __init__(self, path: Path, *, resumed: bool) -> None:
        held = {DOCUMENT: "holds a record", FAILURE: "holds what a failed run left"}
        causes = {name: f"{cause}: remove it, or name another folder" for name, cause in held.items()}
        super().__init__(path, create=not resumed, refused={} if resumed else causes)

    def clear(self, *, complete: bool, resumable: bool = False) -> None:
        """Remove the parts, and, unless the record is complete, everything else written of it.

        A complete record keeps its parts if the run is resumable: it may end before its outputs are written.
        """
        if not resumable:
            remove_parts(self.path)
        for name in _LEFT if complete else _TABLES:
            (self.path / name).unlink(missing_ok=True)
        if not complete and self._made and not (self.path / FAILURE).exists():
            with suppress(OSError):
                self.path.rmdir()


class TableWriter:
    """Writes the tables of a record.

    `flush` has another thread write the rows added so far to files of a new part, which costs the simulation no time
    if a core is free.

    Parameters
    ----------
    folder : Path
        An existing folder.
    fifos : sequence of str
        Names of the machine's FIFOs, by category code.
    about : mapping
        Description of the run.
    parts : int
        Number of existing parts of a resumed run; any later parts are removed.
    seal : str
        Seal of the last one of these.

    Raises
    ------
    InputError
        The existing parts are damaged, or others.
    """

    def __init__(
        self, folder: Path, *, fifos: Sequence[str], about: Mapping[str, Any], parts: int = 0, seal: str = ""
    ) -> None:
        self._folder, self._own = folder, folder / PARTS_FOLDER
        self._about = about
        self._categories = {name: texts_of(values) for name, values in {**CATEGORIES, "fifo": fifos}.items()}
        self._schemas = {table.name: _without_nulls(schema_of(table.name)) for table in TABLES}
        self._schemas[SEARCHING] = self._schemas["instructions"]
        self._gathered: dict[str, list[pa.RecordBatch]] = {}
        self._documents: list[PartDocument] = []
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="record")
        self._pending: Future[None] | None = None
        # Later parts are removed only if the folder is that of the run.
        if parts:
            try:
                _, self._documents, found = read_parts(self._own, most=parts)
            except FileNotFoundError:
                raise InputError("holds no parts of the run's record", path=folder) from None
            if found != seal:
                raise InputError("holds the parts of another run's record", path=folder)
        with writing(self._own):
            self._own.mkdir(exist_ok=True)
            clear_parts(self._own, keep=parts)
        self.parts = parts
        """Number of flushed parts."""
        self.seal = seal if parts else write_document(self._own / SETTING, about)
        """Seal of the last part that has been written."""

    def add(self, rows: Mapping[str, Columns]) -> None:
        """Add rows, given as columns by table."""
        for name, columns in rows.items():
            schema = self._schemas[name]
            arrays = [self._column(field, columns[field.name]) for field in schema]
            self._gathered.setdefault(name, []).append(pa.RecordBatch.from_arrays(arrays, schema=schema))

    def flush(self, reached: Reached, *, wait: bool = False) -> None:
        """Start writing the rows added so far as a part; with `wait`, return when it is written.

        Raises
        ------
        InputError
            This part, or the previous one, cannot be written.
        """
        self._wait()
        gathered, self._gathered = self._gathered, {}
        self._pending = self._pool.submit(self._write, gathered, self.parts, reached)
        self.parts += 1
        if wait:
            self._wait()

    def finish(self, reached: Reached) -> tuple[dict[str, int], dict[str, str]]:
        """Write the rows that are left, join the parts of each table, and return rows and digests by table.

        Parameters
        ----------
        reached : Reached
            How far the run has come.

        Raises
        ------
        InputError
            A file cannot be written, or a part is damaged.
        """
        self.flush(reached, wait=True)
        tables = [part.tables for part in self._documents]
        stored = StoredTables(self._own, tables, numbered=True, reached=reached, interval=int(self._about["interval"]))
        digests: dict[str, str] = {}
        # That of a run which had finished before it was resumed: no document speaks of tables that are being written.
        (self._folder / DOCUMENT).unlink(missing_ok=True)
        for name in stored.rows:
            target, schema = file_of(self._folder, name), self._schemas[name]
            with writing(target):
                target.unlink(missing_ok=True)
                if (only := stored.only_part(name)) is not None:
                    # That of the last part has been written a moment ago.
                    if only < self.parts - 1:
                        stored.content(name, only)
                    # Keep the part until the record is complete: a run killed now resumes with it.
                    os.link(stored.path(name, only), target)
                    digests[name] = tables[only][name].sha256
                else:
                    # Opened here: Arrow takes some names for addresses, and no name that is not UTF-8.
                    with target.open("wb") as file, pq.ParquetWriter(file, schema, **_encoding(name)) as writer:
                        for rows in stored.blocks(name):
                            writer.write_table(rows.cast(schema))
                    with target.open("rb") as written:
                        digests[name] = file_digest(written)
        return stored.rows, digests

    def close(self) -> None:
        """Stop the thread, after it has written its rows."""
        self._pool.shutdown()

    def _wait(self) -> None:
        if self._pending is not None:
            pending, self._pending = self._pending, None
            pending.result()

    def _write(self, gathered: dict[str, list[pa.RecordBatch]], number: int, reached: Reached) -> None:
        """Write a part: a file of every table that has rows, each on disk before the part's document."""
        # Side by side, since the simulation waits for the last part, and for others if there are many rows.
        with ThreadPoolExecutor(available_cores(), thread_name_prefix="table") as pool:
            written = pool.map(partial(self._write_table, number), gathered, gathered.values())
            tables = {name: table for name, table in zip(gathered, written, strict=True) if table.rows}
        part = PartDocument(previous=self.seal, tables=tables, reached=reached)
        self.seal = write_document(self._own / f"{number}.json", to_builtins(part))
        self._documents.append(part)

    def _write_table(self, number: int, name: str, blocks: list[pa.RecordBatch]) -> PartTable:
        """Write the rows of a table to a file of a part, if there are any."""
        rows = pa.Table.from_batches(blocks, self._schemas[name])
        blocks.clear()
        if not rows.num_rows:
            return PartTable(rows=0, sha256="")
        sink, path = pa.BufferOutputStream(), file_of(self._own, name, number)
        pq.write_table(rows, sink, **_encoding(name))
        data = np.frombuffer(sink.getvalue(), np.uint8)
        # New: files of later parts have been removed, and nothing reads it before the part's document is there.
        with writing(path), path.open("xb") as file:
            file.write(data.data)
            file.flush()
            os.fsync(file.fileno())
        return PartTable(rows=rows.num_rows, sha256=sha256(data.data).hexdigest())

    def _column(self, field: pa.Field, values: npt.NDArray[Any]) -> pa.Array:
        if not pa.types.is_dictionary(field.type):
            return array_of(values, field.type)
        codes = array_of(values, field.type.index_type)
        return pa.DictionaryArray.from_arrays(codes, self._categories[field.name])


def _without_nulls(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose columns lack no value, which need not be told for each value then."""
    return pa.schema([field.with_nullable(False) for field in schema])


def _encoding(name: str) -> dict[str, Any]:
    """Return the encoding of a table's columns: a dictionary pays for texts alone."""
    columns = table_of("instructions" if name == SEARCHING else name).columns
    numbers = [column.name for column in columns if column.kind != "category"]
    return {
        "compression": _CODEC,
        "use_dictionary": [column.name for column in columns if column.name not in numbers],
        "column_encoding": dict.fromkeys(numbers, "BYTE_STREAM_SPLIT"),
        # By which rows are chosen.
        "write_statistics": [columns[0].name],
    }
