"""CSR graphs: construction, transpose, ids, limits."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cyscc.host.graph.csr import MAX_DEGREE, MAX_EDGES, MAX_VERTICES, Graph, check_degrees, check_limits, trim
from cyscc.host.output.errors import InputError
from tests.refusals import refused
from tests.system.graphs import graph_of

Edges = tuple[int, NDArray[np.uint32], NDArray[np.uint32]]
NONE = np.empty(0, dtype=np.uint32)
KIND = "must be an array of uint32 of one dimension"


@st.composite
def edge_lists(draw: st.DrawFn) -> Edges:
    """Draw a number of vertices and a list of edges, repeated ones and self-loops among them."""
    vertices = draw(st.integers(1, 12))
    end = st.integers(0, vertices - 1)
    pairs = np.array(draw(st.lists(st.tuples(end, end), max_size=40)), dtype=np.uint32).reshape(-1, 2)
    return vertices, pairs[:, 0], pairs[:, 1]


def runs(graph: Graph) -> list[list[int]]:
    """Return each vertex's neighbours."""
    return [part.tolist() for part in np.split(graph.targets, graph.offsets[1:-1])]


def counts(graph: Graph) -> NDArray[np.int64]:
    """Return the number of edges from each vertex to each other, by scipy."""
    ones = np.ones(graph.edges, dtype=np.int64)
    matrix = csr_array((ones, graph.targets.astype(np.int64), graph.offsets), shape=(graph.vertices, graph.vertices))
    return np.asarray(matrix.todense())


@given(edge_lists())
def test_from_edges_keeps_the_order_of_the_list(edges: Edges) -> None:
    vertices, sources, targets = edges
    graph = Graph.from_edges(vertices, sources, targets)
    assert runs(graph) == [targets[sources == vertex].tolist() for vertex in range(vertices)]
    assert (graph.vertices, graph.edges) == (vertices, len(sources))
    assert graph.out_degrees().tolist() == np.bincount(sources, minlength=vertices).tolist()


@given(edge_lists())
def test_transpose_is_scipys(edges: Edges) -> None:
    graph = Graph.from_edges(*edges)
    transpose = graph.transpose()
    assert (counts(transpose) == counts(graph).T).all()
    assert runs(transpose) == [sorted(run) for run in runs(transpose)]


def test_transpose_keeps_the_ids() -> None:
    ends = np.array([0, 1], dtype=np.uint32)
    graph = Graph.from_edges(2, ends, ends[::-1], ids=np.array([5, 9]))
    assert graph.transpose().original(np.array([1, 0])).tolist() == [9, 5]
    assert Graph.from_edges(2, ends, ends, base=1).transpose().base == 1


def test_arrays_have_the_promised_types() -> None:
    ends = np.array([0, 1], dtype=np.int64)
    for graph in (Graph.from_edges(2, ends, ends), Graph.from_edges(2, ends, ends).transpose()):
        assert [graph.offsets.dtype, graph.targets.dtype] == [np.dtype(np.int64), np.dtype(np.uint32)]
        assert graph.offsets.flags.c_contiguous
        assert graph.targets.flags.c_contiguous


def test_original_and_index_are_inverse() -> None:
    for graph in (
        Graph.from_edges(3, NONE, NONE),
        Graph.from_edges(3, NONE, NONE, base=1),
        Graph.from_edges(3, NONE, NONE, ids=np.array([4, 7, 2**63 - 1])),
    ):
        names = graph.original(np.arange(3, dtype=np.uint32))
        assert names.dtype == np.int64
        assert [graph.index(int(name)) for name in names] == [0, 1, 2]


@pytest.mark.parametrize("name", [-1, 0, 3, 5, 8, 2**63, 2**64 + 4, -(2**70)])
def test_index_refuses_an_unknown_vertex(name: int) -> None:
    for graph in (
        Graph.from_edges(2, NONE, NONE, base=1),
        Graph.from_edges(3, NONE, NONE, ids=np.array([4, 7, 2**62])),
    ):
        with refused(InputError, f"the graph has no vertex {name}"):
            graph.index(name)


def test_limits_fire_one_beyond() -> None:
    check_limits(MAX_VERTICES, MAX_EDGES)
    for size in ((MAX_VERTICES + 1, 0), (1, MAX_EDGES + 1)):
        with pytest.raises(InputError, match=r"are too many for 32 bits"):
            check_limits(*size)
    check_degrees(np.array([0, MAX_DEGREE, MAX_DEGREE + 5]))
    with refused(InputError, "2147483648 edges of one vertex are too many for 31 bits (at most 2147483647)"):
        check_degrees(np.array([0, 7, MAX_DEGREE + 8]))


