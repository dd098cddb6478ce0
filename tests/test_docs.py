"""The documentation: its examples run, and its tables say what the code says."""

import dataclasses
import json
import re
import runpy
import shlex
from collections.abc import Iterator
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any

import pytest
from amaranth.lib import data

from cyscc.host.command_line.main import main
from cyscc.hw.axi.registers import IDENTITY, AxiStatus, ControlRegister
from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.causes import Cause
from cyscc.hw.config import PRESETS, AcceleratorConfig, ConfigError
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.registers import Instruction, KernelWord, Register, Status
from cyscc.sim.memory import Hbm2, Hc2, Profile, profile_from

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
BLOCK = re.compile(
    r"(?:^% (?P<mark>run|(?:file|from) \S+)\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


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


def commands(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each command of a console block, and what it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield shlex.split(command, comments=True), output


def agrees(output: str, expected: str) -> bool:
    """Whether an output is the expected one, in which ``...`` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), output, re.DOTALL) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_and_mark_is_found(page: Path) -> None:
    lines = page.read_text().splitlines()
    found = blocks(page)
    plain = [line for line in lines if line.startswith("```") and not line.startswith("```{")]
    assert 2 * len(found) + sum(line.startswith("```{") for line in lines) == len(plain)
    assert [block["mark"] for block in found if block["mark"]] == [line[2:] for line in lines if line.startswith("% ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(page):
        kind, _, file = block["mark"].partition(" ")
        if kind == "file":
            (tmp_path / file).write_text(block["text"])
        elif kind == "from":
            assert block["text"] in (ROOT / file).read_text(), f"{file} has no longer\n{block['text']}"
        elif block["language"] == "python":
            exec(compile(block["text"], str(page), "exec"), names)
        elif kind == "run":
            for words, expected in commands(block["text"]):
                assert words[0] == "cyscc"
                status = main(words[1:])
                out, err = capfd.readouterr()
                assert agrees(out + err, expected), f"{shlex.join(words)} printed\n{out}{err}"
                assert status == (2 if err else 0)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_paths_exist(page: Path) -> None:
    text = page.read_text()
    paths = re.findall(r"`((?:hw|sim|host|tests|docs)/[\w/.-]+)`", text)
    if page.name == "README.md":
        paths += re.findall(r"\]\(((?!http|#)[^)]+)\)", text)
    missing = [path for path in paths if not (ROOT / path).exists() and path != "build/docs"]
    assert missing == []


@pytest.mark.parametrize(
    "command",
    [
        *("scc", "bfs", "explain", "replay", "life", "generate", "verilog", "software", "reproduce", "sweep", "bench"),
        *("model", "mec", "compare", "synth", "timing"),
    ],
)
def test_options_are_described(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    kinds = {
        "generate": ["rmat", "gnm", "netlist"],
        "reproduce": ["table1", "fig10", "fig13", "li-fig2", "li-table2", "quach-table2", "wijs-table1", "wijs-table2"],
    }
    helps = [[command, kind] for kind in kinds[command]] if command in kinds else [[command]]
    offered = set()
    for words in helps:
        assert main([*words, "--help"]) == 0
        offered |= set(re.findall(r"^  (?:-\w \w+, )?(--[a-z-]+)", capfd.readouterr().out, re.MULTILINE))
    heading = "scc and bfs" if command in ("scc", "bfs") else command
    tables = "\n".join(row for row in section("command-line.md", heading).splitlines() if row.startswith("|"))
    described = set(re.findall(r"`(--[a-z-]+)", tables))
    only = {"scc": {"--source", "--levels", "--roofline", "--roofline-plot"}, "bfs": {"--labels"}}.get(command, set())
    assert offered - {"--help"} == described - only


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_examples_use_options_that_exist(page: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for block in blocks(page):
        if block["language"] != "console":
            continue
        for words, _ in commands(block["text"]):
            if Path(words[0]).name != "cyscc" or "GRAPH" in words or "OUT" in words or "DIR" in words:
                continue
            assert main([*words[1 : 3 if words[1] in ("generate", "reproduce") else 2], "--help"]) == 0
            offered = set(re.findall(r"(?<![\w-])--?[a-z-]+", capfd.readouterr().out))
            assert {word for word in words if word.startswith("-") and word != "-"} <= offered, words


def numbered(kind: type[IntEnum] | type[IntFlag]) -> list[list[str]]:
    """Return number and name of an enumeration's members; of flags, the number of the bit."""
    flags = issubclass(kind, IntFlag)
    return [[str(item.value.bit_length() - 1 if flags else item.value), str(item.name)] for item in kind]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("## AEG registers", Register),
        ("## Instructions", Instruction),
        ("## Status bits", Status),
        ("## Kernel window", KernelWord),
    ],
)
def test_register_map(heading: str, kind: type[IntEnum] | type[IntFlag]) -> None:
    assert [row[:2] for row in rows("register-map.md", heading)] == numbered(kind)


