"""Strongly connected components on the accelerator: the iteration of Attia et al. 2015 (section 4, algorithm 6)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.reach import ReachAccount, check_colours, first_uncoloured
from cyscc.host.driver.search import (
    Attempt,
    Direction,
    Driver,
    DriverOptions,
    LevelAccount,
    Position,
    Search,
    with_retries,
)
from cyscc.host.graph.memory_map import MemoryArray, PlacedGraph
from cyscc.sim.coprocessor import NO_START, ArrayKind, Coprocessor, Instruction, Register
from cyscc.sim.errors import SimulationError


@dataclass(kw_only=True)
class SearchTotals:
    """Sums over all searches of one direction.

    Parameters
    ----------
    searches, levels, cycles : int
        Number of searches and levels, and their cycles.
    reached : int
        Distinct vertices reached, summed over searches.
    duplicates : int
        Entries pushed beyond one for each vertex.
    edges : int
        Out-edges, in the direction searched, of these vertices.
    """

    searches: int = 0
    levels: int = 0
    cycles: int = 0
    reached: int = 0
    duplicates: int = 0
    edges: int = 0

    def add(self, search: Search, *, reached: int, edges: int) -> None:
        """Add a search that reached `reached` distinct vertices with `edges` out-edges."""
        self.searches += 1
        self.levels += len(search.levels)
        self.cycles += search.cycles
        self.reached += reached
        self.duplicates += search.pushed - reached
        self.edges += edges


@dataclass(frozen=True, kw_only=True, slots=True)
class Iteration:
    """One iteration: a forward search, then a backward search and an intersection unless only the source was reached.

    Parameters
    ----------
    number : int
        Number of the iteration, from 1.
    forward : Search
        The forward search.
    backward : Search or None
        The backward search.
    intersection : int
        Cycles of the intersection.
    cycles : int
        Cycles of the iteration.
    """

    number: int
    forward: Search
    backward: Search | None
    intersection: int
    cycles: int


@dataclass(kw_only=True)
class ComponentTotals:
    """Totals of a run: components found, and cycles.

    Parameters
    ----------
    components : int
        Number of components.
    trimmed : int
        Components that trimming found.
    iterations : int
        Iterations run.
    forward, backward : SearchTotals
        Sums over the searches.
    intersections, intersection_cycles : int
        Number of intersections, and their cycles.
    longest : Iteration or None
        The iteration with the most cycles, including its levels.
    retries : int
        Restarts after queue overflows.
    start_seconds : float
        Processor time of the host's searches for an uncoloured vertex, which takes no simulated cycles.
    """

    components: int = 0
    trimmed: int = 0
    iterations: int = 0
    forward: SearchTotals = field(default_factory=SearchTotals)
    backward: SearchTotals = field(default_factory=SearchTotals)
    intersections: int = 0
    intersection_cycles: int = 0
    longest: Iteration | None = None
    retries: int = 0
    start_seconds: float = 0.0


@dataclass(kw_only=True)
class ComponentRun(ComponentTotals):
    """Components found, with totals of the run.

    Parameters
    ----------
    colours : ndarray of uint32, shape (vertices,)
        Colour of each vertex: 1 to `components`, equal within a component.
    **totals
        Parameters of `ComponentTotals`.
    """

    colours: npt.NDArray[np.uint32]

    @property
    def cycles(self) -> int:
        """Cycles of all instructions."""
        return self.forward.cycles + self.backward.cycles + self.intersection_cycles

    @property
    def edges_traversed(self) -> int:
        """Edges traversed by all searches."""
        return self.forward.edges + self.backward.edges


@dataclass(kw_only=True)
class _State(Attempt):
    """State of an attempt, saved in checkpoints.

    Parameters
    ----------
    totals : ComponentTotals
        Totals so far.
    cursor : int
        All vertices before this one have a colour.
    start : int or None
        Start vertex of the current or the next iteration; None before the first.
    in_iteration : bool
        Whether that iteration has begun.
    forward, backward : Search or None
        Completed searches of this iteration.
    """

    totals: ComponentTotals = field(default_factory=ComponentTotals)
    cursor: int = 0
    start: int | None = None
    in_iteration: bool = False
    forward: Search | None = None
    backward: Search | None = None

    @property
    def position(self) -> Position:
        """Position of the run."""
        searching = self.search is not None or self.forward is None or self.backward is None
        return Position(
            attempt=self.restarts,
            iteration=max(self.totals.iterations, 1),
            phase="intersection" if not searching else "forward" if self.forward is None else "backward",
            level=-1 if not searching else 0 if self.search is None else len(self.search.levels),
        )

    def check(self, vertices: int, capacity: int, *, reaches: bool) -> None:
        """Refuse a state in which a run of a graph is never saved, with queues of a capacity."""
        super().check(vertices, capacity, reaches=reaches)
        for search in (self.forward, self.backward):
            if search is not None:
                search.check(vertices, capacity, reaches=reaches)
        places = (self.cursor, -1 if self.start is None else self.start, self.totals.components - 1)
        if not all(0 <= place < vertices for place in places):
            raise ValueError("its iteration is impossible")


class _Run:
    """One attempt, with given queues."""

    def __init__(
        self,
        driver: Driver,
        state: _State,
        *,
        graphs: tuple[PlacedGraph, PlacedGraph],
        colours: MemoryArray,
        on_iteration: Callable[[int, npt.NDArray[np.uint32]], None] | None,
    ) -> None:
        self._driver = driver
        self._forward, self._backward = (
            Direction(graph=graph, reach=reach) for graph, reach in zip(graphs, driver.queues.reaches, strict=True)
        )
        self._colours = colours
        self._account = ReachAccount(colours.values.size)
        self._on_iteration = on_iteration
        self._state = state
        self._totals = state.totals

    def begin(self, trimmed: npt.NDArray[np.bool_]) -> None:
        """Initialize graph words and colours."""
        for direction in (self._forward, self._backward):
            direction.graph.reset(trimmed)
        count = int(np.count_nonzero(trimmed))
        self._colours.values[:] = 0
        self._colours.values[trimmed] = np.arange(1, count + 1, dtype=np.uint32)
        self._totals.components = self._totals.trimmed = count

    def iterate(self) -> ComponentRun:
        """Iterate until every vertex has a colour."""
        state, totals, colours = self._state, self._totals, self._colours.values
        if state.start is None:
            state.cursor = state.start = self._first_uncoloured(0)
        if self._on_iteration is not None:
            self._on_iteration(totals.iterations - state.in_iteration, colours)
        while (start := state.start) < colours.size:
            if not state.in_iteration:
                state.in_iteration = True
                totals.iterations += 1
                totals.components += 1
            offered = self._component(start)
            state.in_iteration, state.forward, state.backward = False, None, None
            if colours[start] != totals.components:
                raise SimulationError(
                    f"iteration {totals.iterations} left its start, vertex {start}, without its colour"
                )
            if self._on_iteration is not None:
                self._on_iteration(totals.iterations, colours)
            if offered is None:
                state.cursor = state.start = self._first_uncoloured(state.cursor)
            elif offered < colours.size and not colours[offered]:
                state.start = offered
            else:
                raise SimulationError(
                    f"the intersection of iteration {totals.iterations} offered vertex {offered} as the next start, "
                    + ("which has a colour" if offered < colours.size else f"of {colours.size} vertices")
                )
        check_colours(colours, totals.components)
        return ComponentRun(colours=colours, **vars(totals))

    def _first_uncoloured(self, begin: int) -> int:
        """Search for an uncoloured vertex, and account for the time."""
        # Thread time, so that other processes on the same cores do not count.
        clock = time.thread_time()
        vertex = first_uncoloured(self._colours.values, begin)
        self._totals.start_seconds += time.thread_time() - clock
        return vertex

    def _component(self, start: int) -> int | None:
        """Colour the component of a vertex; return the next start if the hardware offers one."""
        state, run = self._state, self._totals
        forward = state.forward = state.forward or self._search(self._forward, start, run.forward)
        if forward.entries == 1:
            self._colours.values[start] = run.components
            self._backward.graph.words[start] |= np.uint64(1)
            self._note(forward, None, 0)
            return None
        backward = state.backward = state.backward or self._search(self._backward, start, run.backward)
        if not self._driver.running:
            self._driver.observer.begin(run.iterations, "intersection", start)
        _, cycles, _, offered = self._driver.run(
            Instruction.INTERSECTION,
            {
                Register.WORDS: self._forward.graph.words_address,
                Register.TRANSPOSED_WORDS: self._backward.graph.words_address,
                Register.COLOURS: self._colours.address,
                Register.FORWARD_QUEUE: self._driver.queues.reaches[0].address,
                Register.FORWARD_COUNT: forward.entries,
                Register.BACKWARD_QUEUE: self._driver.queues.reaches[1].address,
                Register.BACKWARD_COUNT: backward.entries,
                Register.COLOUR: run.components,
            },
            result=Register.NEXT_START,
        )
        self._driver.observer.on_instruction(forward.entries + backward.entries, 0)
        self._driver.observer.end()
        run.intersections += 1
        run.intersection_cycles += cycles
        self._note(forward, backward, cycles)
        return None if offered & NO_START == NO_START else offered

    def _search(self, direction: Direction, start: int, totals: SearchTotals) -> Search:
        assert direction.reach is not None
        if not self._driver.searching:
            self._driver.observer.begin(
                self._totals.iterations, "forward" if totals is self._totals.forward else "backward", start
            )
        search = self._driver.search(direction, start)
        graph, reach = direction.graph, direction.reach.values
        found = self._account.count(graph.words, reach, search.counts, name=graph.name)
        self._driver.observer.end(lambda: LevelAccount.of(found))
        reached, edges = found.sum(0).tolist()
        totals.add(search, reached=reached, edges=edges)
        return search

    def _note(self, forward: Search, backward: Search | None, intersection: int) -> None:
        cycles = forward.cycles + (backward.cycles if backward is not None else 0) + intersection
        longest = self._totals.longest
        if longest is None or cycles > longest.cycles:
            self._totals.longest = Iteration(
                number=self._totals.iterations,
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
    on_iteration: Callable[[int, npt.NDArray[np.uint32]], None] | None = None,
    **options: Unpack[DriverOptions],
) -> ComponentRun:
    """Find the strongly connected components of a placed graph.

    Each trimmed vertex gets its own colour. Then, from one uncoloured vertex after the other: a forward search, a
    backward search, and the intersection, which colours the vertices that both reached. The intersection may offer the
    next start; otherwise it is the first uncoloured vertex.

    Parameters
    ----------
    coprocessor : Coprocessor
        Where the graphs were placed.
    forward, backward : PlacedGraph
        The graph and its transpose; their words are reset here.
    trimmed : ndarray of bool, shape (vertices,)
        Vertices that are known to be components of their own.
    on_iteration : callable, optional
        Called at the begin, and after every iteration, with the number of complete iterations and the colours.
    **options
        See `DriverOptions`.

    Raises
    ------
    SimulationError
        The simulation failed, its queues overflowed even after all restarts, or its colours are inconsistent.
    ValueError
        The coprocessor keeps no reach queue.
    """
    coprocessor.config.require("finds_components", name="the coprocessor")
    vertices = forward.graph.vertices
    colours = MemoryArray.allocate(coprocessor, np.uint32, vertices, holds=ArrayKind.COLOURS)

    def attempt(driver: Driver, state: _State, resumed: bool) -> ComponentRun:
        run = _Run(driver, state, graphs=(forward, backward), colours=colours, on_iteration=on_iteration)
        if not resumed:
            run.begin(trimmed)
        return run.iterate()

    run, retries = with_retries(
        attempt,
        coprocessor,
        _State,
        name="components",
        vertices=vertices,
        edges=forward.graph.edges,
        directions=2,
        **options,
    )
    run.retries = retries
    return run
