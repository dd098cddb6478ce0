"""Machines with slices, or a station in the shell: executors exchange states, and show the same waveforms."""

from copy import deepcopy
from pathlib import Path

import pytest

from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.observation.state import MachineState
from tests.sim.executors.levels import dispatch_level
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.sim.observation.waves.reading import recording
from tests.system.runs import made

CONFIGS = {
    "switch": PRESETS["test"].replace(link_queues=4, memory_ports=4),
    "exchange": PRESETS["test"].replace(visited_filter=64),
    "shell": PRESETS["test"].replace(short_ring=True),
}
PARTS: dict[str, set[tuple[str, ...]]] = {
    "switch": {("switch", "kernel1"), ("switch", "link3")},
    "exchange": {("exchange0",), ("exchange1",)},
    "shell": {("shell", "slot_station")},
}
"""Scopes in which signals are to be seen."""

machines = pytest.mark.parametrize("kind", CONFIGS)


def level(
    config: AcceleratorConfig, executor: str, state: MachineState | None = None, *, save_at: int = 0
) -> tuple[int, int, list[MachineState]]:
    """Execute a level, from a state in its middle if one is given; return its cycles, the machine's, and a state."""
    states: list[MachineState] = []
    with made(config, "fixed:75", executor=executor) as machine:
        dispatch_level(machine)
        if state is not None:
            machine.load(state)

        def look(cycle: int) -> int:
            if save_at and cycle >= save_at and not states:
                states.append(deepcopy(machine.save()))  # of the memory it has but a view
            return save_at - cycle if cycle < save_at else 1000

        machine.on_sync = look
        return machine.wait(), machine.cycle, states


@machines
@pytest.mark.parametrize("save_at", [200, 240, 280])
def test_what_one_executor_saves_goes_on_the_same_on_both(kind: str, save_at: int) -> None:
    config = CONFIGS[kind]
    expected = level(config, "compiled")[:2]
    for executor in EXECUTORS:
        (state,) = level(config, executor, save_at=save_at)[2]
        slices = [field.name for field in state.hardware.fields if f".{kind}" in field.name]
        assert any(any(state.hardware.values(name)) for name in slices if not name.endswith(".quiescent"))
        for other in EXECUTORS:
            assert level(config, other, state)[:2] == expected


def unread(path: tuple[str, ...]) -> bool:
    """Return whether a signal may be anything at times: what a channel carries while it is not valid."""
    if any("response__payload" in name for name in path[-2:]):
        return True
    decoded = path[-2] == "decoder" and path[-1].endswith("__payload")
    return decoded or ("fifo" in path[-2] and path[-1] in ("input__payload", "w_data"))


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
    common = [path for path in first.keys() & second.keys() if path[1].startswith(kind)]
    assert len(common) > 200
    assert {path[1 : 1 + len(part)] for part in PARTS[kind] for path in common} >= PARTS[kind]
    assert [path for path in sorted(common) if not unread(path) and first[path] != second[path]] == []
    assert sum(len(first[path]) > 5 for path in common) > 20


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
