"""Lines about a run while it is simulated: their contents, and files and pipes that they go to."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.sim.errors import SimulationError

Lines = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def graph(folder: Path) -> None:
    Path("g.txt").write_text("".join(f"{v} {(v + step) % 20}\n" for v in range(20) for step in (1, 2, 3)))


def read(text: str) -> Lines:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_count_every_cycle_and_change_none() -> None:
    lines: Lines = []
    result = cyscc.scc("g.txt", config="test", live=lines.append, live_every="500cycles")
    assert result.statistics == cyscc.scc("g.txt", config="test").statistics
    *progress, end = lines
    assert [line["event"] for line in lines] == ["progress"] * len(progress) + ["end"]
    assert {line["phase"] for line in progress} == {"forward", "backward", "intersection"}
    assert progress[-1]["cycle"] == sum(line["cycles"] for line in progress)
    for line in progress:
        assert 0 <= line["cycle"] % 500 < 100
        for module, kernels in (("bfs", 4), ("intersection", 2)):
            assert sum(line["causes"][module].values()) == kernels * line["cycles"]
    assert sum(line["memory"]["reads"] for line in progress) <= result.statistics["memory"]["reads"]["total"]
    assert end["verified"]
    assert (end["components"], end["edges"]) == (result.run.components, result.run.edges_traversed)


def test_a_recorded_run_writes_a_line_for_each_interval_of_the_record() -> None:
    lines: Lines = []
    result = cyscc.bfs("g.txt", source=3, config="test", record="r", record_interval=256, live=lines.append)
    intervals = result.statistics["cycles"]["total"] // 256
    assert [line["cycle"] // 256 for line in lines[:-1]] == list(range(1, intervals + 1))
    assert intervals > 5


def test_lines_of_restarts_and_failures() -> None:
    lines: Lines = []
    result = cyscc.scc("g.txt", config="test", live=lines.append, live_every="200cycles", queue_slack=0)
    assert result.run.retries > 0
    assert {line["attempt"] for line in lines[:-1]} == set(range(result.run.retries + 1))
    assert min(line["memory"]["reads"] for line in lines[:-1]) >= 0
    with pytest.raises(SimulationError):
        cyscc.scc("g.txt", config="test", live="live", live_every="200cycles", cycle_limit=500)
    last = read(Path("live").read_text())[-1]
    assert (last["event"], last["error"]) == ("failed", "cycle limit of 500 reached")


def test_lines_go_to_standard_output_instead_of_the_table(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bfs", "g.txt", "--source", "3", "--config", "test", "--live", "-", "--live-every", "1kcycles"]) == 0
    out, err = capfd.readouterr()
    assert read(out)[-1]["reached"] == 20
    assert err == ""


def test_readers_of_a_pipe_that_leave_or_are_slow(capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    arguments = ["scc", "g.txt", "--config", "test", "--live", "pipe", "--live-every", "100cycles", "--quiet"]
    assert main(arguments) == 0
    found: Lines = []

    def leave() -> None:
        with open("pipe") as pipe:
            found.append(json.loads(pipe.readline()))

    reader = threading.Thread(target=leave)
    reader.start()
    assert main(arguments) == 0
    reader.join()
    assert found[0]["event"] == "progress"
    assert capfd.readouterr() == ("", "cyscc: pipe: nobody reads on (--live); the run goes on\n")
    slow = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    taken = b""
    cyscc.scc("g.txt", config="test", live="pipe", live_every="20cycles")
    taken = os.read(slow, 1 << 20)
    os.close(slow)
    assert taken.endswith(b"\n")
    assert all(line["event"] == "progress" for line in read(taken.decode()))
