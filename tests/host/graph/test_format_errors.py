"""Graph files that are not: one line each, which names file, line and cause.

The commonest are in `tests/system/outside`, as a command refuses them.
"""

import gzip
import os
from functools import partial
from pathlib import Path

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import parsing, write_graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.output.errors import InputError
from tests.host.graph.files import refusal

MTX = "%%MatrixMarket matrix coordinate "
PATTERN = MTX + "pattern general\n"
REAL = MTX + "real general\n3 3 1\n"
ONE = "p sp 3 1\n"
BANNER = "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"
LATER = "a Matrix Market banner, which must be the first line"
SIDES = "means two sides with ids of their own, which are not read"
MANY = f"{2**32 - 1} vertices are too many for 32 bits (at most {2**32 - 2})"
SYMMETRIES = "general, symmetric, skew-symmetric, hermitian"
READ_AS = " (read as {} by its content, although its suffix says edge list)"
ALL_IDS = "is outside 0..9223372036854775807"
FOREIGN = ": {} is not read"
TAR = b"graph/graph.mtx".ljust(257, b"\0") + b"ustar\x0000" + bytes(248)

# Without the time, which would be in the names of tests.
gzipped = partial(gzip.compress, mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        # Numbers and columns.
        ("g.txt", "1.0 2\n", ":1: '1.0' is not a vertex id"),
        ("g.txt", "1,2\n", ":1: '1,2' is not a vertex id"),
        ("g.txt", "+1 2\n", ":1: '+1' is not a vertex id"),
        ("g.txt", "1 - 2\n", ":1: '-' is not a vertex id"),
        ("g.txt", "é 2\n", ":1: 'é' is not a vertex id"),
        ("g.txt", f"1 {'z' * 99}\n", f":1: '{'z' * 19}...{'z' * 18}' is not a vertex id"),
        ("g.txt", "1e3 2\n", ":1: '1e3' is not a vertex id"),
        ("g.txt", "1 0x10\n", ":1: '0x10' is not a vertex id"),
        ("g.txt", "1 1_000\n", ":1: '1_000' is not a vertex id"),
        ("g.txt", "1 ٣\n", ":1: '٣' is not a vertex id"),
        ("g.txt", "1 \uff12\n", ":1: '\uff12' is not a vertex id"),
        ("g.txt", "# c\n\n0 1\r\n1 -3\n", ":4: vertex id -3 is negative"),
        ("g.txt", f"1 {2**63}\n", f":1: vertex id {2**63} {ALL_IDS}"),
        ("g.txt", f"1 {2**64 + 1}\n", f":1: vertex id {2**64 + 1} {ALL_IDS}"),
        ("g.txt", "0 1 2 3 4\n", ":1: too many columns for 'SOURCE TARGET', from '4' on"),
        ("g.txt", "0 1 x\n", ":1: 'x' is not a number"),
        ("g.txt", "0 1 1e\n", ":1: '1e' is not a number"),
        ("g.txt", "0 1 .\n", ":1: '.' is not a number"),
        ("g.txt", "0 1 infinite\n", ":1: 'infinite' is not a number"),
        ("g.txt", "1 2 1,5\n", ":1: '1,5' is not a number"),
        ("g.txt", "1 2 # why\n", ":1: '#' is not a number"),
        ("g.txt", "1 2\n3 4\n\n# c\n5 6 7\n", ":5: 3 columns, and line 1 has 2"),
        ("g.txt", "# c\n1 2 0.5\n3 4\n", ":3: 2 columns, and line 2 has 3"),
        ("g.txt", "1 2 3 4\n3 4 5\n", ":2: 3 columns, and line 1 has 4"),
        ("g.txt", "\n \n", ": has no edges, and so no vertices"),
        ("g.mtx", PATTERN + "3 3 1\n1 2 3\n", ":3: too many columns for 'ROW COLUMN', from '3' on"),
        ("g.mtx", REAL + "1 2\n", ":3: too few columns for 'ROW COLUMN VALUE'"),
        ("g.mtx", REAL + "1 2 x\n", ":3: 'x' is not a number"),
        ("g.mtx", MTX + "complex general\n2 2 1\n1 2 3\n", ":3: too few columns for 'ROW COLUMN VALUE VALUE'"),
        ("g.gr", ONE + "ab 1 2\n", ":2: 'ab' begins no edge ('a') and no comment ('c')"),
        ("g.gr", ONE + "a 1 -2 1\n", ":2: vertex id -2 is negative"),
        ("g.gr", ONE + "a 4294967297 1\n", ":2: vertex id 4294967297 is outside 1..3"),
        ("g.gr", ONE + "a\n", ":2: too few columns for 'a SOURCE TARGET WEIGHT'"),
        ("g.gr", ONE + "a 1 2 3 4\n", ":2: too many columns for 'a SOURCE TARGET WEIGHT', from '4' on"),
        ("g.gr", "p sp 3 0\na 1 2 3\n", ":2: an edge beyond the 0 that the header announces"),
        # Headers.
        ("g.mtx", "\n", f":1: {BANNER}"),
        ("g.mtx", MTX + "real x\n", f":1: the symmetry 'x' is not supported, only {SYMMETRIES}"),
        ("g.mtx", PATTERN + "% c\n", ":3: expected the sizes 'ROWS COLUMNS ENTRIES'"),
        ("g.mtx", PATTERN + "3 x 1\n", ":2: 'x' is not a number of columns"),
        ("g.mtx", PATTERN + "1e1 10 0\n", ":2: '1e1' is not a number of rows"),
        ("g.mtx", PATTERN + "٣ 3 0\n", ":2: '٣' is not a number of rows"),
        ("g.mtx", PATTERN + "3 3 -1\n", ":2: the number of entries, -1, is negative"),
        ("g.mtx", PATTERN + f"{2**32 - 1} {2**32 - 1} 0\n", f":2: {MANY}"),
        ("g.mtx", PATTERN + REAL, f":2: {LATER}"),
        ("g.txt", REAL[1:], f":1: {BANNER}{READ_AS.format('Matrix Market')}"),
        ("g.txt", "% c\n" + REAL, f":1: {BANNER}{READ_AS.format('Matrix Market')}"),
        ("g.txt", "1 2 3\n" + REAL, f":2: {LATER}"),
        ("g.txt", "# c\n" * 3000 + REAL, f":3001: {LATER}"),
        ("g.txt", PATTERN + "2 2 1\n2 3\n", f":3: vertex id 3 is outside 1..2{READ_AS.format('Matrix Market')}"),
        ("g.txt", "a 1 2\n", f":1: expected the header 'p sp VERTICES EDGES', not 'a'{READ_AS.format('DIMACS')}"),
        ("g.gr", "c only\n", ": has no header 'p sp VERTICES EDGES'"),
        ("g.gr", "p sp 3\n", ":1: expected the header 'p sp VERTICES EDGES'"),
        ("g.gr", "p sp +3 0\n", ":1: '+3' is not a number of vertices"),
        ("g.gr", "p sp 0 0\n", ":1: the graph is empty: it has no vertices"),
        ("g.gr", f"p sp 3 {2**32}\n", f":1: {2**32} edges are too many for 32 bits (at most {2**32 - 1})"),
        ("g.gr", f"p sp 3 {'9' * 5000}\n", f":1: '{'9' * 19}...{'9' * 18}' is not a number of edges"),
        # Other bytes than text.
        ("g.txt", b"\x7fELF\x02\x01\x00", ":1: not text (byte 0x7f)"),
        ("g.txt", b"1 2\n3 \xff\xfe\n", ":2: not text (byte 0xff)"),
        ("g.txt", "1 2\n".encode("utf-16-le"), ":1: not text (byte 0x00)"),
        ("g.txt", "# a 1 2\n".encode("utf-16-le"), ":1: not text (byte 0x00)"),
        ("g.gr", "p sp 1 0\n".encode("utf-16-le"), ":1: not text (byte 0x00)"),
        ("g.mtx", b"%%MatrixMarket\0", ":1: not text (byte 0x00)"),
        ("g.mtx", PATTERN + "%\0\n", ":2: not text (byte 0x00)"),
        ("g.txt", b"1 2\x0c3 4\n", ":1: not text (byte 0x0c)"),
        ("g.txt", b"1 " + b"\xc3" * 3 + b"\n", ":1: not text (byte 0xc3)"),
        # Compression.
        ("g.gr.gz", gzipped(b""), ": is empty"),
        ("g.npz.gz", gzipped(b"1 2\n" * 99)[:-3], ": the gzip data is cut short"),
        ("g.txt", gzipped(b"1 2\n" * 99)[:-9], ": the gzip data is cut short"),
        ("g.txt.gz", gzipped(b"1 2\n") + gzipped(b"3 4\n")[:9], ": the gzip data is cut short"),
        ("g.txt.gz", gzipped(b"1 2\n") + b"?", ": the gzip data is damaged: Not a gzipped file (b'?')"),
        ("g.npz.gz", gzipped(b"1 2\n"), ": not an .npz file"),
        # Foreign formats.
        ("g.txt", "1 2\n".encode("utf-16"), FOREIGN.format("UTF-16 text")),
        ("g.txt", b"\xfe\xff" + "1 2\n".encode("utf-16-be"), FOREIGN.format("UTF-16 text")),
        ("g.txt", b"BZh91AY&SY", FOREIGN.format("bzip2 data")),
        ("g.txt", b"\xfd7zXZ\x00\x00", FOREIGN.format("xz data")),
        ("g.mtx", b"\x28\xb5\x2f\xfd\x00", FOREIGN.format("Zstandard data")),
        ("g.txt", b"%PDF-1.7\n1 0 obj\n", FOREIGN.format("a PDF document")),
        ("g.npy", b"\x93NUMPY\x01\x00", FOREIGN.format("a dense numpy array")),
        ("g.mat", b"MATLAB 5.0 MAT-file", FOREIGN.format("a MATLAB file")),
        ("g.tar", TAR, FOREIGN.format("a tar archive")),
        ("g.tar.gz", gzipped(TAR), FOREIGN.format("a tar archive")),
        ("g.txt.gz", gzipped(gzipped(b"1 2\n")), FOREIGN.format("gzip data in gzip data")),
        ("g.mtx", "<?xml version='1.0'?>", FOREIGN.format("HTML or XML")),
        ("g.graphml", '<?xml version="1.0"?>\n<graphml/>\n', FOREIGN.format("GraphML")),
        ("g.txt", "<!-- by a program -->\n<graphml xmlns='x'>", FOREIGN.format("GraphML")),
        ("g.gexf", "\ufeff<?xml?><gexf version='1.2'>", FOREIGN.format("GEXF")),
        ("g.net", "% c\n*Vertices 3\n*Arcs\n1 2\n", FOREIGN.format("Pajek's format")),
        ("g.gml", 'Creator "me"\ngraph\n[ directed 1', FOREIGN.format("GML")),
        ("g.gml.gz", gzipped(b"# c\ngraph [\n"), FOREIGN.format("GML")),
        ("g.dot", '/* c */ // c\nstrict digraph "a" {\n', FOREIGN.format("DOT")),
        ("g.txt", "[[0, 1]]\n", FOREIGN.format("JSON")),
        ("g.parquet", b"PAR1\x15\x04", FOREIGN.format("a Parquet file")),
        ("g.metis", "1 2\n", FOREIGN.format("METIS's format")),
        ("g.metis.gz", gzipped(b"1 2\n"), FOREIGN.format("METIS's format")),
        ("g.graph", "3 2\n2\n1 3\n2\n", FOREIGN.format("METIS's format")),
        ("g.graph", "% c\n3 1\n2\n% c\n1\n\n", FOREIGN.format("METIS's format")),
        ("g.graph", "4 3\r\n2 3\r\n1 3\r\n1 2\r\n\r\n", FOREIGN.format("METIS's format")),
        ("g.graph.gz", gzipped(b"2 1 011 1\n1 2 1\n1 1 1\n"), FOREIGN.format("METIS's format")),
        # Files that say of themselves that they are another kind of graph.
        ("g.txt", "% bip unweighted\n1 2\n", f":1: '% bip unweighted' {SIDES}"),
        ("g.txt", "\ufeff\n%bip\n1 2\n", f":2: '%bip' {SIDES}"),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, content: str | bytes, expected: str) -> None:
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    assert refusal(tmp_path / name) == name + expected


