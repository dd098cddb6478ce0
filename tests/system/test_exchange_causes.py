"""Causes of kernels that exchange ids: waits for the exchange, and for the ids of other kernels."""

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.config import PRESETS, AcceleratorConfig
from tests.system.graphs import graph_of
from tests.system.runs import made, search

FILTERS = PRESETS["test"].replace(visited_filter=2048, bfs_kernels=4, intersection_kernels=4)
KERNELS = FILTERS.bfs_kernels


def causes(graph: Graph, config: str | AcceleratorConfig = FILTERS) -> dict[str, int]:
    """Return the cycles of the BFS kernels by cause in a search from vertex 0."""
    with made(config, "fixed:1") as machine:
        search(machine, graph, 0)
        found: dict[str, int] = machine.statistics()["causes"]["bfs"]
    return found


def star(stride: int) -> Graph:
    """Return a graph whose sources, the neighbours of vertex 0, share 100 neighbours that are so many ids apart."""
    sources = range(1, 1 + 4 * FILTERS.total_bfs_kernels)
    targets = [64 + number * stride for number in range(100)]
    return graph_of(2048, [*((0, source) for source in sources), *((s, t) for s in sources for t in targets)])


def test_ids_of_one_owner_wait_for_each_other() -> None:
    shared, spread = (causes(star(stride)) for stride in (2 * KERNELS, 1))
    assert shared["exchange"] > 0.3 * sum(shared.values())
    assert spread["exchange"] < 0.5 * shared["exchange"]


def test_kernels_without_edges_wait_for_the_ids_of_one_with_all() -> None:
    few, many = (causes(graph_of(2048, [(0, 1)] * edges)) for edges in (1, 1001))
    # While one kernel reads a thousand copies of an id, the others of its AE have nothing to do but what it sends them.
    assert many["ids"] - few["ids"] >= (KERNELS - 1) * 1000
    assert many["exchange"] == few["exchange"]


@pytest.mark.parametrize("config", ["test", "hc2-1ae"])
def test_kernels_without_an_exchange_never_wait_for_one(config: str) -> None:
    found = causes(star(1), config)
    assert (found["exchange"], found["ids"]) == (0, 0)
