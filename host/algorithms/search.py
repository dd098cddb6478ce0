"""One breadth-first search on the accelerator."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from host.algorithms.driver import Attempt, Direction, Driver, Level, Search, with_larger_queues
from host.algorithms.keeper import Keeper, LevelAccount, Observer
from host.algorithms.reach import ReachAccount, levels_of, levels_of_words
from host.graph.memory_map import PlacedGraph, QueueArrays
from sim.coprocessor import Coprocessor

__all__ = ["BfsRun", "breadth_first_search"]


@dataclass(frozen=True, kw_only=True)
class BfsRun:
    """What a breadth-first search found and what it took.

    Parameters
    ----------
    source : int
        Vertex it started from.
    levels : ndarray of int32, shape (vertices,)
        Level of each vertex, -1 where it was not reached.
    level_records : tuple of Level
        Frontier, entries pushed and cycles of every level.
    reached : int
        Distinct vertices reached, the source included.
    duplicates : int
        Entries pushed for vertices that another kernel pushed as well.
    edges_traversed : int
        Edges that leave the vertices reached, each once.
    retries : int
        Restarts because of queues that overflowed.
    """

    source: int
    levels: npt.NDArray[np.int32]
    level_records: tuple[Level, ...]
    reached: int
    duplicates: int
    edges_traversed: int
    retries: int

    @property
    def cycles(self) -> int:
        """Cycles of all levels."""
        return sum(level.cycles for level in self.level_records)


_Account = tuple[npt.NDArray[np.int32], int, int, int, Callable[[], LevelAccount]]
"""Levels, distinct vertices reached, entries pushed again, edges that leave the vertices reached, and by level."""


def _account_of_queue(graph: PlacedGraph, reach: npt.NDArray[np.uint32], search: Search) -> _Account:
    """Return what a search found, from its reach queue."""
    vertices = graph.graph.vertices
    levels = levels_of(reach, search.counts, vertices=vertices, name=graph.name)
    found = ReachAccount(vertices).count(graph.words, reach, search.counts, name=graph.name)
    reached, edges = found.sum(0).tolist()
    return levels, reached, search.pushed - reached, edges, lambda: LevelAccount.of(found)


def _account_of_words(graph: PlacedGraph, search: Search) -> _Account:
    """Return what a search found that wrote levels into the graph words and queued only vertices with neighbours."""
    levels = levels_of_words(graph.words, deepest=len(search.levels), name=graph.name)
    degrees, count = graph.graph.out_degrees(), len(search.levels)
    reached = degrees[levels >= 0]
    queued = int(np.count_nonzero(reached)) + int(degrees[search.source] == 0)

    def by_level() -> LevelAccount:
        pushed = np.bincount(levels[(levels > 0) & (degrees > 0)] - 1, minlength=count)
        # Exact below 2**53, and a graph has fewer than 2**32 edges.
        edges = np.bincount(levels[levels >= 0], weights=reached, minlength=count)[:count]
        return LevelAccount(pushed=pushed.astype(np.int64), edges=edges.astype(np.int64))

    return levels, reached.size, search.pushed - queued, int(reached.sum(dtype=np.int64)), by_level


def breadth_first_search(
    coprocessor: Coprocessor,
    graph: PlacedGraph,
    source: int,
    *,
    slack: int | None = None,
    on_level: Callable[[int, int], None] | None = None,
    keeper: Keeper | None = None,
    observer: Observer | None = None,
) -> BfsRun:
    """Search a placed graph breadth-first.

    Parameters
    ----------
    coprocessor : Coprocessor
        Where the graph was placed.
    graph : PlacedGraph
        The graph; its words are reset here.
    source : int
        Where to start, 0 to vertices - 1.
    slack : int, optional
        Queue entries beyond one for each vertex, `host.graph.memory_map.default_slack` when absent.
    on_level : callable, optional
        Called after every level with the number of levels run and the entries reached.
    keeper : Keeper, optional
        Keeps the run.
    observer : Observer, optional
        Watches it.

    Raises
    ------
    SimulationError
        The simulation failed, or its queues overflowed again and again.
    """
    vertices, watching = graph.graph.vertices, observer or Observer()

    def attempt(queues: QueueArrays, state: Attempt, resumed: bool) -> BfsRun:
        if not resumed:
            graph.reset(np.zeros(vertices, np.bool_))
            watching.begin(0, "forward")
        reach = next(iter(queues.reaches), None)
        driver = Driver(coprocessor, queues, state=state.driver, on_level=on_level, observer=watching)
        search = driver.search(Direction(graph=graph, reach=reach), source)
        account = _account_of_words(graph, search) if reach is None else _account_of_queue(graph, reach.values, search)
        levels, reached, duplicates, edges, by_level = account
        watching.end(by_level)
        return BfsRun(
            source=source,
            levels=levels,
            level_records=search.levels,
            reached=reached,
            duplicates=duplicates,
            edges_traversed=edges,
            retries=0,
        )

    run, retries = with_larger_queues(
        attempt,
        coprocessor,
        Attempt,
        name="search",
        vertices=vertices,
        directions=int(coprocessor.config.keeps_reach_queue),
        slack=slack,
        keeper=keeper,
    )
    return replace(run, retries=retries)
