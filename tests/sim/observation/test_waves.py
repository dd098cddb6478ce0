"""Waveforms of both executors: hierarchy, window, names, values; complete also after a failure."""

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from vcd.reader import TokenKind, tokenize

from host.graph.csr import Graph
from sim.errors import CycleLimitError, SimulationError
from sim.executors.names import EXECUTORS
from sim.observation.waves import Waves, convert
from tests.system.runs import made, solve

WINDOW = (60, 1050)
TAGS = {"FRONTIER_WORD", "NEIGHBOUR_ID", "NEIGHBOUR_WORD"}

Change = tuple[int, str]


class Recording(NamedTuple):
    """What a VCD file shows: the changes of each signal, each as time and value, and the time at which it ends."""

    changes: dict[tuple[str, ...], list[Change]]
    end: int


def recording(content: bytes) -> Recording:
    keys: dict[tuple[str, ...], str] = {}
    changes: dict[str, list[Change]] = {}
    scope: list[str] = []
    time = 0
    for token in tokenize(BytesIO(content)):
        match token.kind:
            case TokenKind.SCOPE:
                scope.append(token.scope.ident)
            case TokenKind.UPSCOPE:
                scope.pop()
            case TokenKind.VAR:
                keys[*scope, token.var.reference] = token.var.id_code
            case TokenKind.CHANGE_TIME:
                time = token.time_change
            case TokenKind.CHANGE_SCALAR:
                changes.setdefault(token.scalar_change.id_code, []).append((time, token.scalar_change.value))
            case TokenKind.CHANGE_VECTOR:
                changes.setdefault(token.vector_change.id_code, []).append((time, str(token.vector_change.value)))
            case TokenKind.CHANGE_STRING:
                changes.setdefault(token.string_change.id_code, []).append((time, token.string_change.value))
    return Recording({path: changes.get(key, []) for path, key in keys.items()}, time)


def simulate(executor: str, output: Path | None, *, cycle_limit: int | None = None) -> dict[str, Any]:
    """Find the components of a small graph; return the machine's statistics."""
    edges = np.array([[0, 1, 2, 3, 1, 4], [1, 2, 3, 0, 4, 1]], np.uint32)
    options = {"executor": executor, "cycle_limit": cycle_limit, "waves": output, "wave_window": WINDOW}
    with made("test", "fixed:9", **options) as machine:
        solve(machine, Graph.from_edges(5, *edges))
        return machine.statistics()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    """Return what the executors show of the same run."""
    found = {}
    for executor in EXECUTORS:
        output = tmp_path_factory.mktemp(executor) / "run.vcd"
        simulate(executor, output)
        assert [path.name for path in output.parent.iterdir()] == ["run.vcd"]
        found[executor] = recording(output.read_bytes())
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


def test_executors_show_the_same(recordings: dict[str, Recording]) -> None:
    compiled, simulated = (recordings[executor].changes for executor in EXECUTORS)
    common = compiled.keys() & simulated.keys()
    # What a channel carries while it is not valid, and a port's readiness while another has it, is anything.
    ignored = ("response__payload", "process", "input__payload", "w_data", "ready")
    compared = [
        path
        for path in common
        if "port__read__payload" in path or not any(part in name for part in ignored for name in path[-2:])
    ]
    assert len(compared) > 2000
    assert [path for path in sorted(compared) if compiled[path] != simulated[path]] == []
    assert len(compiled["engine0", "bfs0", "port__read__payload", "address"]) > 5


def test_waveforms_change_nothing(tmp_path: Path) -> None:
    assert simulate("compiled", tmp_path / "run.vcd") == simulate("compiled", None)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_failed_run_is_complete(tmp_path: Path, executor: str) -> None:
    output = tmp_path / "run.vcd"
    with pytest.raises(CycleLimitError, match=r"^cycle limit of 100 reached$"):
        simulate(executor, output, cycle_limit=100)
    changes, end = recording(output.read_bytes())
    assert WINDOW[0] + 40 < end < WINDOW[1]
    assert {value for _, value in changes["engine0", "bfs0", "control", "phase"]} >= {"IDLE", "RUN"}
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize(("cycles", "left"), [(60, []), (61, ["run.vcd"])])
def test_window_that_the_run_does_not_reach_leaves_no_file(tmp_path: Path, cycles: int, left: list[str]) -> None:
    waves = Waves(tmp_path / "run.vcd", WINDOW, locate=lambda path: None)
    waves.raw.write_bytes(RAW)
    waves.finish(cycles)
    assert [path.name for path in tmp_path.iterdir()] == left


RAW = b"""$timescale 1 s $end
$scope module top $end
$var wire 2 ! state [1:0] $end
$var wire 1 " \\pair.one $end
$var wire 1 # hidden $end
$upscope $end
$enddefinitions $end
#0
b00 !
0"
0#
#1
b01 !
#2
1"
0"
#3
b10 !
1"
#4
b11 !
1#
#5
0"
"""


@pytest.mark.parametrize(
    ("window", "cycles", "body"),
    [
        ((0, 9), 6, '#0 $dumpvars sA ! 0" $end #1 sB ! #3 s2 ! 1" #4 sD ! #5 0" #6'),
        ((2, 4), 6, '#2 $dumpvars sB ! 0" $end #3 s2 ! 1" #4 sD ! #5'),
        ((7, 8), 20, '#7 $dumpvars sD ! 0" $end #9'),
        ((7, 8), 6, ""),
    ],
)
def test_conversion(window: tuple[int, int], cycles: int, body: str) -> None:
    output = BytesIO()
    places = {"state": (("a", "b", "state"), {0: "A", 1: "B", 3: "D"}), "pair.one": (("a", "pair", "one"), None)}
    convert(
        iter(RAW.splitlines(keepends=True)),
        output,
        locate=lambda path: places.get(path[-1]),
        cycle_of=int,
        window=window,
        cycles=cycles,
    )
    head, _, rest = output.getvalue().decode().partition("$enddefinitions $end\n")
    assert rest.split() == body.split()
    assert head == (
        "$comment one nanosecond stands for one cycle $end\n$timescale 1 ns $end\n"
        "$scope module a $end\n$scope module b $end\n$var string 1 ! state $end\n$upscope $end\n"
        '$scope module pair $end\n$var wire 1 " one $end\n$upscope $end\n$upscope $end\n$enddefinitions $end\n'
    ).removesuffix("$enddefinitions $end\n")


def test_refused_folder(tmp_path: Path) -> None:
    output = tmp_path / "missing" / "run.vcd"
    with pytest.raises(SimulationError) as refusal:
        Waves(output, None, locate=lambda path: None)
    assert str(refusal.value) == f"{output}: No such file or directory: the waveforms cannot be written"


def test_interrupted_run_has_waveforms_up_to_a_whole_cycle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sim.observation.waves._PATIENCE", -1.0)
    waves = Waves(tmp_path / "run.vcd", None, locate=lambda path: (path, None))
    lines = ["$scope module top $end", "$var wire 1 ! a $end", "$upscope $end", "$enddefinitions $end"]
    waves.raw.write_text("\n".join([*lines, "#0", "0!", "#1", "1!", "#2", "0!", "#3", "1!"]) + "\n")
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        waves.finish(9)
    assert recording((tmp_path / "run.vcd").read_bytes()) == ({("top", "a"): [(0, "0")]}, 1)
    assert list(tmp_path.iterdir()) == [tmp_path / "run.vcd"]
    assert capfd.readouterr().err == (
        f"cyscc: {tmp_path}/run.vcd: cut at cycle 1 of 9, since the run was interrupted\n"
    )
