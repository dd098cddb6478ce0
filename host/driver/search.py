"""Breadth-first search on the accelerator: the level loop of the published coprocessor program (section 4.2).

A run can write checkpoints and be observed. It restarts with larger queues if they overflow.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypedDict, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.reach import ReachAccount, check_frontier, compact, levels_of, levels_of_words
from cyscc.host.graph.memory_map import MemoryArray, PlacedGraph, QueueArrays, default_slack
from cyscc.host.output.text import count_text
from cyscc.sim.coprocessor import NEW_SEARCH_BIT, Coprocessor, Instruction, Register, Status
from cyscc.sim.errors import SimulationError
from cyscc.sim.hardware import LEVEL, VISITED, chunk_words

MAX_RESTARTS = 6
"""Most restarts after queue overflows, each with twice the slack of the one before."""

_SMALLEST_SLACK = 64
_REFUSED = int(Status.BAD_INSTRUCTION | Status.BUSY)
_OVERFLOW = int(Status.OVERFLOW)
_Result = TypeVar("_Result")
_State = TypeVar("_State")
_Attempt = TypeVar("_Attempt", bound="Attempt")


class Position(NamedTuple):
    """Position of a run."""

    attempt: int
    """Number of abandoned attempts before it."""
    iteration: int
    """Iteration, from 1; 0 for a single search."""
    phase: str
    """Phase of the iteration: forward, backward or intersection."""
    level: int
    """Level of the search; -1 in an intersection."""

    def __str__(self) -> str:
        words = [f"attempt {self.attempt + 1}"] if self.attempt else []
        if self.iteration:
            words += [f"iteration {self.iteration:,}", self.phase]
        if self.level >= 0:
            words.append(f"level {self.level:,}")
        return ", ".join(words)


class Checkpointer:
    """Interface to checkpoints of a run; this base class writes none.

    A run registers its state, a dataclass of plain values that it updates in place. A subclass may save that state
    during any instruction, with the coprocessor and its memory. A resumed run gets the saved state, repeats the
    allocations, has the coprocessor's state restored, and continues by waiting for the interrupted instruction.

    Attributes
    ----------
    parts : dict of str to object
        The registered states by name.
    """

    def __init__(self) -> None:
        self.parts: dict[str, object] = {}

    @property
    def attempt(self) -> "Attempt | None":
        """The current attempt; None before the first."""
        return next((part for part in self.parts.values() if isinstance(part, Attempt)), None)

    @property
    def position(self) -> Position | None:
        """Current position of the run; None before its first attempt."""
        return None if self.attempt is None else self.attempt.position

    def restored(self, name: str, kind: type[_State], check: Callable[[_State], None]) -> _State | None:
        """Return the saved state of a part of the run, as type `kind`; None if the run is not resumed.

        `check` raises a `ValueError` for a state that the run cannot have, since a checkpoint may be anything.
        """
        return None

    def register(self, name: str, state: object, *, refresh: Callable[[], None] | None = None) -> None:
        """Register the state of a part of the run; `refresh`, if given, updates it before each checkpoint."""
        self.parts[name] = state

    def resume(self) -> None:
        """Restore the coprocessor's state; only in a resumed run."""


class LevelAccount(NamedTuple):
    """Distinct vertices and their edges, for each level of a search."""

    pushed: npt.NDArray[np.int64]
    """Distinct vertices that the level pushed."""
    edges: npt.NDArray[np.int64]
    """Out-edges of the vertices of its frontier."""

    @classmethod
    def of(cls, found: npt.NDArray[np.int64]) -> "LevelAccount":
        """Make the account from vertices and edges for each part of a reach queue: the source, then each level."""
        return cls(pushed=found[1:, 0], edges=found[:-1, 1])


class Observer:
    """Interface to observers of a run; this base class ignores all events. Observing never changes a run."""

    def begin(self, iteration: int, phase: str, source: int) -> None:
        """Handle the begin of a phase of an iteration, whose searches begin at a vertex (0 for a single search)."""

    def on_instruction(self, entries: int, pushed: int) -> None:
        """Handle a completed instruction, with the entries that it read from its queues, and those it pushed."""

    def end(self, account: Callable[[], LevelAccount] | None = None) -> None:
        """Handle the end of an intersection or a search; for a search, `account` returns counts of its levels."""


