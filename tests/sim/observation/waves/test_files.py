"""Waveforms of both executors: hierarchy, window, names, values; complete also after a failure."""

import os
import re
import stat
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np
import pytest
import pywellen

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.hw.config import PRESETS
from cyscc.sim.errors import CycleLimitError, OutputError
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.machine import Machine
from cyscc.sim.observation.waves import Waves
from cyscc.sim.observation.waves.signals import model_signals
from cyscc.sim.observation.waves.variables import Variable
from tests.sim.executors.outcomes import TANGLE, Outcome, assert_equal, outcome
from tests.sim.observation.waves.reading import Recording, recording, unread
from tests.system.covering import KNOWN
from tests.system.runs import made, solve

WINDOW = (60, 1050)
TAGS = {"FRONTIER_WORD", "NEIGHBOUR_ID", "NEIGHBOUR_WORD"}


BIT = Variable(number=0, path=("top", "a"), width=1)
STATE = Variable(number=1, path=("top", "b", "state"), width=2, names={0: "A", 1: "B"})
WORD = Variable(number=2, path=("top", "word"), width=4)


SMALL = Graph.from_edges(5, *np.array([[0, 1, 2, 3, 1, 4], [1, 2, 3, 0, 4, 1]], np.uint32))


def simulate(executor: str, output: Path, **further: Any) -> None:
    """Find the components of a graph."""
    options = {"executor": executor, "waves": output, "wave_window": WINDOW, **further}
    with made("test", "fixed:9", **options) as machine:
        solve(machine, SMALL)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    """Return what the executors show of the same run."""
    found = {}
    for executor in EXECUTORS:
        output = tmp_path_factory.mktemp(executor) / "run.vcd"
        simulate(executor, output)
        assert [path.name for path in output.parent.iterdir()] == ["run.vcd"]
        found[executor] = recording(output)
    return found