@pytest.mark.parametrize(
    ("offsets", "targets", "ids", "message"),
    [
        ([0, 1], np.zeros(1, np.int32), None, f"targets {KIND}, not array([0], dtype=int32)"),
        ([0, 1], [0], None, f"targets {KIND}, not [0]"),
        ([0, 1], np.zeros(2, np.uint32), None, "offsets must rise from 0 to 2, at least 2 of them"),
        ([1, 2], np.zeros(2, np.uint32), None, "offsets must rise from 0 to 2, at least 2 of them"),
        ([0, 5, 1], np.zeros(1, np.uint32), None, "offsets must rise from 0 to 1, at least 2 of them"),
        ([], np.zeros(0, np.uint32), None, "offsets must rise from 0 to 0, at least 2 of them"),
        ([0], np.zeros(0, np.uint32), None, "offsets must rise from 0 to 0, at least 2 of them"),
        ([0, 1], np.array([1], np.uint32), None, "targets: 1 is no vertex: there are 0 to 0"),
        ([0, 1], np.zeros(1, np.uint32), np.array([1, 2]), "ids must name 1 vertices, not 2"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    offsets: list[int], targets: Any, ids: NDArray[np.int64] | None, message: str
) -> None:
    with refused(ValueError, message):
        Graph(offsets=np.array(offsets, dtype=np.int64), targets=targets, ids=ids)


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        ([0], [3], "targets: 3 is no vertex: there are 0 to 2"),
        ([4, 1], [0, 0], "sources: 4 is no vertex: there are 0 to 2"),
        ([1, -1], [0, 0], "sources: -1 is no vertex: there are 0 to 2"),
        ([1, 1], [0], "sources and targets must be equally long, not 2 and 1"),
        ([1, 0.9], [0, 1], "sources: 0.9 is no vertex: there are 0 to 2"),
        ([0, 1], [2, float("nan")], "targets: nan is no vertex: there are 0 to 2"),
        ([0], [-float("inf")], "targets: -inf is no vertex: there are 0 to 2"),
        ([0], [2**64 - 1], "targets: 18446744073709551615 is no vertex: there are 0 to 2"),
        ([0], [2**64], "targets: 18446744073709551616 is no vertex: there are 0 to 2"),
        ([0, 0, 0], [1, True, 1], "targets: True is no vertex: there are 0 to 2"),
        ([0], ["1"], "targets: '1' is no vertex: there are 0 to 2"),
        ([0, 0], [1, None], "targets: None is no vertex: there are 0 to 2"),
        ([0], [Fraction(1, 2)], "targets: Fraction(1, 2) is no vertex: there are 0 to 2"),
        ([0], [[1], [2, 0]], "targets: [1] is no vertex: there are 0 to 2"),
        ([[0, 1]], [[1, 2]], "sources must have one dimension, not 2"),
        (0, [1], "sources must have one dimension, not 0"),
        (np.array([False]), [1], "sources: False is no vertex: there are 0 to 2"),
        (np.array([1j]), [1], "sources: 1j is no vertex: there are 0 to 2"),
        (np.array([1], "m8[s]"), [1], "sources: datetime.timedelta(seconds=1) is no vertex: there are 0 to 2"),
        (np.array([1, 0.5], object), [1, 1], "sources: 0.5 is no vertex: there are 0 to 2"),
        (np.ma.array([0, 1], mask=[False, True]), [1, 1], "sources must not be masked"),
        (pd.Series([0, None], dtype="Int64"), [1, 1], "sources: nan is no vertex: there are 0 to 2"),
    ],
)
def test_edges_that_are_none_are_refused(sources: Any, targets: Any, message: str) -> None:
    with refused(ValueError, message):
        Graph.from_edges(3, sources, targets)


@pytest.mark.parametrize(
    "ends",
    [
        [0, 2],
        (0, 2.0),
        range(0, 3, 2),
        [np.int64(0), Fraction(2)],
        np.array([0, 2], object),
        np.array([0, 1, 2], np.float16)[::2],
        np.array([0, 2], ">u8"),
        np.ma.array([0, 2]),
        pd.Series([0, 2], index=[5, 4]),
        pd.Series([0, 2], dtype="Int64"),
    ],
    ids=lambda ends: type(ends).__name__,
)
def test_edges_of_any_type(ends: Any) -> None:
    graph = Graph.from_edges(3, ends, ends)
    assert (graph.offsets.tolist(), graph.targets.tolist()) == ([0, 1, 1, 2], [0, 2])


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40))
def test_simplified_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    sources, targets = np.array(pairs, np.uint32).reshape(-1, 2).T
    graph = Graph.from_edges(7, sources, targets, ids=np.arange(7) * 3)
    before = graph.targets.tolist()
    simple = graph.simplified()
    left = list(zip(np.repeat(np.arange(7), simple.out_degrees()).tolist(), simple.targets.tolist(), strict=True))
    assert left == sorted(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: pair[0])
    assert simple.simplified() is simple
    assert (simple.ids is graph.ids, simple.targets.dtype, graph.targets.tolist()) == (
        True,
        np.dtype(np.uint32),
        before,
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=15))
def test_trim_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    leave, enter = {source for source, _ in pairs}, {target for _, target in pairs}
    graph = graph_of(10, pairs)
    trimmed = trim(graph, graph.transpose())
    assert np.flatnonzero(trimmed).tolist() == [vertex for vertex in range(10) if vertex not in leave & enter]
