"""Failures in the C++ of an executor become one-line errors of Python, in whichever thread they occur."""

import ctypes
import subprocess
from pathlib import Path

import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.caching.tools import NATIVE
from cyscc.sim.errors import BuildError, SimulationError
from cyscc.sim.executors.base import Command, CommandKind
from cyscc.sim.executors.cache import machine_headers
from cyscc.sim.executors.shared_object import LibraryExecutor
from cyscc.sim.memory import Memory, parse_profile

TEST = PRESETS["test"]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("native")
    for name, text in machine_headers(TEST).items():
        (folder / name).write_text(text)
    includes = [f"-I{place}" for place in (folder, NATIVE, NATIVE.parent / "compiled" / "native")]
    options = ["-std=c++20", "-O0", "-fPIC", "-shared", "-pthread", *includes]
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
