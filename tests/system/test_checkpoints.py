"""Runs that are killed and resumed, by any executor, equal uninterrupted ones."""

import random
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
from tests.host.runs.checkpoints.about import about_of
from tests.sim.executors.outcomes import CROWD, TANGLE
from tests.system.covering import PUBLISHED
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
    machines: tuple[dict[str, Any], ...] = ({"executor": "amaranth"}, {})
    assert check_resumed(PUBLISHED, "hc2", CROWD, *machines, source=0, cycles=400) > 1


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
