"""`cyscc.replay`: the window that the command line shows, of graphs in no file and of runs that failed."""

import json
from pathlib import Path

import numpy as np
import pytest

import cyscc
from cyscc.host.command_line.main import main
from tests.sim.observation.waves.reading import recording

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def graph() -> cyscc.Graph:
    return cyscc.graph_from_edges(
        40, np.repeat(np.arange(40), 3), [(v * 5 + s) % 40 for v in range(40) for s in (1, 2, 7)]
    )


def test_window_is_that_of_the_command_line(graph: cyscc.Graph) -> None:
    search = cyscc.bfs(graph, 0, config="test", record="seen")
    window = cyscc.replay(search, "level=1", "own.vcd", before=10, cycles=40)
    assert window.cycle == search.level_records["start"][1]
    assert (window.path, window.first, window.last) == (Path("own.vcd"), window.cycle - 10, window.cycle + 29)
    Path("g.txt").write_text(
        "".join(f"{v} {target}\n" for v in range(40) for target in graph.targets[3 * v : 3 * v + 3])
    )
    words = ["--at", "level=1", "--before", "10", "--cycles", "40", "--graph", "g.txt", "-o", "theirs.vcd", "--quiet"]
    assert main(["replay", "seen", *words]) == 0
    assert recording(Path("own.vcd")) == recording(Path("theirs.vcd"))
    assert search.record is not None
    end, more = search.record.cycles, 1_000_000
    whole = cyscc.replay(
        search.record, end - 3, graph="g.txt", cycles=2 * more, before=more, scopes=("engine0.bfs0.control",)
    )
    assert (whole.path, whole.cycle, whole.first, whole.last) == (Path("seen-0.fst"), end - 3, 0, end - 1)


def test_a_run_that_fails_leaves_its_last_cycles(graph: cyscc.Graph, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(cyscc.SimulationError, match=r"^cycle limit of 300 reached$"):
        cyscc.bfs(graph, 0, config="test", record="stopped", cycle_limit=300)
    end = json.loads(Path("stopped", "failed.json").read_text())["failure"]["cycle"]
    line = f"cyscc: stopped/last.fst shows cycles 0 to {end - 1}, in which the run failed\n"
    assert capfd.readouterr() == ("", line)
    assert recording(Path("stopped", "last.fst")).end == end
    window = cyscc.replay("stopped", "error", "end.vcd", before=20, graph=graph)
    assert (window.cycle, window.first, window.last) == (end - 1, end - 21, end - 1)
