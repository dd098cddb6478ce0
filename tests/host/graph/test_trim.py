"""Trimming by degree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from host.graph.trim import trim
from tests.system.graphs import graph_of


def trimmed(vertices: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the vertices that are trimmed."""
    graph = graph_of(vertices, pairs)
    return np.flatnonzero(trim(graph, graph.transpose())).tolist()


def test_sources_sinks_and_isolated_vertices_are_trimmed() -> None:
    assert trimmed(6, [(0, 1), (1, 2), (2, 1), (2, 3), (5, 3)]) == [0, 3, 4, 5]


def test_one_pass_only() -> None:
    assert trimmed(4, [(0, 1), (1, 2), (2, 3)]) == [0, 3]


def test_a_self_loop_is_an_edge_both_ways() -> None:
    assert trimmed(3, [(0, 0), (0, 1), (1, 1), (2, 1)]) == [2]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=15))
def test_trim_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    leave, enter = {source for source, _ in pairs}, {target for _, target in pairs}
    assert trimmed(10, pairs) == [vertex for vertex in range(10) if vertex not in leave & enter]
