"""Verification: correct references, messages that name the error, and unchanged memory."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from cyscc.host.driver.search import breadth_first_search
from cyscc.host.driver.verification import Checked, check_graphs, check_stray_writes
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.graph.reference import (
    bfs_levels,
    canonical,
    check_components,
    check_levels,
    component_sizes,
    depth_first_components,
    strong_components,
)
from cyscc.sim.errors import SimulationError
from cyscc.sim.hardware import LEVEL, VISITED
from tests.host.fake_coprocessor import FakeCoprocessor
from tests.refusals import refused
from tests.system.graphs import GRAPHS, graph_of, messy_graph

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)
LARGE = messy_graph(100, 2600, 5)
"""Its neighbours take three blocks."""


@given(st.lists(st.sampled_from([0, 1, 2, 3, 5, 10**9, -3]), max_size=30))
def test_canonical_is_its_definition(labels: list[int]) -> None:
    found = canonical(np.array(labels, np.int64))
    assert (found.tolist(), found.dtype) == ([labels.index(label) for label in labels], np.dtype(np.uint32))


def test_sizes() -> None:
    names, sizes = component_sizes(np.array([0, 1, 0, 3, 1, 0], dtype=np.uint32))
    assert names.tolist() == [0, 1, 3]
    assert sizes.tolist() == [3, 2, 1]


@given(PAIRS)
def test_components_are_mutual_reachability(pairs: list[tuple[int, int]]) -> None:
    graph = graph_of(10, pairs)
    reached = np.array([bfs_levels(graph, source) >= 0 for source in range(10)])
    expected = (reached & reached.T).argmax(axis=1).tolist()
    assert strong_components(graph).tolist() == expected == canonical(depth_first_components(graph)).tolist()


@given(PAIRS)
def test_levels_are_scipys_distances(pairs: list[tuple[int, int]]) -> None:
    graph = graph_of(10, pairs)
    weights = np.ones(graph.edges)
    matrix = csr_array((weights, graph.targets.astype(np.int32), graph.offsets.astype(np.int32)), shape=(10, 10))
    matrix.sum_duplicates()
    distances = shortest_path(matrix, unweighted=True, indices=3)
    assert bfs_levels(graph, 3).tolist() == np.where(np.isinf(distances), -1, distances).tolist()


@pytest.mark.parametrize("name", GRAPHS)
def test_components_of_awkward_graphs_are_scipys(name: str) -> None:
    graph = GRAPHS[name]
    assert canonical(depth_first_components(graph)).tolist() == strong_components(graph).tolist()


def test_real_components(wiki_vote: Path) -> None:
    _, sizes = component_sizes(strong_components(read_graph(wiki_vote)))
    assert (len(sizes), sizes.max()) == (5816, 1300)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([8, 8, 4], None),
        ([1, 2, 3], "vertex 2: component 2 found, 1 expected (1 of 3 vertices wrong)"),
        ([1, 2, 2], "vertex 2: component 2 found, 1 expected (2 of 3 vertices wrong)"),
        ([1, 1, 1], "vertex 3: component 1 found, 3 expected (1 of 3 vertices wrong)"),
        ([1, 1], "components of 2 vertices found, 3 expected"),
    ],
)
def test_wrong_components_are_told_in_the_inputs_ids(labels: list[int], message: str | None) -> None:
    graph = replace(graph_of(3, [(0, 1), (1, 0), (1, 2)]), base=1)
    assert check_components(np.array(labels), graph) == message


@pytest.mark.parametrize(
    ("source", "levels", "message"),
    [
        (0, [0, 1, 2], None),
        (2, [-1, -1, 0], None),
        (0, [0, 1, -1], "vertex 3: level -1 found, 2 expected (1 of 3 vertices wrong)"),
    ],
)
def test_wrong_levels_are_told(source: int, levels: list[int], message: str | None) -> None:
    graph = replace(graph_of(3, [(0, 1), (1, 2)]), base=1)
    assert check_levels(np.array(levels, np.int32), graph, source) == message
    for outside in (-1, 3):
        with refused(ValueError, f"source must be 0 to 2, not {outside}"):
            bfs_levels(graph, outside)


def placed(graph: Graph = LARGE, coprocessor: FakeCoprocessor | None = None, **options: str) -> PlacedGraph:
    result = PlacedGraph.place(coprocessor or FakeCoprocessor(), graph, **options)
    result.reset(np.zeros(graph.vertices, np.bool_))
    return result


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("searches", [False, True])
def test_a_search_leaves_all_that_it_must(name: str, searches: bool) -> None:
    coprocessor, graph = FakeCoprocessor(searches=searches), GRAPHS[name]
    searched = placed(graph, coprocessor)
    run = breadth_first_search(coprocessor, searched, 0)
    levels = run.reached if searches else 0
    assert check_graphs(coprocessor, (searched,)) == Checked(
        neighbour_blocks=int(graph.edges > 0), graph_words=graph.vertices - levels, level_words=levels
    )


@pytest.mark.parametrize(
    ("name", "place", "bit", "block", "last"), [("graph", 1100, 0, 1, 8191), ("transpose", -1, 31, 2, 4 * 2600 - 1)]
)
def test_what_was_read_counts_and_not_what_stands_in_memory(
    name: str, place: int, bit: int, block: int, last: int
) -> None:
    coprocessor = FakeCoprocessor()
    graphs = [placed(GRAPHS["chain"], coprocessor), placed(coprocessor=coprocessor, name=name)]
    assert check_graphs(coprocessor, graphs) == Checked(neighbour_blocks=4, graph_words=120, level_words=0)
    graphs[1].graph.targets[place] ^= 1 << bit
    begin = graphs[1].neighbours_address
    with refused(
        SimulationError,
        f"memory: neighbours of the {name} are not those that were read: block {block}, "
        f"addresses {begin + 4096 * block:#x} to {begin + last:#x} (1 of 3 blocks changed)",
    ):
        check_graphs(coprocessor, graphs)


@pytest.mark.parametrize("bit", [1 << 63, 1 << 1], ids=["start", "degree"])
def test_start_and_degree_must_stay(bit: int) -> None:
    changed = placed()
    changed.words[:] |= VISITED.put(1)
    changed.words[7] ^= np.uint64(bit)
    with refused(
        SimulationError,
        "memory: graph words of the graph are not those of the graph that was read: "
        f"word 7, address {changed.words_address + 56:#x}, is {int(changed.words[7]):#x} (1 of 100 words changed)",
    ):
        check_graphs(FakeCoprocessor(), (changed,))


def test_of_a_word_that_holds_a_level_nothing_else_is_left() -> None:
    searching = FakeCoprocessor(searches=True)
    searched = placed()
    searched.words[7] = VISITED.put(1) | LEVEL.put(2**31 - 1)
    assert check_graphs(searching, (searched,)).level_words == 1
    for wrong in (searched.words[7] | np.uint64(1 << 32), searched.words[7] ^ VISITED.put(1)):
        searched.words[7] = wrong
        with pytest.raises(SimulationError, match=r"^memory: graph words of the graph .*: word 7, .* \(1 of 100 words"):
            check_graphs(searching, (searched,))


def test_stray_writes_are_refused() -> None:
    check_stray_writes(FakeCoprocessor())  # which cannot tell

    class Strayed(FakeCoprocessor):
        def stray_writes(self) -> list[int]:
            return strays

    strays: list[int] = []
    check_stray_writes(Strayed())
    strays += [0x1204, 0x1208]
    with refused(SimulationError, "memory: address 0x1204, which is in no array, was written to (2 such places)"):
        check_stray_writes(Strayed())
