"""Progress of a run, and the real time of its phases, with a fake clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.graph.csr import size_text
from cyscc.host.graph.memory_map import default_slack, simulation_bytes
from cyscc.host.output.errors import InputError
from cyscc.host.runs.execution import Session
from cyscc.host.specification.run import RunSpec
from cyscc.sim.errors import SimulationError
from tests.system.graphs import graph_of

GRAPH = graph_of(5, [(0, 1), (1, 2), (2, 0), (3, 4)])


class Told:
    """Progress that records its updates, and when they were due."""

    def __init__(self) -> None:
        self.due = True
        self.steps: list[str] = []
        self.told: list[tuple[int, int, str]] = []

    @contextmanager
    def step(self, what: str) -> Iterator["Told"]:
        self.steps.append(what)
        yield self

    def __call__(self, done: int, total: int, what: str) -> None:
        self.told.append((done, total, what))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(value=100.0)
    times = SimpleNamespace(monotonic=lambda: now.value, perf_counter=lambda: now.value)
    monkeypatch.setattr("cyscc.host.runs.execution.time", times)
    return now


def session_of(progress: Any, *, aim: str = "", seconds: float = 0.0, **values: Any) -> Session:
    spec = RunSpec(**{"algorithm": "scc", "graph": "g.txt", "config": "test", "threads": 1, **values})
    return Session(spec, progress, GRAPH, aim=aim, seconds=seconds)


def test_what_is_shown_of_a_simulation(clock: SimpleNamespace) -> None:
    progress = Told()
    session = session_of(progress, aim="replay")
    machine: Any = SimpleNamespace(cycle=1000)
    with session.simulating(machine, 1234, "iteration") as advance:
        session.on_checkpoint(900)
        clock.value += 0.5
        advance.on_iteration(3, np.array([0, 7, 0, 7, 9]))
        advance.on_cycle(2500)
        progress.due = False
        advance.on_iteration(4, np.ones(9))
        session.on_checkpoint(2600)
        progress.due = True
        clock.value += 1.5
        advance.on_level(5, 2000)
        advance.on_level(6, 70)
    session.on_checkpoint(9999)
    assert progress.steps == ["simulating"]
    assert progress.told == [
        (0, 1234, "replay, iteration 0, 0 of 1,234 vertices, checkpoint at cycle 900"),
        (3, 1234, "replay, iteration 3, 3 of 1,234 vertices, checkpoint at cycle 900"),
        (
            *(3, 1234),
            "replay, iteration 3, cycle 2,500, 3,000 cycles/s, 3 of 1,234 vertices, checkpoint at cycle 900",
        ),
        (
            *(1234, 1234),
            "replay, iteration 5, cycle 2,500, 750 cycles/s, 1,234 of 1,234 vertices, checkpoint at cycle 2,600",
        ),
        (
            *(70, 1234),
            "replay, iteration 6, cycle 2,500, 750 cycles/s, 70 of 1,234 vertices, checkpoint at cycle 2,600",
        ),
    ]
    with session_of(progress).simulating(machine, 1, "level") as advance:
        advance.on_cycle(1001)
    assert progress.told[-1] == (0, 1, "level 0, cycle 1,001, 1,000 cycles/s, 0 of 1 vertex")


def test_the_time_of_phases_adds_up(clock: SimpleNamespace) -> None:
    session = session_of(Told(), seconds=30.0)
    for name, seconds in (("load", 1.0), ("load", 0.25), ("simulate", 8.0), ("verify", 0.5), ("simulate", 2.0)):
        with session.phase(name, "something"):
            clock.value += seconds
        clock.value += 100
    machine: Any = SimpleNamespace(build_seconds=3.5, cycle=777)
    wall = session.wall(machine)
    assert (wall.load, wall.build, wall.simulate, wall.record, wall.verify) == (1.25, 3.5, 40.0, 0.0, 0.5)
    assert wall.simulated_cycles == 777
    assert 10 << 20 < wall.peak_memory_bytes < 1 << 40


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ({}, {"directions": 2, "capacity": 5 + default_slack(5), "verify": True}),
        ({"algorithm": "bfs"}, {"directions": 1, "capacity": 5 + default_slack(5), "verify": True}),
        ({"queue_slack": 3, "verify": False}, {"directions": 2, "capacity": 8, "verify": False}),
    ],
)
def test_a_run_that_needs_more_memory_than_there_is_is_refused(
    values: dict[str, Any], asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[str, int]] = []
    monkeypatch.setattr("cyscc.host.runs.execution.check_available_memory", lambda *given: found.append(given))
    assert session_of(Told(), **values).read_graph() is GRAPH
    assert found == [(f"simulated, {size_text(5, 4)}", simulation_bytes(5, 4, **asked))]

    def refuse(*_: object) -> None:
        raise InputError("too large")

    monkeypatch.setattr("cyscc.host.runs.execution.check_available_memory", refuse)
    with pytest.raises(InputError, match=r"^g.txt: too large$"):
        session_of(Told(), **values).read_graph()


@pytest.mark.parametrize(
    ("window", "cycles", "told"),
    [
        (None, 0, False),
        ((0, 9), 1, False),
        ((100, 200), 101, False),
        ((1000, 2000), 1000, True),
    ],
)
def test_waveforms_that_are_not_written_are_told(
    window: tuple[int, int] | None, cycles: int, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    asked: dict[str, Any] = {}
    closed: list[str] = []
    machine: Any = SimpleNamespace(cycle=cycles, close=lambda: closed.append("closed"))

    def create(config: Any, memory: Any, **options: Any) -> Any:
        asked.update(options, config=config, memory=memory)
        return machine

    monkeypatch.setattr("cyscc.sim.machine.create_machine", create)
    monkeypatch.setattr("cyscc.host.runs.execution.notice", lines.append)
    waves: dict[str, Any] = {"waves": "w.vcd", "wave_window": window, "scopes": ("*.token",), "wave_view": True}
    session = session_of(Told(), cycle_limit=77, memory="fixed:9", **(waves if window else {}))

    def fail() -> None:
        with session.machine() as made:
            assert made is machine
            raise SimulationError("it failed")

    with pytest.raises(SimulationError):
        fail()
    assert closed == ["closed"]
    text = f"--wave-window begins at cycle 1,000, and the run had {cycles:,}: w.vcd is not written"
    assert lines == ([text] if told else [])
    spec = session.spec
    assert (asked["config"], asked["memory"]) == (spec.configuration, spec.profile)
    names = ("executor", "threads", "cycle_limit", "wave_window", "scopes", "wave_view")
    assert [asked[name] for name in names] == [getattr(spec, name) for name in names]
    assert asked["waves"] == (None if spec.waves is None else Path(spec.waves))


def test_a_machine_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(*_: Any, **__: Any) -> Any:
        raise ValueError("there is no such machine")

    monkeypatch.setattr("cyscc.sim.machine.create_machine", create)
    with pytest.raises(InputError, match=r"^there is no such machine$"), session_of(Told()).machine():
        pass
