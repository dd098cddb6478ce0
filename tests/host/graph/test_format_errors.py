"""Graph files that are refused, texts and archives, each with its line and cause."""

import gzip
import io
import json
import os
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cyscc.host.graph import available_memory
from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import parsing, read_graph, write_graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.output.errors import InputError
from tests.host.graph.files import array_bytes, edges_of, refusal

MTX = "%%MatrixMarket matrix coordinate "
PATTERN = MTX + "pattern general\n"
REAL = MTX + "real general\n3 3 1\n"
ONE = "p sp 3 1\n"
LATER = "a Matrix Market banner, which must be the first line"
FOREIGN = ": {} is not read"
TAR = b"graph/graph.mtx".ljust(257, b"\0") + b"ustar\x0000" + bytes(248)

# Without the time, which would be in the names of tests.
gzipped = partial(gzip.compress, mtime=0)


REFUSED_TEXTS = json.loads(Path(__file__).with_name("refused.json").read_text(encoding="utf-8"))
"""Texts that are refused: rows of a file's name, its text, and the message behind the name."""


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        *REFUSED_TEXTS,
        ("g.txt", "# c\n" * 3000 + REAL, f":3001: {LATER}"),
        ("g.gr", f"p sp 3 {'9' * 5000}\n", f":1: '{'9' * 19}...{'9' * 18}' is not a number of edges"),
        ("g.txt", b"\x7fELF\x02\x01\x00", ":1: not text (byte 0x7f)"),
        ("g.txt", b"1 2\n3 \xff\xfe\n", ":2: not text (byte 0xff)"),
        ("g.txt", "1 2\n".encode("utf-16-le"), ":1: not text (byte 0x00)"),
        ("g.mtx", b"%%MatrixMarket\0", ":1: not text (byte 0x00)"),
        ("g.txt", b"1 2\x0c3 4\n", ":1: not text (byte 0x0c)"),
        ("g.gr.gz", gzipped(b""), ": is empty"),
        ("g.npz.gz", gzipped(b"1 2\n" * 99)[:-3], ": the gzip data is cut short"),
        ("g.txt", gzipped(b"1 2\n" * 99)[:-9], ": the gzip data is cut short"),
        ("g.txt.gz", gzipped(b"1 2\n") + gzipped(b"3 4\n")[:9], ": the gzip data is cut short"),
        ("g.txt.gz", gzipped(b"1 2\n") + b"?", ": the gzip data is damaged: Not a gzipped file (b'?')"),
        ("g.npz.gz", gzipped(b"1 2\n"), ": not an .npz file"),
        ("g.txt", "1 2\n".encode("utf-16"), FOREIGN.format("UTF-16 text")),
        ("g.txt", b"BZh91AY&SY", FOREIGN.format("bzip2 data")),
        ("g.txt", b"\xfd7zXZ\x00\x00", FOREIGN.format("xz data")),
        ("g.mtx", b"\x28\xb5\x2f\xfd\x00", FOREIGN.format("Zstandard data")),
        ("g.txt", b"%PDF-1.7\n1 0 obj\n", FOREIGN.format("a PDF document")),
        ("g.npy", b"\x93NUMPY\x01\x00", FOREIGN.format("a dense numpy array")),
        ("g.mat", b"MATLAB 5.0 MAT-file", FOREIGN.format("a MATLAB file")),
        ("g.tar", TAR, FOREIGN.format("a tar archive")),
        ("g.txt.gz", gzipped(gzipped(b"1 2\n")), FOREIGN.format("gzip data in gzip data")),
        ("g.parquet", b"PAR1\x15\x04", FOREIGN.format("a Parquet file")),
        ("g.graph.gz", gzipped(b"2 1 011 1\n1 2 1\n1 1 1\n"), FOREIGN.format("METIS's format")),
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


VALUES = np.ones(2)
CSR: dict[str, Any] = {"format": b"csr", "shape": [2, 2], "indptr": [0, 1, 2], "indices": [0, 1], "data": VALUES}
COO: dict[str, Any] = {"format": b"coo", "shape": [2, 2], "row": [0, 1], "col": [0, 1], "data": VALUES}
METHODS = {
    zipfile.ZIP_STORED: "stored",
    zipfile.ZIP_DEFLATED: "deflate",
    zipfile.ZIP_BZIP2: "bzip2",
    zipfile.ZIP_LZMA: "LZMA",
}


def member(header: str, data: bytes = b"", *, version: bytes = b"\x01\x00", magic: bytes = b"\x93NUMPY") -> bytes:
    """Return a member with any header."""
    length = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return magic + version + length + header.encode() + data


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Return a saved matrix, with some members instead of its own; an empty one is left out."""
    own = {name: array_bytes(array) for name, array in CSR.items()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as found:
        for name, data in (own | members).items():
            if data:
                found.writestr(f"{name}.npy", data)
    return file.getvalue()


def doubled() -> bytes:
    """Return an archive with two members of the same name."""
    file = io.BytesIO(archive({}))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(file, "a") as found:
        found.writestr("indices.npy", array_bytes([1, 0]))
    return file.getvalue()


def flipped(place: int, bits: int, *, data: bytes | None = None) -> bytes:
    """Return an archive with some bits of a byte inverted."""
    own = archive({}) if data is None else data
    return own[:place] + bytes([own[place] ^ bits]) + own[place + 1 :]


def saved(**arrays: Any) -> bytes:
    """Return arrays as numpy saves them."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


