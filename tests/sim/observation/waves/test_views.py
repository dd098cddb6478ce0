"""What viewers are to show of waveforms: scopes and views."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cyscc.host.command_line.main import main
from cyscc.hw.config import PRESETS
from cyscc.sim.machine import fifos
from cyscc.sim.observation.waves.signals import model_signals
from cyscc.sim.observation.waves.variables import Scopes, Variable
from cyscc.sim.observation.waves.views import FIRST, LEVELS, VIEWS, Focus, View, write_views

WINDOW = 80_000, 81_000
SLOT = Focus(cycle=80_200, event="slot", label="slot", kernel="engine1.bfs3")


def variables(paths: list[tuple[str, ...]]) -> list[Variable]:
    return [
        Variable(number=number, path=path, width=6, names={0: "A"} if path[-1] in ("cause", "phase") else None)
        for number, path in enumerate(paths)
    ]


@pytest.fixture(scope="module")
def hc2() -> list[Variable]:
    return variables([path for paths in model_signals(PRESETS["hc2"]).values() for path in paths])


def groups(text: str) -> dict[str, list[str]]:
    """Return the signals of the groups of GTKWave that are open, by title."""
    found: dict[str, list[str]] = {}
    title = ""
    flags = 0
    for line in text.splitlines():
        if line.startswith("@"):
            flags = int(line[1:], 16)
        elif line.startswith("-") and flags & 0x800000:
            title = "" if flags & 0x400000 else line[1:]
        elif line.startswith("+") and title:
            found.setdefault(title, []).append(line.split("} ")[1])
    return found


def shown_by_surfer(commands: list[str], end: int) -> tuple[float, float]:
    """Return the range that Surfer shows: of an axis from 0, no less than a cycle and no more than 1.4 times all."""
    left, right = 0.0, float(end)
    for command in commands:
        if command == "goto_end":
            left, right = end - (right - left), end
        elif command in ("zoom_in", "zoom_out"):
            width = (right - left) * (0.5 if command == "zoom_in" else 2)
            width = 1.0 if width <= 0.5 else min(width, 1.4 * end)
            left, right = (left + right - width) / 2, (left + right + width) / 2
    return left, right


def test_gtkwave(hc2: list[Variable]) -> None:
    text = VIEWS[".gtkw"](View.of("run.fst", hc2, WINDOW, SLOT))
    assert len(text) < 40_000
    assert {'[dumpfile] "run.fst"', "[timestart] 80000", "[treeopen] engine1."} <= set(text.splitlines())
    zoom, marker = re.findall(r"^\*(\S+) (\S+) -1 ", text, re.MULTILINE)[0]
    names = int(re.findall(r"^\[signals_width\] (\d+)", text, re.MULTILINE)[0])
    assert names > 8 * len("allocator slot__payload number=63")
    assert 1 < 2 ** -float(zoom) / 200 * (1000 - names) / 1000 < 1.1
    assert marker == "80200"
    shown = groups(text)
    assert list(shown) == ["engine1.bfs3: slot", "engine1.bfs3 visitor", "engine1.bfs3 allocator"]
    first, *others = shown["engine1.bfs3: slot"]
    assert "@820\n+{cause (1 cycle late)} engine1.bfs3.cause\n" in text
    assert first == "engine1.bfs3.cause"
    assert others[:2] == ["engine1.bfs3.visitor.waiting[5:0]", "engine1.bfs3.visitor.level[5:0]"]
    assert "engine1.bfs3.allocator.slot__valid[5:0]" in others
    assert len(re.findall(r" engine\d\.\w+\.cause\n", text)) == 97, "that of the kernel, and an overview of all"


def test_surfer(hc2: list[Variable]) -> None:
    text = VIEWS[".sucl"](View.of("run.fst", hc2, WINDOW, SLOT))
    forms = (
        r"#.*|(scope_select|variable_add) [\w.]+|divider_add \w+|zoom_\w+|goto_end|cursor_set \d+|marker_set \w+ \d+"
    )
    lines = text.splitlines()
    assert [line for line in lines if not re.fullmatch(forms, line)] == []
    assert lines[1:6] == [
        "scope_select engine1.bfs3",
        "divider_add 1_ns_is_1_cycle",
        "divider_add slot_cycle_80_200",
        "divider_add engine1_bfs3_slot",
        "variable_add engine1.bfs3.cause",
    ]
    assert lines[-2:] == ["cursor_set 80200", "marker_set slot 80200"]
    assert len(lines) < 100


@pytest.mark.parametrize("window", [(80_000, 81_000), (0, 500), (1, 2), (65_000, 65_536), (3, 1_000_000), (7, 1 << 20)])
def test_range_of_surfer(window: tuple[int, int]) -> None:
    view = View(waveform="", first=window[0], end=window[1], focus=None, scope="a", groups=[])
    left, right = shown_by_surfer(VIEWS[".sucl"](view).splitlines(), window[1])
    length = window[1] - window[0]
    assert right == window[1]
    assert length <= right - left <= 2 * length


def test_window_without_an_event(hc2: list[Variable]) -> None:
    view = View.of("run.fst", hc2, WINDOW, None)
    opened = [group.title for group in view.groups if group.open]
    assert opened[0] == "engine0: causes"
    assert {title.split()[0] for title in opened[1:]} == {"engine0.bfs0"}
    assert {group.title for group in view.groups} >= {f"engine{number}.shell" for number in range(4)}
    assert len(VIEWS[".gtkw"](view)) < 40_000


@pytest.mark.parametrize("preset", ["published-bfs", "test"])
def test_every_event_has_signals(preset: str) -> None:
    config = PRESETS[preset]
    models = model_signals(config)
    shown = variables([path for model in ("bfs0", "intersection0", "shell") for path in models[f"engine0.{model}"]])
    names = {".".join(variable.path) for variable in shown}
    for event in FIRST:
        view = View.of("run.fst", shown, WINDOW, Focus(cycle=80_100, event=event, label=event))
        assert view.groups[0].title == "engine0.bfs0, for example"
        assert len(view.groups[0].signals) > 3, event
        assert ("control.state.words_idle" in view.groups[0].signals) == (event in ("start", "idle", "error", "hang"))
    for module, its in fifos(config).items():
        for fifo in its:
            assert f"engine0.{module}0.{LEVELS[fifo.name]}" in names
            focus = Focus(cycle=80_100, event="full", label="full", module=module, fifo=fifo.name)
            first = list(View.of("run.fst", shown, WINDOW, focus).groups[0].signals)
            assert first[1] == LEVELS[fifo.name]
            assert all(name.startswith(LEVELS[fifo.name].partition(".")[0]) for name in first[2:])


def test_few_signals_are_all_shown() -> None:
    chosen = variables([("engine0", "bfs1", "allocator", "empty"), ("engine0", "bfs1", "allocator", "slot__valid")])
    chosen += variables([("accelerator", "idle")])
    focus = Focus(cycle=80_100, event="slot", label="slot", kernel="engine0.bfs1")
    view = View.of("run.fst", chosen, WINDOW, focus)
    assert [(group.title, list(group.signals)) for group in view.groups] == [
        ("engine0.bfs1: slot", ["allocator.slot__valid"]),
        ("engine0.bfs1", ["allocator.empty", "allocator.slot__valid"]),
        ("accelerator.idle", ["accelerator.idle"]),
    ]


def test_saved_views_are_kept(tmp_path: Path) -> None:
    view = View(waveform="run.fst", first=0, end=10, focus=None, scope="engine0", groups=[])
    odd = os.fsdecode(b"\xff.fst")
    write_views(tmp_path / odd, replace(view, waveform=odd))
    assert b'[dumpfile] "\xff.fst"' in (tmp_path / odd).with_suffix(".gtkw").read_bytes()
    saved = tmp_path / "run.gtkw"
    saved.write_text("[*] GTKWave Analyzer\n")
    for _ in range(2):
        write_views(tmp_path / "run.fst", view)
    assert saved.read_text() == "[*] GTKWave Analyzer\n"
    assert (tmp_path / "run.sucl").read_text().startswith("# Written by cyscc")


@pytest.mark.parametrize(
    "options", [["--waves", "w" * 251, "--wave-view"], ["--waves", "/dev/full"], ["--waves", "w.fst"]]
)
def test_waveforms_that_cannot_be_written_are_no_failed_run(
    options: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    Path("g.txt").write_text("0 1\n")
    assert main(["bfs", "g.txt", "--source", "0", "--config", "test", "--threads", "1", *options]) == 2
    out, err = capfd.readouterr()
    place, cause, end = err.rsplit(": ", 2)
    assert (out, place.startswith("cyscc bfs: "), err.count("\n")) == ("", True, 1)
    assert (cause.removesuffix(" in /tmp"), end) == (
        "File name too long" if "--wave-view" in options else "No space left on device",
        "the waveforms cannot be written\n",
    )
    assert os.listdir() == ["g.txt"]


PATHS = [
    ("engine0", "bfs10", "cause"),
    ("engine0", "bfs2", "queue", "level"),
    ("engine0", "bfs2", "cause"),
    ("engine1", "shell", "token_in", "valid"),
]


@pytest.mark.parametrize(
    ("globs", "wanted"),
    [
        ((), [0, 1, 2, 3]),
        (("engine0",), [0, 1, 2]),
        (("engine0.bfs2",), [1, 2]),
        (("engine0.bfs2.*",), [1, 2]),
        (("*.cause",), [0, 2]),
        (("engine?.bfs[2-3].cause",), [2]),
        (("*.token_*", "engine0.bfs10"), [0, 3]),
        (("engine0.bfs1",), []),
        (("bfs2",), []),
    ],
)
def test_what_globs_select(globs: tuple[str, ...], wanted: list[int]) -> None:
    scopes = Scopes(globs)
    assert [number for number, path in enumerate(PATHS) if path in scopes] == wanted


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        ("kernel", "scope kernel: matches no signal: the machine has engine0, engine1"),
        ("engine0.bfs1", "scope engine0.bfs1: matches no signal: engine0 has bfs2, bfs10"),
        ("engine0.bfs2.queue.depth", "scope engine0.bfs2.queue.depth: matches no signal: engine0.bfs2.queue has level"),
        ("engine0.bfs2.cause.x", "scope engine0.bfs2.cause.x: matches no signal: engine0.bfs2 has queue"),
    ],
)
def test_one_that_selects_nothing(glob: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^scope") as refusal:
        Scopes(("engine0", glob)).check(PATHS)
    assert str(refusal.value) == message


def test_no_more_than_a_few_are_shown() -> None:
    with pytest.raises(ValueError, match=r"has bfs0, bfs1, bfs2, bfs3, bfs4, bfs5, bfs6, bfs7, \.\.\.$"):
        Scopes(("engine0.x",)).check([("engine0", f"bfs{number}", "cause") for number in range(16)])
