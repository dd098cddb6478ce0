"""The level loop of the published coprocessor program: a breadth-first search of one direction (section 4.2)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from host.algorithms.reach import check_frontier, compact
from host.graph.memory_map import MemoryArray, PlacedGraph, QueueArrays, default_slack
from host.words import counted
from sim.coprocessor import Coprocessor, Instruction, Register, Status
from sim.errors import SimulationError
from sim.graph_word import LEVEL, VISITED

__all__ = [
    "MAX_RESTARTS",
    "Direction",
    "Driver",
    "Level",
    "QueueOverflowError",
    "Search",
    "with_larger_queues",
]

MAX_RESTARTS = 6
"""How often a run whose queues overflowed starts again with twice the slack before it is given up."""

_SMALLEST_SLACK = 64
_Result = TypeVar("_Result")


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """What a breadth-first search did.

    Parameters
    ----------
    source : int
        Where it started.
    counts : tuple of int
        Entries that stand in the reach queue of the source (one) and of each level after it.
    levels : tuple of Level
        Its levels; the last one pushed nothing.
    """

    source: int
    counts: tuple[int, ...]
    levels: tuple[Level, ...]

    @property
    def entries(self) -> int:
        """Entries of the reach queue."""
        return sum(self.counts)

    @property
    def pushed(self) -> int:
        """Vertices pushed, the source included and those pushed twice twice."""
        return 1 + sum(level.pushed for level in self.levels)

    @property
    def cycles(self) -> int:
        """Cycles of all levels."""
        return sum(level.cycles for level in self.levels)


@dataclass(frozen=True, kw_only=True)
class Direction:
    """What a search of one direction works on.

    Parameters
    ----------
    graph : PlacedGraph
        The graph of this direction.
    reach : MemoryArray or None
        Its reach queue. None where the coprocessor keeps none, but writes levels into the graph words.
    """

    graph: PlacedGraph
    reach: MemoryArray | None = None


class Driver:
    """Runs instructions on a coprocessor.

    Parameters
    ----------
    coprocessor : Coprocessor
        Where they run.
    queues : QueueArrays
        The queues of the run.
    on_level : callable, optional
        Called after every level with the number of levels run in this search and the entries reached so far.
    """

    def __init__(
        self, coprocessor: Coprocessor, queues: QueueArrays, *, on_level: Callable[[int, int], None] | None = None
    ) -> None:
        self._coprocessor = coprocessor
        self._queues = queues
        self._on_level = on_level
        self._written: dict[Register, int] = {}

    def run(
        self, instruction: Instruction, parameters: Mapping[Register, int], *, result: Register
    ) -> tuple[int, int, Status, int]:
        """Write the parameters that changed, run an instruction to its end, read its result and all engines' status.

        Returns
        -------
        start : int
            Cycle of the dispatch.
        cycles : int
            Cycles from the dispatch until the last engine was idle.
        status : Status
            The bits that any engine shows.
        value : int
            What the leading engine returns in the register `result`.

        Raises
        ------
        SimulationError
            The simulation failed, or an engine refused the instruction.
        """
        coprocessor, written = self._coprocessor, self._written
        changed = {register: value for register, value in parameters.items() if written.get(register) != value}
        if changed:
            coprocessor.set_registers(changed)
            written.update(changed)
        start = coprocessor.dispatch(instruction)
        cycles = coprocessor.wait()
        # The hardware returns the count of the level in this register: what was written there is gone.
        written.pop(Register.CURRENT_COUNT, None)
        states, values = coprocessor.get_registers([Register.STATUS, result]).tolist()
        status = 0
        for state in states:
            status |= state
        if status & (Status.BAD_INSTRUCTION | Status.BUSY):
            raise SimulationError(
                f"an engine did not complete instruction {instruction.value} ({instruction.name}): status {status:#x}"
            )
        return start, cycles, Status(status), values[0]

    def search(self, direction: Direction, source: int) -> Search:
        """Search breadth-first from a vertex, level by level, until a level pushes nothing.

        Vertices whose visited bit is set are not entered; the source must not be one of them. Afterwards the vertices
        reached are visited and stand in the direction's reach queue, the source first. When vertices that were pushed
        again have taken half of the slack, the host takes them out of the reach queue: a small graph of many levels
        would overflow any queue otherwise, since each level can push thousands of times what it reads before the first
        write.

        Raises
        ------
        QueueOverflowError
            A level pushed more than its queues hold.
        SimulationError
            The simulation failed, or what it wrote cannot be.
        """
        queues, words = self._queues, direction.graph.words
        words[source] |= VISITED.put(1)
        queues.frontiers[0].values[0] = words[source]
        reach = direction.reach
        if reach is None:
            words[source] = VISITED.put(1) | LEVEL.put(0)
        else:
            reach.values[0] = source
        vertices = direction.graph.graph.vertices
        most = (queues.capacity + vertices) // 2
        current, count, entries = 0, 1, 1
        counts = [1]
        levels: list[Level] = []
        while count:
            frontier = queues.frontiers[current].values[:count]
            check_frontier(frontier, edges=direction.graph.graph.edges, name=direction.graph.name)
            capacity = queues.capacity - (0 if reach is None else entries)
            start, cycles, status, pushed = self.run(
                Instruction.BFS_LEVEL,
                {
                    Register.WORDS: direction.graph.words_address,
                    Register.NEIGHBOURS: direction.graph.neighbours_address,
                    Register.CURRENT_QUEUE: queues.frontiers[current].address,
                    Register.NEXT_QUEUE: queues.frontiers[1 - current].address,
                    Register.REACH_QUEUE: len(counts) if reach is None else reach.address + 4 * entries,
                    Register.CURRENT_COUNT: count,
                    Register.CAPACITY: capacity,
                },
                result=Register.CURRENT_COUNT,
            )
            if status & Status.OVERFLOW or pushed > capacity:
                raise QueueOverflowError(
                    f"level {len(levels)} of the search from vertex {source} overflowed its queues: "
                    f"{capacity} of {queues.capacity} entries were free"
                )
            levels.append(Level(count, pushed, cycles, start))
            counts.append(pushed)
            entries += pushed
            if reach is not None and entries > most:
                counts = compact(reach.values, counts, vertices=vertices, name=direction.graph.name)
                entries = sum(counts)
            count, current = pushed, 1 - current
            if count and len(levels) >= vertices:
                raise SimulationError(
                    f"the search from vertex {source} goes on after {len(levels)} levels: "
                    f"there are {counted(vertices, 'vertex', 'vertices')}"
                )
            if self._on_level is not None:
                self._on_level(len(levels), entries)
        return Search(source=source, counts=tuple(counts), levels=tuple(levels))


def with_larger_queues(
    attempt: Callable[[QueueArrays], _Result],
    coprocessor: Coprocessor,
    *,
    vertices: int,
    directions: int,
    slack: int | None,
) -> tuple[_Result, int]:
    """Make a run, and make it again with queues of twice the slack as long as they overflow.

    Parameters
    ----------
    attempt : callable
        The run, given its queues; it writes everything afresh that it changes.
    coprocessor : Coprocessor
        Where the queues are allocated.
    vertices : int
        Vertices of the graph: what the queues hold besides the slack.
    directions : int
        Reach queues that are needed, 1 or 2.
    slack : int or None
        Entries for vertices pushed twice, `default_slack` when None.

    Returns
    -------
    result
        What `attempt` returned.
    restarts : int
        How often it was made again.

    Raises
    ------
    QueueOverflowError
        It overflowed after `MAX_RESTARTS` restarts too.
    """
    entries = default_slack(vertices) if slack is None else slack
    for restarts in range(MAX_RESTARTS + 1):
        if restarts:
            coprocessor.begin_attempt()
        queues = QueueArrays.allocate(coprocessor, capacity=vertices + entries, directions=directions)
        try:
            return attempt(queues), restarts
        except QueueOverflowError as error:
            last = error
            entries = max(2 * entries, _SMALLEST_SLACK)
    raise QueueOverflowError(f"{last}, after {MAX_RESTARTS} restarts with larger queues")
