"""Machines that only search: levels in the graph words, queue entries for vertices with neighbours alone."""

import numpy as np
import pytest

from cyscc.host.driver.components import strong_components
from cyscc.host.graph.generators import random_graph, rmat_graph
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.hw.config import PRESETS, AcceleratorConfig
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph
from tests.system.runs import check_bfs, made

SMALL = PRESETS["test"].replace(bfs_only=True)
SMALL_PUBLISHED = SMALL.replace(issue_interval=2, blocking_reservation=True)

CRUSH = graph_of(12, [*((0, v) for v in range(1, 9)), *((v, 9) for v in range(1, 9) for _ in range(30)), (9, 10)])
"""Eight vertices that lead to one by thirty edges each: it is queued many times before its first mark is there."""


@pytest.mark.parametrize("memory", ["hc2", "fixed:1", "fixed:75", "stress"])
@pytest.mark.parametrize("name", GRAPHS)
def test_small_machine(name: str, memory: str) -> None:
    with made(SMALL, memory) as machine:
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.long
@pytest.mark.parametrize("memory", ["hc2", "fixed:75", "stress"])
def test_small_machine_with_the_published_timing(memory: str) -> None:
    with made(SMALL_PUBLISHED, memory) as machine:
        for name, graph in GRAPHS.items():
            check_bfs(machine, graph, SOURCES.get(name, 0))


@pytest.mark.parametrize("memory", ["hc2", "fixed:75", "stress"])
@pytest.mark.parametrize("config", ["published-bfs-1ae", pytest.param("published-bfs", marks=pytest.mark.long)])
def test_full_machine(config: str, memory: str) -> None:
    with made(config, memory) as machine:
        for graph in (random_graph(3000, 8, seed=1), rmat_graph(2048, 8, seed=2), messy_graph(300, 3000, 3)):
            check_bfs(machine, graph, 1, slack=None)
        for name in ("chain", "star out", "star in", "self-loops", "repeated edges", "isolated"):
            check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.parametrize("executor", ["amaranth", "compiled"])
def test_a_source_without_out_edges_is_all_that_is_reached(executor: str) -> None:
    with made(SMALL, "fixed:75", executor=executor) as machine:
        run = check_bfs(machine, graph_of(3, [(0, 1), (1, 2)]), 2)
    assert run.levels.tolist() == [-1, -1, 0]
    assert (run.reached, run.duplicates, run.edges_traversed) == (1, 0, 0)
    assert [(level.frontier, level.pushed) for level in run.level_records] == [(1, 0)]


@pytest.mark.parametrize("executor", ["amaranth", "compiled"])
def test_leaves_are_reached_but_not_queued(executor: str) -> None:
    with made(SMALL, "hc2", executor=executor) as machine:
        run = check_bfs(machine, graph_of(6, [(0, 1), (0, 2), (0, 3), (3, 4), (3, 5)]), 0)
    assert run.levels.tolist() == [0, 1, 1, 1, 2, 2]
    assert [(level.frontier, level.pushed) for level in run.level_records] == [(1, 1), (1, 0)]


@pytest.mark.parametrize("memory", ["hc2", "fixed:75", "stress"])
@pytest.mark.parametrize(
    "config", [SMALL, pytest.param(SMALL_PUBLISHED, marks=pytest.mark.long)], ids=["hc2", "published"]
)
def test_overflow_starts_again(config: AcceleratorConfig, memory: str) -> None:
    with made(config, memory) as machine:
        run = check_bfs(machine, CRUSH, 0, slack=0)
        assert run.retries > 0
        assert run.duplicates > 0


def test_searches_follow_each_other_on_one_machine() -> None:
    graph = rmat_graph(256, 4, seed=9)
    with made(SMALL, "fixed:75") as machine:
        runs = [check_bfs(machine, graph, source) for source in (1, 77, 1)]
    assert np.array_equal(runs[0].levels, runs[2].levels)
    assert runs[0].cycles == runs[2].cycles


def test_components_are_refused() -> None:
    graph = GRAPHS["cycle"]
    with made(SMALL, "hc2") as machine:
        forward, backward = (PlacedGraph.place(machine, each) for each in (graph, graph.transpose()))
        with pytest.raises(ValueError, match=r"^the coprocessor only searches: it keeps no reach queue to intersect$"):
            strong_components(machine, forward, backward, np.zeros(graph.vertices, np.bool_))
