"""Runs that are killed and resumed, by any executor, equal uninterrupted ones.

So does what goes on from the whole state by name, cut in the middle of levels, which is the same on both executors.
"""

import random
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import rmat_graph
from cyscc.host.runs.checkpoints.folder import Checkpoint
from cyscc.host.runs.checkpoints.writer import CheckpointWriter
from cyscc.host.specification.run import Interval
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.machine import Machine
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.state import MachineState
from tests.host.runs.checkpoints.about import about_of
from tests.sim.executors.outcomes import CROWD, TANGLE
from tests.system.covering import COVERING, KNOWN, VALUES
from tests.system.runs import made, search, solve


class KilledError(Exception):
    """The run has come to an end by force."""


class Shelf(Checkpoint):
    """Checkpoints that kill the run after the first one."""

    def __init__(self) -> None:
        self.contents: dict[str, NDArray[np.uint8]] = {}

    @property
    def path(self) -> Path:
        return Path("shelf")

    def write(self, about: Any, files: dict[str, NDArray[np.uint8]]) -> None:
        self.contents = {name: content.copy() for name, content in files.items()}
        raise KilledError

    def file(self, name: str) -> NDArray[np.uint8]:
        return self.contents[name].copy()


def kept_by(machine: Machine, shelf: Shelf, *, cycles: int) -> CheckpointWriter:
    return CheckpointWriter(
        machine,
        shelf,  # type: ignore[arg-type]  # it stands for the folder and for what is in it
        every=Interval(cycles=cycles),
        about=about_of,
        without=(),
        resumed=shelf if shelf.contents else None,
    )


def outcome(machine: Machine, graph: Graph, source: int | None, **options: Any) -> dict[str, Any]:
    """Make a run; return all that it leaves behind."""
    run = solve(machine, graph, **options) if source is None else search(machine, graph, source, **options)
    found = {name: value for name, value in vars(run).items() if name != "start_seconds"}
    arrays = {name: value.tolist() for name, value in found.items() if isinstance(value, np.ndarray)}
    memory = machine.read(4096, np.uint8, machine.memory.allocated).tobytes()
    return {**found, **arrays, "statistics": machine.statistics(), "cycle": machine.cycle, "memory": memory}


def check_resumed(
    config: str | AcceleratorConfig,
    memory: str,
    graph: Graph,
    *machines: dict[str, Any],
    source: int | None = None,
    slack: int = 500,
    cycles: int,
) -> int:
    """Check a run that is killed at intervals and resumed on another machine; return the number of kills."""
    with made(config, memory) as machine:
        expected = outcome(machine, graph, source, slack=slack)
    shelf = Shelf()
    for kills, options in enumerate(cycle(machines)):
        with made(config, memory, **options) as machine:
            checkpointer = kept_by(machine, shelf, cycles=cycles)
            try:
                found = outcome(machine, graph, source, slack=slack, checkpointer=checkpointer)
            except KilledError:
                continue
        assert found == expected
        return kills
    raise AssertionError


@pytest.mark.parametrize(("memory", "source"), [("hc2", None), pytest.param("stress:5", 0, marks=pytest.mark.long)])
def test_other_executors_go_on(memory: str, source: int | None, tmp_path: Path) -> None:
    waves = tmp_path / "run.vcd"
    machines: tuple[dict[str, Any], ...] = (
        {},
        {"executor": "amaranth"},
        {"threads": 2},
        {"waves": waves, "wave_window": (0, 10**6)},
    )
    assert check_resumed("test", memory, TANGLE, *machines, source=source, cycles=457) > len(machines)
    assert waves.stat().st_size > 1000


@pytest.mark.parametrize(("memory", "cycles"), [("hc2", 197), ("fixed:1", 41), ("fixed:400", 901), ("stress:5", 731)])
def test_any_cycle_will_do(memory: str, cycles: int) -> None:
    assert check_resumed("test", memory, CROWD, {}, cycles=cycles) > 10


def test_machine_that_only_searches() -> None:
    assert check_resumed(KNOWN["published"], "hc2", CROWD, {}, source=0, cycles=400) > 1


def test_whole_machine() -> None:
    graph = rmat_graph(256, 4, seed=1)
    assert check_resumed("hc2", "hc2", graph, {"threads": 2}, {"threads": 1}, cycles=3001) > 2


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_twenty_random_cuts(preset: str) -> None:
    chance = random.Random(preset)
    config = PRESETS[preset]
    small = config.total_bfs_kernels < 16
    graph = rmat_graph(64 if small else 1024, 8, seed=1)
    machines: tuple[dict[str, Any], ...] = ({"threads": 2}, {"threads": 1})
    if small:
        machines = ({}, {"executor": "amaranth"})
    for source in (None, 0) if config.finds_components else (0,):
        kills = 0
        while kills < 20:
            every = chance.randint(500, 5000)
            kills += check_resumed(preset, "hc2", graph, *machines, source=source, cycles=every)


