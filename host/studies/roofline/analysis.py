"""The roofline of a whole search, from what was recorded of its levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from host.algorithms.search import BfsRun
from host.graph.csr import Graph
from host.studies.roofline.limits import Bounds
from host.studies.roofline.recorder import LevelUse

__all__ = ["Roofline"]


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """Least cycles by limit and level, against those that were taken.

    Parameters
    ----------
    bounds : Bounds
        What the machine can do at most.
    edges : ndarray of int64, shape (levels,)
        Edges traversed: those that leave a level's vertices, each once.
    requests : ndarray of int64, shape (levels,)
        Reads and writes, those for vertices pushed twice included.
    cycles : ndarray of int64, shape (levels,)
        Cycles that were taken.
    limits : ndarray of int64, shape (levels, limits)
        Least cycles, in the order of `bounds.names`.
    crossbar : ndarray of int64, shape (levels,), or None
        Cycles in which a saturated crossbar with first-in first-out queues passes the requests; None without links.
    """

    bounds: Bounds
    edges: npt.NDArray[np.int64]
    requests: npt.NDArray[np.int64]
    cycles: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int64]
    crossbar: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, run: BfsRun, uses: Sequence[LevelUse], *, graph: Graph, bounds: Bounds) -> Self:
        """Join a search with what was recorded of it.

        Parameters
        ----------
        run : BfsRun
            The search.
        uses : sequence of LevelUse
            The levels recorded; those of searches that had to be restarted come first, and are left out.
        graph : Graph
            The graph that was searched.
        bounds : Bounds
            What they were recorded with.
        """
        levels = len(run.level_records)
        reached = run.levels >= 0
        # Exact below 2**53, and a graph has fewer than 2**32 edges.
        edges = np.bincount(run.levels[reached], weights=graph.out_degrees()[reached], minlength=levels)
        last = uses[len(uses) - levels :]
        return cls(
            bounds=bounds,
            edges=edges.astype(np.int64),
            requests=np.array([use.requests for use in last], np.int64),
            cycles=np.array([use.cycles for use in last], np.int64),
            limits=np.array([use.limits for use in last], np.int64),
            crossbar=None if bounds.contention is None else np.array([use.crossbar for use in last], np.int64),
        )

    @property
    def tightest(self) -> npt.NDArray[np.intp]:
        """Number of each level's largest limit; shape (levels,)."""
        return self.limits.argmax(axis=1)

    @property
    def total_edges(self) -> int:
        """Edges traversed by the search."""
        return int(self.edges.sum())

    @property
    def total_requests(self) -> int:
        """Requests of the search."""
        return int(self.requests.sum())

    @property
    def total_cycles(self) -> int:
        """Cycles of the search."""
        return int(self.cycles.sum())

    @property
    def total_limits(self) -> dict[str, int]:
        """Least cycles of the search by limit: the sum over its levels."""
        return dict(zip(self.bounds.names, self.limits.sum(axis=0).tolist(), strict=True))

    @property
    def tightest_levels(self) -> dict[str, int]:
        """Number of levels in which each limit is the tightest."""
        names = self.bounds.names
        return dict(zip(names, np.bincount(self.tightest, minlength=len(names)).tolist(), strict=True))

    @property
    def roof(self) -> int:
        """Least cycles of the search by all limits: the sum of each level's largest one."""
        return int(self.limits.max(axis=1).sum())

    @property
    def efficiency(self) -> float:
        """Share of the cycles taken that the limits explain."""
        return self.roof / self.total_cycles

    @property
    def total_crossbar(self) -> int | None:
        """Cycles in which saturated crossbars pass the requests of the search; None without links."""
        return None if self.crossbar is None else int(self.crossbar.sum())

    @property
    def crossbar_levels(self) -> int:
        """Number of levels in which the crossbar takes more cycles than any limit asks for."""
        return 0 if self.crossbar is None else int((self.crossbar > self.limits.max(axis=1)).sum())

    @property
    def expected(self) -> int:
        """Cycles of the search by all limits and the crossbar: the sum of each level's largest one."""
        limits = self.limits.max(axis=1)
        return int((limits if self.crossbar is None else np.maximum(limits, self.crossbar)).sum())
