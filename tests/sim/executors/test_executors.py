"""The executors against each other: the same cycles, the same memory, the same counts, however many threads."""

from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest

from host.graph.csr import Graph
from host.graph.generators import rmat_graph
from hw.config import PRESETS, AcceleratorConfig
from sim.machine import Machine
from tests.system.graphs import GRAPHS, graph_of, messy_graph
from tests.system.runs import MEMORIES, check_scc, made, search, solve

TANGLE = graph_of(
    9,
    [*[(0, v) for v in (1, 2, 3)] * 3, (1, 0), (2, 0), (3, 1), (1, 4), (2, 4), (3, 5), (6, 0), (7, 1), (7, 7), (8, 6)],
)
"""Two iterations: a component of four, leaves, vertices that lead into it, pushes by several kernels at once."""

CROWD = messy_graph(9, 90, 7)
"""Long levels in a few cycles: every FIFO of the small machine fills."""

SHALLOW = PRESETS["published-1ae"].replace(
    bfs_kernels=3, intersection_kernels=2, **{f"{n}_depth": 4 for n in ("frontier", "neighbour", "word", "visit")}
)


class Outcome(NamedTuple):
    """Everything that a run leaves behind."""

    instructions: list[int]
    cycle: int
    memory: npt.NDArray[np.uint8]
    statistics: dict[str, Any]


def scc(machine: Machine, graph: Graph) -> Outcome:
    """Find the components of a graph; return what was left."""
    return _run(machine, graph, source=None)


def bfs(machine: Machine, graph: Graph, source: int = 0) -> Outcome:
    """Search a graph; return what was left."""
    return _run(machine, graph, source=source)


def _run(machine: Machine, graph: Graph, *, source: int | None, counters: bool = True) -> Outcome:
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


def by_executor(
    config: str | AcceleratorConfig, memory: str, graph: Graph, *, source: int | None = None, counters: bool = True
) -> list[Outcome]:
    """Run on both executors; reading all counters takes longer than a short run."""
    outcomes = []
    for executor in ("amaranth", "compiled"):
        with made(config, memory, executor=executor, cycle_limit=100_000) as machine:
            outcomes.append(_run(machine, graph, source=source, counters=counters))
    return outcomes


@pytest.mark.parametrize("memory", MEMORIES)
def test_components_on_both_executors(memory: str) -> None:
    first, second = by_executor("test", memory, TANGLE)
    assert_equal(first, second)
    assert len(first.instructions) == 8
    assert first.statistics["counters"]["intersection"]["pushed"] > 0
    assert first.statistics["counters"]["intersection"]["items"] > 0


@pytest.mark.parametrize("memory", ["hc2", "fixed:1", "fixed:75", "stress:5"])
def test_crowded_search_on_both_executors(memory: str) -> None:
    first, second = by_executor("test", memory, CROWD, source=0)
    assert_equal(first, second)
    causes = first.statistics["causes"]["bfs"]
    assert min(causes[cause] for cause in ("idle", "memory", "flush", "slot", "request")) > 0
    assert (causes["backpressure"] > 0) == (memory == "stress:5")


@pytest.mark.parametrize("memory", ["hc2", "fixed:75", "stress:5"])
@pytest.mark.parametrize("published", [False, True])
def test_machine_that_only_searches_on_both_executors(memory: str, *, published: bool) -> None:
    config = PRESETS["test"].replace(bfs_only=True, issue_interval=1 + published, blocking_reservation=published)
    for graph in (CROWD, TANGLE, rmat_graph(32, 3, seed=2)):
        assert_equal(*by_executor(config, memory, graph, source=0))


@pytest.mark.parametrize(("config", "memory"), [("hc2-1ae", "hc2"), ("published-1ae", "fixed:1")])
def test_search_of_a_whole_engine_on_both_engines(config: str, memory: str) -> None:
    first, second = by_executor(config, memory, CROWD, source=0, counters=False)
    assert_equal(first, second)
    assert first.statistics["memory"]["writes"]["total"] > 0


@pytest.mark.long
@pytest.mark.parametrize("config", ["hc2-1ae", "published-1ae"])
def test_components_of_a_whole_engine_on_both_engines(config: str) -> None:
    assert_equal(*by_executor(config, "hc2", TANGLE))


@pytest.mark.long
@pytest.mark.parametrize("memory", MEMORIES)
def test_shallow_published_kernels_on_both_executors(memory: str) -> None:
    assert_equal(*by_executor(SHALLOW, memory, CROWD))


@pytest.mark.parametrize("memory", ["hc2", "fixed:1", "stress"])
def test_threads_change_nothing(memory: str) -> None:
    graph = rmat_graph(256, 4, seed=1)
    outcomes = []
    for threads in (1, 2, 4, 9):
        with made("hc2", memory, threads=threads) as machine:
            outcomes.append(scc(machine, graph))
    for outcome in outcomes[1:]:
        assert_equal(outcomes[0], outcome)


@pytest.mark.parametrize("executor", ["amaranth", "compiled"])
def test_repeated_runs_are_equal(executor: str) -> None:
    outcomes = []
    for _ in range(2):
        with made("test", "stress:3", executor=executor) as machine:
            outcomes.append(bfs(machine, GRAPHS["one self-loop"]))
    assert_equal(*outcomes)


def test_seed_of_the_memory_makes_a_difference() -> None:
    with made("test", "stress:3") as first, made("test", "stress:4") as second:
        assert scc(first, TANGLE).instructions != scc(second, TANGLE).instructions


def test_machines_of_one_process_are_independent() -> None:
    with made("test", "hc2") as alone:
        expected = scc(alone, TANGLE)
    with made("test", "hc2") as first, made("test", "hc2") as second, made("hc2", "stress", threads=2) as third:
        check_scc(second, CROWD)
        assert_equal(scc(first, TANGLE), expected)
        check_scc(third, CROWD)
        second.close()
        check_scc(first, GRAPHS["ladder"])


def test_later_runs_of_a_machine_are_as_long_as_its_first() -> None:
    with made("hc2-1ae", "fixed:75") as machine:
        first, second = (scc(machine, TANGLE).instructions for _ in range(2))
    assert first == second