GOOD = archive({})
END = GOOD.rfind(b"PK\x05\x06")
LONG_LIST = GOOD[:END] + bytes(2 << 20) + GOOD[END : END + 12] + (2 << 20).to_bytes(4, "little") + GOOD[END + 16 :]
ENCRYPTED = flipped(GOOD.find(b"PK\x01\x02") + 8, 1, data=flipped(GOOD.find(b"PK\x03\x04") + 6, 1))
INDICES = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n"
TAKES = "the array 'indices' is {} of int64, which takes {} bytes, and has {}"

ARCHIVES = [
    (GOOD[:-100], "File is not a zip file"),
    (b"PK\x03\x04" + bytes(3_000_000), "File is not a zip file"),
    (LONG_LIST, "its list of members is too long"),
    (flipped(GOOD.find(b"indptr") + 100, 255), "Bad CRC-32 for file 'indptr.npy'"),
    (doubled(), "2 members are called 'indices.npy'"),
]
HEADERS = [
    (b"1 2\n", "EOF: reading magic string, expected 8 bytes got 4"),
    (b"\x93NUMPY\x01", "EOF: reading magic string, expected 8 bytes got 7"),
    (member(INDICES, magic=b"\x93NUMPU"), r"the magic string is not correct; expected b'\x93NUMPY', got b'\x93NUMPU'"),
    (member(INDICES, version=b"\x04\x00"), "'indices.npy' is of version 4.0"),
    (member(INDICES)[:-9], "EOF: reading array header, expected "),
    (member(INDICES.ljust(20_000)), "Header info length (20000) is large"),
    (member("{" * 9000), ""),
    (member(f"{INDICES} \x1f \n"), "Cannot parse header: "),
    (member("[1, 2]"), "Header is not a dictionary: [1, 2]"),
    (member("{'descr': '<i8'}"), "Header does not contain the correct keys: "),
    (member(INDICES.replace("<i8", "zz")), "descr is not a valid dtype descriptor: 'zz'"),
    (member(INDICES.replace("(2,)", "(-2,)")), TAKES.format(-2, -16, 0)),
    (member(INDICES.replace("(2,)", "(2.5,)")), "shape is not valid: (2.5,)"),
    (member(INDICES.replace("False", "3")), "fortran_order is not a valid bool: 3"),
    (member(INDICES.replace("}", "'more': 1}")), "Header does not contain the correct keys: "),
    (member(INDICES, bytes(15)), TAKES.format(2, 16, 15)),
    (member(INDICES, bytes(17)), TAKES.format(2, 16, 17)),
    (member(INDICES.replace("2,", f"{2**40},")), TAKES.format(f"{2**40:,}", f"{2**43:,}", 0)),
]
ARRAYS = [
    (CSR | {"format": "dok"}, "the layout 'dok' is not supported, only csr, csc, coo"),
    (CSR | {"format": [1, 2]}, "the array 'format' must be a word, not 2 of int64"),
    (CSR | {"format": "x" * 99}, "the array 'format' must be a word, not one <U99"),
    (CSR | {"shape": [0, 0]}, "the graph is empty: it has no vertices"),
    (CSR | {"shape": [-2, -2]}, "the number of rows, -2, is negative"),
    (CSR | {"shape": [2.5, 2.5]}, "the array 'shape' must be two integers, not 2 of float64"),
    (CSR | {"shape": [2**32, 2**32]}, "4294967296 vertices are too many for 32 bits (at most 4294967294)"),
    (CSR | {"shape": [2**63, 2**63]}, f"{2**63} vertices are too many for 32 bits (at most 4294967294)"),
    (CSR | {"indptr": [0, 2]}, "the array 'indptr' must have 3 entries, not 2"),
    (CSR | {"indptr": [0, 1, 1]}, "the array 'indptr' must rise from 0 to 2"),
    (CSR | {"indptr": [1, 1, 2]}, "the array 'indptr' must rise from 0 to 2"),
    (CSR | {"indptr": [0, np.nan, 2]}, "the array 'indptr' must be a row of integers, not 3 of float64"),
    (CSR | {"indices": [0, -1]}, "index -1 of the array 'indices' is outside 0..1"),
    (CSR | {"indices": [0.5, 1.0]}, "the array 'indices' must be a row of integers, not 2 of float64"),
    (CSR | {"indices": [[0, 1]]}, "the array 'indices' must be a row of integers, not 1 x 2 of int64"),
    (CSR | {"data": np.ones(3)}, "the array 'data' must have 2 entries, not 3"),
    (CSR | {"data": [b"a", b"b"]}, "the array 'data' must be a row of numbers, not 2 of |S1"),
    (CSR | {"data": np.array([None, 1])}, "the array 'data' holds '|O', not numbers"),
    (COO | {"row": [0, 5]}, "index 5 of the array 'row' is outside 0..1"),
    (COO | {"col": [-1, 0]}, "index -1 of the array 'col' is outside 0..1"),
    (COO | {"col": [0]}, "the arrays 'row' and 'col' differ in length: 2 and 1"),
    ({"format": np.array({"csr"}, dtype=object)}, "the array 'format' holds '|O', not numbers"),
]
DAMAGED = "damaged .npz file: "
MISSING = "no sparse matrix as scipy saves it: it has no array "
REFUSED = [
    *((content, DAMAGED + expected) for content, expected in ARCHIVES),
    *((archive({"indices": content}), f"{DAMAGED}{expected}...") for content, expected in HEADERS),
    *((archive({name: b""}), f"{MISSING}'{name}'") for name in CSR),
    *((saved(**arrays), expected) for arrays, expected in ARRAYS),
    (b"PK\x05\x06" + bytes(18), f"{MISSING}'format'"),
    (ENCRYPTED, "the array 'format' is encrypted"),
]


