"""Machines with slices and a station in the shell: executors show the same waveforms, whole or of a window."""

from pathlib import Path

import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.sim.observation.waves.reading import recording, unread
from tests.system.runs import made

CONFIGS = {
    "switch": PRESETS["test"].replace(link_queues=4, memory_ports=4),
    "fast-test": PRESETS["fast-test"],
}
PARTS: dict[str, set[tuple[str, ...]]] = {
    "switch": {("switch", "kernel1"), ("switch", "link3")},
    "fast-test": {("switch", "kernel1"), ("exchange0",), ("exchange1",), ("shell", "slot_station")},
}
"""Scopes in which signals are to be seen."""

machines = pytest.mark.parametrize("kind", CONFIGS)


@machines
def test_executors_show_the_same(kind: str, tmp_path: Path) -> None:
    shown, left = [], []
    for executor in EXECUTORS:
        file = tmp_path / f"{executor}.vcd"
        with made(CONFIGS[kind], "hc2", executor=executor, waves=file, cycle_limit=100_000) as machine:
            left.append(outcome(machine, TANGLE))
        shown.append(recording(file).changes)
    assert_equal(*left)
    first, second = shown
    common = [path for path in first.keys() & second.keys() if path[1].startswith(("switch", "exchange", "shell"))]
    assert len(common) > 200
    assert {path[1 : 1 + len(part)] for part in PARTS[kind] for path in common} >= PARTS[kind]
    assert [path for path in sorted(common) if not unread(path) and first[path] != second[path]] == []
    assert sum(len(first[path]) > 5 for path in common) > 20


@machines
def test_models_carry_what_lanes_do(kind: str, tmp_path: Path) -> None:
    """A register that a model carries by no name would be lost where its window begins."""
    with made(CONFIGS[kind], "hc2") as lanes, made(CONFIGS[kind], "hc2", waves=tmp_path / "run.vcd") as models:
        ours, theirs = (machine.save().hardware for machine in (lanes, models))
    assert ours.places.keys() - theirs.places.keys() == set()
    partly = [name for name, (_, field) in ours.places.items() if field.known & ~theirs.places[name][1].known]
    assert partly == []


@machines
def test_window_shows_what_a_run_drawn_from_its_start_does(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cyscc.sim.executors.compiled.windowed._AHEAD", 100)
    first, last = 1700, 2300
    shown, left = [], []
    for file, window in ((tmp_path / "whole.fst", (0, last)), (tmp_path / "part.fst", (first, last))):
        with made(CONFIGS[kind], "hc2", waves=file, wave_window=window, cycle_limit=100_000) as machine:
            left.append(outcome(machine, TANGLE))
        shown.append(recording(file).changes)
    with made(CONFIGS[kind], "hc2", cycle_limit=100_000) as machine:
        left.append(outcome(machine, TANGLE))
    for each in left[1:]:
        assert_equal(left[0], each)
    whole, part = shown
    for path, changes in whole.items():
        if unread(path):
            continue
        before = [value for time, value in changes if time <= first]
        assert part[path] == [(first, before[-1]), *(change for change in changes if change[0] > first)], path
    assert sum(len(changes) > 1 for changes in part.values()) > 100
