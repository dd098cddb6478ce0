"""Concurrent pivots: each repair of the text shown on a graph that needs it."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from cyscc.host.baselines.algorithms import MOST_PIVOTS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import ORDERS, Device, Order
from cyscc.host.baselines.software.decomposition import Decomposition
from cyscc.host.baselines.software.quach import PivotSampler
from cyscc.host.graph.csr import Graph
from tests.host.baselines.software.cases import PRINTED, decompose
from tests.system.graphs import GRAPHS, graph_of

ORDERLY = [(order, threads) for order in ORDERS for threads in (1, 3)]


def found(graph: Graph, pivots: int = 10, device: Device | None = None) -> Decomposition:
    """Return the result of the scheme as printed."""
    return decompose("quach", graph, device, {**PRINTED, "pivots": pivots})


def draw_in_turn(monkeypatch: pytest.MonkeyPatch, vertices: Sequence[int]) -> None:
    """Draw vertices in turn, skip those that have a component, and repeat the last one."""
    waiting = list(vertices)

    def draw(self: PivotSampler) -> int | None:
        while len(waiting) > 1 and self._component[waiting[0]] >= 0:
            waiting.pop(0)
        vertex = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return vertex if self._component[vertex] < 0 else None

    monkeypatch.setattr(PivotSampler, "draw", draw)


@pytest.mark.parametrize(("order", "threads"), ORDERLY)
def test_pruned_vertices_have_components_of_their_own(order: str, threads: int) -> None:
    with open_device("cpu", threads=threads, order=Order(order)) as device:
        for name in ("chain", "chain backwards", "acyclic", "tree in", "isolated"):
            counts = found(GRAPHS[name], device=device).counts
            assert counts["pruned"] == GRAPHS[name].vertices
            assert counts["levels"] == 0


def test_a_vertex_is_no_neighbour_of_its_own() -> None:
    assert found(GRAPHS["self-loops only"]).counts["pruned"] == 6


def test_each_pivot_marks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Were there one mark for both, the search of each would end where that of the other begins.
    draw_in_turn(monkeypatch, [0, 3])
    counts = found(graph_of(6, [(v, (v + 1) % 6) for v in range(6)]), 2).counts
    assert counts["components_searched"] == counts["pivots_wasted"] == 1


@pytest.mark.parametrize("name", ["cycle", "cycle backwards"])
def test_both_searches_of_a_pivot_end_before_it_has_a_component(name: str) -> None:
    # In the order of the threads one search is over at once, the other takes a level for each vertex.
    assert found(GRAPHS[name], 1).counts["levels"] > 30


def test_only_vertices_without_a_component_join_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # 7 is in the component that 0 finds, and is dropped. Those of the component stay when 20 has found its own.
    pairs = [*((v, v + 1) for v in range(12)), (12, 0), (5, 20), (20, 21), (21, 20)]
    draw_in_turn(monkeypatch, [0, 7, 20])
    result = found(graph_of(22, pairs), 2)
    assert (result.counts["components_searched"], result.counts["pivots_wasted"]) == (2, 2)
    assert set(result.labels[:13]) == {0}


def test_searches_that_wait_where_a_component_is_found_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    # Found after two levels: 0 and 1. The search from 4 has come there by then, by 3, against the order of the threads.
    # In the text it waits there for ever. Nor must it go on to 5 and 6.
    pairs = [(0, 1), (1, 0), (3, 4), (4, 3), (3, 1), (1, 5), (5, 6), (6, 5)]
    draw_in_turn(monkeypatch, [0, 4, 5])
    counts = found(graph_of(7, pairs), 2).counts
    assert counts["pruned"] == 1
    assert counts["components_searched"] == 3
    # The pivot 0: forward 0, 1, 5, 6 with five edges, back 0, 1, 3, 4 with five; 4: forward 3, back 2.
    # In place of each comes 5, since no other is drawn: forward 2, back 3.
    assert counts["edges_by_pivot"] - counts["edges_pruning"] == 5 + 5 + 3 + 2 + 2 * (2 + 3)


def test_pivots_in_a_component_that_is_found_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    # The second one of the first two has the tail before it; it is dropped with the component of the first.
    cycles = [(0, 1), (1, 0), *((v, v + 1) for v in range(2, 9)), (9, 2), (1, 2)]
    draw_in_turn(monkeypatch, [2, 5, 0])
    counts = found(graph_of(10, cycles), 2).counts
    assert counts["components_searched"] == 2


def test_small_components_are_found_together() -> None:
    # A pivot for each of the pairs, at once; a chain of pairs is divided by sources; a path is pruned along its way.
    pairs = [(v, v ^ 1) for v in range(2000)]
    chain = [*pairs, *((v, v + 2) for v in range(1998))]
    path = np.random.default_rng(1).permutation(2000).tolist()
    graphs = [graph_of(2000, edges) for edges in (pairs, chain, pairwise(path))]
    options = {"pivots": MOST_PIVOTS}
    together, along, pruned = (decompose("quach", graph, options=options).counts for graph in graphs)
    assert together["passes"] < 20
    # Searches go along the chain, against the order of the threads, in levels; as printed some 30 times.
    assert along["levels"] < 2000
    assert pruned["passes"] <= 3
