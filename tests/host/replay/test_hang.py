"""A machine that really hangs: its own memory profile refuses all requests of AE 1 from some cycle on."""

import json
from pathlib import Path

import pytest

import cyscc
from cyscc.host.command_line.main import main
from tests.host.replay.conftest import GRAPH
from tests.sim.observation.waves.reading import recording

MEMORY = """
from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory.profiles.profile import Profile, parameter, rule


@dataclass(frozen=True, kw_only=True)
class Deaf(Profile):
    name: ClassVar[str] = "deaf"

    since: int = parameter(5000, low=0, high=1_000_000)

    unloaded_latency = property(lambda self: 20)
    flush_latency = property(lambda self: 4)
    reads_in_flight_limit = property(lambda self: 21)

    @rule
    def read_back(self, cycle: int) -> int:
        return cycle + 20

    @rule
    def flushed(self, now: int) -> int:
        return now + 4

    @rule
    def stalled(self, ae: int, cycle: int) -> tuple[int, int]:
        deaf = 0xFFFFFFFF if ae == 1 and cycle >= self.since else 0
        return deaf, deaf

    @rule
    def restless(self) -> bool:
        return True
"""
SINCE = 900
"""AE 1 is in its first level then."""
MOVED = 1108
"""The last cycle in which anything moves: AE 0 has told the other that it is done."""
DEAF = ["--memory", "deaf.py", "--set", f"memory.since={SINCE}"]
BLOCKED = (
    "frontier_idle=0 neighbours_idle=1 words_idle=1 visitor_idle=1 slots_idle=1 requests_idle=0 error=0 read_stalled=1"
)


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    Path("g.txt").write_text(GRAPH)
    Path("deaf.py").write_text(MEMORY)


def check_window(path: Path, first: int, last: int) -> None:
    """Check that waveforms show where the machine is stuck."""
    waves = recording(path)
    assert (waves.first, waves.end - 1) == (first, last)
    after = slice(MOVED + 1 - first, None)
    for kernel in ("engine1.bfs0", "engine1.bfs1"):
        offered, taken = (waves.values(f"{kernel}.port__read__{end}") for end in ("valid", "ready"))
        assert all(offered[after])
        assert not any(taken[after])
    for kernel in ("engine0.bfs0", "engine0.bfs1"):
        assert all(waves.values(f"{kernel}.done")[after])
    names = map(".".join, waves.changes)
    moving = [waves.values(name) for name in names if name.endswith(("mux.moving", "master.moving"))]
    assert moving
    assert not any(any(values[after]) for values in moving)
    assert any(values[MOVED - 1 - first] for values in moving)


def test_a_hang_is_told_and_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scc", "g.txt", "--config", "test", *DEAF, "--record", "hung", "--quiet"]) == 3
    said, failure, *diagnosis = capfd.readouterr().err.splitlines()
    assert said == f"cyscc: hung/last.fst shows cycles {MOVED - 899} to {MOVED + 100:,}, in which the run failed"
    left = json.loads(Path("hung", "failed.json").read_text())["failure"]
    assert failure == f"cyscc scc: nothing moved until cycle {left['cycle']:,}: the machine hangs"
    assert left["moved"] == MOVED
    stuck = [line for line in diagnosis if "kernel" in line]
    assert [line.partition(":")[0] for line in stuck] == [f"engine 1 bfs kernel {kernel}" for kernel in (0, 1)]
    assert all(BLOCKED in line for line in stuck)
    check_window(Path("hung", "last.fst"), MOVED - 899, MOVED + 100)

    words = ["--at", "hang", "--before", "200", "--cycles", "300", "-o", "hang.vcd"]
    assert main(["replay", "hung", *words]) == 2
    assert capfd.readouterr().err == (
        "cyscc replay: hung: the run used memory rules of its own (deaf.py): name their file: --memory FILE.py\n"
    )
    assert main(["replay", "hung", *words, "--memory", "deaf.py"]) == 0
    assert capfd.readouterr().out.startswith(f"hang is at cycle {MOVED:,}\n\nhang.vcd: cycles 908 to 1,207, ")
    check_window(Path("hang.vcd"), MOVED - 200, MOVED + 99)


def test_a_hang_of_a_profile_at_hand(capfd: pytest.CaptureFixture[str]) -> None:
    memory = cyscc.memory_profile("deaf.py", since=SINCE)
    graph = cyscc.read_graph("g.txt")
    Path("deaf.py").unlink()
    with pytest.raises(cyscc.SimulationError, match=r"the machine hangs$") as caught:
        cyscc.scc(graph, config="test", memory=memory, record="hung")
    assert BLOCKED in caught.value.diagnosis
    check_window(Path("hung", "last.fst"), MOVED - 899, MOVED + 100)
    window = cyscc.replay("hung", "hang", "hang.vcd", before=20, cycles=40, graph=graph, memory=memory)
    assert (window.cycle, window.first, window.last) == (MOVED, MOVED - 20, MOVED + 19)
    with pytest.raises(cyscc.InputError, match=r"^hung: the run used memory rules of its own \(deaf\): "):
        cyscc.replay("hung", "hang", graph=graph)
    other = cyscc.memory_profile("hc2")
    with pytest.raises(cyscc.InputError, match=r"^hung: the memory deaf is not what it was in the run$"):
        cyscc.replay("hung", "hang", graph=graph, memory=other)
