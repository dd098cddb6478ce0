"""Commands that do not simulate, help, the cache, and a standard output without a reader or in a plain locale."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import types
from datetime import datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import cyscc
from cyscc.host.command_line.commands import COMMANDS
from cyscc.host.command_line.main import main
from cyscc.host.command_line.streams import open_missing
from cyscc.host.interface import notes
from cyscc.host.specification.ask import Ask, described
from cyscc.sim.caching.libraries import AREA_FOLDER, publish_library
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor

pytestmark = pytest.mark.usefixtures("wide")

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_row_beside_a_question_is_a_parameters(name: str) -> None:
    module = import_module(f"cyscc.host.{COMMANDS[name]}")
    rows, _ = described({**vars(notes), **vars(module)}, name, Ask)
    assert set(rows) <= set(vars(module)[name].question.parameters)


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


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache of two libraries."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("CYSCC_CACHE", str(folder))
    for number in range(2):
        built = folder / "built"
        built.write_bytes(b"x" * 200_000)
        library = folder / f"machine-{number:016x}-{0:08x}.so"
        publish_library(built, library, {"configuration": {"name": f"own{number}"}})
    return folder


def test_list_and_check(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "--json", "cache.json"]) == 0
    summary, _, _, head, *rows = capfd.readouterr().out.splitlines()
    assert head.split() == ["name", "configuration", "state", "MB", "last", "used"]
    assert sorted(row.split()[1:4] for row in rows) == [["own0", "ok", "0.2"], ["own1", "ok", "0.2"]]
    assert summary == f"{cache}: 2 entries, 0.4 MB"
    document = json.loads(Path("cache.json").read_text())
    assert [entry["state"] for entry in document["entries"]] == ["ok", "ok"]
    next(cache.glob("*.so")).write_bytes(b"y" * 200_000)
    assert main(["cache", "check", "--quiet"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"cyscc cache: {cache}: 1 entry of 2 damaged: machine-")


def test_evict_and_clear(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "evict", "--limit", "300k"]) == 0
    assert capfd.readouterr().out.startswith(f"{cache}: 1 entry, 0.2 MB, removed\n")
    assert len(list(cache.glob("*.so"))) == 1
    assert main(["cache", "clear", "--quiet"]) == 0
    assert list(cache.iterdir()) == []


def test_cache_that_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CYSCC_CACHE", str(tmp_path / "file"))
    assert main(["cache"]) == 2
    assert capfd.readouterr().err == f"cyscc cache: {tmp_path / 'file'}: Not a directory\n"
    monkeypatch.setattr("cyscc.sim.caching.folder.cache_directory", lambda: Path("~/.cache/cyscc"))
    assert main(["cache", "clear"]) == 2
    assert capfd.readouterr().err == "cyscc cache: the user has no home: CYSCC_CACHE names a folder\n"


def test_syntheses_are_one_entry(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (cache / AREA_FOLDER).mkdir()
    (cache / AREA_FOLDER / "some.json").write_bytes(b"x" * 100_000)
    assert main(["cache"]) == 0
    summary, *_ = capfd.readouterr().out.splitlines()
    assert summary == f"{cache}: 3 entries, 0.5 MB"
    os.utime(cache / AREA_FOLDER, (1, 1))
    assert main(["cache", "evict", "--limit", "400k", "--quiet"]) == 0
    assert not (cache / AREA_FOLDER).exists(), "they were used long ago"


def test_times_are_local(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT-2")
    time.tzset()
    try:
        entries = cyscc.cache().entries
    finally:
        monkeypatch.undo()
        time.tzset()
    zone = timezone(timedelta(hours=2))
    assert entries["last_used"].tolist() == [
        f"{datetime.fromtimestamp(used, zone):%Y-%m-%d %H:%M}" for used in entries["used"]
    ]
