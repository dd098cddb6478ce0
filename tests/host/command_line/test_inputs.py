"""Messages about graph files: notes, refusals for lack of memory, and no line longer than a screen."""

import gzip
import os
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.graph import available_memory
from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.sim.notices import LONGEST_LINE
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor

CYCLE = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 0.5\n2 3 1\n3 1 1\n"


@pytest.mark.parametrize("command", ["scc", "software tarjan", "bfs --source 3"])
def test_content_against_the_suffix_is_told(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "cycle.txt").write_text(CYCLE)
    assert main([*command.split(), "cycle.txt", "--quiet"]) == 0
    out, err = capfd.readouterr()
    note = "cyscc: cycle.txt: read as Matrix Market by its content, although its suffix says edge list\n"
    assert (out, err) == ("", note)
    if not command.startswith("bfs"):
        assert main([*command.split(), "cycle.txt"]) == 0
        out, err = capfd.readouterr()
        assert "components  " in out
        assert " 1, the largest of 3 vertices\n" in out
        assert err == note


@pytest.mark.parametrize(
    ("command", "needed"),
    [("scc g.txt", "1.6 MB"), ("bfs g.txt --source 10", "1.3 MB"), ("scc g.txt --queue-slack 2^40", "26.4 TB")],
)
def test_a_simulation_without_room(
    command: str,
    needed: str,
    folder: Path,
    workshop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def make() -> FakeCoprocessor:
        raise AssertionError("the machine was made although there is no room")

    workshop.make = make
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(1_200_000, "control group"))
    assert main([*command.split(), "--json", "out.json"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err == (
        f"cyscc {command.partition(' ')[0]}: g.txt: simulated, 8 vertices and 11 edges need about {needed} of memory, "
        "and 1.2 MB are left (control group)\n"
    )
    assert [path.name for path in folder.iterdir()] == ["g.txt"]


def test_a_graph_is_not_generated_without_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(2**30, "ulimit -v"))
    assert main(["generate", "rmat", "--vertices", "2^30", "--degree", "2", "-o", "r.gr"]) == 2
    assert capfd.readouterr().err == (
        "cyscc generate: 1,073,741,824 vertices and 2,147,483,648 edges need about 34.4 GB of memory, "
        "and 1.1 GB are left (ulimit -v)\n"
    )
    assert [path.name for path in folder.iterdir()] == ["g.txt"]


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        (["scc", f"{'d/' * 1000}g.txt"], "g.txt: does not exist"),
        (["scc", LONG], "cannot be read: File name too long"),
        (["scc", "long.txt"], "is not a vertex id"),
        (["scc", "g.txt", LONG], "x"),
        (["scc", "g.txt", f"--{LONG}"], "x"),
        (["scc", "g.txt", "--config", LONG], "or a .toml file"),
        (["scc", "g.txt", "--threads", LONG], "is not an integer"),
        (["scc", "g.txt", "--executor", LONG], "(choose from 'compiled', 'amaranth')"),
        ([LONG], "(--help lists all 18)"),
        (["bfs", "g.txt", "--source", "9" * 5000], "9"),
        (["scc", "g.txt", "\x1b[31m\n"], r"unrecognized arguments: \x1b[31m"),
    ],
)
def test_no_line_is_longer_than_a_screen(
    arguments: list[str], end: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "long.txt").write_text(f"1 {LONG}\n")
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.removesuffix("\n").endswith(end)
    assert err.startswith("cyscc")
    assert len(err) <= LONGEST_LINE + 1


@pytest.mark.parametrize(
    ("content", "expected", "status"),
    [
        (gzip.compress(CYCLE.encode(), mtime=0), "", 0),
        (b"1 2\n2 1 7\n", "cyscc software: /dev/stdin:2: 3 columns, and line 1 has 2\n", 2),
    ],
    ids=["gzipped", "refused"],
)
def test_standard_input(content: bytes, expected: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    before = os.dup(0)
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
    try:
        assert main(["software", "tarjan", "/dev/stdin", "--no-verify", "--quiet"]) == status
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert capfd.readouterr() == ("", expected)
