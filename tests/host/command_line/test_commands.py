"""The commands that do not simulate, help, and a standard output without a reader or in a plain locale."""

import io
import os
import re
import signal
import subprocess
import sys
import types
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.command_line.commands import COMMANDS, make_parser, texts
from cyscc.host.command_line.main import main
from cyscc.host.command_line.streams import open_missing
from cyscc.host.interface import notes
from cyscc.host.output.files import version
from cyscc.host.specification.ask import Ask, described
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_sentence_of_each(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_parser(["--help"]).parse_args(["--help"])
    listed = " ".join(capfd.readouterr().out.split())
    module = import_module(f"cyscc.host.{COMMANDS[name]}")
    question = vars(module)[name].question
    assert f" {name} {texts(question)['help']} " in listed
    described_there, _ = described({**vars(notes), **vars(module)}, name, Ask)
    assert set(described_there) <= set(question.parameters), "a row that is no parameter's"


def test_generate_netlist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    module = types.ModuleType("cyscc.sim.hardware")
    module.signal_graph = lambda config: (  # type: ignore[attr-defined]
        config.bfs_kernels,
        np.array([0, 1], np.uint32),
        np.array([1, 0], np.uint32),
    )
    monkeypatch.setitem(sys.modules, "cyscc.sim.hardware", module)
    assert main(["generate", "netlist", "--config", "test", "-o", "n.txt"]) == 0
    assert capfd.readouterr() == ("n.txt: 2 vertices, 2 edges\n", "")
    lines = (tmp_path / "n.txt").read_text().splitlines()
    assert [line.split() for line in lines if not line.startswith("#")] == [["0", "1"], ["1", "0"]]


def test_help_and_bad_usage_import_nothing_heavy() -> None:
    commands = ["scc", "bfs", "generate", "model", "verilog", "software", "reproduce"]
    helps = [["--help"], *([command, "--help"] for command in commands)]
    mistakes = [["scc"], ["sc"], ["bfs", "g.txt", "--source", "x"]]
    heavy = {"amaranth", "matplotlib", "multiprocessing", "numba", "numpy", "pandas", "rich", "scipy", "subprocess"}
    code = (
        "import sys; from cyscc.host.command_line.main import main; "
        f"statuses = [main(arguments) for arguments in {helps + mistakes}]; "
        f"print(statuses, sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == f"{[0] * len(helps) + [2] * len(mistakes)} []"
    assert done.stdout.count("examples:\n  cyscc ") == len(helps)
    assert done.stderr.count("\n") == len(mistakes)


def test_helps_follow_one_form(capfd: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        text = " ".join(capfd.readouterr().out.split())
        assert "examples: cyscc " in text, command
        assert not re.search(r"\(default[^)]*\); may be repeated", text), command
        if re.search(r"--memory PROFILE(?!\[)", text):
            assert "--memory PROFILE|FILE.toml|FILE.py" in text, command
        if command == "software":
            assert all(f" {name}: {kind.text}" in text for name, kind in KINDS.items())


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capfd.readouterr().out == f"cyscc {version()}\n"


def test_being_ended_is_an_interrupt(workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    class Ended(FakeCoprocessor):
        def wait(self) -> int:
            os.kill(os.getpid(), signal.SIGTERM)
            return super().wait()

    workshop.make = Ended
    assert main(["scc", "g.txt", "--json", "out.json"]) == 130
    assert capfd.readouterr() == (
        "",
        "cyscc scc: interrupted; nothing is kept of the run (--checkpoint DIR would keep it)\n",
    )
    assert not Path("out.json").exists()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_reader_of_standard_output_that_is_gone_is_no_error(tmp_path: Path) -> None:
    generate = f"generate random --vertices 4 --degree 1 -o {tmp_path}/out.gr"
    command = [sys.executable, "-m", "cyscc.host.command_line.main", *generate.split()]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_characters_that_the_locale_lacks_are_escaped(errors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="ascii", errors=errors))
    open_missing()
    print("2 × 3", flush=True)
    assert printed.getvalue() == b"2 \\xd7 3\n"
