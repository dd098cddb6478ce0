"""One breadth-first search on the accelerator."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from host.account import ReachAccount, levels_of
from host.driver import Direction, Driver, Level, with_larger_queues
from host.memory_map import PlacedGraph, QueueArrays
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


def breadth_first_search(
    coprocessor: Coprocessor,
    graph: PlacedGraph,
    source: int,
    *,
    slack: int | None = None,
    on_level: Callable[[int, int], None] | None = None,
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
        Queue entries beyond one for each vertex, `host.memory_map.default_slack` when absent.
    on_level : callable, optional
        Called after every level with the number of levels run and the entries reached.

    Raises
    ------
    SimulationError
        The simulation failed, or its queues overflowed again and again.
    """
    vertices = graph.graph.vertices

    def attempt(queues: QueueArrays) -> BfsRun:
        graph.reset(np.zeros(vertices, np.bool_))
        direction = Direction.of(graph, queues, number=0)
        search = Driver(coprocessor, queues, on_level=on_level).search(direction, source)
        reached, edges = ReachAccount(vertices).count(graph.words, direction.reach, entries=search.entries)
        return BfsRun(
            source=source,
            levels=levels_of(direction.reach, search.counts, vertices=vertices),
            level_records=search.levels,
            reached=reached,
            duplicates=search.pushed - reached,
            edges_traversed=edges,
            retries=0,
        )

    run, retries = with_larger_queues(attempt, coprocessor, vertices=vertices, directions=1, slack=slack)
    return replace(run, retries=retries)
