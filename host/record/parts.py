"""The parts of a record that is being written: a folder of immutable files, each with its digest in a sealed document.

`SETTING` describes the run. Part ``N`` is a file ``TABLE-N.parquet`` for each table with rows in it, and ``N.json``, a
`PartDocument`, which is written last: a part without it does not count. Each document has the seal of the one before
it, so that no part can be of another run or at another place.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from cyscc.host.output.documents import SEAL, read_sealed, sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import reason, writing
from cyscc.host.record.arrow import array_of
from cyscc.host.record.document import Count, Hexadecimal
from cyscc.host.record.tables import TABLES
from cyscc.sim.files import is_temporary, replaced
from cyscc.sim.observation.causes import CAUSE_NAMES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "GIVEN_UP",
    "PARTS_FOLDER",
    "SEARCHING",
    "SETTING",
    "PartDocument",
    "PartTable",
    "Reached",
    "file_of",
    "given_up",
    "holds_parts",
    "is_of_parts",
    "read_parts",
    "write_part",
    "write_setting",
]

PARTS_FOLDER = "parts"
"""Subfolder of the parts."""
SETTING = "run.json"
"""File name of the description of the run, of which `cyscc.host.record.document.SettingDocument` is the form."""
SEARCHING = "searching"
"""Table of the parts alone: rows of the table ``instructions`` of the search that is not complete."""
GIVEN_UP = ("kernels", "instruction_kernels")
"""Tables whose cycles become ``restarted`` when an attempt is abandoned."""

_NAMES = (*(table.name for table in TABLES), SEARCHING)
_OWN = re.compile(rf"(({'|'.join(_NAMES)})-[0-9]+\.parquet|[0-9]+\.json|{re.escape(SETTING)})")


class PartTable(msgspec.Struct, forbid_unknown_fields=True):
    """A table's file of a part: its rows and its SHA-256."""

    rows: Count
    sha256: Hexadecimal


class Reached(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How far a run's parts reach.

    Parameters
    ----------
    cycle : int
        The cycle after the last interval.
    instructions : int
        Number of instructions of which there are counts.
    attempt : int
        The attempt, from 0.
    abandoned : int
        Number of parts of attempts before.
    readouts : list of (int, int)
        First cycle of each readout of event counters, and the cycle after its last: the host was working in them.
    """

    cycle: Count = 0
    instructions: Count = 0
    attempt: Annotated[int, Meta(ge=0, le=255)] = 0
    abandoned: Count = 0
    readouts: list[tuple[Count, Count]] = []


class PartDocument(msgspec.Struct, forbid_unknown_fields=True):
    """The document of a part: the seal of the one before it, its tables, and how far the run had come."""

    previous: Hexadecimal
    tables: dict[str, PartTable]
    reached: Reached


def is_of_parts(name: str) -> bool:
    """Whether a file of the folder of parts can be one of a part, or a temporary file of one."""
    return _OWN.fullmatch(name) is not None or is_temporary(name)


def file_of(folder: Path, table: str, number: int) -> Path:
    """Return the file with a part of a table, in the folder of parts."""
    return folder / f"{table}-{number}.parquet"


def _write(path: Path, document: Mapping[str, Any]) -> str:
    """Write a document that survives a crash of the machine, and return its seal."""
    closed = sealed(document)
    with writing(path), replaced(path, durable=True) as temporary:
        temporary.write_text(json.dumps(closed))
    return str(closed[SEAL])


def write_setting(folder: Path, document: Mapping[str, Any]) -> str:
    """Write the description of the run into the folder of parts, and return its seal.

    Raises
    ------
    InputError
        It cannot be written.
    """
    return _write(folder / SETTING, document)


def write_part(folder: Path, number: int, document: PartDocument) -> str:
    """Write the document of a part, whose files are on disk, and return its seal.

    Raises
    ------
    InputError
        It cannot be written.
    """
    return _write(folder / f"{number}.json", msgspec.to_builtins(document))


def holds_parts(folder: Path) -> bool:
    """Return whether a record's folder, which is no link, holds parts of a run."""
    return not folder.is_symlink() and (folder / PARTS_FOLDER / SETTING).is_file()


def read_parts(folder: Path, *, most: int | None = None) -> tuple[dict[str, Any], list[PartDocument], str]:
    """Return the description of a run, the documents of its complete parts, and the seal of the last of these.

    Parameters
    ----------
    folder : Path
        The folder of parts.
    most : int, optional
        Number of parts that are wanted; by default all.

    Raises
    ------
    FileNotFoundError
        There is no description of the run.
    InputError
        A document is damaged, or is not of this run.
    """
    setting = read_sealed(folder / SETTING)
    seal = str(sealed(setting)[SEAL])
    found: list[PartDocument] = []
    try:
        numbers = {int(path.stem) for path in folder.iterdir() if path.stem.isdecimal() and path.suffix == ".json"}
    except OSError as error:
        raise InputError(reason(error), path=folder) from None
    for number in range(max(numbers, default=-1) + 1 if most is None else most):
        path = folder / f"{number}.json"
        try:
            document = read_sealed(path)
            part = msgspec.convert(document, PartDocument)
        except FileNotFoundError:
            raise InputError("is not there: the record is damaged", path=path) from None
        except msgspec.ValidationError as error:
            raise InputError(f"is no document of a record's part: {error}", path=path) from None
        if part.previous != seal or not set(part.tables) <= set(_NAMES) or part.reached.abandoned > number + 1:
            raise InputError("is the part of another record", path=path)
        seal = str(sealed(document)[SEAL])
        found.append(part)
    return setting, found, seal


def given_up(rows: "pa.Table", readouts: Sequence[tuple[int, int]], *, interval: int) -> "pa.Table":
    """Return rows of one of the tables `GIVEN_UP` with all cycles moved to ``restarted``, except for readouts.

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
