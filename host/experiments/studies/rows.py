"""Tables in CSV files: those of papers beside the code, and those of users."""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cyscc.host.output.errors import InputError, locating_errors, refusing
from cyscc.sim.documents import DocumentError, open_plain

PAPERS = Path(__file__).with_name("papers")
"""Folder of the papers' tables; the first line of each has its source."""

PUBLISHED = Path(__file__).with_name("published")
"""Folder of what was measured of published hardware and by other simulators."""

_Row = TypeVar("_Row")


def read_table(path: Path, row: Callable[[dict[str, str]], _Row], *, columns: Sequence[str] = ()) -> list[_Row]:
    """Return the rows of a CSV file, in its order; lines before its head that begin with ``#`` are comments.

    Parameters
    ----------
    path : Path
        The file.
    row : callable
        Makes a row of its cells by column, and raises an `InputError` that has only the cause.
    columns : sequence of str
        Its columns, in this order; none for whatever its head has.

    Raises
    ------
    InputError
        The file cannot be read, or is no such table; the message has the line.
    """
    try:
        with (
            locating_errors(path=path),
            refusing(OSError, DocumentError, before="cannot be read: ", path=path),
            refusing(csv.Error, before="is no CSV: ", path=path),
            open_plain(path) as file,
            io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
        ):
            return _rows(text, row, columns)
    except UnicodeDecodeError:
        raise InputError("is no text in UTF-8", path=path) from None


def _rows(file: Iterable[str], row: Callable[[dict[str, str]], _Row], columns: Sequence[str]) -> list[_Row]:
    rows = csv.reader(file)
    head = next((cells for cells in rows if not (cells and cells[0].startswith("#"))), [])
    if columns and head != list(columns):
        raise InputError(f"must begin with the columns {','.join(columns)}", line=rows.line_num or 1)
    found = []
    for cells in filter(None, rows):  # an empty line is no row
        with locating_errors(line=rows.line_num):
            if len(cells) != len(head):
                raise InputError(f"has {len(cells)} values, not {len(head)}")
            found.append(row(dict(zip(head, cells, strict=True))))
    if not found:
        raise InputError("has no rows")
    return found


def printed(name: str, *, texts: Collection[str] = ("name",), folder: Path | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table, by default of a paper.

    Parameters
    ----------
    name : str
        Name of the file, without its suffix.
    texts : collection of str
        Columns of texts. The others have numbers; None where the paper has none.
    folder : Path, optional
        Its folder (default: `PAPERS`).
    """

    def row(cells: dict[str, str]) -> dict[str, Any]:
        return {column: text if column in texts else _number(text) for column, text in cells.items()}

    return read_table((folder or PAPERS) / f"{name}.csv", row)


def _number(text: str) -> float | None:
    try:
        return None if not text else float(text) if "." in text else int(text)
    except ValueError:
        raise InputError(f"{text!r} is no number") from None
