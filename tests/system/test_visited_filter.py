"""Machines whose kernels drop ids that their AE has met in a search: right results, fewer reads and cycles."""

from typing import Any

import numpy as np
import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import rmat_graph
from cyscc.hw.config import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from tests.sim.executors.outcomes import CROWD, TANGLE, assert_equal, outcome
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph, repeated
from tests.system.runs import MEMORIES, check_bfs, check_scc, made

FILTERS = PRESETS["test"].replace(visited_filter=256)
SMALL = FILTERS.replace(visited_filter=64)
PAIRS = FILTERS.replace(pair_reads=True)
CONFIGS = [FILTERS, SMALL, PAIRS]


@pytest.mark.parametrize("config", [SMALL, PAIRS], ids=["small", "pairs"])
@pytest.mark.parametrize("name", GRAPHS)
def test_awkward_graphs(name: str, config: object) -> None:
    with made(config, "hc2") as machine:  # type: ignore[arg-type]
        check_scc(machine, GRAPHS[name])
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("number", range(len(CONFIGS)))
def test_memories(memory: str, number: int) -> None:
    graph = messy_graph(200, 900, 4)
    with made(CONFIGS[number], memory) as machine:
        check_scc(machine, graph)
        # A search forgets what the searches before it met.
        for source in (1, 2):
            check_bfs(machine, graph, source)


@pytest.mark.parametrize(
    "options",
    [
        {"bfs_only": True},
        {"issue_interval": 2},
        {"engines": 1, "bfs_kernels": 1},
        {"engines": 3, "bfs_kernels": 4, "intersection_kernels": 2},
    ],
)
def test_with_other_options(options: dict[str, int]) -> None:
    graph = messy_graph(120, 500, 5)
    with made(PAIRS.replace(**options), "stress") as machine:
        check_bfs(machine, graph, 1)
        if machine.config.finds_components:
            check_scc(machine, graph)


@pytest.mark.parametrize("graph", [rmat_graph(8, 4, 3), repeated(20)], ids=["R-MAT", "repeated"])
def test_graphs_with_hubs_and_repeated_edges(graph: Graph) -> None:
    with made(FILTERS, "fixed:75") as machine:
        run = check_scc(machine, graph)
        assert run.retries == 0


def test_restarts_after_an_overflow() -> None:
    # Vertices beyond the filter are pushed many times.
    graph = graph_of(207, [(0, v) for v in range(1, 200)] + [(v, 200 + v % 7) for v in range(200)] * 3)
    with made(SMALL, "fixed:400") as machine:
        run = check_bfs(machine, graph, 0, slack=0)
        assert run.retries > 0


def test_copies_of_an_engine_are_read_once() -> None:
    graph = messy_graph(64, 1500, 6)
    config = FILTERS.replace(engines=1, ring_stages=4)
    counted = []
    for vertices in (0, 64):
        with made(config.replace(visited_filter=vertices), "fixed:75") as machine:
            run = check_bfs(machine, graph, 0)
            counted.append((machine.cycle, machine.statistics()["counters"]["bfs"]["items"], run.duplicates))
    assert counted[1][0] < counted[0][0]
    met = len(np.unique(graph.targets))
    assert counted[0][1] >= graph.edges
    # The source may be pushed by none, and every other vertex by one kernel alone.
    assert counted[1][1:] == (met, 0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pair_reads": True, "link_queues": 4, "memory_ports": 1},
        {"pair_reads": True, "link_queues": 4, "lean_visits": True, "edge_chunk": 4},
    ],
    ids=["alone", "pairs and switch", "all"],
)
@pytest.mark.parametrize("memory", ["hc2", "stress:5"])
def test_both_executors(memory: str, options: dict[str, Any]) -> None:
    found = []
    for executor in EXECUTORS:
        with made(SMALL.replace(**options), memory, executor=executor) as machine:
            found.append([outcome(machine, TANGLE), outcome(machine, CROWD, source=0)])
    for first, second in zip(*found, strict=True):
        assert_equal(first, second)
