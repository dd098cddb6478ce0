"""Breadth-first searches of awkward graphs, on every machine under every memory, against a sequential search."""

import pytest

from cyscc.host.graph.generators import random_graph, rmat_graph
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