@pytest.mark.parametrize(("content", "expected"), REFUSED, ids=[expected for _, expected in REFUSED])
def test_archives_that_are_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "g.npz").write_bytes(content)
    found, begin = refusal(tmp_path / "g.npz"), f"g.npz: {expected.removesuffix('...')}"
    assert found == begin or (expected.endswith("...") and found.startswith(begin))


def test_headers_of_all_versions(tmp_path: Path) -> None:
    data = np.array([1, 0]).tobytes()
    for version in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        old = INDICES.replace("2,", "2L,") if version < b"\x03" else INDICES
        for header in (INDICES, INDICES.replace("False", "True"), old):
            (tmp_path / "g.npz").write_bytes(archive({"indices": member(header, data, version=version)}))
            assert edges_of(read_graph(tmp_path / "g.npz")) == [(0, 1), (1, 0)]
    for members, edges in (
        ({"indices": array_bytes(np.array([1, 0], dtype=">i2")), "format": array_bytes("csr")}, [(0, 1), (1, 0)]),
        ({"format": array_bytes(np.array("csc", ">U3")), "data": array_bytes([np.nan, np.inf])}, [(0, 0), (1, 1)]),
    ):
        (tmp_path / "g.npz").write_bytes(archive(members))
        assert edges_of(read_graph(tmp_path / "g.npz")) == edges


@pytest.mark.parametrize("method", METHODS, ids=METHODS.get)
def test_damaged_members(tmp_path: Path, method: int) -> None:
    path = tmp_path / "g.npz"
    large = np.random.default_rng(1).permutation(20_000)
    members = {
        "indptr": array_bytes(np.arange(20_001)),
        "indices": array_bytes(large),
        "shape": array_bytes([20_000, 20_000]),
        "data": array_bytes(large),
    }
    good = archive(members, method)
    path.write_bytes(good)
    assert read_graph(path).edges == 20_000
    with zipfile.ZipFile(path) as found:
        infos = {info.filename: info for info in found.infolist()}
    for name in ("indices", "data"):
        info = infos[f"{name}.npy"]
        for part in (3, 1.1):
            place = info.header_offset + 60 + int(info.compress_size / part)
            path.write_bytes(flipped(place, 0x55, data=good))
            assert refusal(path).startswith("g.npz: damaged .npz file: ")


@pytest.mark.parametrize("name", ["shape", "format", "indices", "data"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    header = INDICES.replace("2,", f"{2**27},")
    # A gigabyte of zeros, of which the archive has a few bytes: the size that it announces counts.
    data = archive({name: member(header, bytes(4096))}, zipfile.ZIP_DEFLATED)
    size = (len(member(header)) + 4096).to_bytes(4, "little")
    data = data.replace(size, (len(member(header)) + 2**30).to_bytes(4, "little"))
    (tmp_path / "g.npz").write_bytes(data)
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(2**30, "of the test"))
    expected = {
        "shape": "the array 'shape' must be two integers, not 134,217,728 of int64",
        "format": "the array 'format' must be a word, not 134,217,728 of int64",
        "indices": "the array 'data' must have 134217728 entries, not 2",
        "data": "the array 'data' must have 2 entries, not 134217728",
    }
    assert refusal(tmp_path / "g.npz") == f"g.npz: {expected[name]}"


def test_what_unpacks_to_more_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.npz.gz"
    path.write_bytes(gzip.compress(b"PK\x03\x04" + bytes(5_000_000)))
    monkeypatch.setattr(
        "cyscc.host.graph.formats.npz.available_memory", lambda: AvailableMemory(2_000_000, "of the test")
    )
    assert refusal(path) == "g.npz.gz: has more than 2.0 MB unpacked, for which there is no room"
