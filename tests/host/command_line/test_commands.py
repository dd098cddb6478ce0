"""The commands that do not simulate, help, and standard output that nobody reads."""

import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from host.command_line.main import main
from hw.axi import AxiLimits
from hw.config import PRESETS

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("kind", "edges"), [("random", 256), ("rmat", 256), ("ssca2", None)])
def test_generate(tmp_path: Path, kind: str, edges: int | None, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", kind, "--vertices", "2^6", "--degree", "4", "--seed", "3", "-o", "out.gr"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out.startswith("out.gr: 64 vertices, ")
    assert edges is None or out == f"out.gr: 64 vertices, {edges} edges\n"
    header = next(line for line in (tmp_path / "out.gr").read_text().splitlines() if line.startswith("p"))
    assert header.split()[:3] == ["p", "sp", "64"]


def test_generate_netlist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    module = types.ModuleType("sim.netlist")
    module.signal_graph = lambda config: (  # type: ignore[attr-defined]
        config.bfs_kernels,
        np.array([0, 1], np.uint32),
        np.array([1, 0], np.uint32),
    )
    monkeypatch.setitem(sys.modules, "sim.netlist", module)
    assert main(["generate", "netlist", "--config", "test", "-o", "n.txt"]) == 0
    assert capfd.readouterr() == ("n.txt: 2 vertices, 2 edges\n", "")
    lines = (tmp_path / "n.txt").read_text().splitlines()
    assert [line.split() for line in lines if not line.startswith("#")] == [["0", "1"], ["1", "0"]]


def test_verilog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    asked = []

    def export_verilog(config: object, directory: Path, *, top: str, limits: object) -> list[Path]:
        asked.append((config, directory, top, limits))
        return [directory / "engine.v"]

    monkeypatch.setattr("sim.export.export_verilog", export_verilog)
    config = PRESETS["test"]
    for arguments in ([], ["--top", "convey"], ["--top", "axi", "--outstanding-reads", "8"]):
        assert main(["verilog", "--config", "test", *arguments, "-o", "rtl"]) == 0
        assert capfd.readouterr() == ("rtl/engine.v\n", "")
    assert asked == [
        (config, Path("rtl"), "ae", AxiLimits()),
        (config, Path("rtl"), "convey", AxiLimits()),
        (config, Path("rtl"), "axi", AxiLimits(outstanding_reads=8)),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--top", "axi", "--outstanding-writes", "6"],
            "--outstanding-writes must be a power of two from 4 to 512, not 6",
        ),
        (["--outstanding-reads", "8"], "--outstanding-reads: only --top axi has AXI masters"),
        (["--top", "convey", "--outstanding-writes", "8"], "--outstanding-writes: only --top axi has AXI masters"),
        (["--top", "axi", "--outstanding-reads", "0"], "argument --outstanding-reads: must be at least 1, not 0"),
    ],
)
def test_verilog_refuses_what_makes_no_sense(
    arguments: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "rtl"
    assert main(["verilog", "--config", "test", *arguments, "-o", str(folder)]) == 2
    assert capfd.readouterr() == ("", f"cyscc verilog: {message}\n")
    assert not folder.exists()


@pytest.mark.parametrize("arguments", [["--help"], ["scc", "--help"], ["bfs", "--help"], ["generate", "--help"]])
def test_help_has_examples(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert "examples:\n  cyscc " in out


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capfd.readouterr().out.startswith("cyscc ")


def test_reader_of_standard_output_that_is_gone_is_no_error(tmp_path: Path) -> None:
    generate = f"generate random --vertices 4 --degree 1 -o {tmp_path}/out.gr"
    command = [sys.executable, "-m", "host.command_line.main", *generate.split()]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
