"""Cycles of the published hardware, level by level: the table of the project, or one of the user's.

The folder ``published`` has the table, its graphs, and how they were measured.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.studies.rows import read_table
from cyscc.host.output.errors import InputError
from cyscc.sim.notices import shortened

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
    runs: dict[tuple[str, int], list[PublishedLevel]] = {}

    def add(cells: dict[str, str]) -> None:
        graph = cells["graph"]
        if not _NAME.fullmatch(graph):
            name = shortened(graph, _SHOWN)
            raise InputError(f"graph must be a name of letters, digits and any of _.+-, not {name!r}")
        level = PublishedLevel(*(_number(column, cells[column]) for column in PublishedLevel._fields))
        if level.duplicates > level.pushed:
            raise InputError(f"duplicates are more than what was pushed: {level.duplicates} of {level.pushed}")
        run = graph, _number("latency", cells["latency"])
        if run in runs and run != next(reversed(runs)):
            raise InputError(f"the rows of {run[0]} at latency {run[1]} do not follow each other")
        levels = runs.setdefault(run, [])
        if level.level != len(levels) + 1:
            raise InputError(f"level must be {len(levels) + 1}, the next of its run, not {level.level}")
        levels.append(level)

    read_table(path, add, columns=("graph", "latency", *PublishedLevel._fields))
    return [PublishedRun(graph=graph, latency=latency, levels=tuple(own)) for (graph, latency), own in runs.items()]


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
