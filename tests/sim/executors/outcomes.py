"""Whole runs, and everything that they leave behind, to compare executors by."""

from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from cyscc.host.graph.csr import Graph
from cyscc.sim.machine import Machine
from tests.system.graphs import graph_of, messy_graph
from tests.system.runs import search, solve

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
