"""Concurrent pivots: right in every order of threads, and each repair of the text shown on a graph that needs it."""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from numba.core import event

from cyscc.host.baselines.algorithms import MOST_PIVOTS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import ORDERS, Device, Order
from cyscc.host.baselines.software import Decomposition, SoftwareSetting, run_software
from cyscc.host.baselines.software.decomposition import small_graph
from cyscc.host.baselines.software.quach import PivotSampler, quach
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.graph.reference import canonical, check_components
from tests.host.baselines.devices.simulator import simulate
from tests.system.graphs import GRAPHS, graph_of, messy_graph

ORDERLY = [(order, threads) for order in ORDERS for threads in (1, 3)]


def found(device: Device, graph: Graph, pivots: int = 10, seed: int = 1, *, printed: bool = True) -> Decomposition:
    """Return the result, after the checks that hold for every graph."""
    options = {"pivots": pivots, "as-printed": printed}
    result = quach(graph, graph.transpose(), SoftwareSetting(device=device, seed=seed, options=options))
    assert check_components(canonical(result.labels), graph) is None
    counts = result.counts
    # A pivot in a component that another one has found makes none.
    assert counts["pruned"] + counts["components_searched"] == np.unique(result.labels).size
    assert counts["edges_pruning"] <= counts["edges"] <= counts["edges_by_pivot"]
    assert 0 < counts["prune_rounds"] <= counts["passes"]
    return result


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
def test_awkward_graphs_in_every_order(order: str, threads: int) -> None:
    with open_device("cpu", threads=threads, order=Order(order, seed=5)) as device:
        for graph, pivots in product(GRAPHS.values(), (1, MOST_PIVOTS) if threads == 1 else (2, 10)):
            for printed in (True, False):
                found(device, graph, pivots, printed=printed)


