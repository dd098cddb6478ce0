"""The parts of a record that is being written: a folder of immutable files, each with its digest in a sealed document.

`SETTING` describes the run. Part ``N`` is a file ``TABLE-N.parquet`` for each table with rows in it, and ``N.json``, a
`PartDocument`, which is written last: a part without it does not count. Each document has the seal of the one before
it, so that no part can be of another run or at another place.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from cyscc.host.output.documents import SEAL, read_sealed, sealed, write_durable
from cyscc.host.output.errors import InputError, refusing
from cyscc.host.output.files import writing
from cyscc.host.record.document import Count, Hexadecimal
from cyscc.host.record.tables import TABLES
from cyscc.sim.files import is_temporary

PARTS_FOLDER = "parts"
"""Subfolder of the parts."""
DETAIL_FOLDER = "detail"
"""Subfolder with the record of a region of the run, in detail."""
SETTING = "run.json"
"""File name of the description of the run, of which `cyscc.host.record.document.SettingDocument` is the form."""
SEARCHING = "searching"
"""Table of the parts alone: rows of the table ``instructions`` of the search that is not complete."""

_NAMES = (*(table.name for table in TABLES), SEARCHING)
PART_FILES = re.compile(rf"(?:(?:{'|'.join(_NAMES)})-([0-9]+)\.parquet|([0-9]+)\.json|{re.escape(SETTING)})")
"""Names of the files of parts, with the number of the part."""


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


def file_of(folder: Path, table: str, number: int | None = None) -> Path:
    """Return the file with a part of a table, in the folder of parts; without a number, with a whole table."""
    return folder / (f"{table}.parquet" if number is None else f"{table}-{number}.parquet")


def write_document(path: Path, document: Mapping[str, Any]) -> str:
    """Write a document of the folder of parts, and return its seal. That of a part comes last: its files are on disk.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with writing(path):
        return write_durable(path, document)


def read_files(folder: Path) -> dict[str, npt.NDArray[np.uint8]]:
    """Return the contents of all files of the parts in a record's folder, by name."""
    return {path.name: np.fromfile(path, np.uint8) for path in sorted((folder / PARTS_FOLDER).iterdir())}


def write_files(folder: Path, files: Mapping[str, npt.NDArray[np.uint8]]) -> None:
    """Write files of parts into a record's folder that has none.

    Raises
    ------
    InputError
        One cannot be written.
    """
    with writing(folder):
        (folder / PARTS_FOLDER).mkdir()
        for name, content in files.items():
            content.tofile(folder / PARTS_FOLDER / name)


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
    with refusing(OSError, path=folder):
        numbers = {int(path.stem) for path in folder.iterdir() if path.stem.isdecimal() and path.suffix == ".json"}
    for number in range(max(numbers, default=-1) + 1 if most is None else most):
        path = folder / f"{number}.json"
        try:
            document = read_sealed(path)
        except FileNotFoundError:
            raise InputError("is not there: the record is damaged", path=path) from None
        with refusing(msgspec.ValidationError, before="is no document of a record's part: ", path=path):
            part = msgspec.convert(document, PartDocument)
        if part.previous != seal or not set(part.tables) <= set(_NAMES) or part.reached.abandoned > number + 1:
            raise InputError("is the part of another record", path=path)
        seal = str(sealed(document)[SEAL])
        found.append(part)
    return setting, found, seal


def remove_parts(path: Path) -> None:
    """Remove the parts from the folder of a record, which no run needs any more."""
    with suppress(OSError):
        clear_parts(path / PARTS_FOLDER)
        (path / PARTS_FOLDER).rmdir()


def clear_parts(folder: Path, *, keep: int = 0) -> None:
    """Remove the files of the parts from a number on; without any to keep, the description of the run, too."""
    for entry in os.scandir(folder):
        match = PART_FILES.fullmatch(entry.name)
        kept = match is not None and int(match[1] or match[2] or 0) < keep
        if not kept and (match or is_temporary(entry.name)):
            os.unlink(entry.path)
