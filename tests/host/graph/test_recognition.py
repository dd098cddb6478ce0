"""Graph files whose content contradicts their suffix, and files of other kinds."""

import gzip
import io
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from cyscc.host.graph.formats import check_graph, files, read_graph
from cyscc.host.output.errors import InputError
from tests.host.graph.files import edges_of
from tests.refusals import refused

MTX = b"%%MatrixMarket matrix coordinate pattern general\n"
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
        ("g.gr", MTX + b"2 2 1\n2 1\n", [(2, 1)], ("Matrix Market", "DIMACS")),
        ("g.npz", MTX + b"2 2 1\n2 1\n", [(2, 1)], ("Matrix Market", "scipy matrix")),
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
