"""`cyscc sweep` on the small machine: complete, shared, killed, interrupted, with failures."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cyscc.host.command_line.main import main
from cyscc.host.experiments.fpga import tools as fpga_tools
from cyscc.host.experiments.fpga.synthesis import Resources, Usage
from cyscc.host.experiments.plan.request import _generated
from cyscc.host.graph.formats import write_graph
from cyscc.host.graph.kinds import generate_graph
from cyscc.host.record.reader import Record
from cyscc.hw.config import PRESETS
from cyscc.sim.observation.causes import CAUSES
from tests.host.experiments.sweep.studies import SMALL
from tests.record.checks import check_record
from tests.waiting import started, wait_until

MANY = SMALL.replace("[5, 40]", "[2, 4, 6, 8, 10, 12]") + 'algorithm = ["bfs", "scc"]\n'
"""Twelve points."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with two studies, and with real machines."""
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL)
    Path("many.toml").write_text(MANY)


def swept(*arguments: str, status: int = 0) -> dict[str, Any]:
    """Make a sweep in this process, and return its JSON."""
    assert main(["sweep", *arguments, "-o", "out", "--jobs", "1", "--json", "json", "--quiet"]) == status
    return dict(json.loads(Path("json").read_text()))


def times() -> dict[str, int]:
    """Return when each complete point was made."""
    records = Path("out", "results").glob("[!.]*/record/record.json")
    return {path.parents[1].name: path.stat().st_mtime_ns for path in records}


def test_points_are_recorded_runs() -> None:
    document = swept("small.toml")
    first, second = document["points"]
    assert (first["memory.bank_busy"], second["memory.bank_busy"]) == (5, 40)
    assert first["cycles"] < second["cycles"]
    assert document["effects"] == [
        {"parameter": "memory.bank_busy", "factor": pytest.approx(second["cycles"] / first["cycles"]), "best": 5}
    ]
    record = check_record(f"out/results/{second['point']}/record")
    run = record.document["run"]
    assert run["options"]["set"] == {"memory.bank_busy": 40}
    assert main(["bfs", run["graph"], "--source", str(second["source"]), "--config", "test", "--set",
                 "memory.bank_busy=40", "--json", "alone", "--quiet"]) == 0  # fmt: skip
    alone = json.loads(Path("alone").read_text())
    assert alone["cycles"]["total"] == second["cycles"]
    assert alone["gteps"] == second["gteps"]


def test_table_has_a_row_for_each_point() -> None:
    document = swept("small.toml")
    table = pq.read_table("out/small.parquet")
    assert table.num_rows == 2
    rows = table.to_pylist()
    assert rows == [{name: each.get(name) for name in table.column_names} for each in document["points"]]
    for row in rows:
        assert row["status"] == "done"
        assert sum(row[f"bfs.{cause.name}"] for cause in CAUSES) == pytest.approx(1)
    page = Path("out", "small.html").read_text()
    for text in ("<h1>Banks</h1>", 'id="effect-0-chart"', 'id="causes-bfs-chart"', rows[0]["point"]):
        assert text in page
    assert "pareto" not in page
    assert "luts" not in table.column_names


def test_equal_points_are_made_once() -> None:
    swept("small.toml")
    before = times()
    Path("other.toml").write_text(SMALL.replace("[5, 40]", "[40, 20, 5]").replace("Banks", "Others"))
    swept("other.toml")
    after = times()
    assert len(after) == 3
    assert {name: after[name] for name in before} == before


def test_a_search_goes_on_where_it_was() -> None:
    pytest.importorskip("optuna")
    text = SMALL.replace("[5, 40]", "{ from = 1, to = 60 }").replace("[grid]", "SEARCH\n[grid]")
    Path("search.toml").write_text(text.replace("SEARCH", "search = { points = 2, batch = 2 }"))
    first = swept("search.toml")
    before = times()
    Path("search.toml").write_text(text.replace("SEARCH", "search = { points = 4, batch = 2 }"))
    document = swept("search.toml")
    assert [row["point"] for row in document["points"]][:2] == [row["point"] for row in first["points"]]
    assert set(before) == {row["point"] for row in first["points"]}
    assert len(times()) == 4
    assert before.items() <= times().items()
    (best,) = document["search"]["best"]
    assert document["points"][best]["cycles"] == min(row["cycles"] for row in document["points"])
    assert pq.read_table("out/search.parquet")["within_budget"].to_pylist() == [True] * 4
    assert 'id="best-cycles-chart"' in Path("out", "search.html").read_text()