class DriverOptions(TypedDict, total=False):
    """Keywords of a search and of finding components; all are optional.

    Attributes
    ----------
    slack : int or None
        Queue entries beyond those of each vertex once; `cyscc.host.graph.memory_map.default_slack` by default.
    checkpointer : Checkpointer or None
        Interface to checkpoints.
    observer : Observer or None
        Observer of the run.
    """

    slack: int | None
    checkpointer: Checkpointer | None
    observer: Observer | None


class QueueOverflowError(SimulationError):
    """A level pushed more vertices than its queues hold."""


class Level(NamedTuple):
    """One level of a search."""

    frontier: int
    """Entries of the current queue."""
    pushed: int
    """Entries pushed into the next queue and the reach queue."""
    cycles: int
    """Cycles from the dispatch to its completion."""
    start: int
    """Cycle of the dispatch, counted from reset."""


@dataclass(kw_only=True, slots=True)
class Search:
    """State of a breadth-first search, running or complete.

    Parameters
    ----------
    source : int
        Source vertex.
    current : int
        Frontier queue to read next, 0 or 1.
    count : int
        Entries of that queue; 0 when the search is complete.
    entries : int
        Entries of the reach queue.
    counts : list of int
        Reach queue entries of the source (one) and of each level.
    levels : list of Level
        Levels so far; the last level of a search pushes nothing.
    """

    source: int
    current: int = 0
    count: int = 1
    entries: int = 1
    counts: list[int] = field(default_factory=lambda: [1])
    levels: list[Level] = field(default_factory=list)

    def check(self, vertices: int, capacity: int, *, reaches: bool) -> None:
        """Refuse a state that no search of a graph has, with queues of a capacity.

        Without a reach queue (`reaches` is false) only the entries of a level have to fit.

        Raises
        ------
        ValueError
            Something is out of range.
        """
        levels = [number for level in self.levels for number in level]
        if (
            not 0 <= self.source < vertices
            or self.current not in (0, 1)
            or not 0 <= self.count <= capacity
            or (self.entries if reaches else max(self.counts, default=0)) > capacity
            or min(self.counts, default=-1) < 0
            or self.counts[0] != 1
            or sum(self.counts) != self.entries
            or len(self.counts) != len(self.levels) + 1
            or len(self.levels) > vertices
            or min(levels, default=0) < 0
        ):
            raise ValueError("its search is impossible")

    @property
    def pushed(self) -> int:
        """Entries pushed, including the source and duplicates."""
        return 1 + sum(level.pushed for level in self.levels)

    @property
    def cycles(self) -> int:
        """Cycles of all levels."""
        return sum(level.cycles for level in self.levels)


@dataclass(kw_only=True)
class Attempt:
    """State of one attempt at a run, saved in checkpoints.

    Parameters
    ----------
    restarts : int
        Number of earlier attempts.
    written : dict
        Last value that the driver wrote to each register.
    dispatched : int or None
        Dispatch cycle of the running instruction, if any.
    search : Search or None
        The running search, if any.
    """

    restarts: int = 0
    written: dict[Register, int] = field(default_factory=dict)
    dispatched: int | None = None
    search: Search | None = None

    @property
    def position(self) -> Position:
        """Position of the run."""
        level = 0 if self.search is None else len(self.search.levels)
        return Position(attempt=self.restarts, iteration=0, phase="forward", level=level)

    def check(self, vertices: int, capacity: int, *, reaches: bool) -> None:
        """Refuse a state in which a run of a graph is never saved, with queues of a capacity.

        Raises
        ------
        ValueError
            Something is out of range.
        """
        if not 0 <= self.restarts <= MAX_RESTARTS or self.dispatched is None or self.dispatched < 0:
            raise ValueError("its attempt is impossible")
        if self.search is not None:
            self.search.check(vertices, capacity, reaches=reaches)


@dataclass(frozen=True, kw_only=True)
class Direction:
    """Graph and reach queue of searches in one direction.

    Parameters
    ----------
    graph : PlacedGraph
        The graph of this direction.
    reach : MemoryArray or None
        Its reach queue; None if the coprocessor writes levels into the graph words instead.
    """

    graph: PlacedGraph
    reach: MemoryArray | None = None


def _name(direction: Direction, vertex: int) -> int:
    """Return the name of a vertex in the graph's file."""
    return int(direction.graph.graph.original(np.array([vertex]))[0])


