"""Formats of graph files: which one a file has, and what is read of it."""

import gzip
import io
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import mmread, mmwrite
from scipy.sparse import coo_array, csc_array, csr_array, load_npz, save_npz

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import check_graph, files, parsing, read_graph, write_graph
from cyscc.host.graph.formats.lists import EdgeBuffer
from cyscc.host.graph.formats.writer import write_pairs
from cyscc.host.graph.generators import random_graph
from cyscc.host.output.errors import InputError
from tests.host.graph.files import edges_of
from tests.refusals import refused

ALL = [".txt", ".mtx", ".gr", ".npz", ".edges.gz", ".mtx.gz", ".gr.gz", ".npz.gz", ".MTX", ".el.GZ"]


def read(folder: Path, name: str, content: str | bytes) -> Graph:
    """Write a file, gzipped if the name says so, and read it as a graph."""
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return read_graph(path)


@pytest.mark.parametrize(("suffix", "block"), [*((suffix, 1 << 22) for suffix in ALL), (".txt", 64), (".gr", 64)])
def test_round_trip(tmp_path: Path, suffix: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_BLOCK", block)
    graph = random_graph(1000, 5, 1)
    write_graph(graph, tmp_path / f"graph{suffix}")
    again = read_graph(str(tmp_path / f"graph{suffix}"))
    both = read_graph(tmp_path / f"graph{suffix}", undirected=True)
    assert (both.undirected, both.targets.tolist()) == (True, graph.mirrored().targets.tolist())
    assert again.offsets.tolist() == graph.offsets.tolist()
    assert again.targets.tolist() == graph.targets.tolist()
    assert again.ids is None
    assert again.base == (1 if suffix.lower().startswith((".mtx", ".gr")) else 0)
    assert [path.name for path in tmp_path.iterdir()] == [f"graph{suffix}"]


BLANKS = st.sampled_from([" ", "\t", "  ", " \t "])
ENDS = st.sampled_from(["0", "7", "007", f"{0:030}9", "10", f"{2**63}", f"{2**64 + 7}", "-1", "1x", "", "9"])
NUMBERS = "1 -1.5 2. .5 +.5E+7 1e3 1e 1e+ . + nan -Inf infinity infin x"
REST = st.sampled_from(["", " ", *NUMBERS.split(), "1 2", "1 2 3", "1\0"])
EDGE = st.tuples(st.sampled_from(["", " "]), ENDS, BLANKS, ENDS, BLANKS, REST).map("".join)
OTHER = st.sampled_from(
    ["", "\t", "# text", " % text", "%%MatrixMarket", "%%matrixm", "#é", "# a\0b", "a 1 2", "a1 2", "c"]
)
NUMBER = r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)"
EDGES = (parsing.Column("vertex id", 1, 9),) * 2
LAYOUTS = {
    "": parsing.Layout(form="", comments="#%", columns=EDGES, fewest=2, most=4, alike=True),
    "a ": parsing.Layout(form="", letter="a", comments="c", columns=EDGES, fewest=2, most=3),
}


def rows_by_regular_expressions(lines: list[str], layout: parsing.Layout, room: int) -> tuple[list[list[int]], int]:
    """Return the ids in each row, and the number of the first wrong line; 0 if there is none."""
    row = rf"{layout.letter}\b[ \t]*([0-9]+)[ \t]+([0-9]+)((?:[ \t]+{NUMBER}){{0,{layout.most - 2}}})"
    rows: list[list[int]] = []
    alike: set[int] = set()
    for number, line in enumerate(lines, start=1):
        text = line.strip(" \t")
        if not text or (text[0] in layout.comments and "\0" not in text):
            if text.lower().startswith("%%matrixmarket"):
                return rows, number
            continue
        found = re.fullmatch(row, text, re.IGNORECASE)
        if found is None or not all(1 <= int(each) <= 9 for each in found.groups()[:2]) or len(rows) == room:
            return rows, number
        alike.add(len(text.split()))
        if layout.alike and len(alike) > 1:
            return rows, number
        rows.append([int(found[1]), int(found[2])])
    return rows, 0


