"""The whole compiled executor, memory included, on other processors: it leaves the same there as here, bit for bit."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import tests.sim.executors.replay
from cyscc.host.graph.generators import rmat_graph
from cyscc.hw.config import PRESETS
from cyscc.sim.caching.tools import NATIVE
from cyscc.sim.executors.base import sync_interval
from cyscc.sim.executors.cache import machine_headers
from cyscc.sim.executors.compiled import executor
from cyscc.sim.executors.compiled.parts import build_library
from cyscc.sim.machine import Machine
from cyscc.sim.memory import Hc2
from tests.sim.executors.outcomes import CROWD, TANGLE
from tests.sim.executors.replay.memory_code import write_memory_code
from tests.sim.executors.replay.recording import Recording
from tests.sim.executors.toolchain import find_processor
from tests.system.runs import check_bfs, check_scc, made

SOURCE = Path(tests.sim.executors.replay.__path__[0]) / "replay.cpp"

CONFIG = PRESETS["test"].replace(bfs_kernels=11, intersection_kernels=5, link_cycles=8)
"""As many lanes as fill no vector, and engines far enough apart that the memory serves a round beside them."""


class Recorded(NamedTuple):
    """A recorded run, and how long its rounds are."""

    recording: Recording
    interval: int
    round: int


def use(machine: Machine) -> None:
    """Find components and search, with levels short and long."""
    check_scc(machine, TANGLE, slack=500)
    check_bfs(machine, CROWD, 0, slack=500)
    check_scc(machine, rmat_graph(128, 3, seed=4), slack=500)


@pytest.fixture(scope="module")
def recorded() -> Iterator[Recorded]:
    with made(CONFIG, "hc2", threads=2) as machine:
        interval = sync_interval(CONFIG, machine.memory)
        yield Recorded(Recording(machine, use), interval, executor._round(interval, machine.memory))


@pytest.mark.long
@pytest.mark.parametrize("processor", ["x86-64-v2", "x86-64-v3", "skylake-avx512", "plain", "aarch64"])
def test_whole_executor_leaves_the_same(
    processor: str, recorded: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = find_processor(processor)
    target.write_compiler(tmp_path / "compiler")
    monkeypatch.setenv("CXX", str(tmp_path / "compiler"))
    monkeypatch.setenv("CYSCC_CACHE", str(tmp_path / "cache"))
    library = build_library(CONFIG, waves=False)

    for name, text in machine_headers(CONFIG).items():
        (tmp_path / name).write_text(text)
    memory = write_memory_code(Hc2, CONFIG, tmp_path, compiler=target.compiler)
    options = ["-std=c++20", "-O1", "-I", str(tmp_path), "-I", str(NATIVE), "-Wno-builtin-declaration-mismatch"]
    linked = [str(SOURCE), str(memory), str(library), f"-Wl,-rpath,{library.parent}"]
    program = tmp_path / "replay"
    subprocess.run([*target.compiler, *options, *linked, "-o", str(program)], check=True)

    recorded.recording.write(tmp_path)
    assert recorded.round > 0
    assert len(recorded.recording.lines) > 20
    for threads in ("1", "3"):
        numbers = (str(recorded.interval), str(recorded.round), "100000", threads)
        command = [*target.runner, str(program), *numbers]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert result.stdout.splitlines() == recorded.recording.lines
        left = np.fromfile(tmp_path / "left", np.uint64)
        assert np.flatnonzero(left != recorded.recording.last).tolist() == []
