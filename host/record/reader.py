"""A record that was written: its document and its tables."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from host.errors import InputError
from host.output import reason
from host.record.tables import TABLES, schema_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

__all__ = ["DOCUMENT", "FAILURE", "RECORD_SCHEMA", "Record", "read_failure"]

DOCUMENT = "record.json"
"""File of a record's document."""
FAILURE = "failed.json"
"""File of what is left of a run that failed."""
RECORD_SCHEMA = 2
"""Version of records; a table, column or field that goes or changes its meaning makes it one more."""


def _document(path: Path) -> dict[str, Any]:
    """Return a document of the version that this program reads.

    Raises
    ------
    FileNotFoundError
        There is none.
    InputError
        It cannot be read.
    """
    try:
        document: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
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
    try:
        return _document(folder / FAILURE)
    except FileNotFoundError:
        return None


class Record:
    """What happened in a run over time.

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
        path = self.folder / DOCUMENT
        try:
            self.document = _document(path)
        except FileNotFoundError:
            raise InputError(f"holds no complete record: there is no {DOCUMENT}", path=self.folder) from None
        self._parts: Sequence[Mapping[str, npt.NDArray[np.uint8]]] | None = None

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
        record.folder, record.document, record._parts = Path("memory"), document, parts
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
            if self._parts is not None:
                found = [pa.BufferReader(pa.py_buffer(part[name])) for part in self._parts if name in part]
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
        """Return a table as a data frame.

        Raises
        ------
        InputError, KeyError
            As of `table`.
        """
        return self.table(name).to_pandas()