@given(
    st.lists(st.one_of(EDGE, EDGE, OTHER), min_size=1, max_size=6), st.sampled_from(list(LAYOUTS)), st.integers(1, 4)
)
def test_the_scanner_reads_what_regular_expressions_do(lines: list[str], begin: str, room: int) -> None:
    lines = [begin + line for line in lines]
    rows, wrong = rows_by_regular_expressions(lines, LAYOUTS[begin], room)
    text = parsing.Lines(io.BytesIO("\n".join(lines).encode()))
    found: list[list[int]] = []
    if wrong or len(rows) < room:
        with pytest.raises(InputError) as error:
            list(parsing.read_lines(text, LAYOUTS[begin], expected=room))
        assert error.value.line == (wrong or None)
    else:
        for block in parsing.read_lines(text, LAYOUTS[begin], expected=room):
            found += np.transpose(block).tolist()
        assert found == rows


@pytest.mark.parametrize("suffix", [".mtx", ".gr", ".npz", ".npz.gz"])
def test_isolated_vertices_survive(tmp_path: Path, suffix: str) -> None:
    none = np.empty(0, dtype=np.uint32)
    write_graph(Graph.from_edges(3, none, none), tmp_path / f"graph{suffix}")
    again = read_graph(tmp_path / f"graph{suffix}")
    assert (again.vertices, again.edges) == (3, 0)


def test_equal_graphs_are_equal_files(tmp_path: Path) -> None:
    graph = random_graph(100, 5, 1)
    for suffix in (".gr.gz", ".npz"):
        for name in ("a", "b"):
            write_graph(graph, tmp_path / (name + suffix))
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_written_text(tmp_path: Path) -> None:
    ends = np.array([0, 2, 0], dtype=np.uint32), np.array([2, 1, 0], dtype=np.uint32)
    graph = Graph.from_edges(3, *ends, ids=np.array([0, 40, 2**63 - 1]))
    for name in ("g.txt", "g.mtx", "g.gr"):
        (tmp_path / name).write_text("old")
        write_graph(graph, tmp_path / name)
    largest = 2**63 - 1
    head = "# Directed graph\n# Nodes: 3 Edges: 3\n"
    assert (tmp_path / "g.txt").read_text() == f"{head}0 {largest}\n0 0\n{largest} 40\n"
    banner = "%%MatrixMarket matrix coordinate pattern general\n"
    assert (tmp_path / "g.mtx").read_text() == f"{banner}3 3 3\n1 3\n1 1\n3 2\n"
    assert (tmp_path / "g.gr").read_text() == "p sp 3 3\na 1 3 1\na 1 1 1\na 3 2 1\n"
    assert edges_of(read_graph(tmp_path / "g.txt")) == [(0, largest), (0, 0), (largest, 40)]


def test_scipy_reads_what_is_written(tmp_path: Path) -> None:
    graph = random_graph(50, 3, 1)
    for name in ("g.mtx", "g.npz"):
        write_graph(graph, tmp_path / name)
    expected = csr_array((np.ones(graph.edges), graph.targets.astype(np.int32), graph.offsets), shape=(50, 50))
    for matrix in (mmread(tmp_path / "g.mtx"), load_npz(tmp_path / "g.npz")):
        assert (matrix.toarray() == expected.toarray()).all()


@pytest.mark.parametrize("kind", [np.uint32, np.uint64, np.int8, np.float32, np.complex128])
def test_what_scipy_writes_is_read(tmp_path: Path, kind: type) -> None:
    for values in ([1, 2, 3], [1, 2, 2]):  # general, and symmetric or hermitian
        matrix = coo_array((np.array(values, kind), ([0, 1, 2], [0, 2, 1])), shape=(3, 3))
        mmwrite(tmp_path / "g.mtx", matrix)
        assert edges_of(read_graph(tmp_path / "g.mtx")) == [(1, 1), (2, 3), (3, 2)]


SNAP = "# comment 1 2\n% another\n\n  7\t9 1 2. \r\n9 7 0.5 -1e3\n#\n 007 7 nan +inf"
MTX = "%%MatrixMarket matrix coordinate {}\n% comment\n\n4 4 2\n{}"


