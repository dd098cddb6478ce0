"""`cyscc explain`: its output, the JSON, and refusals."""

import json
import re
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
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


def test_a_run(capfd: pytest.CaptureFixture[str]) -> None:
    out = shown("one", capfd)
    titles = re.findall(r"^\w.*$", out, re.MULTILINE)
    assert titles[0] == "one: bfs of synthetic.gr, 5,000 vertices, 40,000 edges; test, memory hc2"
    assert titles[1].startswith("2,960 cycles: 2,870 in instructions")
    assert titles[2:] == [
        "cycles by phase",
        "cycles by level",
        "causes, of the instructions' kernel-cycles",
        "hottest banks, bfs (controller.bank; all banks together are 2% busy)",
        "verdict",
    ]
    levels = out.split("cycles by level\n")[1].split("\n\n")[0].splitlines()
    lines = [line.split() for line in levels[1:] if line[2:3].isdigit()]  # others are further lines of the last column
    assert [line[:2] for line in lines] == [
        ["0", "150"],
        ["1", "700"],
        ["2", "1,500"],
        ["3", "400"],
        ["4", "120"],
    ]
    bars = {line[3] for line in lines}
    assert {len(text) for text in bars} == {20}
    assert all(re.fullmatch(r"1*2+3+w+r+c+x+s*\.+>*<*", text) for text in bars)


def test_questions(capfd: pytest.CaptureFixture[str]) -> None:
    level = shown("one --level 2", capfd)
    assert "shown: 1 instruction of 5, 1,500 cycles, 50.7% of the run" in level
    assert "cycles by level" not in level
    assert re.search(r"^  kernel  cycles|^  engine  kernel  cycles", shown("one --by kernel", capfd), re.MULTILINE)
    banks = shown("one --banks --top 3", capfd)
    assert len(re.findall(r"^  \d\.\d+ ", banks, re.MULTILINE)) == 3
    assert re.search(r"words \d+%  level 2, cycle [\d,]+$", banks, re.MULTILINE)
    assert "verdict" not in banks
    fifos = shown("one --fifos", capfd)
    assert re.findall(r"^  (\w+_depth) +\d+ ", fifos, re.MULTILINE) == [
        "frontier_depth",
        "neighbour_depth",
        "word_depth",
        "visit_depth",
    ]
    assert main(["explain", "one", "--by", "phase", "--numbers"]) == 0
    numbers = capfd.readouterr().out.splitlines()
    assert numbers[3] == "cycles by phase, causes in cycles of an average kernel"
    sums = [[float(cell.replace(",", "")) for cell in line[22:].replace("%", "").split()] for line in numbers[5:]]
    assert all(abs(sum(causes) - cycles) <= len(causes) for _, cycles, _, *causes in sums)
    assert len(sums) == 3
    intervals = shown("one --by interval --top 4", capfd)
    assert "cycles by interval: the 4 that issue least of 46" in intervals


def test_two_runs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = shown("one other --json both.json", capfd)
    text = " ".join(out.split())
    assert text.startswith("other is slower than one: 6,570 against 2,870 cycles, +3,700 (+128.9%), without the time")
    assert "settings that differ: engines 2 -> 4" in text
    document = json.loads((folder / "both.json").read_text())
    assert document["difference"] == 3700
    assert [level["difference"] for level in document["levels"]] == [0, 200, 3500, 0, 0]


def test_groups(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_record(folder / "third", Shape(memory="fixed:75"))
    out = " ".join(shown("one other third --json groups.json", capfd).split())
    assert out.startswith(
        "published, memory hc2 is slower than test, memory hc2 on the one input that both have: 2.289 "
    )
    assert len(json.loads((folder / "groups.json").read_text())["comparisons"]) == 2
    assert shown("one --against other", capfd).startswith("test is faster than published on the one input")


def test_json(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "one", "--level", "2", "--json", "-"]) == 0
    document = json.loads(capfd.readouterr().out)
    (stack,) = document["stacks"]
    assert (stack["level"], stack["cycles"]) == (2, 1500)
    assert sum(stack["causes"].values()) == pytest.approx(1500, abs=0.1)
    assert main(["explain", "one", "--quiet", "--json", "out.json"]) == 0
    assert capfd.readouterr() == ("", "")
    assert len(json.loads((folder / "out.json").read_text())["stacks"]) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nowhere", "nowhere: holds no complete record: there is no record.json"),
        ("one --level 9", "one: has no level 9"),
        ("one --iteration 1", "one: has no iteration 1"),
        ("one other --banks", "--banks is about one record, and there are two"),
        ("one other one --numbers", "--numbers is about one record, and there are 3"),
        ("one --against other --level 2", "--level is about one record or two, and there are two"),
        ("one other one", "one: has the input of one, which is in the same group"),
        ("one --try --against other", "--try is about one record, and there are two"),
        ("one --fifos --by kernel", "--by shows stacks, and --fifos does not"),
        ("one --banks --numbers", "--numbers shows stacks, and --banks does not"),
        ("one --json nowhere/x.json", "nowhere/x.json: its directory does not exist (--json)"),
    ],
)
def test_refused(words: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *words.split()]) == 2
    assert capfd.readouterr() == ("", f"cyscc explain: {message}\n")