def test_axi_registers() -> None:
    text = section("register-map.md", "AXI4-Lite")
    listed = re.findall(r"^\| (0x[0-9a-f]+) \| `(\w+)` \|", text, re.MULTILINE)
    assert listed == [(f"{register.value:#x}", register.name) for register in ControlRegister]
    assert re.findall(r"^\| (\d) \| `(\w+)` \|", text, re.MULTILINE) == [
        (str(flag.value.bit_length() - 1), flag.name) for flag in AxiStatus
    ]
    assert f"{IDENTITY:#x}" in text


@pytest.mark.parametrize(
    ("heading", "layouts"),
    [
        (
            "### State of a BFS kernel",
            BfsKernel.WORDS,
        ),
        (
            "### State of an intersection kernel",
            IntersectionKernel.WORDS,
        ),
    ],
)
def test_kernel_state(heading: str, layouts: dict[KernelWord, data.StructLayout]) -> None:
    expected = []
    for word, layout in layouts.items():
        for name, field in layout:
            last = field.offset + field.width - 1
            expected.append([word.name, str(last) if field.width == 1 else f"{field.offset}..{last}", name])
    assert [row[:3] for row in rows("register-map.md", heading)] == expected


def test_presets() -> None:
    expected = []
    for field in dataclasses.fields(AcceleratorConfig):
        values = [getattr(config, field.name) for config in PRESETS.values()]
        expected.append([field.name, *(str(value).lower() for value in values)])
    assert [row[:-1] for row in rows("configuration.md", "## Presets")] == expected


def test_ranges_of_the_configuration() -> None:
    checked = []
    for name, *_, values in rows("configuration.md", "## Presets"):
        if not (match := re.fullmatch(r"(\d+) to (\d+)", values)):
            continue
        low, high = int(match[1]), int(match[2])
        config = PRESETS["hc2"].replace(intersection_kernels=1)
        for value in (low, high):
            assert getattr(config.replace(**{name: value}), name) == value
        for value in (low - 1, high + 1):
            with pytest.raises(ConfigError, match=rf"^{name} must be an integer from {low} to {high}, not {value}$"):
                config.replace(**{name: value})
        checked.append(name)
    unranged = {"blocking_reservation", "bfs_only", "clock_mhz"}
    assert checked == [field.name for field in dataclasses.fields(AcceleratorConfig) if field.name not in unranged]


def test_every_key_is_explained() -> None:
    terms = re.findall(r"^(`[^\n]+)\n: ", section("configuration.md", "Keys"), re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(terms)) == [field.name for field in dataclasses.fields(AcceleratorConfig)]


@pytest.mark.parametrize(
    ("profile", "heading"), [(Hc2(), "### Parameters"), (Hbm2(), "### Numbers of `hbm2`")], ids=str
)
def test_memory_parameters(profile: Profile, heading: str) -> None:
    for name, default, values, _ in rows("memory-model.md", heading):
        assert default == str(getattr(profile, name))
        low, high = map(int, values.split(" to "))
        for value in (low - 1, high + 1):
            message = rf"^memory {name} must be an integer from {low} to {high}, not {value}$"
            with pytest.raises(ValueError, match=message):
                profile_from({"profile": profile.name, name: value})
    names = ", ".join(row[0] for row in rows("memory-model.md", heading))
    with pytest.raises(
        ValueError, match=rf"^memory key 'x' is not known for profile '{profile.name}': choose from profile, {names}$"
    ):
        profile_from({"profile": profile.name, "x": 0})


def test_what_is_generated_has_its_place() -> None:
    """Each table of the code's own stands in a page, and no page names one that there is not."""
    found = runpy.run_path(str(DOCS / "conf.py"))
    named = [name for page in PAGES for name in re.findall(r"\{\{ (.*) \}\}", page.read_text())]
    assert set(named) == set(found["GENERATED"])
    page = found["generated"]((DOCS / "simulation.md").read_text())
    assert f"\n| `{Cause.IDLE.row.name}` | {Cause.IDLE.row.about} |\n" in page


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
