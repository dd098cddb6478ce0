"""Strongly connected components on the accelerator: the iteration of Attia et al. 2015 (section 4, algorithm 6)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from host.algorithms.driver import Direction, Driver, Search, with_larger_queues
from host.algorithms.reach import ReachAccount, check_colours, first_uncoloured
from host.graph.memory_map import MemoryArray, PlacedGraph, QueueArrays
from sim.coprocessor import NO_START, Coprocessor, Instruction, Register
from sim.errors import SimulationError

__all__ = ["ComponentRun", "Iteration", "SearchTotals", "strong_components"]


@dataclass(kw_only=True)
class SearchTotals:
    """Sums over all searches of one direction.

    Parameters
    ----------
    searches, levels, cycles : int
        Searches made, levels run and the cycles they took.
    reached : int
        Vertices reached, each once a search.
    duplicates : int
        Entries pushed for vertices that another kernel pushed as well.
    edges : int
        Edges, in the direction searched, that leave the vertices reached, each once a search.
    """

    searches: int = 0
    levels: int = 0
    cycles: int = 0
    reached: int = 0
    duplicates: int = 0
    edges: int = 0

    def add(self, search: Search, *, cycles: int, reached: int, edges: int) -> None:
        """Add a search that took `cycles` and reached `reached` distinct vertices with `edges` edges."""
        self.searches += 1
        self.levels += len(search.levels)
        self.cycles += cycles
        self.reached += reached
        self.duplicates += search.pushed - reached
        self.edges += edges


@dataclass(frozen=True, kw_only=True, slots=True)
class Iteration:
    """One iteration: a forward search, and a backward search and an intersection unless nothing else was reached.

    Parameters
    ----------
    number : int
        Its number, from 1.
    forward : Search
        The forward search.
    backward : Search or None
        The backward search.
    intersection : int
        Cycles of the intersection.
    cycles : int
        Cycles of it all.
    """

    number: int
    forward: Search
    backward: Search | None
    intersection: int
    cycles: int


@dataclass(kw_only=True)
class ComponentRun:
    """The components found and what it took.

    Parameters
    ----------
    colours : ndarray of uint32, shape (vertices,)
        Colour of each vertex: 1 to `components`, equal within a component.
    components : int
        Number of components.
    trimmed : int
        Components that trimming found.
    iterations : int
        Iterations run.
    forward, backward : SearchTotals
        Sums over the searches.
    intersections, intersection_cycles : int
        Intersections run and the cycles they took.
    longest : Iteration or None
        The iteration of most cycles, with the records of its levels.
    retries : int
        Restarts because of queues that overflowed.
    start_seconds : float
        Processor time of the host's own searches for a start, which is in no cycle.
    """

    colours: npt.NDArray[np.uint32]
    components: int
    trimmed: int
    iterations: int = 0
    forward: SearchTotals = field(default_factory=SearchTotals)
    backward: SearchTotals = field(default_factory=SearchTotals)
    intersections: int = 0
    intersection_cycles: int = 0
    longest: Iteration | None = None
    retries: int = 0
    start_seconds: float = 0.0

    @property
    def cycles(self) -> int:
        """Cycles of all instructions."""
        return self.forward.cycles + self.backward.cycles + self.intersection_cycles

    @property
    def edges_traversed(self) -> int:
        """Edges of all searches."""
        return self.forward.edges + self.backward.edges


class _Attempt:
    """One run with given queues."""

    def __init__(
        self,
        coprocessor: Coprocessor,
        queues: QueueArrays,
        *,
        graphs: tuple[PlacedGraph, PlacedGraph],
        colours: MemoryArray,
        trimmed: npt.NDArray[np.bool_],
        on_iteration: Callable[[int, npt.NDArray[np.uint32]], None] | None,
    ) -> None:
        self._driver = Driver(coprocessor, queues)
        self._queues = queues
        self._forward, self._backward = (
            Direction(graph=graph, reach=reach) for graph, reach in zip(graphs, queues.reaches, strict=True)
        )
        self._colours = colours
        self._account = ReachAccount(len(trimmed))
        self._on_iteration = on_iteration
        for graph in graphs:
            graph.reset(trimmed)
        count = int(np.count_nonzero(trimmed))
        colours.values[:] = 0
        colours.values[trimmed] = np.arange(1, count + 1, dtype=np.uint32)
        self._run = ComponentRun(colours=colours.values, components=count, trimmed=count)

    def iterate(self) -> ComponentRun:
        """Give every vertex a colour."""
        run, colours = self._run, self._colours.values
        cursor = start = self._first_uncoloured(0)
        while start < colours.size:
            run.iterations += 1
            run.components += 1
            offered = self._component(start)
            if colours[start] != run.components:
                raise SimulationError(f"iteration {run.iterations} left its start, vertex {start}, without its colour")
            if self._on_iteration is not None:
                self._on_iteration(run.iterations, colours)
            if offered is None:
                cursor = start = self._first_uncoloured(cursor)
            elif offered < colours.size and not colours[offered]:
                start = offered
            else:
                raise SimulationError(
                    f"the intersection of iteration {run.iterations} offered vertex {offered} as the next start, "
                    + ("which has a colour" if offered < colours.size else f"of {colours.size} vertices")
                )
        check_colours(colours, run.components)
        return run

    def _first_uncoloured(self, begin: int) -> int:
        """Search for a start, and note the time that it takes."""
        # Other processes may simulate meanwhile, and they must not count.
        clock = time.thread_time()
        vertex = first_uncoloured(self._colours.values, begin)
        self._run.start_seconds += time.thread_time() - clock
        return vertex

    def _component(self, start: int) -> int | None:
        """Colour the component of a vertex and return the next start when the hardware offers one."""
        run = self._run
        forward, forward_cycles = self._search(self._forward, start, run.forward)
        if forward.entries == 1:
            self._colours.values[start] = run.components
            self._backward.graph.words[start] |= np.uint64(1)
            self._note(forward, None, 0, forward_cycles)
            return None
        backward, backward_cycles = self._search(self._backward, start, run.backward)
        _, cycles, _, offered = self._driver.run(
            Instruction.INTERSECTION,
            {
                Register.WORDS: self._forward.graph.words_address,
                Register.TRANSPOSED_WORDS: self._backward.graph.words_address,
                Register.COLOURS: self._colours.address,
                Register.FORWARD_QUEUE: self._queues.reaches[0].address,
                Register.FORWARD_COUNT: forward.entries,
                Register.BACKWARD_QUEUE: self._queues.reaches[1].address,
                Register.BACKWARD_COUNT: backward.entries,
                Register.COLOUR: run.components,
            },
            result=Register.NEXT_START,
        )
        run.intersections += 1
        run.intersection_cycles += cycles
        self._note(forward, backward, cycles, forward_cycles + backward_cycles + cycles)
        return None if offered & NO_START == NO_START else offered

    def _search(self, direction: Direction, start: int, totals: SearchTotals) -> tuple[Search, int]:
        assert direction.reach is not None
        search = self._driver.search(direction, start)
        cycles = search.cycles
        graph, reach = direction.graph, direction.reach.values
        reached, edges = self._account.count(graph.words, reach, entries=search.entries, name=graph.name)
        totals.add(search, cycles=cycles, reached=reached, edges=edges)
        return search, cycles

    def _note(self, forward: Search, backward: Search | None, intersection: int, cycles: int) -> None:
        longest = self._run.longest
        if longest is None or cycles > longest.cycles:
            self._run.longest = Iteration(
                number=self._run.iterations,
                forward=forward,
                backward=backward,
                intersection=intersection,
                cycles=cycles,
            )


def strong_components(
    coprocessor: Coprocessor,
    forward: PlacedGraph,
    backward: PlacedGraph,
    trimmed: npt.NDArray[np.bool_],
    *,
    slack: int | None = None,
    on_iteration: Callable[[int, npt.NDArray[np.uint32]], None] | None = None,
) -> ComponentRun:
    """Find the strongly connected components of a placed graph.

    Trimmed vertices get colours of their own. Then, from one uncoloured vertex after the other: a forward search, a
    backward search, and the intersection, which colours what both reached. The next start is what the intersection
    offers, else the first uncoloured vertex.

    Parameters
    ----------
    coprocessor : Coprocessor
        Where the graphs were placed.
    forward, backward : PlacedGraph
        The graph and its transpose; their words are reset here.
    trimmed : ndarray of bool, shape (vertices,)
        Vertices that are known to be components of their own.
    slack : int, optional
        Queue entries beyond one for each vertex, `host.graph.memory_map.default_slack` when absent.
    on_iteration : callable, optional
        Called after every iteration with its number, from 1, and the colours.

    Raises
    ------
    SimulationError
        The simulation failed, its queues overflowed again and again, or it coloured what it must not.
    ValueError
        The coprocessor keeps no reach queue.
    """
    if not coprocessor.reach_queue:
        raise ValueError("the coprocessor only searches: it keeps no reach queue to intersect")
    vertices = forward.graph.vertices
    colours = MemoryArray.allocate(coprocessor, np.uint32, vertices)

    def attempt(queues: QueueArrays) -> ComponentRun:
        return _Attempt(
            coprocessor,
            queues,
            graphs=(forward, backward),
            colours=colours,
            trimmed=trimmed,
            on_iteration=on_iteration,
        ).iterate()

    run, retries = with_larger_queues(attempt, coprocessor, vertices=vertices, directions=2, slack=slack)
    return replace(run, retries=retries)
