"""Breadth-first searches of awkward graphs, on every machine under every memory, against a sequential search."""

import pytest

from host.graph.generators import random_graph, rmat_graph
from tests.system.graphs import GRAPHS, SOURCES
from tests.system.runs import COMPLETE, MEMORIES, check_bfs, made


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", GRAPHS)
def test_small_machine(name: str, memory: str) -> None:
    with made("test", memory) as machine:
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("config", COMPLETE)
def test_full_machine(config: str, memory: str) -> None:
    with made(config, memory) as machine:
        for graph in (random_graph(3000, 8, seed=1), rmat_graph(2048, 8, seed=2)):
            check_bfs(machine, graph, 1, slack=None)


def test_published_cost_of_a_saturated_level() -> None:
    # The published multiplexer spends 2 cycles on an entry, 4 on an edge and 4 on a push, and saturated levels come
    # near to that. The kernels share the frontier evenly.
    graph = random_graph(2**14, 16, seed=3)
    with made("published-1ae", "fixed:75") as machine:
        run = check_bfs(machine, graph, 0, slack=None)
    level = max(run.level_records, key=lambda record: record.frontier)
    model = (2 * level.frontier + 4 * 16 * level.frontier + 4 * level.pushed) / 16
    assert 0.94 < model / level.cycles < 1


def test_fixed_cost_of_a_level_on_one_published_engine() -> None:
    # About 3 L + 75 to 90 cycles, in steps of the ring's turn of 20: three reads that wait for each other, start, flush
    # and the last turn of the token.
    for latency in (40, 75, 110):
        with made("published-1ae", f"fixed:{latency}") as machine:
            run = check_bfs(machine, GRAPHS["chain"], 0)
        costs = {record.cycles - 3 * latency for record in run.level_records[:-1]}
        assert min(costs) > 75 - 20
        assert max(costs) < 90 + 20
