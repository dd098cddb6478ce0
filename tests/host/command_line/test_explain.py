"""`cyscc explain` and `cyscc report`: outputs that are not pinned."""

import json
import os
import re
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.record.reader import Record
from tests.record.synthetic import Shape, write_record


@pytest.fixture(autouse=True)
def records(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    write_record(folder / "one", Shape())
    write_record(folder / "other", Shape(config="published", levels=(150, 900, 5000, 400, 120)))


def shown(words: str, capfd: pytest.CaptureFixture[str]) -> str:
    assert main(["explain", *words.split()]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100
    return out


def test_questions(capfd: pytest.CaptureFixture[str]) -> None:
    level = shown("one --level 2", capfd)
    assert re.search(r"^shown +1 instruction of 5, 1,500 cycles, 50.7% of the run$", level, re.MULTILINE)
    assert "cycles by level" not in level
    assert re.search(r"^  module +engine +kernel +cycles", shown("one --by kernel", capfd), re.MULTILINE)
    banks = shown("one --banks --top 3", capfd)
    assert len(re.findall(r"^  \d\.\d+ ", banks, re.MULTILINE)) == 3
    assert re.search(r"words \d+% +level 2, cycle [\d,]+$", banks, re.MULTILINE)
    assert "verdict" not in banks
    fifos = shown("one --fifos", capfd)
    depths = re.findall(r"^  (\w+_depth) +\d+ ", fifos, re.MULTILINE)
    assert depths == ["frontier_depth", "neighbour_depth", "word_depth", "visit_depth"]
    assert main(["explain", "one", "--by", "phase", "--numbers"]) == 0
    numbers = capfd.readouterr().out.splitlines()
    assert numbers[3] == "cycles by phase, causes in cycles of an average kernel"
    sums = [[float(cell.replace(",", "")) for cell in line[22:].replace("%", "").split()] for line in numbers[5:]]
    assert all(abs(sum(causes) - cycles) <= len(causes) for _, cycles, _, *causes in sums)
    assert len(sums) == 3
    intervals = shown("one --by interval --top 4", capfd)
    assert "cycles by interval, those that issue least: 4 of 92" in intervals


def test_places(capfd: pytest.CaptureFixture[str]) -> None:
    def without_head(words: str) -> str:
        return shown(words, capfd).split("\n\n", 1)[1]

    assert without_head("one --at level=2-3") == without_head("one --level 2-3")
    # The levels begin at 0 and after 150, 850, 2,350 and 2,750 cycles, and some of the host between them.
    overlapped = shown("one --at 200:300", capfd)
    assert re.search(r"^shown +1 instruction of 5, 700 cycles", overlapped, re.MULTILINE)
    found = re.search(r"^1 instruction ran in 200:300: cycles (\d+):(\d+)$", overlapped, re.MULTILINE)
    assert found is not None
    assert int(found[2]) - int(found[1]) + 1 == 700


def test_groups(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_record(folder / "third", Shape(memory="fixed:75"))
    out = " ".join(shown("one other third --json groups.json", capfd).split())
    assert out.startswith(
        "published, memory hc2 is slower than test, memory hc2 on the one input that both have: 2.289 "
    )
    assert len(json.loads((folder / "groups.json").read_text())["comparisons"]) == 2
    assert shown("one --against other", capfd).startswith("test is faster than published on the one input")


def test_quiet_and_standard_output(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "one", "one", "-o", "page.html", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert main(["report", "one", "one", "-o", "-"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out == (folder / "page.html").read_text()


def test_names_that_are_not_utf_8_are_escaped(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"\xff")
    (folder / "one").rename(folder / name)
    assert main(["report", name, "-o", f"{name}.html", "--trace", f"{name}.pftrace"]) == 0
    assert capfd.readouterr().err == ""
    assert "\\udcff" in (folder / f"{name}.html").read_text()


def test_a_trace_needs_no_page(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "one", "--trace", "run.pftrace"]) == 0
    total = Record(folder / "one").cycles
    assert capfd.readouterr() == (f"run.pftrace: trace of {total:,} cycles\n", "")
    assert (folder / "run.pftrace").stat().st_size > 1000
