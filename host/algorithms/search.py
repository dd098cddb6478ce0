"""One breadth-first search on the accelerator."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from host.algorithms.driver import Direction, Driver, DriverState, Level, Search, with_larger_queues
from host.algorithms.keeper import Keeper
from host.algorithms.observer import LevelAccount, Observer
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


@dataclass(kw_only=True)
class _State:
    """Where a run is: how often it was restarted, and its driver."""

    restarts: int
    driver: DriverState


_Account = tuple[npt.NDArray[np.int32], int, int, int]
"""Levels, distinct vertices reached, entries pushed again, edges that leave the vertices reached."""


def _account_of_queue(direction: Direction, search: Search) -> _Account:
    """Return what a search found, from its reach queue."""
    assert direction.reach is not None
    vertices = direction.graph.graph.vertices
    reach, name = direction.reach.values, direction.graph.name
    levels = levels_of(reach, search.counts, vertices=vertices, name=name)
    reached, edges = ReachAccount(vertices).count(direction.graph.words, reach, entries=search.entries, name=name)
    return levels, reached, search.pushed - reached, edges


def _account_of_words(graph: PlacedGraph, search: Search) -> _Account:
    """Return what a search found that wrote levels into the graph words and queued only vertices with neighbours."""
    levels = levels_of_words(graph.words, deepest=len(search.levels), name=graph.name)
    degrees = graph.graph.out_degrees()
    reached = degrees[levels >= 0]
    queued = int(np.count_nonzero(reached)) + int(degrees[search.source] == 0)
    return levels, reached.size, search.pushed - queued, int(reached.sum(dtype=np.int64))


def _account_by_level(
    graph: PlacedGraph, levels: npt.NDArray[np.int32], search: Search, *, marked: bool
) -> LevelAccount:
    """Return an account of each level; where vertices are only marked, those pushed are those with neighbours."""
    degrees, count = graph.graph.out_degrees(), len(search.levels)
    pushed, reached = levels > 0, levels >= 0
    if marked:
        pushed &= degrees > 0
    # Exact below 2**53, and a graph has fewer than 2**32 edges.
    edges = np.bincount(levels[reached], weights=degrees[reached], minlength=count)[:count]
    return LevelAccount(
        pushed=np.bincount(levels[pushed] - 1, minlength=count).astype(np.int64), edges=edges.astype(np.int64)
    )


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
    vertices = graph.graph.vertices

    keeper, watching = keeper or Keeper(), observer or Observer()
    kept = keeper.kept("search", _State)

    def attempt(queues: QueueArrays, restarts: int) -> BfsRun:
        resumed = kept is not None and kept.restarts == restarts
        state = kept if kept is not None and resumed else _State(restarts=restarts, driver=DriverState())
        keeper.keep("search", state)
        if resumed:
            keeper.resume()
        else:
            graph.reset(np.zeros(vertices, np.bool_))
            watching.begin(0, "forward")
        direction = Direction(graph=graph, reach=next(iter(queues.reaches), None))
        driver = Driver(coprocessor, queues, state=state.driver, on_level=on_level, observer=watching)
        search = driver.search(direction, source)
        account = _account_of_words(graph, search) if direction.reach is None else _account_of_queue(direction, search)
        levels, reached, duplicates, edges = account
        watching.end(lambda: _account_by_level(graph, levels, search, marked=direction.reach is None))
        return BfsRun(
            source=source,
            levels=levels,
            level_records=search.levels,
            reached=reached,
            duplicates=duplicates,
            edges_traversed=edges,
            retries=0,
        )

    directions = int(coprocessor.config.keeps_reach_queue)
    run, retries = with_larger_queues(
        attempt,
        coprocessor,
        vertices=vertices,
        directions=directions,
        slack=slack,
        begun=0 if kept is None else kept.restarts,
    )
    return replace(run, retries=retries)
