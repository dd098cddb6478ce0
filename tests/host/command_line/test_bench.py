"""`cyscc bench`."""

import json
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.experiments.benchmark.revisions import COMPARISONS
from cyscc.sim.executors.comparison.contenders import CONTENDERS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


def test_help_names_all_rows(capfd: Capture) -> None:
    assert main(["bench", "--help"]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert f"rows: {', '.join(CONTENDERS)}; with --compare: {', '.join(COMPARISONS)}" in told