@pytest.mark.parametrize(
    ("name", "content", "vertices", "edges"),
    [
        ("g.edges", SNAP, 2, [(7, 9), (7, 7), (9, 7)]),
        ("g.txt.gz", SNAP, 2, [(7, 9), (7, 7), (9, 7)]),
        *(("g.txt", f"3 {large}\n{large} 0\n", 3, [(3, large), (large, 0)]) for large in (2**32 - 1, 2**32, 2**63 - 1)),
        ("g.gr", "c GTgraph\nc\n\np sp 4 3\na 4 1 17\nc between\na 1 2\na 4 1 2\n", 4, [(1, 2), (4, 1), (4, 1)]),
        ("g.mtx", MTX.format("pattern general", "3 1\n1 2\n"), 4, [(1, 2), (3, 1)]),
        ("g.mtx", MTX.format("real general", "3 1 0.0\n1 1 -2.5e-3\n"), 4, [(1, 1), (3, 1)]),
        ("g.mtx", MTX.format("double general", "1 2 1.0e+00\n1 1 1e0\n"), 4, [(1, 2), (1, 1)]),
        ("g.mtx", MTX.format("Integer General", "3 1 4\n3 1 4\n"), 4, [(3, 1), (3, 1)]),
        ("g.mtx", MTX.format("pattern symmetric", "3 1\n2 2\n"), 4, [(1, 3), (2, 2), (3, 1)]),
        ("g.mtx", MTX.format("integer skew-symmetric", "3 1 1\n2 1 1\n"), 4, [(1, 3), (1, 2), (2, 1), (3, 1)]),
    ],
)
def test_texts(tmp_path: Path, name: str, content: str, vertices: int, edges: list[tuple[int, int]]) -> None:
    graph = read(tmp_path, name, content)
    assert (graph.vertices, edges_of(graph)) == (vertices, edges)


@pytest.mark.parametrize(("first", "base"), [(0, 0), (1, 1), (2, None)])
def test_consecutive_ids_need_no_table(tmp_path: Path, first: int, base: int | None) -> None:
    graph = read(tmp_path, "g.txt", f"{first + 1} {first}\n{first} {first + 2}\n")
    assert edges_of(graph) == [(first, first + 2), (first + 1, first)]
    assert (graph.ids is None) == (base is not None)
    assert base is None or graph.base == base


@pytest.mark.parametrize("scale", [1, 2**11 + 1, 2**40 + 3])
def test_ids_are_compacted_in_ascending_order(scale: int) -> None:
    ends = np.random.default_rng(1).integers(0, 400_000, (2, 700_000)) * scale
    buffer = EdgeBuffer()
    for part in np.array_split(ends, 5, axis=1):
        buffer.append(part[0], part[1])
    ids, sources, targets = buffer.compact()
    expected, numbers = np.unique(ends, return_inverse=True)
    assert (ids == expected).all()
    assert (numbers.reshape(2, -1) == [sources, targets]).all()
    assert {sources.dtype, targets.dtype} == {np.dtype(np.uint32)}
    assert buffer.count == 0


@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)), min_size=1, max_size=20))
def test_any_ids_survive(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]]) -> None:
    content = "".join(f"{source} {target}\n" for source, target in pairs)
    graph = read(tmp_path_factory.mktemp("any"), "g.txt", content)
    assert edges_of(graph) == sorted(pairs, key=lambda pair: pair[0])


def test_real_graph(wiki_vote: Path) -> None:
    graph = read_graph(wiki_vote)
    assert (graph.vertices, graph.edges) == (7115, 103689)
    assert graph.original(np.array([0, 7114])).tolist() == [3, 8297]


@pytest.mark.parametrize("layout", [csr_array, csc_array, coo_array])
@pytest.mark.parametrize("compressed", [False, True])
def test_npz(tmp_path: Path, layout: type, compressed: bool) -> None:
    ends = np.array([2, 0, 2, 1]), np.array([0, 1, 3, 1])
    matrix = layout(coo_array((np.array([1.0, 0.0, -1.0, 2.0]), ends), shape=(5, 5)))
    save_npz(tmp_path / "g.npz", matrix, compressed=compressed)
    graph = read_graph(tmp_path / "g.npz")
    assert graph.vertices == 5
    assert edges_of(graph) == [(0, 1), (1, 1), (2, 0), (2, 3)]


def test_npz_keeps_repeated_entries(tmp_path: Path) -> None:
    ends = np.array([1, 1, 0]), np.array([0, 0, 1])
    save_npz(tmp_path / "g.npz", coo_array((np.ones(3), ends), shape=(2, 2)))
    assert edges_of(read_graph(tmp_path / "g.npz")) == [(0, 1), (1, 0), (1, 0)]


