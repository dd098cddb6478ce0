"""The decomposition of Li et al.: right in every order of threads, its repairs, and the depths of the text."""

from itertools import pairwise, product

import numpy as np
import pytest
from numba.core import event

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.primitives import upload
from cyscc.host.baselines.devices.steps import ORDERS, Order
from cyscc.host.baselines.software import SoftwareSetting, run_software
from cyscc.host.baselines.software.decomposition import Decomposition
from cyscc.host.baselines.software.li import Subgraphs, elect_drawn, following, li, next_share, source_count
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph, rmat_graph
from cyscc.host.graph.reference import canonical, check_components, component_sizes
from cyscc.host.output.errors import InputError
from tests.host.baselines.devices.simulator import simulate
from tests.system.graphs import GRAPHS, graph_of, messy_graph

FIGURE3 = {100: 7295, 1000: 1195, 5000: 315, 8000: 217, 10_000: 187}
"""Recursion depth by the number of sources, random graphs of 100,000 vertices and edges."""


def decompose(
    graph: Graph,
    *,
    threads: int = 1,
    order: str = "natural",
    seed: int = 1,
    device: str = "cpu",
    sources: int | None = None,
    printed: bool = False,
) -> Decomposition:
    """Decompose a graph, and check what comes out."""
    options = {"as-printed": printed} | ({} if sources is None else {"sources": sources})
    with open_device(device, threads=threads, order=Order(order, seed)) as opened:
        found = li(graph, graph.transpose(), SoftwareSetting(device=opened, seed=seed, options=options))
    assert check_components(canonical(found.labels), graph) is None
    # Each component takes a number for itself, and lets Partition take one more.
    components = component_sizes(found.labels)[0].size
    assert components < found.counts["subgraphs"] <= 2 * components + 1
    return found


