"""The checks against independent answers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from host.algorithms.verification import bfs_levels, check_components, check_levels, component_sizes, strong_components
from host.graph.formats import read_graph
from tests.system.graphs import graph_of

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)


@given(PAIRS)
def test_components_are_mutual_reachability(pairs: list[tuple[int, int]]) -> None:
    graph = graph_of(10, pairs)
    reached = np.array([bfs_levels(graph, source) >= 0 for source in range(10)])
    assert strong_components(graph).tolist() == (reached & reached.T).argmax(axis=1).tolist()


@given(PAIRS)
def test_levels_are_scipys_distances(pairs: list[tuple[int, int]]) -> None:
    graph = graph_of(10, pairs)
    weights = np.ones(graph.edges)
    matrix = csr_array((weights, graph.targets.astype(np.int32), graph.offsets.astype(np.int32)), shape=(10, 10))
    matrix.sum_duplicates()
    distances = shortest_path(matrix, unweighted=True, indices=3)
    assert bfs_levels(graph, 3).tolist() == np.where(np.isinf(distances), -1, distances).tolist()


def test_real_components(wiki_vote: Path) -> None:
    _, sizes = component_sizes(strong_components(read_graph(wiki_vote)))
    assert (len(sizes), sizes.max()) == (5816, 1300)


def test_right_results_pass() -> None:
    graph = graph_of(3, [(0, 1), (1, 0), (1, 2)])
    assert check_components(np.array([8, 8, 4]), graph) is None
    assert check_levels(np.array([0, 1, 2], dtype=np.int32), graph, 0) is None
    assert check_levels(np.array([-1, -1, 0], dtype=np.int32), graph, 2) is None


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2, 3], "vertex 2: component 2 found, 1 expected (1 of 3 vertices wrong)"),
        ([1, 2, 2], "vertex 2: component 2 found, 1 expected (2 of 3 vertices wrong)"),
        ([1, 1, 1], "vertex 3: component 1 found, 3 expected (1 of 3 vertices wrong)"),
        ([1, 1], "components of 2 vertices found, 3 expected"),
    ],
)
def test_wrong_components_are_told_in_the_inputs_ids(labels: list[int], message: str) -> None:
    graph = replace(graph_of(3, [(0, 1), (1, 0), (1, 2)]), base=1)
    assert check_components(np.array(labels), graph) == message


def test_wrong_levels_are_told() -> None:
    graph = replace(graph_of(3, [(0, 1), (1, 2)]), base=1)
    message = "vertex 3: level -1 found, 2 expected (1 of 3 vertices wrong)"
    assert check_levels(np.array([0, 1, -1]), graph, 0) == message


@pytest.mark.parametrize("source", [-1, 3])
def test_a_source_outside_is_refused(source: int) -> None:
    with pytest.raises(ValueError, match=rf"^source must be 0 to 2, not {source}$"):
        bfs_levels(graph_of(3, []), source)


def test_no_edges() -> None:
    assert strong_components(graph_of(3, [])).tolist() == [0, 1, 2]


def test_repeated_edges_do_not_hang_scipy() -> None:
    assert strong_components(graph_of(3, [(0, 1), (0, 1), (1, 0), (1, 2), (1, 2)])).tolist() == [0, 0, 2]
