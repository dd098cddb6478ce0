"""The decomposition of Li et al.: its repairs, its additions, and the depths of the text."""

from itertools import pairwise

import numpy as np
import pytest

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.primitives import upload
from cyscc.host.baselines.devices.steps import ORDERS, Order
from cyscc.host.baselines.software.li import Subgraphs, elect_drawn, next_share, source_count
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.output.errors import InputError
from tests.host.baselines.software.cases import PRINTED, decompose, rings
from tests.system.graphs import GRAPHS, graph_of

FIGURE3 = {100: 7295, 1000: 1195, 5000: 315, 8000: 217, 10_000: 187}
"""Recursion depth by the number of sources, random graphs of 100,000 vertices and edges."""


NO_PARTITION = {**PRINTED, "sources": 0}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("leaves", [254, 255, 256, 257, 511, 512, 513, 5000])
def test_long_lists_are_shared_by_a_block(leaves: int, threads: int) -> None:
    # Around a block's size, and beyond what a block's shared memory has room for.
    first = np.zeros(leaves, np.uint32)
    others = np.arange(1, leaves + 1, dtype=np.uint32)
    ends = np.concatenate([first, others]), np.concatenate([others, first])
    star = Graph.from_edges(leaves + 1, first, others)
    both = Graph.from_edges(leaves + 1, *ends)
    with open_device("cpu", threads=threads) as device:
        decompose("li", star, device, {**PRINTED, "sources": 1})
        found = decompose("li", both, device, NO_PARTITION)
    assert found.counts == {"depth": 1, "queries": 2, "edges": 4 * leaves, "passes": found.counts["passes"]} | {
        "subgraphs": 2
    }
    assert 5 <= found.counts["passes"] <= 7


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
    assert decompose("li", graph_of(200, []), options={**PRINTED, "sources": 200}).counts["subgraphs"] > 200


def test_how_many_vertices_are_drawn() -> None:
    # n / 10 below degree sqrt(10), n / d**2 from there on.
    assert source_count(100_000, 0) == source_count(100_000, 100_000) == 10_000
    assert source_count(100_000, 600_000) == 2777
    assert source_count(1 << 20, 12 << 20) == 7281
    assert source_count(14, 14 * 13) == source_count(1, 0) == 1
    every, more = ({**PRINTED, "sources": sources} for sources in (30, 1000))
    empty = graph_of(30, [])
    assert decompose("li", empty, options=every).counts == decompose("li", empty, options=more).counts


def test_trivial_components_take_no_level() -> None:
    # A chain is trimmed in a pass, in which the vertices behind it see what was trimmed.
    for edges in ([], list(pairwise(range(500))), list(pairwise(range(499, -1, -1)))):
        counts = decompose("li", graph_of(500, edges)).counts
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
    depths = [decompose("li", rings(count, [])).counts["depth"] for count in (250, 1000, 4000)]
    assert max(depths) < 60
    assert decompose("li", rings(250, []), options=NO_PARTITION).counts["depth"] == 250


def test_too_many_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.baselines.software.li._MOST", 8)
    with pytest.raises(InputError, match=r"^li takes at most 8 vertices, not 9$"):
        decompose("li", GRAPHS["isolated"])


@pytest.mark.parametrize(
    ("sources", "depth"),
    [
        pytest.param(sources, depth, marks=pytest.mark.long if sources < 5000 else ())
        for sources, depth in FIGURE3.items()
    ],
)
def test_depth_of_figure_3(sources: int, depth: int) -> None:
    found = decompose("li", random_graph(100_000, 1, 1), options={**PRINTED, "sources": sources})
    assert found.counts["depth"] == pytest.approx(depth, rel=0.3)
