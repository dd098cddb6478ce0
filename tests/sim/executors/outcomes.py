"""Outcomes of runs, for comparison between executors, and single levels."""

from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from cyscc.host.graph.csr import Graph
from cyscc.sim.coprocessor import Instruction, Register
from cyscc.sim.machine import Machine
from cyscc.sim.memory import READ, Memory
from tests.system.graphs import graph_of, messy_graph
from tests.system.runs import search, solve
from tests.words import graph_word

TANGLE = graph_of(
    9,
    [*[(0, v) for v in (1, 2, 3)] * 3, (1, 0), (2, 0), (3, 1), (1, 4), (2, 4), (3, 5), (6, 0), (7, 1), (7, 7), (8, 6)],
)
"""Two iterations: a component of four, leaves, vertices that lead into it, pushes by several kernels at once."""

CROWD = messy_graph(9, 90, 7)
"""Long levels in a few cycles: every FIFO of the small machine fills."""


class Outcome(NamedTuple):
    """Everything that a run leaves behind."""

    instructions: list[int]
    cycle: int
    memory: npt.NDArray[np.uint8]
    statistics: dict[str, Any]


def outcome(machine: Machine, graph: Graph, *, source: int | None = None, counters: bool = True) -> Outcome:
    """Search a graph, or find its components without a source; return the results.

    Parameters
    ----------
    machine : Machine
        Where.
    graph : Graph
        The graph.
    source : int, optional
        Where the search begins.
    counters : bool
        With counters and causes. Reading all counters takes longer than a short run, and exported hardware has no
        causes.
    """
    instructions: list[int] = []
    wait = machine.wait

    def recording_wait() -> int:
        instructions.append(wait())
        return instructions[-1]

    with patch.object(machine, "wait", recording_wait):
        if source is None:
            solve(machine, graph, slack=500)
        else:
            search(machine, graph, source, slack=500)
    memory = machine.read(4096, np.uint8, machine.memory.allocated)
    statistics = machine.statistics() if counters else {"memory": machine.memory.statistics()}
    return Outcome(instructions, machine.cycle, memory, statistics)


def assert_equal(first: Outcome, second: Outcome) -> None:
    """Check that two runs left the same."""
    assert first.instructions == second.instructions
    assert first.cycle == second.cycle
    assert np.array_equal(first.memory, second.memory)
    assert first.statistics == second.statistics


WORDS = (graph_word(0, 2, True), graph_word(2, 0, False), graph_word(2, 0, False))
"""Graph words of three vertices, the first of which leads to the others."""


class Level(NamedTuple):
    """Addresses of what a level writes."""

    next_queue: int
    reach_queue: int


def dispatch_level(machine: Machine, *, word: int = WORDS[0], capacity: int = 16) -> Level:
    """Dispatch the level that expands the first of the three vertices.

    Parameters
    ----------
    machine : Machine
        Where.
    word : int
        What the current queue holds for the vertex.
    capacity : int
        Entries that the queues take.
    """
    words, neighbours, current, following, reach = (machine.allocate(size) for size in (24, 8, 8, 128, 64))
    machine.write(words, np.array(WORDS, np.uint64))
    machine.write(neighbours, np.array([1, 2], np.uint32))
    machine.write(current, np.array([word], np.uint64))
    machine.set_registers(
        {
            Register.WORDS: words,
            Register.NEIGHBOURS: neighbours,
            Register.CURRENT_QUEUE: current,
            Register.NEXT_QUEUE: following,
            Register.REACH_QUEUE: reach,
            Register.CURRENT_COUNT: 1,
            Register.CAPACITY: capacity,
        }
    )
    machine.dispatch(Instruction.BFS_LEVEL)
    return Level(following, reach)


def deafen(memory: Memory) -> None:
    """Let no port of a memory with the profile `hc2` take reads any more.

    It is as if each had as many in flight as it may have, of which none is answered: nothing is owed, nothing moves.
    """
    memory._sides["own"]["full"][:, READ] = (1 << memory.ports) - 1