def test_failures_are_rows(capfd: pytest.CaptureFixture[str]) -> None:
    Path("limits.toml").write_text(SMALL.replace("memory.bank_busy = [5, 40]", "cycle_limit = [50, 100000]"))
    document = swept("limits.toml", status=3)
    reason = "cycle limit of 50 reached"
    assert capfd.readouterr().err == (
        f"cyscc sweep: 1 of 2 points failed: bfs of random, degree 4, 2^5 vertices on test, memory hc2: {reason}\n"
    )
    failed, done = document["points"]
    assert (failed["status"], failed["reason"], failed.get("cycles")) == ("failed", reason, None)
    assert (done["status"], done["reason"]) == ("done", "")
    assert pq.read_table("out/limits.parquet")["status"].to_pylist() == ["failed", "done"]
    assert reason in Path("out", "limits.html").read_text()
    assert list(times()) == [done["point"]]


def test_area(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    asked = []

    def usages(_: object, engines: Any, *, folder: Path) -> dict[Any, Usage]:
        asked.extend(engines)
        return {
            (config, family): Usage(
                components=(), total=Resources(logic=config.link_cycles, registers=7, block_ram=36 * config.engines)
            )
            for config, family in engines
        }

    monkeypatch.setattr("cyscc.host.experiments.fpga.area.usages", usages)
    document = swept("small.toml", "--area")
    assert asked == [(PRESETS["test"], "xc5v")], "a machine is synthesised once"
    for row in (*document["points"], *pq.read_table("out/small.parquet").to_pylist()):
        # Both AEs.
        assert (row["luts"], row["registers"], row["block_ram"]) == (2 * 3, 2 * 7, 2 * 72)
    page = Path("out", "small.html").read_text()
    for name in ("luts", "registers", "block_ram"):
        assert f'id="pareto-{name}-chart"' in page
    families = ["--family", "xc6v", "--family", "xc5v"]
    assert main(["sweep", "small.toml", "-o", "out", "--area", *families]) == 0
    columns = ["luts", "registers", "block_ram", "xc6v.luts", "xc6v.registers", "xc6v.block_ram"]
    assert capfd.readouterr().out.splitlines()[3].split()[-6:] == columns
    assert 'id="pareto-xc6v.luts-chart"' in Path("out", "small.html").read_text()


def test_area_needs_its_tool(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fpga_tools, "YOSYS", "no_yosys")
    monkeypatch.setitem(fpga_tools._TARGETS, "no_yosys", "make synth")
    assert main(["sweep", "small.toml", "-o", "out", "--area"]) == 3
    assert capfd.readouterr().err == "cyscc sweep: no_yosys is not installed: `make synth` installs it\n"
    assert times() == {}, "refused before anything is simulated"


def another(point: Path, other: Path) -> None:
    """Overwrite the record of a point by that of another one."""
    shutil.copy(other / "record" / "record.json", point / "record")


DAMAGES: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "record of another point": (another, "/record: is the record of another point"),
    "record gone": (lambda point, _: shutil.rmtree(point / "record"), "/record: "),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_points_are_said_and_made_again(damage: str, capfd: pytest.CaptureFixture[str]) -> None:
    spoil, cause = DAMAGES[damage]
    document = swept("small.toml")
    points = [Path("out", "results", each["point"]).resolve() for each in document["points"]]
    spoil(*points)
    again = swept("small.toml")
    (said,) = capfd.readouterr().err.splitlines()
    assert said.startswith(f"cyscc: {points[0]}{cause}")
    assert said.endswith(": it is made again")
    assert again.pop("said")[0].startswith("2 points: 1 made, 1 from before")
    for each in (document, again):
        for row in each["points"]:
            del row["wall_seconds"]
    assert again == {name: value for name, value in document.items() if name != "said"}
    assert main(["sweep", "small.toml", "-o", "out", "--jobs", "1", "--quiet"]) == 0
    assert capfd.readouterr().err == ""


def test_a_damaged_graph_is_said_and_made_again(capfd: pytest.CaptureFixture[str]) -> None:
    first = swept("small.toml")["points"]
    (file,) = Path("out", "results").resolve().glob("*/graph.npz")
    for point in first:
        shutil.rmtree(Path("out", "results", point["point"]))
    write_graph(generate_graph("random", vertices=32, degree=4, seed=2), file)
    _generated.clear()
    again = swept("small.toml")["points"]
    assert capfd.readouterr().err == f"cyscc: {file}: is damaged: its digest is another: it is made again\n"
    assert [row["cycles"] for row in again] == [row["cycles"] for row in first]


def test_a_point_is_explained_by_its_folder(capfd: pytest.CaptureFixture[str]) -> None:
    point = swept("small.toml")["points"][0]
    assert main(["explain", f"out/results/{point['point']}"]) == 0
    assert f"{point['cycles']:,}" in capfd.readouterr().out


def test_refusals_leave_no_folder(capfd: pytest.CaptureFixture[str]) -> None:
    Path("words.txt").write_text("hello world\n")
    Path("words.toml").write_text('graph = "words.txt"\nconfig = "test"\n')
    Path("kept").mkdir()
    Path("kept", "small.html").symlink_to("elsewhere")
    before = sorted(os.listdir())
    for arguments, message in (
        (["words.toml", "-o", "a/b"], "words.toml: words.txt:1: 'hello' is not a vertex id"),
        (["small.toml", "-o", "a/b", "--scheduler", "nowhere"], "--scheduler"),
        (["small.toml", "-o", "kept"], "kept/small.html: is a link or no plain file, which is not written here"),
    ):
        assert main(["sweep", *arguments]) == 2
        assert capfd.readouterr().err.startswith(f"cyscc sweep: {message}")
        assert sorted(os.listdir()) == before
    assert os.listdir("kept") == ["small.html"]


def test_a_sweep_in_a_line() -> None:
    of_file = swept("small.toml")
    settings = ["--config", "test", "--set", "memory.bank_busy=5,40", "--set", "graph.seed=1"]
    of_line = swept("random:2^5:4", *settings, "--plot", "busy.svg", "--measure", "gteps")
    assert [row["point"] for row in of_line["points"]] == [row["point"] for row in of_file["points"]]
    assert of_line["study"] == "random-2^5-4-memory.bank_busy"
    assert Path("out", "random-2^5-4-memory.bank_busy.html").exists()
    assert "throughput (GTEPS)" in Path("busy.svg").read_text()


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--set", "visit_depth=16, 2^5"], {"visit_depth": [16, 32]}),
        (["--set", "simplify=true,false"], {"simplify": [True, False]}),
        (["--undirected"], {"undirected": True}),
        (["--set", "word_depth={from=8,to=32,times=2}"], {"word_depth": {"from": 8, "to": 32, "times": 2}}),
        (["--config", "test,hc2", "--source", "7"], {"config": ["test", "hc2"], "source": 7}),
        (["--memory", "hc2", "--memory", "own.py (a=1, b=2)"], {"memory": ["hc2", "own.py (a=1, b=2)"]}),
        (["--set", "algorithm=bfs,scc", "--memory", "fixed:75"], {"algorithm": ["bfs", "scc"], "memory": "fixed:75"}),
    ],
)
def test_values_of_the_line(options: list[str], settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr("cyscc.host.interface.sweep._study", lambda _, values, __: asked.append(values))
    assert main(["sweep", "g.txt", *options]) == 3, "there is no study"
    assert asked == [settings]


def begun() -> "subprocess.Popen[Any]":
    """Begin a sweep with two workers, in a process of its own."""
    return started("sweep", "many.toml", "-o", "out", "--jobs", "2", stderr=subprocess.PIPE)


def until(process: "subprocess.Popen[Any]", points: int) -> None:
    """Wait until a number of points are complete."""
    wait_until(lambda: len(times()) >= points, process)


def test_killed_sweep_goes_on_and_interrupted_one_ends_at_once() -> None:
    run = begun()
    until(run, 3)
    run.kill()
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    before = times()
    run = begun()
    until(run, len(before) + 2)
    begin = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, said = run.communicate()
    assert run.returncode == 130
    assert time.monotonic() - begin < 2
    kept = rb"simulating: \d+ of 12 done, kept in out; the same command goes on"
    assert re.fullmatch(rb"cyscc sweep: interrupted; " + kept + rb"\n", said), said
    half = times()
    assert [name for name in os.listdir("out/results") if name.startswith(".")] == []
    assert {name: half[name] for name in before} == before
    document = swept("many.toml")
    whole = times()
    assert {name: whole[name] for name in half} == half
    assert sorted(whole) == sorted(each["point"] for each in document["points"])
    for name in whole:
        assert Record(Path("out", "results", name)).document["result"]["verified"] is True
