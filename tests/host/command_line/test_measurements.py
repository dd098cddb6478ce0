"""Measurements as commands, on small graphs and the real machines: `reproduce`, `bench`."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.sim.executors.comparison.contenders import CONTENDERS

pytestmark = pytest.mark.usefixtures("wide")

ROOT = Path(__file__).resolve().parents[3]
# Its machines find components as well, and are those of other tests.
SEARCHED = ["--configs", "published-scc"]
TABLE = ["reproduce", "table1", *SEARCHED]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def summary(out: str) -> str:
    return out.splitlines()[-2]


def without_wall(document: dict[str, Any]) -> dict[str, Any]:
    for cell in document["cells"]:
        del cell["wall"]
    return document


def test_table_1_again_and_by_several_processes(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = [*TABLE, "--vertices", "2^6", "-o", "a/b", "--jobs", "1"]
    assert main([*arguments, "--json", "out.json"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    written = Path("a/b/table1.json").read_text()
    document = json.loads(written)
    assert {**json.loads(Path("out.json").read_text()), "said": document["said"]} == document
    assert Path("a/b/table1.md").read_text().startswith("# Table I: breadth-first search\n")
    assert out.splitlines()[-2:] == [
        "16 measurements, 0 of them taken over from a/b/results",
        "written: a/b/table1.json, a/b/table1.md, a/b/table1.svg",
    ]
    assert sorted(path.name for path in Path("a/b").iterdir()) == [
        "results",
        "table1.json",
        "table1.md",
        "table1.svg",
    ]
    cells = document["cells"]
    assert {(c["kind"], c["degree"], c["engines"]) for c in cells} == {
        (kind, degree, engines) for kind in ("random", "rmat") for degree in (8, 16, 32, 64) for engines in (1, 4)
    }
    for cell in cells:
        assert (cell["config"], cell["vertices"], cell["verified"]) == ("published-scc", 64, True)
        assert 0 < cell["simulated"] < cell["paper"], "so small a graph keeps no machine busy"
        assert cell["ratio"] == pytest.approx(cell["simulated"] / cell["paper"])
        assert cell["simulated"] == pytest.approx(cell["edges"] / (cell["cycles"] / document["clock_hz"]) / 1e9)
        assert sum(cell["shares"].values()) == pytest.approx(1)
    assert str(folder) not in written
    measurements = sorted(Path("a/b/results").iterdir())
    assert len(measurements) == 16
    shutil.rmtree(measurements[3])
    assert main(arguments) == 0
    assert summary(capfd.readouterr().out) == "16 measurements, 15 of them taken over from a/b/results"
    assert without_wall(json.loads(Path("a/b/table1.json").read_text())) == without_wall(document)
    several = [*TABLE, "--vertices", "2^6", "-o", "several", "--jobs", "2", "--quiet"]
    assert main(several) == 0
    assert capfd.readouterr() == ("", "")
    assert without_wall(json.loads(Path("several/table1.json").read_text())) == document


@pytest.mark.long
def test_table_1_of_wijs_et_al_again(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["reproduce", "wijs-table1", "--quick", "--threads", "1", "-o", "out"]
    assert main(arguments) == 0
    assert summary(capfd.readouterr().out) == "48 measurements, 0 of them taken over from out/results"
    document = json.loads(Path("out/wijs-table1.json").read_text())
    assert [row["components"] for row in document["rows"][:2]] == [1, 16]
    assert main(arguments) == 0
    assert summary(capfd.readouterr().out) == "48 measurements, 48 of them taken over from out/results"
    assert json.loads(Path("out/wijs-table1.json").read_text()) == document


# Of the figures of searches and of those of components, one each.
@pytest.mark.parametrize(
    "figure", ["fig10", "fig13", *(pytest.param(other, marks=pytest.mark.long) for other in ("fig11", "fig12"))]
)
def test_figures(figure: str, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = f"reproduce {figure} --vertices 2^4,2^5 --degrees 4,8 --max-edges 2^7 --jobs 1".split()
    arguments += SEARCHED if figure in ("fig10", "fig11") else []
    assert main([*arguments, "--json", "-"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    document = json.loads(out)
    assert document["left_out"] == [{"degree": 8, "vertices": 32}]
    pairs = {(point["degree"], point["vertices"]) for point in document["points"]}
    assert pairs == {(4, 16), (4, 32), (8, 16)}
    assert main(arguments) == 0
    count = {"fig10": 6, "fig11": 6, "fig12": 6, "fig13": 9}[figure]
    lines = capfd.readouterr().out.splitlines()
    assert lines[-2] == f"{count} measurements, {count} of them taken over from build/reproduce/results"
    files = ", ".join(f"build/reproduce/{figure}.{suffix}" for suffix in ("json", "md", "svg"))
    assert lines[-1] == f"written: {files}"
    assert all(Path(name).is_file() for name in files.split(", "))


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm-256color")
    arguments = ["reproduce", "fig10", "--vertices", "2^6", "--degrees", "8", "--jobs", "1", *SEARCHED]
    assert main(arguments) == 0
    shown = capfd.readouterr().err
    assert "measuring" in shown
    assert "random, degree 8, 2^6 vertices, published: " in shown
    assert main([*arguments, "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")


HEAD = "graph,latency,level,cycles,frontier,pushed,duplicates,edges"
VHDL = ["reproduce", "vhdl", "--reference", "mine.csv"]


@pytest.fixture
def pair(folder: Path) -> Path:
    """Write a table of the published hardware, and its graph."""
    (folder / "mine.csv").write_text(f"{HEAD}\npair,75,1,300,1,1,0,1\npair,75,2,310,1,0,0,1\n")
    (folder / "pair.txt").write_text("0 1\n1 0\n")
    return folder


@pytest.mark.usefixtures("pair")
def test_a_table_of_the_user(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*VHDL, "--jobs", "1", "-o", "out"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert Path("out/vhdl.md").read_text().startswith("# The published hardware and the simulation\n")
    assert out.splitlines()[-1] == "written: out/vhdl.json, out/vhdl.md, out/vhdl.svg"
    document = json.loads(Path("out/vhdl.json").read_text())
    (run,) = document["runs"]
    assert run["levels"]["published"] == [300, 310]
    assert len(run["levels"]["simulated"]) == 2
    assert (run["vertices"], run["edges_read"], run["edges_compared_in"], run["edges_differ_in"]) == (
        {"published": 2, "simulated": 2},
        {"published": 2, "simulated": 2},
        [1, 2],
        [],
    )


Capture = pytest.CaptureFixture[str]


def check_document(document: dict[str, Any], names: list[str]) -> None:
    """Check what a quick run has written."""
    assert [row["name"] for row in document["rows"]] == names
    assert document["machine"]["cores"] >= 1
    assert document["tools"]["verilator"]
    for row in document["rows"]:
        first = row["repetitions"][0]
        assert row["same"] is (None if row["name"].startswith("next") else True)
        assert first["cycles"] > sum(first["levels"]) > 300
        assert row["cycles_per_second"] == pytest.approx(first["cycles"] / first["seconds"])
        assert row["peak_memory_bytes"] > 50 << 20
        assert row["kernels"] == 4
        assert row["build_seconds"] > 0
    ours = {row["name"]: row for row in document["rows"]}
    assert ours["compiled-1"]["build_seconds"] == ours["compiled-2"]["build_seconds"] > 1, "it was a cold build"
    assert len(document["references"]) == 2 * (len(names) - 2)


@pytest.mark.long
def test_quick_run_of_some_rows(capfd: Capture) -> None:
    names = ["compiled-2", "compiled-1", "amaranth"]
    assert main(["bench", "--quick", "--rows", ",".join(reversed(names))]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert Path("build/bench.md").read_text().startswith("# Speed of the simulation\n")
    assert out.splitlines()[-2].startswith("5 measurements")
    assert list(Path("build/results").iterdir()) == [], "the next benchmark begins anew"
    document = json.loads(Path("build/bench.json").read_text())
    check_document(document, names)
    assert document["rows"][2]["faster"]["compiled-1"] > 20


@pytest.mark.long
def test_quick_run_of_all_rows(capfd: Capture) -> None:
    assert main(["bench", "--quick", "--json", "-"]) == 0
    document = json.loads(capfd.readouterr().out)
    check_document(document, list(CONTENDERS))


def test_failing_measurement(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert main(["bench", "--quick", "--rows", "verilator"]) == 3
    assert capfd.readouterr() == (
        "",
        "cyscc bench: one Verilator model, 2^12 × 8: C++ compiler 'no-such-compiler' not found: install g++ or name "
        "one by the environment variable CXX\n",
    )
