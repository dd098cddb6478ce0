"""Graphs for which there is no memory are refused before it is allocated."""

import io
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from scipy.sparse import coo_array, save_npz

from cyscc.host.graph import available_memory
from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.host.graph.csr import csr_bytes, list_bytes, size_text
from cyscc.host.graph.formats import read_graph, write_graph
from cyscc.host.graph.generators import random_graph, rmat_graph, ssca2_graph
from cyscc.host.graph.memory_map import simulation_bytes
from cyscc.host.output.errors import InputError
from tests.refusals import refused

LEFT = "of memory, and 10.0 MB are left (of the test)"
HEADER = b"%%MatrixMarket matrix coordinate pattern "


@pytest.fixture
def ten_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(10_000_000, "of the test"))


def test_sizes() -> None:
    assert size_text(1, 2000) == "1 vertex and 2,000 edges"
    assert csr_bytes(10, 100) == 480
    assert list_bytes(10, 100) == 1280
    # Two queues of words, one of ids; graph words; levels and the like; the neighbours, which exist twice for a while.
    search = 50 * (8 + 8 + 4) + 8 * 10 + 12 * 10 + 4 * 100
    assert simulation_bytes(10, 100, directions=1, capacity=50, verify=False) == search
    both = simulation_bytes(10, 100, directions=2, capacity=50, verify=False)
    assert both == search + 50 * 4 + (8 + 8 + 12) * 10 + 4 * 100
    # Few edges for each vertex: checking components takes more than placing the second graph.
    checked, unchecked = (
        simulation_bytes(20, 100, directions=2, capacity=50, verify=verify) for verify in (True, False)
    )
    assert checked > unchecked


def saved() -> bytes:
    """Return a sparse matrix without entries as scipy saves it."""
    file = io.BytesIO()
    save_npz(file, coo_array((3_000_000, 3_000_000)))
    return file.getvalue()


@pytest.mark.usefixtures("ten_megabytes")
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("g.gr", b"p sp 9 4000000\n", ":1: 9 vertices and 4,000,000 edges need about 48.0 MB"),
        ("g.gr", b"c\np sp 4294967294 0\n", ":2: 4,294,967,294 vertices and 0 edges need about 34.4 GB"),
        ("g.mtx", HEADER + b"general\n9 9 900000\n", ":2: 9 vertices and 900,000 edges need about 10.8 MB"),
        ("g.mtx", HEADER + b"symmetric\n9 9 500000\n", ":2: 9 vertices and 500,000 edges need about 12.0 MB"),
        ("g.mtx", HEADER + b"general\n2000000 2000000 1\n", ":2: 2,000,000 vertices and 1 edge need about 16.0 MB"),
        ("g.npz", saved(), ": 3,000,000 vertices and 0 edges need about 24.0 MB"),
        # Each block of text is half a million edges.
        pytest.param("g.txt", b"1 2\n3 4\n" * (1 << 20), ": the first 1,048,576 edges need about 12.6 MB", id="large"),
        pytest.param("g.txt", b"1 2\n" * (1 << 18), None, id="small"),
    ],
)
def test_what_a_file_needs(
    tmp_path: Path, name: str, content: bytes, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(available_memory, "_CHECKED", 1 << 16)
    (tmp_path / name).write_bytes(content)
    with nullcontext() if expected is None else refused(InputError, f"{tmp_path}/{name}{expected} {LEFT}"):
        assert read_graph(tmp_path / name).edges == 1 << 18


def test_ids_that_need_a_large_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.txt").write_text(f"1 {2**50}\n")
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(63, "of the test"))
    expected = "the ids of the vertices need about 0.1 kB of memory, and 0.1 kB are left (of the test)"
    with refused(InputError, f"{tmp_path}/g.txt: {expected}"):
        read_graph(tmp_path / "g.txt")


@pytest.mark.usefixtures("ten_megabytes")
@pytest.mark.parametrize("generate", [random_graph, rmat_graph, ssca2_graph])
def test_generated_graphs(generate: type) -> None:
    with refused(InputError, f"131,072 vertices and 1,048,576 edges need about 13.6 MB {LEFT}"):
        generate(2**17, 8)


@pytest.mark.long
def test_the_estimate_is_what_reading_takes(tmp_path: Path) -> None:
    graph = random_graph(1 << 20, 16, 1)
    write_graph(graph, tmp_path / "g.txt")
    (tmp_path / "small.txt").write_text("# c\n1 2\n")
    script = (
        "import re, sys; from cyscc.host.graph.formats import read_graph\n"
        "def peak(path):\n"
        "    read_graph(path)\n"
        "    return 1024 * int(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])\n"
        "before = peak(sys.argv[1]); print(peak(sys.argv[2]) - before)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "small.txt"), str(tmp_path / "g.txt")]
    taken = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    # Besides there are buffers for a block of text and for its columns, some 30 MB.
    assert 0.9 < taken / list_bytes(graph.vertices, graph.edges) < 1.2
