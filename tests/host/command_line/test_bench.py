"""The command line of the benchmark."""

import json
from pathlib import Path
from typing import Any

import pytest

import host.studies.benchmark.campaign
from host.studies.benchmark.command import main
from sim.executors.comparison.contenders import missing_tool

Capture = pytest.CaptureFixture[str]


def check_document(document: dict[str, Any], names: list[str]) -> None:
    """Check what a quick run has written."""
    assert [row["name"] for row in document["rows"]] == names
    assert document["machine"]["cores"] >= 1
    assert document["tools"]["compiled"]
    for row in document["rows"]:
        first = row["repetitions"][0]
        assert row["same"] is True
        assert first["cycles"] > sum(first["levels"]) > 300
        assert row["cycles_per_second"] == pytest.approx(first["cycles"] / first["seconds"])
        assert row["peak_memory_bytes"] > 50 << 20
        assert row["kernels"] == 4
        assert row["build_seconds"] > 0
    ours = {row["name"]: row for row in document["rows"]}
    assert ours["compiled-1"]["build_seconds"] == ours["compiled-2"]["build_seconds"] > 1, "it was a cold build"
    assert len(document["references"]) == 2 * (len(names) - 2)


def test_quick_run_of_some_rows(tmp_path: Path, capfd: Capture) -> None:
    output = tmp_path / "bench.json"
    names = ["compiled-2", "compiled-1", "amaranth"]
    assert main(["--quick", "--rows", ",".join(reversed(names)), "--json", str(output)]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert [line.split("  ")[0] for line in out.splitlines()[3:6]] == [
        "compiled executor, 2 threads",
        "compiled executor, 1 thread",
        "Amaranth's simulator",
    ]
    document = json.loads(output.read_text())
    check_document(document, names)
    assert document["rows"][2]["faster"]["compiled-1"] > 20


@pytest.mark.long
def test_quick_run_of_all_rows(capfd: Capture) -> None:
    assert main(["--quick", "--json", "-"]) == 0
    document = json.loads(capfd.readouterr().out)
    names = ["compiled-2", "compiled-1", "compiled", "cxxrtl", "amaranth", "cocotb"]
    if missing_tool("cocotb") is not None:
        assert document["rows"].pop()["unavailable"] == missing_tool("cocotb")
        names.pop()
    check_document(document, names)


def test_missing_tool_is_said_in_words(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    monkeypatch.setattr(host.studies.benchmark.campaign, "missing_tool", lambda name: f"{name} is not installed")
    assert main(["--quick", "--rows", "cocotb"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out.splitlines()[-1] == "cocotb on Verilator: cocotb is not installed"


def test_failing_measurement(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert main(["--quick", "--rows", "cxxrtl"]) == 3
    assert capfd.readouterr() == (
        "",
        "bench: CXXRTL, 2^10 × 8: C++ compiler 'no-such-compiler' not found: install g++ or name one by the "
        "environment variable CXX\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--rows", "compiled-2,spice"],
            "argument --rows: unknown row 'spice': there are compiled-2, compiled-1, verilator, cxxrtl, amaranth, "
            "cocotb",
        ),
        (["--repetitions", "0"], "argument --repetitions: must be at least 1, not 0"),
        (["--json", "/nowhere/out.json"], "/nowhere/out.json: its directory does not exist (--json)"),
        (["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_bad_usage(arguments: list[str], message: str, capfd: Capture) -> None:
    assert main(arguments) == 2
    assert capfd.readouterr() == ("", f"bench: {message}\n")
