"""`import cyscc`: quick, complete, and the same runs, sweeps and replays as those of the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cyscc
from cyscc.host.command_line.main import main
from tests.refusals import refused
from tests.sim.observation.waves.reading import recording

ROOT = Path(__file__).resolve().parents[3]
EDGES = ([0, 1, 2, 2, 3, 4, 4], [1, 2, 0, 3, 4, 3, 5])


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def graph() -> cyscc.Graph:
    return cyscc.graph_from_edges(6, *EDGES)


def test_importing_it_imports_nothing_else() -> None:
    heavy = ("numpy", "pandas", "pyarrow", "plotly", "rich", "numba", "amaranth", "cyscc.host", "cyscc.sim", "cyscc.hw")
    program = f"import sys, cyscc; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_modules_of_the_user_are_not_in_its_way(tmp_path: Path) -> None:
    """A folder of the user's has modules with the names of the folders that cyscc is made of."""
    for name in ("hw.py", "sim.py", "host/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise ImportError('not the one of cyscc')\n")
    script = tmp_path / "script.py"
    script.write_text("import cyscc, sys\nprint(*cyscc.PRESETS, cyscc.scc.__name__)\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [*cyscc.PRESETS, "scc"]


def test_every_name_is_there() -> None:
    assert dir(cyscc) == sorted(cyscc.__all__)
    assert [name for name in cyscc.__all__ if getattr(cyscc, name) is None] == []
    assert (ROOT / "cyscc" / "py.typed").is_file()
    with refused(AttributeError, "module 'cyscc' has no attribute 'dfs'"):
        _ = cyscc.dfs


def test_every_name_is_described() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    assert [name for name in cyscc.__all__ if f"`{name}" not in page and f"cyscc.{name}(" not in page] == []


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "wall"}


def test_runs_are_those_of_the_command_line(graph: cyscc.Graph) -> None:
    cyscc.write_graph(graph, "six.mtx")
    options = ["--config", "test", "--memory", "fixed:9", "--threads", "1", "--simplify", "--quiet", "--json", "out"]
    assert main(["bfs", "six.mtx", "--source", "1", *options]) == 0
    search = cyscc.bfs("six.mtx", 1, config="test", memory="fixed:9", threads=1, simplify=True)
    assert without_times(search.document()) == without_times(json.loads(Path("out").read_text()))
    assert main(["scc", "six.mtx", *options]) == 0
    found = cyscc.scc(Path("six.mtx"), config="test", memory="fixed:9", threads=1, simplify=True)
    assert without_times(found.document()) == without_times(json.loads(Path("out").read_text()))
    assert (found.components, found.largest, found.labels.tolist()) == (3, 3, [0, 0, 0, 3, 3, 5])
    assert search.levels.tolist() == [0, 1, 2, 3, 4, 5]
    assert search.level_records["frontier"].tolist() == [1] * 6


def test_a_recorded_run(graph: cyscc.Graph, folder: Path) -> None:
    found = cyscc.scc(graph, config="test", record="one", record_interval=256)
    assert found.record is not None
    assert found.record.interval == 256
    assert found.record.document["command"] == "scc"
    explanation = cyscc.explain(found)
    kernels = found.record.frame("instruction_kernels")
    assert len(explanation.stacks) == kernels["instruction"].nunique()
    assert cyscc.explain(found, by="phase").stacks["cycles"].sum() == found.cycles
    assert "verdict" in str(explanation)
    assert "<span title" in explanation._repr_html_()
    slower = cyscc.scc(graph, config="test", memory=cyscc.memory_profile("hc2", bank_busy=60), record="two")
    difference = cyscc.explain(found, "two")
    assert difference.cycles == slower.cycles - found.cycles > 0
    assert difference.levels["difference"].sum() + difference.unpaired["difference"].sum() == difference.cycles
    assert difference.conclusion.startswith("two is slower than one: ")
    assert difference.causes["cycles"].sum() == pytest.approx(difference.cycles)
    assert "bank_busy 15 -> 60" in str(difference)
    assert "bank_busy" in difference._repr_html_()
    groups = cyscc.explain(slower, against=[found])
    assert groups.inputs["ratio"].tolist() == [slower.cycles / found.cycles]
    assert groups.runs["cycles"].tolist() == [found.cycles, slower.cycles]
    assert str(groups).startswith(groups.conclusion[:60])
    assert groups.conclusion[:60] in groups._repr_html_()
    with refused(
        AttributeError,
        "module 'cyscc' has no attribute 'compare_groups' any more: explain(A, B, C, against=..."
        ") compares groups of records",
    ):
        cyscc.compare_groups  # noqa: B018


def test_a_run_that_is_refused_leaves_no_record(graph: cyscc.Graph, folder: Path) -> None:
    with refused(cyscc.InputError, "the graph has no vertex 9"):
        cyscc.bfs(graph, 9, config="test", record="kept")
    assert not (folder / "kept").exists()