def test_pairs_of_all_sizes_and_beyond_one_block() -> None:
    numbers = np.concatenate([[0, 7, 10, 999_999_999_999, 2**63 - 1], np.arange(300_000)])
    stream = io.BytesIO()
    write_pairs(stream, numbers, numbers[::-1])
    assert stream.getvalue().decode().splitlines() == [
        f"{a} {b}" for a, b in zip(numbers.tolist(), numbers[::-1].tolist(), strict=True)
    ]


HEADED = b"%%MatrixMarket matrix coordinate pattern general\n"
# Read as an edge list the second has its size line for an edge, and three components instead of one.
MTX_REAL = b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 0.5\n2 3 1\n3 1 1\n"
GR = b"c GTgraph\np sp 3 2\na 1 3 9\na 3 1 9\n"

# Without the time, which would be in the names of tests.
gzipped = partial(gzip.compress, mtime=0)


def npz() -> bytes:
    file = io.BytesIO()
    save_npz(file, csr_array(np.array([[0, 1], [1, 0]])))
    return file.getvalue()


CYCLE = [(1, 2), (2, 3), (3, 1)]
PAIR = [(1, 3), (3, 1)]
BOTH = [(0, 1), (1, 0)]
MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("name", "content", "edges", "noted"),
    [
        ("g.txt", MTX_REAL, CYCLE, ("Matrix Market", "edge list")),
        ("g.txt", MTX_REAL.replace(b"%%MatrixM", b"%%matrixM"), CYCLE, ("Matrix Market", "edge list")),
        ("g.gr", HEADED + b"2 2 1\n2 1\n", [(2, 1)], ("Matrix Market", "DIMACS")),
        ("g.npz", HEADED + b"2 2 1\n2 1\n", [(2, 1)], ("Matrix Market", "scipy matrix")),
        ("g.txt", GR, PAIR, ("DIMACS", "edge list")),
        ("g.edges", GR.partition(b"\n")[2], PAIR, ("DIMACS", "edge list")),
        ("g.mtx", b"\n" + GR, PAIR, ("DIMACS", "Matrix Market")),
        ("g.zip", npz(), BOTH, ("scipy matrix", "edge list")),
        ("g.mtx", npz(), BOTH, ("scipy matrix", "Matrix Market")),
        ("g.txt", gzipped(b"1 2\n"), [(1, 2)], ("gzipped edge list", "edge list")),
        ("g.mtx", gzipped(MTX_REAL), CYCLE, ("gzipped Matrix Market", "Matrix Market")),
        ("g.npz", gzipped(npz()), BOTH, ("gzipped scipy matrix", "scipy matrix")),
        ("g.mtx.gz", MTX_REAL, CYCLE, ("Matrix Market", "gzipped Matrix Market")),
        ("g.txt.gz", GR, PAIR, ("DIMACS", "gzipped edge list")),
        ("g.TXT.GZ", gzipped(GR), PAIR, ("gzipped DIMACS", "gzipped edge list")),
        ("g.MTX", MTX_REAL, CYCLE, ()),
        ("g.Gr.Gz", gzipped(GR), PAIR, ()),
        # A name without a suffix says nothing.
        ("graph", MTX_REAL, CYCLE, ()),
        ("graph", gzipped(b"1 2\n"), [(1, 2)], ()),
        ("graph.gz", gzipped(npz()), BOTH, ()),
        ("graph", b"1 2\n", [(1, 2)], ()),
        # Marks of UTF-8 in front.
        ("g.txt", MARK + b"1 2\n", [(1, 2)], ()),
        ("g.txt", MARK + b"# c\n1 2\n", [(1, 2)], ()),
        ("g.mtx", MARK + MTX_REAL, CYCLE, ()),
        ("g.gr", MARK + GR, PAIR, ()),
        ("g.gr.gz", gzipped(MARK + GR), PAIR, ()),
        # Line ends of three kinds.
        ("g.txt", b"# c\r1 2\r3 4", [(1, 2), (3, 4)], ()),
        ("g.txt", b"1 2\r\n3 4\r\n", [(1, 2), (3, 4)], ()),
        ("g.txt", b"1 2\r\r\n3 4\n\r5 6", [(1, 2), (3, 4), (5, 6)], ()),
        ("g.mtx", MTX_REAL.replace(b"\n", b"\r"), CYCLE, ()),
        ("g.gr", GR.replace(b"\n", b"\r\n"), PAIR, ()),
        # Members of gzip data, and zeros behind it.
        ("g.txt.gz", gzipped(b"1 2\n3") + gzipped(b" 4\n"), [(1, 2), (3, 4)], ()),
        ("g.txt.gz", gzipped(b"1 2\n") + bytes(512), [(1, 2)], ()),
        ("g.txt.gz", gzipped(b"") + gzipped(b"1 2\n"), [(1, 2)], ()),
    ],
)
def test_the_content_is_followed(
    tmp_path: Path, name: str, content: bytes, edges: list[tuple[int, int]], noted: tuple[str, ...]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    notes: list[str] = []
    assert edges_of(read_graph(path, on_note=notes.append)) == edges
    note = "{}: read as {} by its content, although its suffix says {}"
    assert notes == ([note.format(path, *noted)] if noted else [])


@pytest.mark.parametrize("name", ["g.txt", "g.mtx", "g.gr", "g.npz", "g.txt.gz", "g.npz.gz"])
def test_an_endless_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"not text \(byte 0x00\)|expected '%%Matr|not an .npz file|not gzip data"):
        read_graph(tmp_path / name)