@pytest.mark.parametrize(("order", "threads"), ORDERLY)
def test_random_graphs(order: str, threads: int) -> None:
    first = 40 * (threads // 2 + 2 * ORDERS.index(order))
    with open_device("cpu", threads=threads, order=Order(order, seed=7)) as device:
        for seed in range(first, first + 40):
            graph = messy_graph(20 + seed % 41, 30 + seed % 100, seed)
            found(device, graph, 1 + seed % 12, seed)
            found(device, graph, 1 + seed % MOST_PIVOTS, seed, printed=False)


@pytest.mark.parametrize("order", ORDERS)
def test_threads_side_by_side(order: str) -> None:
    # More vertices than a thread takes at a time, so that several run at once.
    for seed in range(3):
        for graph in (messy_graph(12_000, 19_000, seed), random_graph(12_000, 5, seed)):
            with open_device("cpu", threads=3, order=Order(order, seed=seed)) as device:
                found(device, graph, 10, seed)
                found(device, graph, 10, seed, printed=False)


def test_one_thread_repeats_its_counts() -> None:
    graph = messy_graph(9_000, 16_000, 4)
    with open_device("cpu") as device:
        for printed in (False, True):
            first, second = (found(device, graph, seed=3, printed=printed) for _ in range(2))
            assert first.counts == second.counts
            assert np.array_equal(first.labels, second.labels)
        assert found(device, graph, seed=4).counts != first.counts


def test_ten_pivots_unless_others_are_asked_for() -> None:
    graph = GRAPHS["cycle"]
    with open_device("cpu") as device:
        result = quach(graph, graph.transpose(), SoftwareSetting(device=device))
    assert result.counts["pivots_wasted"] == 9


@pytest.mark.parametrize(("order", "threads"), ORDERLY)
def test_pruned_vertices_have_components_of_their_own(order: str, threads: int) -> None:
    with open_device("cpu", threads=threads, order=Order(order)) as device:
        for name in ("chain", "chain backwards", "acyclic", "tree in", "isolated"):
            counts = found(device, GRAPHS[name]).counts
            assert counts["pruned"] == GRAPHS[name].vertices
            assert counts["levels"] == 0


def test_a_vertex_is_no_neighbour_of_its_own() -> None:
    with open_device("cpu") as device:
        assert found(device, GRAPHS["self-loops only"]).counts["pruned"] == 6


def test_pruning_goes_on_until_a_round_finds_nothing() -> None:
    # From the end, against the order of the threads, a vertex a round; from the beginning nothing, as it is a cycle.
    chain = [(0, 1), (1, 0), *((v, v + 1) for v in range(1, 6))]
    with open_device("cpu") as device:
        counts = found(device, graph_of(7, chain)).counts
    assert counts["pruned"] == 5
    assert counts["prune_rounds"] == 6
    # A round looks at one edge each way at 0, 1, and what is left of the chain but its end, and there forward only.
    assert counts["edges_pruning"] == 6 * 4 + 2 * (4 + 3 + 2 + 1) + 4


def test_each_pivot_marks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Were there one mark for both, the search of each would end where that of the other begins.
    draw_in_turn(monkeypatch, [0, 3])
    with open_device("cpu") as device:
        counts = found(device, graph_of(6, [(v, (v + 1) % 6) for v in range(6)]), 2).counts
    assert counts["components_searched"] == counts["pivots_wasted"] == 1


@pytest.mark.parametrize("name", ["cycle", "cycle backwards"])
def test_both_searches_of_a_pivot_end_before_it_has_a_component(name: str) -> None:
    # In the order of the threads one search is over at once, the other takes a level for each vertex.
    with open_device("cpu") as device:
        assert found(device, GRAPHS[name], 1).counts["levels"] > 30


def test_only_vertices_without_a_component_join_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # 7 is in the component that 0 finds, and is dropped. Those of the component stay when 20 has found its own.
    pairs = [*((v, v + 1) for v in range(12)), (12, 0), (5, 20), (20, 21), (21, 20)]
    draw_in_turn(monkeypatch, [0, 7, 20])
    with open_device("cpu") as device:
        result = found(device, graph_of(22, pairs), 2)
    assert (result.counts["components_searched"], result.counts["pivots_wasted"]) == (2, 2)
    assert set(result.labels[:13]) == {0}


def test_searches_that_wait_where_a_component_is_found_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    # Found after two levels: 0 and 1. The search from 4 has come there by then, by 3, against the order of the threads.
    # In the text it waits there for ever. Nor must it go on to 5 and 6.
    pairs = [(0, 1), (1, 0), (3, 4), (4, 3), (3, 1), (1, 5), (5, 6), (6, 5)]
    draw_in_turn(monkeypatch, [0, 4, 5])
    with open_device("cpu") as device:
        counts = found(device, graph_of(7, pairs), 2).counts
    assert counts["pruned"] == 1
    assert counts["components_searched"] == 3
    # The pivot 0: forward 0, 1, 5, 6 with five edges, back 0, 1, 3, 4 with five; 4: forward 3, back 2.
    # In place of each comes 5, since no other is drawn: forward 2, back 3.
    assert counts["edges_by_pivot"] - counts["edges_pruning"] == 5 + 5 + 3 + 2 + 2 * (2 + 3)


def test_pivots_in_a_component_that_is_found_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    # The second one of the first two has the tail before it; it is dropped with the component of the first.
    cycles = [(0, 1), (1, 0), *((v, v + 1) for v in range(2, 9)), (9, 2), (1, 2)]
    draw_in_turn(monkeypatch, [2, 5, 0])
    with open_device("cpu") as device:
        counts = found(device, graph_of(10, cycles), 2).counts
    assert counts["components_searched"] == 2


def test_pivots_are_drawn_alike_among_vertices_without_a_component() -> None:
    with open_device("cpu") as device:
        component = device.full(40, 3, np.int32)
        for vertex in range(5, 40, 7):
            component[vertex] = -1
        sampler = PivotSampler(device, component, 1)
        assert sampler.left == 5
        drawn = [sampler.draw() for _ in range(3000)]
        assert set(drawn) == set(range(5, 40, 7))
        assert all(500 < drawn.count(vertex) < 700 for vertex in set(drawn))
        component[5:33] = 3
        assert {sampler.draw() for _ in range(20)} == {33}
        component[33] = 3
        assert sampler.draw() is None
        assert sampler.left == 0


def test_more_pivots_look_at_more_edges_but_together() -> None:
    graph = random_graph(3000, 6, 1)
    with open_device("cpu") as device:
        by_pivots = {pivots: found(device, graph, pivots).counts for pivots in (1, 10)}
    one, ten = by_pivots[1], by_pivots[10]
    assert one["edges"] == one["edges_by_pivot"]
    assert ten["edges_by_pivot"] > 8 * one["edges_by_pivot"] - 8 * one["edges_pruning"]
    assert one["edges"] < ten["edges"] < ten["edges_by_pivot"] // 2


def test_a_second_run_compiles_nothing() -> None:
    graph = messy_graph(4_000, 7_000, 2)
    for order in ("natural", "shuffled"):
        with open_device("cpu", threads=2, order=Order(order)) as device:
            for printed in (True, False):
                setting = SoftwareSetting(device=device, options={"as-printed": printed})
                run_software("quach", small_graph(), small_graph().transpose(), setting)
            with event.install_recorder("numba:compile") as recorder:
                for printed in (True, False):
                    found(device, graph, printed=printed)
        assert len(recorder.buffer) == 0


def test_small_components_are_found_together() -> None:
    # A pivot for each of the pairs, at once; a chain of pairs is divided by sources; a path is pruned along its way.
    pairs = [(v, v ^ 1) for v in range(2000)]
    chain = [*pairs, *((v, v + 2) for v in range(1998))]
    path = np.random.default_rng(1).permutation(2000).tolist()
    graphs = [graph_of(2000, edges) for edges in (pairs, chain, pairwise(path))]
    with open_device("cpu") as device:
        together, along, pruned = (found(device, graph, MOST_PIVOTS, printed=False).counts for graph in graphs)
    assert together["passes"] < 20
    # Searches go along the chain, against the order of the threads, in levels; as printed some 30 times.
    assert along["levels"] < 2000
    assert pruned["passes"] <= 3


def test_progress_is_told() -> None:
    graph = graph_of(900, [(v, v ^ 1) for v in range(890)])
    told: list[tuple[int, int]] = []
    with open_device("cpu") as device:
        quach(
            graph,
            graph.transpose(),
            SoftwareSetting(
                device=device, watch=lambda *each: told.append(each), options={"pivots": 2, "as-printed": True}
            ),
        )
    assert told[0] == (10, 900)
    assert len(told) > 3
    assert told == sorted(told)
    assert told[-1][0] > 700


def check_on_the_simulator() -> None:
    for order, seeds in zip(ORDERS, (((2, 33), (3, 64)), ((1, 20),), ((1, 20),)), strict=True):
        for seed, vertices in seeds:
            with open_device("cuda", order=Order(order, seed)) as device:
                graph = messy_graph(vertices, 2 * vertices, seed)
                found(device, graph, 4, seed, printed=False)
                counts = found(device, graph, 4, seed).counts
            assert counts["components_searched"] > 0


def test_on_the_simulator() -> None:
    simulate(check_on_the_simulator)
