"""Multi-partition: correct for every vice pivot, in few rounds; its counts."""

from typing import Any

import numpy as np
import pytest

import cyscc.host.baselines.software.multipartition as module
from cyscc.host.baselines.devices import atomic, open_device
from cyscc.host.baselines.devices.steps import ORDERS, Order, Step, step
from cyscc.host.baselines.software.decomposition import small_graph
from cyscc.host.baselines.software.multipartition import (
    PARTITION,
    STRIP,
    Arrays,
    drawn_number,
)
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from tests.host.baselines.software.cases import acyclic_rings, chain_of_rings, decompose
from tests.system.graphs import GRAPHS, graph_of, messy_graph


def counts_of(graph: Graph) -> dict[str, int]:
    return dict(decompose("multipartition", graph).counts)


def test_the_graph_that_warms_up_takes_all_ways() -> None:
    counts = counts_of(small_graph())
    assert min(counts[name] for name in ("colour_rounds", "wcc_rounds", "vice_pivots", "trimmed")) > 0


# Vice pivots: any vertex will do, and none.


@step
def draw_any(thread: int, length: int, vertices: Any, on: Arrays, salt: int) -> None:
    """Draw also from what the pivot reaches, its own component among that."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        atomic.maximum(on.drawn, on.marks[vertex] >> PARTITION, drawn_number(vertex, salt))


@step
def draw_elsewhere(thread: int, length: int, vertices: Any, on: Arrays, salt: int) -> None:
    """Draw from other partitions."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        other = on.marks[vertices[(place + length // 2) % length]] >> PARTITION
        atomic.maximum(on.drawn, other, drawn_number(vertex, salt))


@step
def draw_none(thread: int, length: int, vertices: Any, on: Arrays, salt: int) -> None:
    """Draw nothing."""


DRAWS = [draw_any, draw_elsewhere, draw_none]


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.function.__name__)
def test_no_vice_pivot_splits_a_component(draw: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "draw", draw)
    larger = {"acyclic": acyclic_rings(300, 2), "chain": chain_of_rings(200), "sparse": messy_graph(5000, 7500, 1)}
    with open_device("cpu", threads=2, order=Order("shuffled", seed=4)) as device:
        for name, graph in {**GRAPHS, **larger}.items():
            decompose("multipartition", graph, device, name=name)
        for seed in range(40):
            decompose("multipartition", messy_graph(60, 90, seed), device, seed=seed, name=f"seed {seed}")


def test_vice_pivots_save_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = chain_of_rings(3000)
    with_vice = counts_of(graph)
    monkeypatch.setattr(module, "draw", draw_none)
    without = counts_of(graph)
    assert with_vice["vice_pivots"] > 500 > 1 >= without["vice_pivots"]
    assert with_vice["rounds"] < without["rounds"]


# Rounds, and work.


def test_partitions_that_pivots_reach_little_of_are_coloured() -> None:
    graph = acyclic_rings(2000, 2)
    counts = counts_of(graph)
    assert counts["colour_rounds"] > 0
    assert counts["rounds"] < 20
    assert counts["edges"] < 40 * graph.edges


def test_a_giant_component_needs_one_round() -> None:
    counts = counts_of(random_graph(1 << 13, 12, 1))
    assert counts["rounds"] == counts["pivots"] == 1
    assert counts["wcc_rounds"] == counts["colour_rounds"] == counts["vice_pivots"] == 0
    # Sweeps look at few of the edges.
    assert counts["edges"] < (1 << 13) * 12


def test_long_paths_take_few_launches() -> None:
    vertices = np.arange(50_000, dtype=np.uint32)
    path = counts_of(Graph.from_edges(50_000, vertices[:-1].copy(), vertices[1:].copy()))
    assert path["trimmed"] == 50_000
    assert path["rounds"] == 0
    assert path["passes"] < 300
    assert path["edges"] < 5 * 50_000
    cycle = counts_of(Graph.from_edges(50_000, vertices, np.roll(vertices, 1)))
    assert cycle["edges"] == 2 * 50_000
    assert cycle["passes"] < 600


def test_chains_of_components_take_no_quadratic_work() -> None:
    chain = [counts_of(chain_of_rings(count)) for count in (500, 8000)]
    assert chain[1]["pivots"] == 8000
    assert chain[1]["edges"] < 16 * 3 * chain[0]["edges"]
    assert chain[1]["rounds"] < 2 * chain[0]["rounds"]
    pairs = counts_of(chain_of_rings(5000, size=2))
    assert pairs["two_vertex_components"] >= 4000
    assert pairs["rounds"] <= 20


def test_a_vertex_of_many_edges_is_not_tested_anew_along_all_of_them() -> None:
    # A hub in a cycle of three, whose edges come last, which loses 3000 neighbours on either side one after the other.
    pairs = [edge for v in range(3000) for edge in ((v, 6000), (6000, 3000 + v))]
    pairs += [(6000, 6001), (6001, 6002), (6002, 6000)]
    for order in ORDERS:
        with open_device("cpu", order=Order(order)) as device:
            counts = decompose("multipartition", graph_of(6003, pairs), device).counts
            assert counts["edges"] < 6 * len(pairs)


# Trimming, and two vertices.
