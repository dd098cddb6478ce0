"""Failures of native code, and how far engines run ahead of each other."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cyscc.hw.config import PRESETS
from cyscc.hw.shell import Shell
from cyscc.sim.caching.tools import NATIVE
from cyscc.sim.errors import BuildError, SimulationError
from cyscc.sim.executors.base import Command, CommandKind
from cyscc.sim.executors.cache import machine_headers
from cyscc.sim.executors.shared_object import LibraryExecutor
from cyscc.sim.memory import Memory, MemoryModel, parse_profile
from cyscc.sim.memory.library import PROTOTYPES
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.system.runs import made

TEST = PRESETS["test"]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("native")
    for name, text in machine_headers(TEST).items():
        (folder / name).write_text(text)
    includes = [f"-I{place}" for place in (folder, NATIVE, NATIVE.parent / "compiled" / "native")]
    # Its own threads, also where the C++ library is in the scope of all code, as the one of the loops brings it there.
    options = ["-std=c++20", "-O0", "-fPIC", "-shared", "-Wl,-Bsymbolic-functions", "-pthread", *includes]
    subprocess.run(["g++", *options, str(HERE / "native_failures.cpp"), "-o", str(folder / "m.so")], check=True)
    return folder / "m.so"


def make(library: Path, *, watchdog: int = 0, threads: int = 1) -> LibraryExecutor:
    memory = Memory(parse_profile("fixed:9"), engines=TEST.engines, ports=TEST.ports, capacity=1 << 20)
    return LibraryExecutor(library, TEST, memory, watchdog=watchdog, threads=threads)


@pytest.mark.parametrize(
    ("watchdog", "reason"),
    [(1, "not enough memory"), (2, "an unknown exception"), (3, "an exception without a reason")],
)
def test_machine_that_cannot_be_made(watchdog: int, reason: str, library: Path) -> None:
    with pytest.raises(SimulationError) as caught:
        make(library, watchdog=watchdog)
    assert str(caught.value) == f"the compiled executor failed: {reason}"


@pytest.mark.parametrize("threads", [1, 3])
def test_failure_of_a_thread(threads: int, library: Path) -> None:
    executor = make(library, threads=threads)
    executor.begin([Command(CommandKind.READ, 0)])
    with pytest.raises(SimulationError) as caught:
        executor.run(100)
    assert str(caught.value) == "the compiled executor failed: part 3 is broken"
    assert executor.cycle == 0
    executor.close()


def test_threads_that_the_system_refuses(library: Path) -> None:
    native = ctypes.CDLL(str(library))
    native.refuse(1)
    try:
        with pytest.raises(SimulationError) as caught:
            make(library, threads=3)
    finally:
        native.refuse(0)
    assert str(caught.value) == (
        "the compiled executor failed: no further thread can be started: Resource temporarily unavailable "
        "(--threads 1 needs none)"
    )


def test_library_on_a_file_system_that_executes_nothing(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, mode: int) -> ctypes.CDLL:
        if path == str(library):
            raise OSError(f"{library}: failed to map segment from shared object")
        return load(path, mode)

    load = ctypes.CDLL
    monkeypatch.setattr(ctypes, "CDLL", refuse)
    make(library).close()


def test_what_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "machine.so"
    path.write_text("text")
    with pytest.raises(BuildError) as caught:
        make(path)
    assert str(caught.value).startswith(f"{path}: cannot be loaded: ")


@pytest.fixture
def sync_points(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which machines that are made from now on add their sync points."""
    points = [0]
    kept: list[MemoryModel] = []

    def model(memory: Memory) -> MemoryModel:
        plain = original(memory)
        seal = PROTOTYPES["seal"](ctypes.cast(plain.seal, ctypes.c_void_p).value or 0)

        def count(context: int, cycle: int) -> int:
            points.append(cycle + 1)
            return seal(context, cycle)

        counting = MemoryModel.from_buffer_copy(plain)
        counting.seal = PROTOTYPES["seal"](count)
        kept.append(counting)  # machines have its address
        return counting

    original = vars(Memory)["model"].fget
    monkeypatch.setattr(Memory, "model", property(model))
    return points


def test_machine_meets_only_where_a_message_can_arrive(sync_points: list[int]) -> None:
    # Links have 8 cycles, and the memory answers after 60, so a round has 30 at most.
    with made("hc2", "hc2") as machine:
        outcome(machine, TANGLE)
    rounds = np.diff(sync_points)
    assert rounds[0] == 8, "the host is not done with its commands"
    assert 24 < rounds.max() <= 30
    assert {4, 9} <= set(rounds), "the token arrives between multiples of 8, and tells that all may be done"
    assert 17 not in rounds, "a token that goes round again ends no round"
    assert sync_points[-1] % 8 == 0, "the host sees the machine at multiples of 8"


@pytest.mark.long
@pytest.mark.parametrize(
    "sizes",
    [
        {"engines": 3, "bfs_kernels": 1, "link_cycles": 1, "ring_stages": 1},
        {"engines": 4, "bfs_kernels": 3, "intersection_kernels": 2, "link_cycles": 40, "ring_stages": 5},
        {"engines": 2, "bfs_kernels": 5, "link_cycles": 5},
    ],
    ids=lambda sizes: "-".join(map(str, sizes.values())),
)
@pytest.mark.parametrize("memory", ["hc2", "hbm2", "stress:2", "fixed:75"])
def test_other_rings_on_both_executors(sizes: dict[str, int], memory: str) -> None:
    found = []
    for executor in ("amaranth", "compiled"):
        with made(TEST.replace(**sizes), memory, executor=executor, threads=2) as machine:
            found.append([outcome(machine, TANGLE), outcome(machine, TANGLE, source=0)])
    for slow, fast in zip(*found, strict=True):
        assert_equal(slow, fast)


@pytest.mark.long
def test_message_before_the_declared_latency_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shell, "LINK_LATENCY", 12)
    early = pytest.raises(SimulationError, match=r"AE \d sends in cycle \d+ what arrives before the sync point \d+$")
    with made(TEST.replace(link_cycles=8), "hc2") as machine, early:
        outcome(machine, TANGLE)