class Driver:
    """Runs instructions on a coprocessor.

    Parameters
    ----------
    coprocessor : Coprocessor
        The coprocessor.
    queues : QueueArrays
        The queues of the run.
    state : Attempt, optional
        State to resume from. If it has a running instruction, the first call must be the one that dispatched it; that
        call only waits for completion.
    on_level : callable, optional
        Called after every level with the number of levels run in this search and the entries reached so far.
    observer : Observer, optional
        Observer of the run.

    Attributes
    ----------
    queues : QueueArrays
    observer : Observer
    """

    def __init__(
        self,
        coprocessor: Coprocessor,
        queues: QueueArrays,
        *,
        state: Attempt | None = None,
        on_level: Callable[[int, int], None] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._coprocessor = coprocessor
        self.queues = queues
        self._on_level = on_level
        self.observer = observer or Observer()
        self._state = state or Attempt()

    @property
    def running(self) -> bool:
        """Whether an instruction was dispatched and has not been seen to complete."""
        return self._state.dispatched is not None

    @property
    def searching(self) -> bool:
        """Whether a search is running."""
        return self._state.search is not None

    def run(
        self, instruction: Instruction, parameters: Mapping[Register, int], *, result: Register
    ) -> tuple[int, int, int, int]:
        """Write changed parameters, run an instruction, and read its result and the status of all engines.

        Returns
        -------
        start : int
            Cycle of the dispatch.
        cycles : int
            Cycles from the dispatch until the last engine was idle.
        status : int
            OR of the status bits of all engines.
        value : int
            Register `result` of the leading engine.

        Raises
        ------
        SimulationError
            The simulation failed, or an engine refused the instruction.
        """
        coprocessor, written = self._coprocessor, self._state.written
        if self._state.dispatched is None:
            changed = {register: value for register, value in parameters.items() if written.get(register) != value}
            if changed:
                coprocessor.set_registers(changed)
                written.update(changed)
            self._state.dispatched = coprocessor.dispatch(instruction)
        cycles = coprocessor.wait()
        start, self._state.dispatched = self._state.dispatched, None
        # The hardware returns the level's count in this register, which overwrites the parameter.
        written.pop(Register.CURRENT_COUNT, None)
        states, values = coprocessor.get_registers([Register.STATUS, result]).tolist()
        status = 0
        for state in states:
            status |= state
        if status & _REFUSED:
            raise SimulationError(
                f"an engine did not complete instruction {instruction.value} ({instruction.name}): status {status:#x}"
            )
        return start, cycles, status, values[0]

    def search(self, direction: Direction, source: int) -> Search:
        """Search breadth-first from a vertex, level by level, until a level pushes nothing.

        The search does not enter vertices whose visited bit is set; the source must not be one of them. Afterwards the
        vertices reached are marked as visited, and listed in the direction's reach queue, the source first. When
        duplicates fill half of the slack, the host removes them from the reach queue. Otherwise a small graph of many
        levels would overflow any queue, since a level can push thousands of times what it reads before its first write
        takes effect.

        Raises
        ------
        QueueOverflowError
            A level pushed more than its queues hold.
        SimulationError
            The simulation failed, or wrote impossible values.
        """
        if self._state.search is None:
            self._state.search = Search(source=source, count=self._enter(direction, source))
        queues, reach, state = self.queues, direction.reach, self._state.search
        vertices = direction.graph.graph.vertices
        once = self._coprocessor.config.queue_entries(vertices, direction.graph.graph.edges)
        most = (queues.capacity + once) // 2
        while state.count:
            frontier = queues.frontiers[state.current].values[: state.count]
            check_frontier(frontier, edges=direction.graph.graph.edges, name=direction.graph.name)
            capacity = queues.capacity - (0 if reach is None else state.entries)
            first = int(self._coprocessor.config.visited_filter > 0 and not state.levels)
            start, cycles, status, pushed = self.run(
                Instruction.BFS_LEVEL,
                {
                    Register.WORDS: direction.graph.words_address,
                    Register.NEIGHBOURS: direction.graph.neighbours_address,
                    Register.CURRENT_QUEUE: queues.frontiers[state.current].address,
                    Register.NEXT_QUEUE: queues.frontiers[1 - state.current].address,
                    Register.REACH_QUEUE: len(state.counts) if reach is None else reach.address + 4 * state.entries,
                    Register.CURRENT_COUNT: state.count | first << NEW_SEARCH_BIT,
                    Register.CAPACITY: capacity,
                },
                result=Register.CURRENT_COUNT,
            )
            self.observer.on_instruction(state.count, pushed)
            if status & _OVERFLOW or pushed > capacity:
                raise QueueOverflowError(
                    f"level {len(state.levels)} of the search from vertex {_name(direction, source)} overflowed its "
                    f"queues: {capacity} of {queues.capacity} entries were free"
                )
            state.levels.append(Level(state.count, pushed, cycles, start))
            state.counts.append(pushed)
            state.entries += pushed
            if reach is not None and state.entries > most:
                state.counts = compact(reach.values, state.counts, vertices=vertices, name=direction.graph.name)
                state.entries = sum(state.counts)
            state.count, state.current = pushed, 1 - state.current
            if state.count and len(state.levels) >= vertices:
                raise SimulationError(
                    f"the search from vertex {_name(direction, source)} goes on after {len(state.levels)} levels: "
                    f"there are {count_text(vertices, 'vertex')}"
                )
            if self._on_level is not None:
                self._on_level(len(state.levels), state.entries)
        self._state.search = None
        return state

    def _enter(self, direction: Direction, source: int) -> int:
        """Mark the source of a search as visited, and push it into the queues; return its entries of the first one."""
        words = direction.graph.words
        words[source] |= VISITED.put(1)
        entries = chunk_words(int(words[source]), self._coprocessor.config.edge_chunk)
        self.queues.frontiers[0].values[: entries.size] = entries
        if direction.reach is None:
            words[source] = VISITED.put(1) | LEVEL.put(0)
        else:
            direction.reach.values[0] = source
        return entries.size


def _slack_after(restarts: int, slack: int) -> int:
    """Return the slack of an attempt, given that of the first one."""
    for _ in range(min(restarts, MAX_RESTARTS)):
        slack = max(2 * slack, _SMALLEST_SLACK)
    return slack


def with_retries(
    attempt: Callable[[Driver, _Attempt, bool], _Result],
    coprocessor: Coprocessor,
    kind: type[_Attempt],
    *,
    name: str,
    vertices: int,
    edges: int,
    directions: int,
    on_level: Callable[[int, int], None] | None = None,
    **options: Unpack[DriverOptions],
) -> tuple[_Result, int]:
    """Execute a run, and restart it with twice the slack as long as its queues overflow.

    Parameters
    ----------
    attempt : callable
        Executes an attempt, given a driver with its queues, its state, and whether it is resumed; if not, it
        initializes all memory that it changes.
    coprocessor : Coprocessor
        Where the queues are allocated.
    kind : type
        Type of the state.
    name : str
        Name of the state in checkpoints.
    vertices, edges : int
        Size of the graph; the queues hold the entries of all its vertices, plus the slack.
    directions : int
        Number of reach queues, 1 or 2.
    on_level : callable, optional
        See `Driver`.
    **options
        See `DriverOptions`.

    Returns
    -------
    result
        What `attempt` returned.
    restarts : int
        Number of restarts.

    Raises
    ------
    QueueOverflowError
        The queues overflowed even after `MAX_RESTARTS` restarts.
    """
    slack, observer = options.get("slack"), options.get("observer")
    checkpointer = options.get("checkpointer") or Checkpointer()
    first = default_slack(vertices) if slack is None else slack
    least = coprocessor.config.queue_entries(vertices, edges)
    saved = checkpointer.restored(
        name,
        kind,
        lambda state: state.check(vertices, least + _slack_after(state.restarts, first), reaches=directions > 0),
    )
    begun = 0 if saved is None else saved.restarts
    for restarts in range(MAX_RESTARTS + 1):
        if restarts > begun:
            coprocessor.begin_attempt()
        capacity = least + _slack_after(restarts, first)
        queues = QueueArrays.allocate(coprocessor, capacity=capacity, directions=directions)
        if restarts >= begun:
            resumed = saved is not None and restarts == begun
            state = saved if saved is not None and resumed else kind(restarts=restarts)
            checkpointer.register(name, state)
            if resumed:
                checkpointer.resume()
            try:
                driver = Driver(coprocessor, queues, state=state, on_level=on_level, observer=observer)
                return attempt(driver, state, resumed), restarts
            except QueueOverflowError as error:
                last = error
    raise QueueOverflowError(f"{last}, after {MAX_RESTARTS} restarts with larger queues")


@dataclass(frozen=True, kw_only=True)
class BfsRun:
    """Outcome of a breadth-first search, with its cycles.

    Parameters
    ----------
    source : int
        Source vertex.
    levels : ndarray of int32, shape (vertices,)
        Level of each vertex, -1 if not reached.
    level_records : tuple of Level
        Frontier, entries pushed and cycles of every level.
    reached : int
        Distinct vertices reached, the source included.
    duplicates : int
        Entries pushed beyond one for each vertex.
    edges_traversed : int
        Out-edges of the vertices reached, each counted once.
    retries : int
        Restarts after queue overflows.
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
"""Levels, distinct vertices reached, duplicates, out-edges of the vertices reached, and counts by level."""


def _account_of_queue(graph: PlacedGraph, reach: npt.NDArray[np.uint32], search: Search) -> _Account:
    """Return the account of a search from its reach queue."""
    vertices = graph.graph.vertices
    levels = levels_of(reach, search.counts, vertices=vertices, name=graph.name)
    found = ReachAccount(vertices).count(graph.words, reach, search.counts, name=graph.name)
    reached, edges = found.sum(0).tolist()
    return levels, reached, search.pushed - reached, edges, lambda: LevelAccount.of(found)


def _account_of_words(graph: PlacedGraph, search: Search) -> _Account:
    """Return the account of a search that wrote levels into the graph words, and queued only vertices with edges."""
    levels = levels_of_words(graph.words, deepest=len(search.levels), name=graph.name)
    degrees, count = graph.graph.out_degrees(), len(search.levels)
    reached = degrees[levels >= 0]
    queued = int(np.count_nonzero(reached)) + int(degrees[search.source] == 0)

    def by_level() -> LevelAccount:
        pushed = np.bincount(levels[(levels > 0) & (degrees > 0)] - 1, minlength=count)
        # Exact in double precision: a graph has fewer than 2**32 edges.
        edges = np.bincount(levels[levels >= 0], weights=reached, minlength=count)[:count]
        return LevelAccount(pushed=pushed.astype(np.int64), edges=edges.astype(np.int64))

    return levels, reached.size, search.pushed - queued, int(reached.sum(dtype=np.int64)), by_level


def breadth_first_search(
    coprocessor: Coprocessor,
    graph: PlacedGraph,
    source: int,
    *,
    on_level: Callable[[int, int], None] | None = None,
    **options: Unpack[DriverOptions],
) -> BfsRun:
    """Search a placed graph breadth-first.

    Parameters
    ----------
    coprocessor : Coprocessor
        Where the graph was placed.
    graph : PlacedGraph
        The graph; its words are reset here.
    source : int
        Source vertex, 0 to vertices - 1.
    on_level : callable, optional
        Called after every level with the number of levels run and the entries reached.
    **options
        See `DriverOptions`.

    Raises
    ------
    SimulationError
        The simulation failed, or its queues overflowed even after `MAX_RESTARTS` restarts.
    """
    vertices = graph.graph.vertices

    def attempt(driver: Driver, state: Attempt, resumed: bool) -> BfsRun:
        if not resumed:
            graph.reset(np.zeros(vertices, np.bool_))
            driver.observer.begin(0, "forward", source)
        reach = next(iter(driver.queues.reaches), None)
        search = driver.search(Direction(graph=graph, reach=reach), source)
        account = _account_of_words(graph, search) if reach is None else _account_of_queue(graph, reach.values, search)
        levels, reached, duplicates, edges, by_level = account
        driver.observer.end(by_level)
        return BfsRun(
            source=source,
            levels=levels,
            level_records=tuple(search.levels),
            reached=reached,
            duplicates=duplicates,
            edges_traversed=edges,
            retries=0,
        )

    run, retries = with_retries(
        attempt,
        coprocessor,
        Attempt,
        name="search",
        vertices=vertices,
        edges=graph.graph.edges,
        directions=int(coprocessor.config.keeps_reach_queue),
        on_level=on_level,
        **options,
    )
    return replace(run, retries=retries)