METIS = "3 2\n2\n1 3\n2\n"
BARREN = "more than 100 bytes without an edge"
HEADER = "the header is longer than 100 bytes"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("g.txt", "# c\n" + "10 20\n" * 500 + "\n1 x\n", ":503: 'x' is not a vertex id"),
        ("g.txt", "c" * 65, ":1: the line is longer than 64 bytes"),
        ("g.gr", "c" * 65, ":1: the line is longer than 64 bytes"),
        ("g.graph", f"{METIS[:4]}{' ' * 50}2\n{' ' * 50}1 3\n2\n", ": METIS's format is not read"),
        ("g.txt", "1 2\n" + "\n" * 200 + "1 x\n", f":190: {BARREN}"),
        ("g.txt", "# comment\n" * 30, f":13: {BARREN}"),
        ("g.mtx", PATTERN + "%\n" * 200, f":27: {HEADER}"),
        ("g.gr", "c\n" * 200, f":51: {HEADER}"),
    ],
)
def test_blocks(tmp_path: Path, name: str, content: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, value in (("_BLOCK", 64), ("_MOST_BARREN", 100), ("_LONGEST_HEADER", 100)):
        monkeypatch.setattr(parsing, limit, value)
    (tmp_path / name).write_text(content)
    assert refusal(tmp_path / name) == name + expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("g.mtx", MTX + "pattern symmetric\n3 3 2\n1 2\n2 3\n", "4 edges are too many for 32 bits (at most 3)"),
        ("g.txt", "1 2\n3 4\n", "4 vertices are too many for 32 bits (at most 3)"),
        ("g.txt", f"1 2\n3 {2**40}\n", "4 vertices are too many for 32 bits (at most 3)"),
    ],
)
def test_limits(tmp_path: Path, name: str, content: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("MAX_EDGES", "MAX_VERTICES"):
        monkeypatch.setattr(f"cyscc.host.graph.csr.{limit}", 3)
    (tmp_path / name).write_text(content)
    assert refusal(tmp_path / name) == f"{name}: {expected}"


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "f" * 300
    assert refusal(tmp_path / name) == f"{name}: cannot be read: File name too long"
    os.symlink("/proc/self/mem", tmp_path / "g.txt")
    assert refusal(tmp_path / "g.txt") == "g.txt: cannot be read: Input/output error"
    data = bytearray(gzipped(b"1 2\n" * 99))
    data[-8] ^= 1
    (tmp_path / "g.gz").write_bytes(data)
    assert refusal(tmp_path / "g.gz").startswith("g.gz: the gzip data is damaged: CRC check failed")

    def exhausted(*_: object) -> Graph:
        raise MemoryError

    monkeypatch.setattr("cyscc.host.graph.formats.lists.EdgeBuffer", exhausted)
    (tmp_path / "g.gr").write_text(ONE)
    assert refusal(tmp_path / "g.gr") == "g.gr: does not fit in this machine's memory"


def unwritten(graph: Graph, path: Path) -> str:
    """Return the message with which a file is not written, without its folder."""
    with pytest.raises(InputError) as error:
        write_graph(graph, path)
    assert "\n" not in str(error.value)
    return str(error.value).rpartition("/")[2]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder.gr").mkdir()
    assert unwritten(random_graph(4, 2, 1), tmp_path / "folder.gr") == "folder.gr: cannot be written: Is a directory"
    expected = "g.gr: cannot be written: No such file or directory"
    assert unwritten(random_graph(4, 2, 1), tmp_path / "none" / "g.gr") == expected
    expected = "g.txt: a graph without edges cannot be written as an edge list"
    assert unwritten(random_graph(3, 0, 1), tmp_path / "g.txt") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["folder.gr"]


@pytest.mark.parametrize("suffix", [".txt", ".gr.gz", ".npz", ".npz.gz"])
def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"g{suffix}"
    path.write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cyscc.host.graph.formats.writer.joined", full)
    monkeypatch.setattr("scipy.sparse.save_npz", full)
    assert unwritten(random_graph(4, 2, 1), path) == f"g{suffix}: cannot be written: No space left on device"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"old"
