"""Graph files that are not: one line each, which names file, line and cause."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import parsing, write_graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.output.errors import InputError
from tests.host.graph.files import refusal

MTX = "%%MatrixMarket matrix coordinate "


def message(call: Callable[[], object], folder: Path) -> str:
    """Return the message of the `InputError` that `call` raises, without the folder."""
    with pytest.raises(InputError) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("g.txt", "0 1\nabc 2\n", ":2: 'abc' is not a vertex id"),
        ("g.txt", "0 1x\n", ":1: '1x' is not a vertex id"),
        ("g.txt", "1.0 2\n", ":1: '1.0' is not a vertex id"),
        ("g.txt", "1,2\n", ":1: '1,2' is not a vertex id"),
        ("g.txt", "+1 2\n", ":1: '+1' is not a vertex id"),
        ("g.txt", "1 - 2\n", ":1: '-' is not a vertex id"),
        ("g.txt", "é 2\n", ":1: 'é' is not a vertex id"),
        ("g.txt", f"1 {'z' * 99}\n", f":1: '{'z' * 19}...{'z' * 18}' is not a vertex id"),
        ("g.txt", "# c\n\n0 1\r\n1 -3\n", ":4: vertex id -3 is negative"),
        ("g.txt", "1 9223372036854775808\n", ":1: vertex id 9223372036854775808 is outside 0..9223372036854775807"),
        (
            "g.txt",
            "1 18446744073709551617\n",
            ":1: vertex id 18446744073709551617 is outside 0..9223372036854775807",
        ),
        ("g.txt", "0 1\n5\n", ":2: too few columns for 'SOURCE TARGET'"),
        ("g.txt", "0 1 2 3 4\n", ":1: too many columns for 'SOURCE TARGET', from '4' on"),
        ("g.txt", "0 1 x\n", ":1: 'x' is not a number"),
        ("g.txt", "0 1 1e\n", ":1: '1e' is not a number"),
        ("g.txt", "0 1 .\n", ":1: '.' is not a number"),
        ("g.txt", "0 1 infinite\n", ":1: 'infinite' is not a number"),
        ("g.txt", "\n \n", ": has no edges, and so no vertices"),
        ("g.txt", "# only\n% comments\n", ": has no edges, and so no vertices"),
        ("g.txt", b"\x7fELF\x02\x01\x00", ":1: not text (byte 0x7f)"),
        ("g.txt", b"1 2\n3 \xff\xfe\n", ":2: not text (byte 0xff)"),
        ("g.txt.gz", gzip.compress(b"1 2\n" * 99, mtime=0)[:-3], ": the gzip data is cut short"),
        ("g.npz.gz", gzip.compress(b"1 2\n" * 99, mtime=0)[:-3], ": the gzip data is cut short"),
        ("g.mtx", "\n", ":1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"),
        ("g.mtx", "1 1 0\n", ":1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"),
        (
            "g.mtx",
            "%%MatrixMarket matrix array real general\n",
            ":1: the layout 'array' is not supported, only coordinate",
        ),
        (
            "g.mtx",
            MTX + "quaternion general\n",
            ":1: the field 'quaternion' is not supported, "
            "only pattern, integer, unsigned-integer, real, double, complex",
        ),
        (
            "g.mtx",
            MTX + "real triangular\n",
            ":1: the symmetry 'triangular' is not supported, only general, symmetric, skew-symmetric, hermitian",
        ),
        ("g.mtx", MTX + "complex general\n2 2 1\n1 2 3\n", ":3: too few columns for 'ROW COLUMN VALUE VALUE'"),
        ("g.mtx", MTX + "pattern general\n% c\n", ":3: expected the sizes 'ROWS COLUMNS ENTRIES'"),
        ("g.mtx", MTX + "pattern general\n3 3\n", ":2: expected the sizes 'ROWS COLUMNS ENTRIES'"),
        ("g.mtx", MTX + "pattern general\n3 x 1\n", ":2: 'x' is not a number of columns"),
        ("g.mtx", MTX + "pattern general\n3 3 -1\n", ":2: the number of entries, -1, is negative"),
        ("g.mtx", MTX + "pattern general\n3 4 1\n", ":2: the matrix is not square: 3 rows, 4 columns"),
        ("g.mtx", MTX + "pattern general\n0 0 0\n", ":2: the graph is empty: it has no vertices"),
        (
            "g.mtx",
            MTX + "pattern general\n4294967295 4294967295 0\n",
            ":2: 4294967295 vertices are too many for 32 bits (at most 4294967294)",
        ),
        ("g.mtx", MTX + "pattern general\n3 3 1\n1 4\n", ":3: vertex id 4 is outside 1..3"),
        ("g.mtx", MTX + "pattern general\n3 3 1\n0 1\n", ":3: vertex id 0 is outside 1..3"),
        ("g.mtx", MTX + "pattern general\n3 3 1\n1 2 3\n", ":3: too many columns for 'ROW COLUMN', from '3' on"),
        ("g.mtx", MTX + "real general\n3 3 1\n1 2\n", ":3: too few columns for 'ROW COLUMN VALUE'"),
        ("g.mtx", MTX + "real general\n3 3 1\n1 2 x\n", ":3: 'x' is not a number"),
        ("g.mtx", MTX + "pattern general\n3 3 2\n1 2\n", ": the header announces 2 edges, but only 1 follow"),
        (
            "g.mtx",
            MTX + "pattern general\n3 3 1\n1 2\n% c\n2 3\n",
            ":5: an edge beyond the 1 that the header announces",
        ),
        ("g.gr", "\n", ": has no header 'p sp VERTICES EDGES'"),
        ("g.gr", "c only\n", ": has no header 'p sp VERTICES EDGES'"),
        ("g.gr", "c c\na 1 2 3\n", ":2: expected the header 'p sp VERTICES EDGES', not 'a'"),
        ("g.gr", "p col 3 1\n", ":1: expected the header 'p sp VERTICES EDGES'"),
        ("g.gr", "p sp 3\n", ":1: expected the header 'p sp VERTICES EDGES'"),
        ("g.gr", "p sp three 1\n", ":1: 'three' is not a number of vertices"),
        ("g.gr", "p sp 3 -1\n", ":1: the number of edges, -1, is negative"),
        ("g.gr", "p sp 0 0\n", ":1: the graph is empty: it has no vertices"),
        ("g.gr", "p sp 3 4294967296\n", ":1: 4294967296 edges are too many for 32 bits (at most 4294967295)"),
        ("g.gr", f"p sp 3 {'9' * 5000}\n", f":1: '{'9' * 19}...{'9' * 18}' is not a number of edges"),
        ("g.gr", "p sp 3 1\np sp 3 1\n", ":2: 'p' begins no edge ('a') and no comment ('c')"),
        ("g.gr", "p sp 3 1\nab 1 2\n", ":2: 'ab' begins no edge ('a') and no comment ('c')"),
        ("g.gr", "p sp 3 1\na 1 -2 1\n", ":2: vertex id -2 is negative"),
        ("g.gr", "p sp 3 1\na 4 2 1\n", ":2: vertex id 4 is outside 1..3"),
        ("g.gr", "p sp 3 1\na\n", ":2: too few columns for 'a SOURCE TARGET WEIGHT'"),
        ("g.gr", "p sp 3 1\na 1 2 3 4\n", ":2: too many columns for 'a SOURCE TARGET WEIGHT', from '4' on"),
        ("g.gr", "p sp 3 2\na 1 2 3\n", ": the header announces 2 edges, but only 1 follow"),
        ("g.gr", "p sp 3 0\na 1 2 3\n", ":2: an edge beyond the 0 that the header announces"),
    ],
)
def test_bad_content(tmp_path: Path, name: str, content: str | bytes, expected: str) -> None:
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    assert refusal(tmp_path / name) == name + expected


def test_the_line_is_right_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_BLOCK", 64)
    (tmp_path / "g.txt").write_text("# c\n" + "10 20\n" * 500 + "\n1 x\n")
    assert refusal(tmp_path / "g.txt") == "g.txt:503: 'x' is not a vertex id"


@pytest.mark.parametrize("name", ["g.txt", "g.gr"])
def test_an_endless_line(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_BLOCK", 64)
    (tmp_path / name).write_text("c" * 65)
    assert refusal(tmp_path / name) == f"{name}:1: the line is longer than 64 bytes"


def test_more_edges_than_32_bits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.mtx").write_text(MTX + "pattern symmetric\n3 3 2\n1 2\n2 3\n")
    monkeypatch.setattr("cyscc.host.graph.csr.MAX_EDGES", 3)
    assert refusal(tmp_path / "g.mtx") == "g.mtx: 4 edges are too many for 32 bits (at most 3)"


def test_more_ids_than_32_bits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.graph.csr.MAX_VERTICES", 3)
    expected = "g.txt: 4 vertices are too many for 32 bits (at most 3)"
    for largest in (4, 2**40):
        (tmp_path / "g.txt").write_text(f"1 2\n3 {largest}\n")
        assert refusal(tmp_path / "g.txt") == expected


def test_missing_file_and_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.gr") == "none.gr: does not exist"
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / "folder") == "folder: is a directory, not a graph"
    name = "f" * 300
    assert refusal(tmp_path / name) == f"{name}: cannot be read: File name too long"


def test_unreadable_file(tmp_path: Path) -> None:
    os.symlink("/proc/self/mem", tmp_path / "g.txt")
    assert refusal(tmp_path / "g.txt") == "g.txt: cannot be read: Input/output error"


def test_damaged_gzip(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"1 2\n" * 99, mtime=0))
    data[-8] ^= 1
    (tmp_path / "g.txt.gz").write_bytes(data)
    assert refusal(tmp_path / "g.txt.gz").startswith("g.txt.gz: the gzip data is damaged: CRC check failed")
    data[10] = 0xFF
    (tmp_path / "g.txt.gz").write_bytes(data)
    expected = "g.txt.gz: the gzip data is damaged: Error -3 while decompressing data: invalid block type"
    assert refusal(tmp_path / "g.txt.gz") == expected


def test_out_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.txt").write_text("1 2\n")

    def exhausted(*_: object) -> Graph:
        raise MemoryError

    monkeypatch.setattr("cyscc.host.graph.formats.lists.EdgeBuffer", exhausted)
    assert refusal(tmp_path / "g.txt") == "g.txt: does not fit in this machine's memory"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    graph = random_graph(4, 2, 1)
    folder = tmp_path / "folder.gr"
    folder.mkdir()
    expected = "folder.gr: cannot be written: Is a directory"
    assert message(lambda: write_graph(graph, folder), tmp_path) == expected
    expected = "none/g.gr: cannot be written: No such file or directory"
    assert message(lambda: write_graph(graph, tmp_path / "none" / "g.gr"), tmp_path) == expected
    none = np.empty(0, dtype=np.uint32)
    expected = "g.txt: a graph without edges cannot be written as an edge list"
    assert message(lambda: write_graph(Graph.from_edges(3, none, none), tmp_path / "g.txt"), tmp_path) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["folder.gr"]


@pytest.mark.parametrize("suffix", [".txt", ".gr.gz", ".npz", ".npz.gz"])
def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"g{suffix}"
    path.write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cyscc.host.graph.formats.writer.joined", full)
        patch.setattr("scipy.sparse.save_npz", full)
        expected = f"g{suffix}: cannot be written: No space left on device"
        assert message(lambda: write_graph(random_graph(4, 2, 1), path), tmp_path) == expected
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"old"
