"""Waveforms of machines with slices, with a station, of published kernels: both executors', whole or of a window."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.executors.compiled.drawing import LOST
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.machine import Machine
from cyscc.sim.observation.waves.signals import model_signals
from tests.sim.executors.outcomes import TANGLE, Outcome, assert_equal, outcome
from tests.sim.observation.waves.reading import recording, unread
from tests.system.runs import made

CONFIGS = {
    "switch": PRESETS["test"].replace(link_queues=4, memory_ports=4),
    "fast-test": PRESETS["fast-test"],
    "published": PRESETS["test"].replace(bfs_only=True, issue_interval=2, blocking_reservation=True),
}

machines = pytest.mark.parametrize("kind", CONFIGS)


def run_on(machine: Machine) -> Outcome:
    """Search a graph, or find its components if the machine can."""
    return outcome(machine, TANGLE, source=0 if machine.config.bfs_only else None)


@machines
def test_executors_show_the_same(kind: str, tmp_path: Path) -> None:
    shown, left = {}, []
    for executor in EXECUTORS:
        file = tmp_path / f"{executor}.vcd"
        with made(CONFIGS[kind], "hc2", executor=executor, waves=file, cycle_limit=100_000) as machine:
            left.append(run_on(machine))
        shown[executor] = recording(file).changes
    assert_equal(*left)
    ours, theirs = shown["compiled"], shown["amaranth"]
    common = ours.keys() & theirs.keys()
    assert [path for path in sorted(common) if not unread(path) and ours[path] != theirs[path]] == []
    assert sum(len(ours[path]) > 5 for path in common) > 200
    # No signal is lost but those that are known.
    places = [path for paths in model_signals(CONFIGS[kind]).values() for path in paths]
    lost = {".".join(path[2:]) for path in places if path not in ours}
    assert [name for name in lost if not any(fnmatchcase(name, glob) for glob in LOST)] == []


@machines
def test_library_with_waveforms_has_the_same_state(kind: str, tmp_path: Path) -> None:
    with made(CONFIGS[kind], "hc2") as plain, made(CONFIGS[kind], "hc2", waves=tmp_path / "run.vcd") as shown:
        ours, theirs = (machine.save().hardware for machine in (plain, shown))
    assert {name: field for name, (_, field) in ours.places.items()} == {
        name: field for name, (_, field) in theirs.places.items()
    }


@machines
def test_window_shows_what_a_run_drawn_from_its_start_does(kind: str, tmp_path: Path) -> None:
    first, last = (500, 900) if CONFIGS[kind].bfs_only else (1700, 2300)
    shown, left = [], []
    for file, window in ((tmp_path / "whole.fst", (0, last)), (tmp_path / "part.fst", (first, last))):
        with made(CONFIGS[kind], "hc2", waves=file, wave_window=window, cycle_limit=100_000) as machine:
            left.append(run_on(machine))
        shown.append(recording(file).changes)
    with made(CONFIGS[kind], "hc2", cycle_limit=100_000) as machine:
        left.append(run_on(machine))
    for each in left[1:]:
        assert_equal(left[0], each)
    whole, part = shown
    for path, changes in whole.items():
        before = [value for time, value in changes if time <= first]
        assert part[path] == [(first, before[-1]), *(change for change in changes if change[0] > first)], path
    assert sum(len(changes) > 1 for changes in part.values()) > 100
