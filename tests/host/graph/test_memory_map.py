"""Graph words, placement and queues."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.memory_map import BLOCK_BYTES, MemoryArray, PlacedGraph, QueueArrays, block_digests, default_slack
from cyscc.sim.coprocessor import ArrayKind
from tests.host.fake_coprocessor import FakeCoprocessor
from tests.system.graphs import graph_of


def small_graph() -> Graph:
    """Return 0 -> 1, 0 -> 2, 2 -> 0, 2 -> 2; vertices 1 and 3 have no edge out."""
    return graph_of(4, [(0, 1), (0, 2), (2, 0), (2, 2)])


def test_words_pack_start_count_and_visited() -> None:
    placed = PlacedGraph.place(FakeCoprocessor(), small_graph())
    placed.reset(np.ones(4, np.bool_))
    placed.reset(np.array([False, True, True, False]))
    assert [hex(word) for word in placed.words.tolist()] == [
        hex(0 << 32 | 2 << 1),
        hex(2 << 32 | 0 << 1 | 1),
        hex(2 << 32 | 2 << 1 | 1),
        hex(4 << 32 | 0 << 1),
    ]


def test_start_index_beyond_31_bits_keeps_all_its_bits() -> None:
    class Offsets:
        vertices = 1
        offsets = np.array([2**32 - 1, 2**32 - 1 + 2**31 - 1], np.int64)

    placed = replace(PlacedGraph.place(FakeCoprocessor(), graph_of(1, [])), graph=Offsets())  # type: ignore[arg-type]
    placed.reset(np.array([True]))
    assert placed.words[0] == (2**32 - 1) << 32 | (2**31 - 1) << 1 | 1


def test_placed_graph_keeps_its_edges_in_coprocessor_memory_only() -> None:
    coprocessor = FakeCoprocessor()
    placed = PlacedGraph.place(coprocessor, small_graph())
    neighbours = coprocessor.view(placed.neighbours_address, np.uint32, 4)
    assert neighbours.tolist() == [1, 2, 0, 2]
    assert np.shares_memory(placed.graph.targets, neighbours)
    assert placed.size == 4 * 8 + 4 * 4


def test_graph_without_edges_is_placed() -> None:
    empty = np.empty(0, np.uint32)
    placed = PlacedGraph.place(FakeCoprocessor(), Graph.from_edges(2, empty, empty, base=1))
    assert (placed.graph.vertices, placed.graph.edges, placed.graph.base) == (2, 0, 1)


@pytest.mark.parametrize("directions", [1, 2])
def test_queues_have_their_capacity_and_do_not_overlap(directions: int) -> None:
    coprocessor = FakeCoprocessor()
    queues = QueueArrays.allocate(coprocessor, capacity=100, directions=directions)
    assert set(coprocessor.holds.values()) == {ArrayKind.QUEUES}
    spans = sorted((array.address, array.values.nbytes) for array in (*queues.frontiers, *queues.reaches))
    assert [size for _, size in spans] == [800] * 2 + [400] * directions
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(spans))


def test_colours_start_at_zero() -> None:
    colours = MemoryArray.allocate(FakeCoprocessor(), np.uint32, 5, holds=ArrayKind.COLOURS)
    assert colours.values.dtype == np.uint32
    assert colours.values.tolist() == [0] * 5


@pytest.mark.parametrize(("vertices", "slack"), [(0, 65_536), (3, 65_536), (4, 65_537), (1 << 20, 65_536 + (1 << 18))])
def test_default_slack(vertices: int, slack: int) -> None:
    assert default_slack(vertices) == slack


IDS = BLOCK_BYTES // 4


def random_ids(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 2**32, count, dtype=np.uint32)


def test_every_flipped_bit_shows_and_only_in_its_block() -> None:
    ids = random_ids(2 * IDS + 3)
    before = block_digests(ids)
    assert before.size == 3
    for place in range(ids.size):
        bit = np.uint32(1 << (7 * place + place // 32) % 32)
        ids[place] ^= bit
        assert np.flatnonzero(block_digests(ids) != before).tolist() == [place // IDS]
        ids[place] ^= bit
    assert (block_digests(ids) == before).all()


def test_the_highest_bits_of_two_ids_do_not_cancel() -> None:
    ids = np.zeros(IDS, np.uint32)
    before = block_digests(ids)
    for place in range(1, IDS):
        ids[[0, place]] = 1 << 31
        assert block_digests(ids) != before
        ids[place] = 0


def test_exchanged_ids_show() -> None:
    ids = random_ids(IDS)
    assert block_digests(ids) != block_digests(np.roll(ids, 1))


@pytest.mark.parametrize(("ids", "blocks"), [(0, 0), (1, 1), (IDS, 1), (IDS + 1, 2)])
def test_number_of_blocks(ids: int, blocks: int) -> None:
    assert block_digests(np.zeros(ids, np.uint32)).tolist() == [0] * blocks