def triangles(count: int) -> Graph:
    return graph_of(3 * count, [(v, v // 3 * 3 + (v + 1) % 3) for v in range(3 * count)])


@pytest.mark.parametrize(("threads", "printed"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_threads(order: str, threads: int, printed: bool) -> None:
    for graph in GRAPHS.values():
        decompose(graph, threads=threads, order=order, printed=printed)
    decompose(messy_graph(3000, 5000, 3), threads=threads, order=order, printed=printed)
    decompose(rmat_graph(1 << 12, 6, 3), threads=threads, order=order, printed=printed)


def test_a_hundred_seeds() -> None:
    for seed in range(100):
        graph = messy_graph(10 + seed, (10 + seed) * (seed % 5), seed)
        sources = (None, 0, 3)[seed // 3 % 3]
        threads, order = 1 + seed // 9 % 3, ORDERS[seed % 3]
        for printed in (False, True):
            decompose(graph, threads=threads, order=order, seed=seed, sources=sources, printed=printed)


def check_simulated() -> None:
    """Check lists longer than a block of the simulator, and short ones, beside each other."""
    star = [pair for leaf in range(1, 10) for pair in ((0, leaf), (leaf, 0))]
    for seed, order in product(range(3), ORDERS):
        size = 48 if (seed, order) == (2, "shuffled") else 16
        printed = seed == 1
        random = np.random.default_rng(seed).integers(10, size, (5 * (size - 10), 2)).tolist()
        decompose(graph_of(size, [*star, *map(tuple, random)]), device="cuda", order=order, seed=seed, printed=printed)


def test_on_the_simulator() -> None:
    simulate(check_simulated)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("leaves", [254, 255, 256, 257, 511, 512, 513, 5000])
def test_long_lists_are_shared_by_a_block(leaves: int, threads: int) -> None:
    # Around a block's size, and beyond what a block's shared memory has room for.
    first = np.zeros(leaves, np.uint32)
    others = np.arange(1, leaves + 1, dtype=np.uint32)
    ends = np.concatenate([first, others]), np.concatenate([others, first])
    star = Graph.from_edges(leaves + 1, first, others)
    both = Graph.from_edges(leaves + 1, *ends)
    decompose(star, threads=threads, sources=1, printed=True)
    found = decompose(both, threads=threads, sources=0, printed=True)
    assert found.counts == {"depth": 1, "queries": 2, "edges": 4 * leaves, "passes": found.counts["passes"]} | {
        "subgraphs": 2
    }
    assert 5 <= found.counts["passes"] <= 7


def test_one_thread_repeats_its_counts() -> None:
    for graph, printed in ((random_graph(3000, 2, 5), True), (triangles(500), False)):
        first, second = (decompose(graph, printed=printed).counts for _ in range(2))
        assert first == second
        assert first != decompose(graph, seed=2, printed=printed).counts


def test_a_second_run_compiles_nothing() -> None:
    graph = random_graph(20_000, 1, 1)
    with open_device("cpu", threads=2) as device:
        small = graph_of(2, [(0, 1)])
        run_software("li", small, small.transpose(), SoftwareSetting(device=device))
        with event.install_recorder("numba:compile") as recorder:
            run_software("li", graph, graph.transpose(), SoftwareSetting(device=device))
    assert recorder.buffer == []


def test_any_vertex_may_be_elected() -> None:
    graph = GRAPHS["random"]
    elected = set()
    for order in ORDERS:
        with open_device("cpu", order=Order(order, 5)) as device:
            numbering = Subgraphs(device, graph.vertices)
            assert numbering.select() == 1
            elected.add(device.value(numbering.arrays.sources, 0))
    assert {0, graph.vertices - 1} < elected, "the first one, the last one, and another"


def test_increments_are_found_by_the_new_number() -> None:
    with open_device("cpu") as device:
        numbering = Subgraphs(device, 9)
        numbers = device.array(np.arange(9))
        drawn = following(3) % 9
        assert numbering.draw(numbers[3:4], 1, *numbering.left) == (1, 1)
        assert numbering.select() == 2
        labels = device.read(numbering.arrays.labels).tolist()
        increments = device.read(numbering.arrays.increments).tolist()
    assert labels[drawn] == 3 or labels[8] == 2
    for new, old in ((1, 0), (2, 0), (3, 1)):
        assert new - increments[new] == old, "what a search in the new subgraph takes its vertices from"


def test_numbers_keep_32_bits() -> None:
    vertices, drawn = 100_000, 10_000
    start = np.random.default_rng(1).integers(0, 1 << 32, drawn)
    reduced = start % vertices
    for _ in range(3):
        reduced = (1664525 * reduced + 1013904223) % vertices
    assert np.unique(reduced).size == 32, "what the text's form has drawn by its third round"
    with open_device("cpu") as device:
        numbers = device.array(start)
        labels, elected = device.zeros(vertices, np.int32), device.full(1, -1, np.int32)
        everything = device.array(np.arange(vertices, dtype=np.int32))
        for _ in range(3):
            device.run(elect_drawn, drawn, numbers, everything, vertices, labels, elected)
        found = device.read(numbers)
    assert found.min() >= 0
    assert found.max() < 1 << 32
    assert np.unique(found % vertices).size > 9000


def test_numbers_can_exceed_the_vertices() -> None:
    assert decompose(graph_of(200, []), sources=200, printed=True).counts["subgraphs"] > 200


def test_how_many_vertices_are_drawn() -> None:
    # n / 10 below degree sqrt(10), n / d**2 from there on.
    assert source_count(100_000, 0) == source_count(100_000, 100_000) == 10_000
    assert source_count(100_000, 600_000) == 2777
    assert source_count(1 << 20, 12 << 20) == 7281
    assert source_count(14, 14 * 13) == source_count(1, 0) == 1
    most, more = (decompose(graph_of(30, []), sources=sources, printed=True).counts for sources in (30, 1000))
    assert most == more


def test_without_partition_a_level_finds_one_vertex_of_a_graph_without_edges() -> None:
    assert decompose(graph_of(500, []), sources=0, printed=True).counts["depth"] == 500


def test_trivial_components_take_no_level() -> None:
    # A chain is trimmed in a pass, in which the vertices behind it see what was trimmed.
    for edges in ([], list(pairwise(range(500))), list(pairwise(range(499, -1, -1)))):
        counts = decompose(graph_of(500, edges)).counts
        assert counts["depth"] == counts["queries"] == 0
        assert counts["passes"] <= 2


def test_the_first_source_has_the_largest_degrees() -> None:
    graph = graph_of(40, [*pairwise([5, *range(20, 40), 5]), *((5, leaf) for leaf in range(5)), (6, 5), (7, 5)])
    for order in ORDERS:
        with open_device("cpu", order=Order(order, 1)) as device:
            numbering = Subgraphs(device, graph.vertices)
            assert numbering.begin(upload(device, graph), upload(device, graph.transpose())) == 1
            assert device.value(numbering.arrays.sources, 0) == 5


def test_partition_reaches_half_of_what_is_left() -> None:
    assert next_share(1, 0, 1000) == next_share(693, 500, 1000) == pytest.approx(np.log(2))
    # Of groups of ten that reach each other, a tenth of the draws reaches as much.
    assert next_share(69, 500, 1000) == pytest.approx(np.log(2) / 10, rel=0.01)
    assert 0 < next_share(1, 1000, 1000) < next_share(1, 999, 1000) < 0.0002
    # So the depth of equal components grows with their logarithm.
    depths = [decompose(triangles(count)).counts["depth"] for count in (250, 1000, 4000)]
    assert max(depths) < 60
    assert decompose(triangles(250), printed=True, sources=0).counts["depth"] == 250


def test_too_many_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.baselines.software.li._MOST", 8)
    with pytest.raises(InputError, match=r"^li takes at most 8 vertices, not 9$"):
        decompose(GRAPHS["isolated"])


@pytest.mark.parametrize(
    ("sources", "depth"),
    [
        pytest.param(sources, depth, marks=pytest.mark.long if sources < 5000 else ())
        for sources, depth in FIGURE3.items()
    ],
)
def test_depth_of_figure_3(sources: int, depth: int) -> None:
    found = decompose(random_graph(100_000, 1, 1), sources=sources, printed=True)
    assert found.counts["depth"] == pytest.approx(depth, rel=0.3)


@pytest.mark.long
@pytest.mark.parametrize("graph", [random_graph(1 << 20, 12, 1), rmat_graph(1 << 18, 5, 1)], ids=["random", "R-MAT"])
def test_it_takes_at_most_three_times_as_long_as_hong(graph: Graph) -> None:
    transpose = graph.transpose()
    seconds: dict[str, list[float]] = {"hong": [], "li": []}
    with open_device("cpu", threads=2) as device:
        for _ in range(5):
            for name, times in seconds.items():
                times.append(run_software(name, graph, transpose, SoftwareSetting(device=device)).seconds)
    assert min(seconds["li"]) < 3 * min(seconds["hong"])