@pytest.mark.parametrize("source", [None, 0])
def test_restarted_run(source: int | None) -> None:
    assert check_resumed("test", "fixed:9", CROWD, {}, source=source, slack=0, cycles=101) > 3


def test_checkpoints_do_not_disturb(monkeypatch: pytest.MonkeyPatch) -> None:
    with made("test", "hc2") as machine:
        expected = outcome(machine, CROWD, None)
    shelf = Shelf()
    monkeypatch.setattr(shelf, "write", lambda about, files: None)
    with made("test", "hc2") as machine:
        assert outcome(machine, CROWD, None, checkpointer=kept_by(machine, shelf, cycles=1)) == expected


_OFTEN = (*KNOWN, "1", "2")
"""The machines that every test run looks at."""

_MACHINES = [
    pytest.param(config, id=name, marks=() if name in _OFTEN else pytest.mark.long)
    for name, config in {**PRESETS, **COVERING}.items()
]

UNREAD = ("shell.dispatch.index", "shell.dispatch.registers.host_port__data")
"""Registers that depend on invalid payloads of the host, which a machine keeps from its last commands."""

INTO_LEVEL = 60
"""Cycles from the begin of a level to the cut: the FIFOs are filled, and requests are in flight."""


@dataclass
class Levels:
    """What the levels of a search leave, and the states in the middle of them."""

    cuts: list[MachineState] = field(default_factory=list)
    ends: list[tuple[int, int, bytes, NamedWords]] = field(default_factory=list)


def end_of(machine: Machine, cycles: int) -> tuple[int, int, bytes, NamedWords]:
    """Return what the end of a level shows: its cycles, the machine's, the memory, and the registers by name."""
    memory = machine.read(4096, np.uint8, machine.memory.allocated).tobytes()
    return cycles, machine.cycle, memory, machine.executor.save()


def searched(machine: Machine) -> Levels:
    """Search a graph, and keep the state in the middle of each level."""
    levels = Levels()
    wait = machine.wait

    def look(cycle: int) -> int:
        due = machine._began + machine._lead + INTO_LEVEL
        if cycle >= due and len(levels.cuts) == len(levels.ends):
            levels.cuts.append(deepcopy(machine.save()))  # of the memory it has but a view
        return max(due - cycle, 1) if cycle < due else 1000

    def kept() -> int:
        cycles = wait()
        levels.ends.append(end_of(machine, cycles))
        return cycles

    machine.on_sync = look
    machine.wait = kept  # type: ignore[method-assign]
    search(machine, CROWD, 0, slack=500)
    machine.on_sync = None
    machine.wait = wait  # type: ignore[method-assign]
    return levels


def differences(first: NamedWords, second: NamedWords) -> Iterator[str]:
    """Yield the names of what differs between two states, as far as both know it."""
    for name in first.places.keys() & second.places.keys():
        known = first.places[name][1].known & second.places[name][1].known
        if any((a ^ b) & known for a, b in zip(first.values(name), second.values(name), strict=True)):
            yield name


def check_ends(first: Sequence[Any], second: Sequence[Any]) -> None:
    """Check that levels end with the same."""
    *numbers, state = first
    *others, other = second
    assert numbers == others
    assert [name for name in differences(state, other) if not name.endswith(UNREAD)] == []


def test_every_value_of_each_option_is_looked_at_often() -> None:
    for name, values in VALUES.items():
        assert {getattr(COVERING[often], name) for often in _OFTEN} == set(values)


@pytest.mark.parametrize("config", _MACHINES)
def test_state_is_the_same_on_both_executors_and_either_goes_on(config: AcceleratorConfig) -> None:
    with made(config, "fixed:9") as first, made(config, "fixed:9", executor="amaranth") as second:
        compiled, amaranth = searched(first), searched(second)
        assert len(compiled.cuts) == len(compiled.ends) >= 3
        for ours, theirs in zip(compiled.cuts, amaranth.cuts, strict=True):
            derived = ours.hardware.places.keys() - theirs.hardware.places.keys()
            assert all(name.endswith(".quiescent") for name in derived)
            assert list(differences(ours.hardware, theirs.hardware)) == []
            assert len(theirs.hardware.places) > 100 * config.total_bfs_kernels
            assert ours.commands == theirs.commands
        for state, expected in zip(compiled.cuts, compiled.ends, strict=True):
            second.load(state)
            check_ends(end_of(second, second.wait()), expected)
        # What only the compiled executor has is as after reset, so each state needs a machine of its own.
        for state, expected in zip(amaranth.cuts, compiled.ends, strict=True):
            with made(config, "fixed:9") as machine:
                for _, size in first.memory.allocations:
                    machine.allocate(size)
                machine.load(state)
                check_ends(end_of(machine, machine.wait()), expected)
