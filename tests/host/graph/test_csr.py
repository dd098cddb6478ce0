"""Graphs as arrays: edges, transposes, both directions."""

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cyscc.host.graph import csr
from cyscc.host.graph.csr import MAX_DEGREE, MAX_EDGES, MAX_VERTICES, Graph, check_degrees, check_limits, trim
from cyscc.host.graph.formats import check_graph, read_graph
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from tests.host.graph.files import edges_of
from tests.refusals import refused
from tests.system.graphs import graph_of

Edges = tuple[int, NDArray[np.uint32], NDArray[np.uint32]]
NONE = np.empty(0, dtype=np.uint32)


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


SNAP = "# Undirected graph (each unordered pair of nodes is saved once): a.txt\n# Nodes: 3 Edges: 2\n1\t2\n2\t3\n"
BANNER = "%%MatrixMarket matrix coordinate"
BOTH = "has both directions of {}, which are parallel edges, each read both ways"


def read(path: Path, content: str, *, undirected: bool = False) -> tuple[list[tuple[int, int]], list[str]]:
    """Write a file, read it, and return its edges and the notes about it, without its folder."""
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    notes: list[str] = []
    graph = read_graph(path, undirected=undirected, on_note=notes.append)
    return edges_of(graph), [each.replace(f"{path.parent}/", "") for each in notes]


FIRST_LINES = json.loads(Path(__file__).with_name("first_lines.json").read_text())
"""Comments, with the line that says that the graph is undirected, and files whose first line may be a header."""


@pytest.mark.parametrize(("comment", "line"), FIRST_LINES["undirected"])
@pytest.mark.parametrize("name", ["g.txt", "g.edges.gz"])
def test_comments_that_say_undirected(tmp_path: Path, name: str, comment: str, line: int) -> None:
    content = f"{comment}\n1 2\n2 3\n"
    directed, notes = read(tmp_path / name, content)
    assert directed[-2:] == [(1, 2), (2, 3)]
    said = comment.replace("\t", "\\t").lstrip("\ufeff").split("\n")[max(line - 1, 0)]
    note = f"{name}: read as directed, although line {line} says {said!r}: --undirected reads each edge both ways"
    assert notes == ([note.replace("\\\\", "\\")] if line else [])
    found, notes = read(tmp_path / name, content, undirected=True)
    assert notes == []
    assert sorted(found) == sorted({*directed, *(edge[::-1] for edge in directed)})


def test_of_other_formats_nothing_is_said(tmp_path: Path) -> None:
    assert read(tmp_path / "g.mtx", f"{BANNER} pattern general\n% undirected graph\n2 2 1\n1 2\n") == ([(1, 2)], [])
    assert read(tmp_path / "g.gr", "c undirected graph\np sp 2 1\na 1 2 1\n") == ([(1, 2)], [])


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric", "hermitian"])
def test_symmetric_matrices_stay_as_they_are(tmp_path: Path, symmetry: str) -> None:
    content = f"{BANNER} complex {symmetry}\n3 3 3\n2 1 1 0\n3 1 0 1\n3 3 1 0\n"
    plain = read(tmp_path / "g.mtx", content)
    assert plain == ([(1, 2), (1, 3), (2, 1), (3, 1), (3, 3)], [])
    assert read(tmp_path / "g.mtx", content, undirected=True) == plain
    general = read(tmp_path / "g.mtx", content.replace(symmetry, "general"), undirected=True)
    assert (sorted(general[0]), general[1]) == plain


EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@given(EDGES)
def test_mirrored(edges: list[tuple[int, int]]) -> None:
    ends = np.array(edges, np.uint32).reshape(-1, 2)
    notes: list[str] = []
    graph = Graph.from_edges(5, ends[:, 0], ends[:, 1], base=1)
    both = graph.mirrored(notes.append)
    expected = sorted([*edges, *((target, source) for source, target in edges if source != target)])
    assert sorted((source - 1, target - 1) for source, target in edges_of(both)) == expected
    pairs = len({(one, other) for one, other in edges if one < other and (other, one) in edges})
    assert notes == [BOTH.format(count_text(pairs, "edge"))] * (pairs > 0)
    assert both.mirrored() is both
    assert both.simplified().mirrored().undirected


def test_edges_beyond_the_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(csr, "MAX_EDGES", 3)
    (tmp_path / "g.txt").write_text("1 2\n1 3\n")
    with refused(InputError, f"{tmp_path / 'g.txt'}: 4 edges are too many for 32 bits (at most 3)"):
        read_graph(tmp_path / "g.txt", undirected=True)
    monkeypatch.setattr(csr, "MAX_EDGES", 9)
    monkeypatch.setattr(csr, "MAX_DEGREE", 1)
    (tmp_path / "g.txt").write_text("2 1\n3 1\n")
    with refused(InputError, f"{tmp_path / 'g.txt'}: 2 edges of one vertex are too many for 31 bits (at most 1)"):
        read_graph(tmp_path / "g.txt", undirected=True)


ASKED = "the first line of numbers is read as an edge: is it a header, of numbers of vertices and edges?"


@pytest.mark.parametrize(("name", "content", "asked"), FIRST_LINES["headers"])
def test_first_lines_that_may_be_headers(tmp_path: Path, name: str, content: str, asked: bool) -> None:
    assert read(tmp_path / name, content)[1] == [f"{name}: {ASKED}"] * asked


def test_a_large_file_is_checked_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    notes: list[str] = []
    path.write_text(SNAP + "1 2\n" * 20_000)
    check_graph(path, on_note=notes.append)
    check_graph(path, undirected=True, on_note=notes.append)
    assert [note.partition(", although")[0] for note in notes] == [f"{path}: read as directed"]
    path.write_text("40000 1\n" + "1\n" * 40_000)
    with refused(InputError, f"{path}: METIS's format is not read"):
        check_graph(path)