def test_numbers_of_any_library(graph: cyscc.Graph) -> None:
    """Convert numbers to Python's own types, so that they can be stored in documents."""
    config = cyscc.configuration("test", word_depth=np.int64(64), clock_mhz=np.float32(150), lean_visits=np.False_)
    assert repr(config) == repr(cyscc.configuration("test", word_depth=64, clock_mhz=150.0, lean_visits=False))
    profile = cyscc.memory_profile("hc2", links=np.uint8(1), bank_busy=np.array(20))
    assert repr(profile) == repr(cyscc.memory_profile("hc2", links=1, bank_busy=20))
    # The machine is that of other tests.
    depth = cyscc.PRESETS["test"].visit_depth
    zero: Any = np.int8(0)
    overrides = {"visit_depth": np.int64(depth), "memory.latency": np.int16(40), "bfs_only": np.False_}
    given: dict[str, Any] = {
        "threads": np.int64(1),
        "cycle_limit": np.uint32(10**6),
        "queue_slack": np.array(100),
        "record": "kept",
        "record_interval": np.int64(256),
        "simplify": np.True_,
        "waves": "kept.vcd",
        "wave_window": np.array([1, 2]),
    }
    found = cyscc.bfs(graph, zero, config="test", memory="fixed:9", overrides=overrides, **given)
    assert found.record is not None
    spec = found.setting.spec
    assert repr([spec.source, *(getattr(spec, name) for name in given)]) == repr(
        [0, 1, 10**6, 100, "kept", 256, True, "kept.vcd", (1, 2)]
    )
    assert found.document()["set"] == {"visit_depth": depth, "bfs_only": False, "memory.latency": 40}
    assert json.loads(Path("kept/record.json").read_text())["interval"] == 256
    levels = cyscc.explain(found, level=zero + 2)
    assert levels.stacks["level"].tolist() == [2]
    assert len(cyscc.explain(found, top=zero + 1).bounds) == 1
    events = cyscc.events(found, "bank", level=zero + 2, top=zero + 2)
    assert events.events.equals(cyscc.events(found, "bank", level=2, top=2).frame("events"))
    sizes: dict[str, Any] = {"vertices": np.uint8(200), "degree": np.uint8(3), "seed": np.int64(7)}
    assert np.array_equal(
        cyscc.generate("random", **sizes).graph.targets, cyscc.generate("random", 200, 3, 7).graph.targets
    )


def test_every_option_of_a_run_is_a_keyword(graph: cyscc.Graph, tmp_path: Path) -> None:
    trace, waves = tmp_path / "run.pftrace", tmp_path / "run.vcd"
    plain = cyscc.bfs(graph, 0, config="test", memory="fixed:9")
    result = cyscc.bfs(
        graph,
        0,
        config="test",
        memory="fixed:9",
        overrides={"memory.latency": 40},
        trace=trace,
        waves=waves,
        wave_window=(5, 9),
        scopes=("engine0.bfs0.*",),
    )
    assert result.cycles > plain.cycles
    assert result.document()["memory_profile"]["latency"] == 40
    assert trace.stat().st_size > 0
    assert "engine0" in waves.read_text()


GRAPH = cyscc.graph_from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0])


def test_a_sweep_of_a_graph_in_memory() -> None:
    two: Any = np.int64(2)
    settings = {"memory.bank_busy": np.array([5, 60]), "cycle_limit": [np.int64(100), np.uint32(100_000)]}
    swept = cyscc.sweep(GRAPH, settings, config="test", source=two, jobs=two // 2)
    assert swept.rows["status"].tolist() == ["failed", "done", "failed", "done"]
    assert swept.rows["memory.bank_busy"].tolist() == [5, 5, 60, 60]
    assert swept.rows["cycles"][1] == cyscc.bfs(GRAPH, 2, config="test", overrides={"memory.bank_busy": 5}).cycles
    assert swept.record(two + 1).result["cycles"]["total"] == swept.rows["cycles"][3]
    with pytest.raises(ValueError, match=r"^row: must be at most 3, not 4$"):
        swept.record(4)
    with pytest.raises(ValueError, match=r"^row 0 has no record: cycle limit of 100 reached$"):
        swept.record(0)
    (effect,) = swept.effects.to_dict("records")
    factor = swept.rows["cycles"][3] / swept.rows["cycles"][1]
    assert effect == {"parameter": "memory.bank_busy", "factor": pytest.approx(factor), "best": 5}
    assert "2 failures" in str(swept)
    assert "2 failures" in swept._repr_html_()
    assert all(path.exists() for path in swept.files.values())
    assert swept.files["page"].name == "graph-memory.bank_busy-cycle_limit.html"
    figure = swept.plot("plot.svg", measure="seconds")
    assert figure.layout.yaxis.title.text == "simulated time (ms)"
    assert "2 points failed, and" in Path("plot.svg").read_text()
    with pytest.raises(ValueError, match=r"^measure must be cycles or gteps or seconds, not 'time'$"):
        swept.plot(measure="time")


@pytest.fixture
def meshed() -> cyscc.Graph:
    return cyscc.graph_from_edges(
        40, np.repeat(np.arange(40), 3), [(v * 5 + s) % 40 for v in range(40) for s in (1, 2, 7)]
    )


def test_window_is_that_of_the_command_line(meshed: cyscc.Graph) -> None:
    search = cyscc.bfs(meshed, 0, config="test", record="seen")
    window = cyscc.replay(search, "level=1", "own.vcd", before=10, cycles=40)
    assert window.cycle == search.level_records["start"][1]
    assert (window.path, window.first, window.last) == (Path("own.vcd"), window.cycle - 10, window.cycle + 29)
    Path("g.txt").write_text(
        "".join(f"{v} {target}\n" for v in range(40) for target in meshed.targets[3 * v : 3 * v + 3])
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


def test_a_run_that_fails_leaves_its_last_cycles(meshed: cyscc.Graph, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(cyscc.SimulationError, match=r"^cycle limit of 300 reached$"):
        cyscc.bfs(meshed, 0, config="test", record="stopped", cycle_limit=300)
    end = json.loads(Path("stopped", "failed.json").read_text())["failure"]["cycle"]
    line = f"cyscc: stopped/last.fst shows cycles 0 to {end - 1}, in which the run failed\n"
    assert capfd.readouterr() == ("", line)
    assert recording(Path("stopped", "last.fst")).end == end
    window = cyscc.replay("stopped", "error", "end.vcd", before=20, graph=meshed)
    assert (window.cycle, window.first, window.last) == (end - 1, end - 21, end - 1)