def test_lines_that_end_at_the_end_of_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.txt"
    for size in range(16, 40):
        monkeypatch.setattr("cyscc.host.graph.formats.parsing._BLOCK", size)
        for end in ("\n", "\r", "\r\n"):
            path.write_bytes(end.join(["# c", *(f"{number} {number + 1}" for number in range(30)), "7 x"]).encode())
            with pytest.raises(InputError, match=r"g.txt:32: 'x' is not a vertex id$"):
                read_graph(path)
            path.write_bytes(end.join(f"{number} {number + 1}" for number in range(30)).encode())
            assert edges_of(read_graph(path)) == [(number, number + 1) for number in range(30)]


@contextmanager
def piped(*pieces: bytes, to: Path | None = None) -> Iterator[Path]:
    """Write pieces to a pipe, with a name or without, each some time after the one before."""
    reading, writing = os.pipe() if to is None else (-1, -1)

    def write() -> None:
        with open(writing if to is None else to, "wb", buffering=0) as pipe:
            for piece in pieces:
                time.sleep(0.03)
                pipe.write(piece)

    writer = threading.Thread(target=write)
    writer.start()
    yield to or Path(f"/dev/fd/{reading}")
    writer.join()
    if to is None:
        os.close(reading)


def test_pipes_are_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "g.txt")
    with piped(MTX_REAL[:5], MTX_REAL[5:60], MTX_REAL[60:], to=tmp_path / "g.txt") as path:
        assert edges_of(read_graph(path)) == CYCLE
    # Whoever writes to a pipe without a name may take any time.
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    for content in (npz(), gzipped(npz()), b"0 1\n1 0\n"):
        with piped(content) as path:
            assert edges_of(read_graph(path)) == BOTH
    with piped() as path, refused(InputError, f"{path}: is empty"):
        read_graph(path)


def test_a_pipe_without_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    os.mkfifo(tmp_path / "pipe")
    message = f"{tmp_path / 'pipe'}: is a pipe to which nobody has written for 0.01 seconds"
    with refused(InputError, message):
        read_graph(tmp_path / "pipe")
    # Nor does one that has opened it, and is silent.
    writing = os.open(tmp_path / "pipe", os.O_RDWR)
    with refused(InputError, message):
        read_graph(tmp_path / "pipe")
    os.close(writing)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("1 2\n")
    (tmp_path / "g.txt").chmod(0)
    with pytest.raises(InputError, match=r"g.txt: cannot be read: Permission denied$"):
        read_graph(tmp_path / "g.txt")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.txt", b"# of many\n" * 10_000 + b"0 1\n", None),
        ("g.txt", b"\xef\xbb\xbf0 1\n" + b"1 2\n" * 20_000, None),
        ("g.mtx", MTX_REAL.replace(b"3 3 3", b"3 3 9"), "g.mtx: the header announces 9 edges, but only 3 follow"),
        ("g.txt", b"0 1\n" + b"hello world\n" * 10_000, "g.txt:2: 'hello' is not a vertex id"),
        ("g.npz", b"0 1\n" * 20_000, "g.npz: not an .npz file"),
    ],
)
def test_check_by_the_beginning(name: str, content: bytes, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with nullcontext() if message is None else refused(InputError, f"{tmp_path}/{message}"):
        check_graph(path)
