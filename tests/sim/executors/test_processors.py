"""The whole compiled executor, memory included, on other processors: it leaves the same there as here, bit for bit."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from cyscc.host.graph.generators import rmat_graph
from cyscc.hw.config import PRESETS
from cyscc.sim.executors.compiled.parts import build_library
from tests.sim.executors.outcomes import CROWD, TANGLE, outcome
from tests.sim.executors.toolchain import find_processor
from tests.system.runs import made

CONFIG = PRESETS["test"].replace(bfs_kernels=11, intersection_kernels=5, link_cycles=8)
"""As many lanes as fill no vector, and engines far enough apart that the memory serves a round beside them."""

CODE = "from tests.sim.executors.test_processors import left; print(left(1)); print(left(3))"


def left(threads: int) -> list[object]:
    """Return what levels short and long leave behind."""
    runs = ((TANGLE, None), (CROWD, 0), (rmat_graph(128, 3, seed=4), None))
    with made(CONFIG, "hc2", threads=threads) as machine:
        outcomes = [outcome(machine, graph, source=source) for graph, source in runs]
    return [[*each[:2], sha256(each.memory.tobytes()).hexdigest(), each.statistics] for each in outcomes]


@pytest.mark.long
@pytest.mark.parametrize("processor", ["x86-64-v2", "x86-64-v3", "skylake-avx512", "plain", "aarch64"])
def test_whole_executor_leaves_the_same(processor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = find_processor(processor)
    target.write_compiler(tmp_path / "compiler")
    here = f"{left(1)}\n{left(3)}\n"
    monkeypatch.setenv("CXX", str(tmp_path / "compiler"))
    monkeypatch.setenv("CYSCC_CACHE", str(tmp_path / "cache"))
    if processor == "aarch64":
        # Python is not that processor's.
        assert build_library(CONFIG, waves=False).exists()
        return
    command = [*target.runner, sys.executable, "-c", CODE]
    assert subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True).stdout == here
