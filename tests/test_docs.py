"""The documentation: its examples run, and its tables are those of the code."""

import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.commands import COMMANDS
from cyscc.host.command_line.main import main
from cyscc.hw.causes import CAUSES, Cause
from cyscc.hw.config import AcceleratorConfig
from docs.executed import lasting
from docs.generated import COLUMNS, TABLES_OF_PAGES, generated

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
README = ROOT / "README.md"
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>run|run long|(?:file|from): \S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
DRAWN = re.compile(r"!\[[^]]*\]\((?:docs/)?figures/([\w-]+\.svg)\)")
LONG = [page for page in (README, *PAGES) if "<!-- run long -->" in page.read_text() or DRAWN.search(page.read_text())]

MARK = re.compile("<!-- (?:table|columns): (.*) -->$", re.MULTILINE)


def blocks(page: Path) -> list[dict[str, str]]:
    """Return the code blocks of a page: language, text, and the mark in front, empty if there is none."""
    return [match.groupdict(default="") for match in BLOCK.finditer(page.read_text())]


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its head and without backquotes."""
    text = (DOCS / page).read_text()
    assert f"\n{heading}\n" in text, f"{page} has no heading {heading!r}"
    lines = text.split(f"\n{heading}\n", 1)[1].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        table.append([cell.strip().replace("`", "") for cell in cells])
    return table


def section(page: str, heading: str) -> str:
    """Return the text between a heading of the second level and the next one."""
    return (DOCS / page).read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, and its output."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def words_of(command: str) -> list[str]:
    """Return the words of a command, without the comment behind them."""
    return shlex.split(command, comments=True)


def agrees(output: str, expected: str) -> bool:
    """Whether an output is the expected one, but for times; ``...`` stands for anything."""
    output = lasting(output)
    first, *parts = lasting(expected).split("...")
    if not parts:
        return output == first
    place = len(first) if output.startswith(first) else -1
    for part in parts[:-1]:
        if place >= 0 and (place := output.find(part, place)) >= 0:
            place += len(part)
    return 0 <= place <= len(output) - len(parts[-1]) and output.endswith(parts[-1])


def run_blocks(page: Path, folder: Path, capfd: pytest.CaptureFixture[str], *, long: bool = False) -> None:
    """Run the examples of a page in a folder, also the long ones if so asked, and compare what they print.

    A long block is given to a shell, so it may have pipes and programs other than this one.
    """
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    names: dict[str, Any] = {}
    for block in blocks(page):
        kind, _, file = block["mark"].partition(": ")
        if kind == "file":
            (folder / file).write_text(block["text"])
        elif kind == "from":
            assert block["text"] in (ROOT / file).read_text(), f"{file} has no longer\n{block['text']}"
        elif block["language"] == "python":
            exec(compile(block["text"], str(page), "exec"), names)
        elif kind == "run" or (kind == "run long" and long):
            for command, expected in commands(block["text"]):
                if kind == "run":
                    program, *words = words_of(command)
                    assert program == "cyscc"
                    status = main(words)
                    out, err = capfd.readouterr()
                else:
                    ended = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
                    status, out, err = ended.returncode, ended.stdout, ended.stderr
                assert agrees(out + err, expected), f"{command} printed\n{out}{err}"
                assert status == (2 if err.startswith("cyscc ") else 0)


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_every_block_and_mark_is_found(page: Path) -> None:
    lines = page.read_text().splitlines()
    found = blocks(page)
    plain = [line for line in lines if line.startswith("```") and not line.startswith("```{")]
    assert 2 * len(found) + sum(line.startswith("```{") for line in lines) == len(plain)
    assert [block["mark"] for block in found if block["mark"]] == [
        mark[1] for line in lines if (mark := re.fullmatch("<!-- ((?:run|file|from).*) -->", line))
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder; lines are as wide as those of the pages, whatever the terminal is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_examples(page: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_blocks(page, folder, capfd)


@pytest.mark.long
@pytest.mark.parametrize("page", LONG, ids=lambda page: page.stem)
def test_long_examples(page: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The long examples print what the page shows, and draw its figures: the same words, in the same order.

    The folder has the project's files, so that ``make`` builds in it.
    """
    for each in ROOT.iterdir():
        if each.name != "build":
            (folder / each.name).symlink_to(each)
    run_blocks(page, folder, capfd, long=True)
    for name in DRAWN.findall(page.read_text()):
        (drawn,) = folder.rglob(name)
        assert lasting(drawn.read_text()) == lasting((DOCS / "figures" / name).read_text()), name


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_paths_exist(page: Path) -> None:
    text = page.read_text()
    paths = re.findall(r"`((?:hw|sim|host|tests|docs)/[\w/.-]+)`", text)
    if page.name == "README.md":
        paths += re.findall(r"\]\(((?!http|#)[^)]+)\)", text)
    missing = [path for path in paths if not (ROOT / path).exists() and path != "build/docs"]
    assert missing == []


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_examples_use_options_that_exist(page: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for block in blocks(page):
        if block["language"] != "console":
            continue
        for command, _ in commands(block["text"]):
            words = words_of(command)
            if Path(words[0]).name != "cyscc" or re.search(r"\b(GRAPH|OUT|DIR|FIGURE)\b", command):
                continue
            assert main([*words[1 : 3 if words[1] in ("generate", "reproduce") else 2], "--help"]) == 0
            offered = set(re.findall(r"(?<![\w-])--?[a-z-]+", capfd.readouterr().out))
            assert {word for word in words if word.startswith("-") and word != "-"} <= offered, words


def test_every_key_is_explained() -> None:
    terms = re.findall(r"^(`[^\n]+)\n: ", section("configuration.md", "Keys"), re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(terms)) == [field.name for field in dataclasses.fields(AcceleratorConfig)]


def test_the_synopsis_has_every_command() -> None:
    synopsis = blocks(DOCS / "command-line.md")[0]["text"]
    assert {words_of(command)[1] for command, _ in commands(synopsis)} == set(COMMANDS)


def test_every_letter_of_a_stack_is_explained() -> None:
    text = section("explain.md", "How to read it").split("**Stacks.**")[1].split("\n\n")[0]
    assert set(re.findall("`(.)`", text)) == {cause.letter for cause in CAUSES}


def test_generated_parts() -> None:
    """Every table made from the code has its place, and shows what the code has."""
    pages = {page.stem: page.read_text() for page in PAGES}
    marks = [words.split() for page in pages.values() for words in MARK.findall(page)]
    assert {name for name, *_ in marks} == set(TABLES_OF_PAGES) | set(COLUMNS)
    assert {command for name, *commands in marks if name == "options" for command in commands} == set(COMMANDS)
    built = {name: generated(page) for name, page in pages.items()}
    assert not any(MARK.search(page) for page in built.values())
    for page, row in (
        ("command-line", "| `--source ID` | `bfs`: vertex to start from, as the graph's file names it |"),
        ("command-line", r"| `--executor compiled\|amaranth` | simulator of the hardware: compiled (default)"),
        ("command-line", "| `fig10` | Figure 10: throughput against vertices, uniform random graphs |"),
        ("configuration", "| `issue_interval` | 1 | 1 | 2 | 2 | 2 | 2 | 2 | 1 | 1 | 1 | 1 | 1 to 2 |"),
        ("memory-model", "| `bank_busy` | 15 | 1 to 10,000 | 100 ns in the same model |"),
        ("memory-model", "| `fixed` | `fixed:LATENCY`, 1 to 100,000 | a read's response"),
        ("mdp", "| `islands` | `leaving` | choices of a state that can leave its island | 2 | 0 to 1,024 |"),
        ("register-map", "| 13 | `COLOUR` | Intersection: the colour of this iteration's component. |"),
        ("register-map", "| 2 | `BAD_INSTRUCTION` | An unknown instruction was dispatched"),
        ("register-map", "| 0x4010 | `DISPATCH` | Write only:"),
        ("register-map", "| `visits` | `STATE` | 12..21 | vertices queued for their visit |"),
        ("simulation", f"| `{Cause.IDLE.row.name}` | {Cause.IDLE.row.about} |"),
        ("mutants", "| `bfs/slot_gate` |"),
    ):
        assert f"\n{row}" in built[page]


def test_columns_of_the_code_need_their_rows() -> None:
    with pytest.raises(
        ValueError, match=r"^columns: state bfs: the table has \['done'\], the code \['done', 'started',"
    ):
        generated("<!-- columns: state bfs -->\n\n| field | meaning |\n|---|---|\n| `done` | complete |\n")


def fields(document: dict[str, Any], prefix: str = "") -> set[str]:
    """Return the paths of a document's fields, down to what the documentation describes as a whole."""
    whole = {"configuration", "longest_iteration", "memory_profile", "options", "set", "statistics.memory"}
    whole |= {f"statistics.{part}" for part in ("causes", "counters", "restarted")}
    found = set()
    for key, value in document.items():
        path = prefix + key
        found |= fields(value, f"{path}.") if isinstance(value, dict) and path not in whole else {path}
    return found


def described_fields(*intros: str) -> set[str]:
    """Return the fields in the tables of the JSON section that follow the given lines."""
    text = section("command-line.md", "JSON")
    tables = [text.split(intro, 1)[1].split("\n\n")[1] for intro in intros]
    cells = [line.split("|")[1] for table in tables for line in table.splitlines()[2:]]
    return set(re.findall(r"`([\w.]+)`", " ".join(cells)))


@pytest.mark.parametrize("command", ["scc", "bfs"])
def test_json_fields(command: str, tmp_path: Path) -> None:
    graph, config, result = tmp_path / "graph.txt", tmp_path / "one.toml", tmp_path / "result.json"
    graph.write_text("0 1\n1 0\n")
    config.write_text('preset = "test"\nengines = 1\nbfs_kernels = 1\n')
    machine = ["--config", str(config), "--executor", "amaranth", "--memory", "hc2"]
    options = [*machine, "--quiet", "--json", str(result)]
    assert main([command, str(graph), *options, *(["--source", "0"] if command == "bfs" else [])]) == 0
    document = json.loads(result.read_text())
    assert fields(document) == described_fields("Fields of both commands:", f"Further fields of `{command}`:")
    kinds = {row[0] for row in rows("memory-model.md", "## Statistics")}
    assert {key for kind in kinds for key in kind.split(", ")} == set(document["statistics"]["memory"])
