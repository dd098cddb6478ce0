"""The memory that is left, by fake files of the system, and graphs for which there is none."""

import io
import os
import resource
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from scipy.sparse import coo_array, save_npz

from cyscc.host.graph import available_memory as module
from cyscc.host.graph.available_memory import AvailableMemory, available_memory, check_available_memory
from cyscc.host.graph.csr import csr_bytes, list_bytes, size_text
from cyscc.host.graph.formats import read_graph, write_graph
from cyscc.host.graph.generators import random_graph, rmat_graph, ssca2_graph
from cyscc.host.graph.memory_map import simulation_bytes
from cyscc.host.output.errors import InputError
from tests.refusals import refused

V1 = "sys/fs/cgroup/memory"
V2 = "sys/fs/cgroup"
MIB = 1 << 20


def system(root: Path, files: dict[str, str]) -> Path:
    """Write the files of a system with 1 GiB available."""
    for name, text in (
        {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    1048576 kB\nBuffers: 1 kB\n"} | files
    ).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


NAMES = {
    V1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    V2: ("memory.max", "memory.current", "inactive_file"),
}
NO_LIMIT = 2**63 - 4096


@pytest.mark.parametrize(
    ("cgroup", "top", "groups", "left"),
    [
        ("", V2, {}, None),
        ("0::/", V2, {}, None),
        ("0::/a/b", V2, {"/a/b": ("max", 5, 0)}, None),
        ("0::/a/b", V2, {"/a/b": (900 * MIB, 0, 0)}, 900),
        ("0::/a", V2, {"/a": (9000 * MIB, 0, 0)}, None),
        # An ancestor has less, and what files take there can be had.
        ("0::/a/b", V2, {"/a/b": (900 * MIB, 0, 0), "/a": (800 * MIB, 300 * MIB, 100 * MIB)}, 600),
        # A namespace of its own: the group is the root.
        ("0::/", V2, {"": (10 * MIB, 11 * MIB, 0)}, 0),
        # A name outside of what can be seen.
        ("0::/../a", V2, {"": (1, 0, 0)}, None),
        # Version 1; no limit is a large number there.
        ("5:cpu:/x\n4:memory:/d/e\n0::/", V1, {"/d/e": (NO_LIMIT, 5, 0), "/d": (70 * MIB, 30 * MIB, 10 * MIB)}, 50),
        # In a container the name is the host's, and the own group is mounted at the top.
        ("4:cpu,memory:/docker/1234", V1, {"": (64 * MIB, 0, 0)}, 64),
        ("4:cpu:/", V1, {"": (64 * MIB, 0, 0)}, None),
    ],
)
def test_control_groups(
    tmp_path: Path, cgroup: str, top: str, groups: dict[str, tuple[object, int, int]], left: int | None
) -> None:
    limit, used, cache = NAMES[top]
    files = {"proc/self/cgroup": f"{cgroup}\n"}
    for folder, values in groups.items():
        files[f"{top}{folder}/{limit}"], files[f"{top}{folder}/{used}"] = f"{values[0]}\n", f"{values[1]}\n"
        files[f"{top}{folder}/memory.stat"] = f"anon 5\n{cache} {values[2]}\nactive_file 7\n"
    expected = (
        AvailableMemory(1024 * MIB, "this machine") if left is None else AvailableMemory(left * MIB, "control group")
    )
    assert available_memory(system(tmp_path, files)) == expected


@pytest.mark.parametrize(("limit", "name", "column"), [("RLIMIT_AS", "ulimit -v", 0), ("RLIMIT_DATA", "ulimit -d", 5)])
def test_limits_of_the_process(
    tmp_path: Path, limit: str, name: str, column: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [str(100 + number) for number in range(7)]
    system(tmp_path, {"proc/self/statm": " ".join(pages) + "\n"})
    which = getattr(resource, limit)
    most = {which: 500 * MIB}
    monkeypatch.setattr(resource, "getrlimit", lambda each: (most.get(each, resource.RLIM_INFINITY), 0))
    expected = 500 * MIB - (100 + column) * os.sysconf("SC_PAGE_SIZE")
    assert available_memory(tmp_path) == AvailableMemory(expected, name)
    most[which] = 4096
    assert available_memory(tmp_path) == AvailableMemory(0, name)


def test_this_machine_has_room(tmp_path: Path) -> None:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert MIB < available_memory().bytes <= total
    # A system that does not say what is available says what is free.
    assert 0 < available_memory(tmp_path).bytes <= total


def test_what_does_not_fit_is_refused_with_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: AvailableMemory(2_500_000_000, "control group"))
    check_available_memory("4 edges", 2_500_000_000)
    expected = r"^4 edges need about 2.6 GB of memory, and 2.5 GB are left \(control group\)$"
    with pytest.raises(InputError, match=expected):
        check_available_memory("4 edges", 2_600_000_000)


LEFT = "of memory, and 10.0 MB are left (of the test)"
HEADER = b"%%MatrixMarket matrix coordinate pattern "


@pytest.fixture
def ten_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: AvailableMemory(10_000_000, "of the test"))


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
    monkeypatch.setattr(module, "_CHECKED", 1 << 16)
    (tmp_path / name).write_bytes(content)
    with nullcontext() if expected is None else refused(InputError, f"{tmp_path}/{name}{expected} {LEFT}"):
        assert read_graph(tmp_path / name).edges == 1 << 18


def test_ids_that_need_a_large_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.txt").write_text(f"1 {2**50}\n")
    monkeypatch.setattr(module, "available_memory", lambda: AvailableMemory(63, "of the test"))
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
