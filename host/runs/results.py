"""What a run came to: for programs, for tables, for notebooks."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from host.algorithms.components import component_sizes
from host.algorithms.kosaraju import ComponentRun
from host.algorithms.oracle import Checked
from host.algorithms.search import BfsRun
from host.graph.csr import Graph
from host.record.reader import Record
from host.results.documents import Setting, Wall, bfs_document, scc_document
from host.results.tables import bfs_table, scc_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BfsResult", "Result", "SccResult"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a run came to; `str` of it is the table of the command line, and notebooks show it.

    Parameters
    ----------
    graph : Graph
        The graph as the machine had it.
    setting : Setting
        What ran where.
    wall : Wall
        Real time that it took.
    checked : Checked or None
        What the result was checked by, and found right; None when it was not checked.
    statistics : dict
        Counters of the hardware and the memory.
    record : Record or None
        What happened over time, None where it was not to be recorded.
    """

    graph: Graph
    setting: Setting
    wall: Wall
    checked: Checked | None
    statistics: dict[str, Any]
    record: Record | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The result as ``--json`` writes it."""
        raise NotImplementedError

    @property
    def cycles(self) -> int:
        """Cycles of all instructions."""
        return int(self.document["cycles"]["total"])

    @property
    def seconds(self) -> float:
        """Simulated time in seconds."""
        return self.setting.seconds(self.cycles)

    @property
    def gteps(self) -> float:
        """10**9 traversed edges per simulated second."""
        return float(self.document["gteps"])

    @property
    def verified(self) -> bool:
        """Whether the result was checked, and found right."""
        return self.checked is not None

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, kw_only=True)
class BfsResult(Result):
    """A breadth-first search.

    Parameters
    ----------
    run : BfsRun
        What was found and what it took.
    **others
        As of `Result`.
    """

    run: BfsRun

    @cached_property
    def document(self) -> dict[str, Any]:
        """The result as ``--json`` writes it."""
        return bfs_document(
            self.run, self.setting, self.wall, graph=self.graph, checked=self.checked, statistics=self.statistics
        )

    @property
    def levels(self) -> npt.NDArray[np.int32]:
        """Level of each vertex, shape (vertices,), in the order of `Graph.original`; -1 where it was not reached."""
        return self.run.levels

    @property
    def level_records(self) -> "pd.DataFrame":
        """A row for each level: entries of the frontier, entries pushed, cycles, and the cycle of its start."""
        import pandas as pd

        frame = pd.DataFrame([level._asdict() for level in self.run.level_records])
        frame.index.name = "level"
        return frame

    def __str__(self) -> str:
        return bfs_table(self.run, self.setting, self.wall, graph=self.graph, checked=self.checked)


@dataclass(frozen=True, kw_only=True)
class SccResult(Result):
    """The strongly connected components of a graph.

    Parameters
    ----------
    run : ComponentRun
        What was found and what it took.
    labels : ndarray of uint32, shape (vertices,)
        Component of each vertex: the first vertex in it.
    **others
        As of `Result`.
    """

    run: ComponentRun
    labels: npt.NDArray[np.uint32]

    @cached_property
    def largest(self) -> int:
        """Vertices of the largest component."""
        return int(component_sizes(self.labels)[1].max())

    @property
    def components(self) -> int:
        """Number of components."""
        return self.run.components

    @property
    def iterations(self) -> int:
        """Iterations after trimming."""
        return self.run.iterations

    @cached_property
    def document(self) -> dict[str, Any]:
        """The result as ``--json`` writes it."""
        return scc_document(
            self.run,
            self.setting,
            self.wall,
            graph=self.graph,
            largest=self.largest,
            checked=self.checked,
            statistics=self.statistics,
        )

    def __str__(self) -> str:
        return scc_table(self.run, self.setting, self.wall, largest=self.largest, checked=self.checked)