@pytest.mark.parametrize("executor", EXECUTORS)
def test_hierarchy_and_window(recordings: dict[str, Recording], executor: str) -> None:
    changes, end = recordings[executor]
    assert {name for path in changes for name in path if not name.isidentifier()} == set()
    assert {path[:2] for path in changes} >= {
        (f"engine{number}", part) for number in range(2) for part in ("bfs0", "bfs1", "intersection0", "shell")
    }
    assert ("engine0", "bfs1", "visitor", "fifo", "level") in changes
    times = {time for listed in changes.values() for time, _ in listed}
    assert min(times) == WINDOW[0]
    assert WINDOW[1] - 100 < max(times) <= WINDOW[1]
    assert end == WINDOW[1] + 1
    assert not [path for path, listed in changes.items() if listed[0][0] != WINDOW[0]]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_states_and_tags_by_name(recordings: dict[str, Recording], executor: str) -> None:
    changes = recordings[executor].changes

    def values(*path: str) -> set[str]:
        return {value for _, value in changes["engine0", *path]}

    assert values("bfs0", "control", "phase") == {"IDLE", "RUN", "FLUSH"}
    for place in ((), ("control",)):
        assert values("bfs0", *place, "cause") >= {"IDLE", "RESPONSE", "ISSUE_1", "FLUSH"}
    assert values("bfs0", "control", "state", "frontier_idle") == {"0", "1"}
    assert values("intersection0", "control", "credits", "entries") == set("01234")
    assert values("bfs0", "port__read__payload", "tag") <= TAGS
    assert values("bfs0", "port__response__payload", "tag") == TAGS
    assert values("intersection0", "port__read__payload", "tag") >= {"REACH_ENTRY", "COLOUR"}
    assert values("bfs0", "chain_in__payload", "op") >= {"WRITE", "START"}
    assert all(not value.isdigit() for value in values("shell", "dispatch", "fsm_state"))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_scopes_in_the_other_format(recordings: dict[str, Recording], tmp_path: Path, executor: str) -> None:
    output = tmp_path / "run.fst"
    simulate(executor, output, scopes=("engine1.bfs0.allocator", "*.token_*", "engine0.bfs1.cause"), wave_view=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.fst", "run.gtkw", "run.sucl"]
    added = re.findall(r"^variable_add (.*)$", output.with_suffix(".sucl").read_text(), re.MULTILINE)
    assert len(added) > 10
    assert {tuple(path.split(".")) for path in added} <= {*recording(output).changes}
    changes, end = recordings[executor]
    wanted = {
        path: listed
        for path, listed in changes.items()
        if path[:3] == ("engine1", "bfs0", "allocator")
        or any(name.startswith("token_") for name in path)
        or path == ("engine0", "bfs1", "cause")
    }
    assert 100 < len(wanted) < len(changes) / 4
    assert recording(output) == (wanted, end)


def test_names_are_read_as_text(recordings: dict[str, Recording], tmp_path: Path) -> None:
    simulate("compiled", tmp_path / "run.fst", scopes=("engine0.bfs0.control",))
    waveform = pywellen.Waveform(str(tmp_path / "run.fst"))
    (phase,) = (variable.signal for variable in waveform.all_vars() if variable.full_name.endswith(".phase"))
    shown = recordings["compiled"].changes["engine0", "bfs0", "control", "phase"]
    assert [(time, phase.value_at(time)) for time, _ in shown] == shown
    assert len(shown) > 2


@pytest.mark.parametrize(
    ("scope", "there"),
    [
        ("engine0.bfs7.*", "engine0 has bfs0, bfs1, "),
        ("engin0", "the machine has "),
        ("engine?.bfs1.queue", "engine0.bfs1 has allocator, "),
    ],
)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_scope_that_is_not_there(tmp_path: Path, executor: str, scope: str, there: str) -> None:
    with pytest.raises(ValueError, match=r"^scope ") as refusal:
        simulate(executor, tmp_path / "run.fst", scopes=("engine0", scope))
    assert str(refusal.value).startswith(f"scope {scope}: matches no signal: {there}")
    assert list(tmp_path.iterdir()) == []


LOST = (
    # Insides of components that are executed by hand, other than their registers.
    "*_bank.following",
    "*_bank.known",
    "*_bank.bits.*",
    "slot_station.given*",
    "slot_station.reserve",
    "*.arbiter.*",
    "*.bank.*",
    "*.answers.*",
    "*.reads.*",
    "*.writes.*",
    # A name with a number by which Amaranth tells it from another one, and which differs.
    "link*.number_*",
    # Of the switch itself, whose ports are those of its slices; and there, what nobody looks at.
    "*flush",
    "*flushed",
    "asks",
    "answers",
    "busy",
    "quiescent",
)
"""Signals of an instance that waveforms of the compiled executor do not show, as globs."""

MACHINES = ["test", "fast-test", pytest.param("published", marks=pytest.mark.long)]
"""The last one has no component that is executed by hand besides those of the first."""


def run_on(machine: Machine, graph: Graph = TANGLE) -> Outcome:
    """Search a graph, or find its components if the machine can."""
    return outcome(machine, graph, source=0 if machine.config.bfs_only else None)


@pytest.mark.parametrize("kind", MACHINES)
def test_executors_show_the_same(kind: str, tmp_path: Path) -> None:
    shown, left = {}, []
    for executor in EXECUTORS:
        file = tmp_path / f"{executor}.vcd"
        with made(KNOWN[kind], "hc2", executor=executor, waves=file) as machine:
            left.append(run_on(machine))
        shown[executor] = recording(file).changes
    assert_equal(*left)
    ours, theirs = shown["compiled"], shown["amaranth"]
    common = ours.keys() & theirs.keys()
    assert [path for path in sorted(common) if not unread(path) and ours[path] != theirs[path]] == []
    assert sum(len(ours[path]) > 5 for path in common) > 200
    # No signal is lost but those that are known.
    places = [path for paths in model_signals(KNOWN[kind]).values() for path in paths]
    lost = {".".join(path[2:]) for path in places if path not in ours}
    assert [name for name in lost if not any(fnmatchcase(name, glob) for glob in LOST)] == []


@pytest.mark.parametrize("kind", [*MACHINES, *(pytest.param(full, marks=pytest.mark.long) for full in ("hc2", "fast"))])
def test_window_shows_what_a_run_drawn_from_its_start_does(kind: str, tmp_path: Path) -> None:
    config = KNOWN.get(kind) or PRESETS[kind]
    first, last = (500, 900) if config.bfs_only else (1700, 2300)
    graph = TANGLE if kind in KNOWN else random_graph(1 << 12, 8, seed=1)
    shown, left, states = [], [], []
    for window in ((0, last), (first, last), None):
        file = None if window is None else tmp_path / f"{window[0]}.fst"
        with made(config, "hc2", waves=file, wave_window=window, threads=2) as machine:
            states.append(machine.save().hardware.places)
            left.append(run_on(machine, graph))
        if file is not None:
            shown.append(recording(file).changes)
    assert [{name: field for name, (_, field) in places.items()} for places in states[1:]] == [
        {name: field for name, (_, field) in states[0].items()}
    ] * 2
    for each in left[1:]:
        assert_equal(left[0], each)
    whole, part = shown
    for path, changes in whole.items():
        before = [value for time, value in changes if time <= first]
        assert part[path] == [(first, before[-1]), *(change for change in changes if change[0] > first)], path
    assert part.keys() == whole.keys()
    assert sum(len(changes) > 1 for changes in part.values()) > (100 if kind in KNOWN else 10_000)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
def test_failed_run_is_complete(tmp_path: Path, executor: str, suffix: str) -> None:
    output = tmp_path / f"run{suffix}"
    with pytest.raises(CycleLimitError, match=r"^cycle limit of 100 reached$"):
        simulate(executor, output, cycle_limit=100)
    changes, end = recording(output)
    assert WINDOW[0] + 40 < end < WINDOW[1]
    assert {value for _, value in changes["engine0", "bfs0", "control", "phase"]} >= {"IDLE", "RUN"}
    assert list(tmp_path.iterdir()) == [output]


def written(output: Path, begun: int) -> Path:
    """Write three variables in a window of a run that begins with some cycle; return the file."""
    waves = Waves(output, (2, 8))
    writer = waves.begin([STATE, BIT, WORD])
    writer.show(2, [(STATE, 1), (BIT, 0), (WORD, 5)])
    writer.show(4, [(STATE, 2), (BIT, 1)])
    writer.show(7, [(STATE, 0), (WORD, 12)])
    waves.finish(begun, 20)
    return output


def test_text(tmp_path: Path) -> None:
    head, _, body = written(tmp_path / "run.vcd", 0).read_text().partition("$enddefinitions $end\n")
    assert body.replace("\n", " ") == '#2 $dumpvars sB " 0! b101 # $end #4 s2 " 1! #7 sA " b1100 # #9 '
    assert head == (
        "$comment one nanosecond stands for one cycle $end\n$timescale 1 ns $end\n"
        "$scope module top $end\n$var wire 1 ! a $end\n$var wire 4 # word $end\n"
        '$scope module b $end\n$var string 1 " state $end\n$upscope $end\n$upscope $end\n'
    )


def test_compressed(tmp_path: Path) -> None:
    assert recording(written(tmp_path / "run.fst", 0)) == Recording(
        {
            ("top", "a"): [(2, "0"), (4, "1")],
            ("top", "word"): [(2, "5"), (7, "12")],
            ("top", "b", "state"): [(2, "B"), (4, "2"), (7, "A")],
        },
        9,
    )


@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
def test_window_before_what_a_run_goes_on_from(tmp_path: Path, suffix: str) -> None:
    written(tmp_path / f"run{suffix}", 9)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
@pytest.mark.parametrize(("cycles", "left"), [(60, False), (61, True)])
def test_window_that_the_run_does_not_reach_leaves_no_file(
    tmp_path: Path, cycles: int, left: bool, suffix: str
) -> None:
    waves = Waves(tmp_path / f"run{suffix}", WINDOW)
    waves.begin([BIT]).show(60, [(BIT, 1)])
    waves.finish(0, cycles)
    assert [path.name for path in tmp_path.iterdir()] == [f"run{suffix}"] * left


def test_a_pipe_gets_the_whole_file(tmp_path: Path) -> None:
    # No device, which a run by root could put a file in the place of.
    pipe, whole = tmp_path / "pipe", tmp_path / "whole"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        for output in (pipe, whole, whole):
            waves = Waves(output, WINDOW, view=output == whole)
            waves.begin([BIT]).show(60, [(BIT, 1)])
            before = {path: path.stat().st_ino for path in tmp_path.iterdir()}
            waves.finish(0, 1051)
            if output == pipe:
                assert {path: path.stat().st_ino for path in tmp_path.iterdir()} == before
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert os.read(descriptor, 1 << 16) == whole.read_bytes() != b""
    finally:
        os.close(descriptor)


def test_refused_folder(tmp_path: Path) -> None:
    output = tmp_path / "missing" / "run.vcd"
    with pytest.raises(OutputError) as refusal:
        Waves(output, None)
    assert str(refusal.value) == f"{output}: No such file or directory: the waveforms cannot be written"


def test_other_endings(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"run\.ghw: waveforms end in \.vcd or \.fst$"):
        Waves(tmp_path / "run.ghw", None)


LIMITED = """
import random, resource, sys
from pathlib import Path
from cyscc.sim.observation.waves import Waves
from cyscc.sim.observation.waves.variables import Variable

waves = Waves(Path(sys.argv[1]), None)
variables = [Variable(number=0, path=("top", "a"), width=64)]
writer = waves.begin(variables)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
random.seed(1)
try:
    for cycle in range(5000):
        writer.show(cycle, [(variables[0], random.getrandbits(64))])
    waves.finish(0, 5000)
except OSError as error:
    raise waves.refusal(error) from None
finally:
    waves.discard()
"""


@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
@pytest.mark.parametrize("room", [1 << 9, 1 << 13, 1 << 15])
def test_disk_that_is_full_leaves_a_line_and_no_file(tmp_path: Path, suffix: str, room: int) -> None:
    # No more fits into a file.
    command = [sys.executable, "-c", LIMITED, str(tmp_path / f"run{suffix}"), str(room)]
    ended = run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(f"cyscc.sim.errors.OutputError: {tmp_path}/run{suffix}: ")
    assert ended.stderr.splitlines()[-1].endswith(": the waveforms cannot be written")
    assert list(tmp_path.iterdir()) == []
