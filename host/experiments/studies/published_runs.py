"""Cycles of the published hardware, level by level: the table of the project, or one of the user's.

The folder ``published`` has the table, its graphs, and how they were measured.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.output.errors import InputError, locating_errors
from cyscc.host.output.files import reason
from cyscc.sim.documents import DocumentError, open_plain
from cyscc.sim.notices import shortened

__all__ = ["REFERENCE", "PublishedLevel", "PublishedRun", "find_graph", "read_runs"]

REFERENCE = Path(__file__).with_name("published") / "cycles.csv"
"""The project's table; its graphs are beside it."""


class PublishedLevel(NamedTuple):
    """A level of a search."""

    level: int
    """Its number, from 1."""
    cycles: int
    """Cycles from its enable to its done, both counted."""
    frontier: int
    """Entries that it read from its queue."""
    pushed: int
    """Entries that it pushed."""
    duplicates: int
    """Those of them whose vertex had been visited."""
    edges: int
    """Edges that it read."""


@dataclass(frozen=True, kw_only=True)
class PublishedRun:
    """A search of a graph from vertex 0, with a memory of fixed latency.

    Parameters
    ----------
    graph : str
        Name of the graph.
    latency : int
        Latency of the memory in cycles.
    levels : tuple of PublishedLevel
        The levels.
    """

    graph: str
    latency: int
    levels: tuple[PublishedLevel, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all levels."""
        return sum(level.cycles for level in self.levels)

    @property
    def edges(self) -> int:
        """Edges that all levels read."""
        return sum(level.edges for level in self.levels)

    @property
    def repeated(self) -> list[int]:
        """Entries of each level's frontier that had been visited when they were pushed."""
        return [0, *(level.duplicates for level in self.levels)][: len(self.levels)]

    @property
    def vertices(self) -> list[int]:
        """Entries of each level's frontier without the repeated ones."""
        return [level.frontier - repeated for level, repeated in zip(self.levels, self.repeated, strict=True)]


_RUN = ("graph", "latency")
_COLUMNS = (*_RUN, *PublishedLevel._fields)

_NAME = re.compile(r"\w[\w.+-]{0,99}", re.ASCII)
_LEAST = {"latency": 1, "level": 1, "cycles": 1, "frontier": 1}
_MOST = {"latency": 100_000}
_LARGEST = 10**12
_SHOWN = 40
"""Characters of a wrong value in a message."""

_SUFFIXES = (".txt", ".gr", ".mtx", ".npz")


def _number(column: str, text: str) -> int:
    least, most = _LEAST.get(column, 0), _MOST.get(column, _LARGEST)
    if not re.fullmatch(r"[0-9]{1,13}", text) or not least <= int(text) <= most:
        raise InputError(f"{column} must be an integer from {least} to {most:,}, not {shortened(text, _SHOWN)!r}")
    return int(text)


def _row(cells: Sequence[str]) -> tuple[tuple[str, int], PublishedLevel]:
    """Return graph and latency of a row, and its level.

    Raises
    ------
    InputError
        A value is missing, or is none of its column.
    """
    if len(cells) != len(_COLUMNS):
        raise InputError(f"has {len(cells)} values, not {len(_COLUMNS)}")
    name, latency, *numbers = cells
    if not _NAME.fullmatch(name):
        raise InputError(f"graph must be a name of letters, digits and any of _.+-, not {shortened(name, _SHOWN)!r}")
    level = PublishedLevel(*map(_number, PublishedLevel._fields, numbers))
    if level.duplicates > level.pushed:
        raise InputError(f"duplicates are more than what was pushed: {level.duplicates} of {level.pushed}")
    return (name, _number("latency", latency)), level


def read_runs(path: Path) -> list[PublishedRun]:
    """Return the runs of a table, in its order.

    Parameters
    ----------
    path : Path
        A CSV file whose columns are ``graph``, ``latency`` and the fields of `PublishedLevel`, in this order; the rows
        of a run follow each other, by level.

    Raises
    ------
    InputError
        The file cannot be read, or is no such table; the message has the line.
    """
    try:
        with (
            locating_errors(path=path),
            open_plain(path) as file,
            io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
        ):
            return _runs(text)
    except UnicodeDecodeError:
        raise InputError("is no text in UTF-8", path=path) from None
    except (OSError, DocumentError) as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
    except csv.Error as error:
        raise InputError(f"is no CSV: {error}", path=path) from None


def _runs(file: Iterable[str]) -> list[PublishedRun]:
    rows = csv.reader(file)
    if tuple(next(rows, ())) != _COLUMNS:
        raise InputError(f"must begin with the columns {','.join(_COLUMNS)}", line=1)
    levels: dict[tuple[str, int], list[PublishedLevel]] = {}
    latest = None
    for cells in filter(None, rows):  # an empty line is no row
        with locating_errors(line=rows.line_num):
            run, level = _row(cells)
            if run != latest and run in levels:
                raise InputError(f"the rows of {run[0]} at latency {run[1]} do not follow each other")
            found = levels.setdefault(run, [])
            if level.level != len(found) + 1:
                raise InputError(f"level must be {len(found) + 1}, the next of its run, not {level.level}")
            found.append(level)
            latest = run
    if not levels:
        raise InputError("has no rows")
    return [
        PublishedRun(graph=graph, latency=latency, levels=tuple(found)) for (graph, latency), found in levels.items()
    ]


def find_graph(name: str, folder: Path) -> GraphFile:
    """Return the graph of a name in a folder: the first of ``NAME.txt``, ``.gr``, ``.mtx``, ``.npz``, also gzipped.

    Raises
    ------
    InputError
        There is none, or it cannot be read.
    """
    paths = (folder / f"{name}{suffix}{packed}" for suffix in _SUFFIXES for packed in ("", ".gz"))
    found = next((path for path in paths if path.exists()), None)
    if found is None:
        raise InputError(f"no graph {name}: there is no {name}.txt, .gr, .mtx or .npz, nor one gzipped", path=folder)
    return GraphFile.of(found)
