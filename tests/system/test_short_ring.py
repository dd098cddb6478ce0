"""Machines whose BFS kernels have a station on the token ring: right results, and levels that end sooner."""

from typing import Any

import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph
from tests.system.runs import MEMORIES, check_bfs, check_scc, made

STATIONS = PRESETS["test"].replace(short_ring=True)


@pytest.mark.parametrize("name", GRAPHS)
def test_awkward_graphs(name: str) -> None:
    with made(STATIONS, "hc2") as machine:
        check_scc(machine, GRAPHS[name])
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.parametrize("memory", MEMORIES)
def test_memories(memory: str) -> None:
    graph = messy_graph(200, 900, 4)
    with made(STATIONS, memory) as machine:
        check_scc(machine, graph)
        check_bfs(machine, graph, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"bfs_only": True},
        {"issue_interval": 2, "remembered_ids": 64},
        {"engines": 1, "bfs_kernels": 1},
        {"engines": 4, "bfs_kernels": 5, "intersection_kernels": 2, "link_cycles": 1},
        {"lean_visits": True, "edge_chunk": 4, "link_queues": 4, "visited_filter": 64},
    ],
    ids=str,
)
def test_with_other_options(options: dict[str, Any]) -> None:
    graph = messy_graph(120, 500, 5)
    with made(STATIONS.replace(**options), "stress") as machine:
        check_bfs(machine, graph, 1)
        if machine.config.finds_components:
            check_scc(machine, graph)


def test_full_queues_restart_the_search() -> None:
    with made(STATIONS, "stress") as machine:
        assert check_bfs(machine, messy_graph(100, 3000, 6), 1, slack=0).retries > 0


@pytest.mark.parametrize("engines", [1, 3])
def test_executors_agree(engines: int) -> None:
    config = STATIONS.replace(engines=engines, bfs_kernels=3, intersection_kernels=2)
    outcomes = []
    for executor in EXECUTORS:
        with made(config, "hc2", executor=executor) as machine:
            outcomes.append(outcome(machine, TANGLE, source=0))
    assert_equal(*outcomes)


def test_many_short_levels_take_fewer_cycles() -> None:
    graph = graph_of(30, [(vertex, vertex + 1) for vertex in range(29)])
    cycles = []
    for short in (False, True):
        with made(PRESETS["hc2"].replace(short_ring=short), "hc2") as machine:
            cycles.append(check_bfs(machine, graph, 0).cycles)
    assert cycles[1] < 0.8 * cycles[0]
