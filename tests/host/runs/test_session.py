"""Runs from the graph to the result: sessions, results, and digests of their sources."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.driver.components import ComponentRun
from cyscc.host.driver.search import BfsRun, Level
from cyscc.host.driver.verification import Checked
from cyscc.host.graph.csr import Graph, size_text
from cyscc.host.graph.memory_map import default_slack, simulation_bytes
from cyscc.host.output.errors import InputError
from cyscc.host.runs.execution import Session
from cyscc.host.runs.results import BfsResult, SccResult, Setting, Wall
from cyscc.host.runs.sources import files_digest, source_files, sources_digest
from cyscc.host.specification.run import RunSpec
from tests.host.conftest import Answers
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


def test_what_is_shown_of_a_simulation_is_as_pinned(clock: SimpleNamespace, answers: Answers) -> None:
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
    with session_of(progress).simulating(machine, 1, "level") as advance:
        advance.on_cycle(1001)
    answers("progress", "".join(f"{done} of {total}: {what}\n" for done, total, what in progress.told))


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


def test_a_machine_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(*_: Any, **__: Any) -> Any:
        raise ValueError("there is no such machine")

    monkeypatch.setattr("cyscc.sim.machine.create_machine", create)
    with pytest.raises(InputError, match=r"^there is no such machine$"), session_of(Told()).machine():
        pass


SETTING = Setting(
    spec=RunSpec(algorithm="scc", graph="dir/g.txt", config="hc2", memory="fixed:75", threads=2),
    vertices=7115,
    edges=103689,
    clock_hz=150e6,
    uploaded_bytes=1000,
)
CHECKED = Checked(reference="scipy", neighbour_blocks=2, graph_words=10, level_words=0)
WALL = Wall(
    load=0.5, build=1.25, simulate=2.0, record=0.0, verify=0.04, simulated_cycles=300_000, peak_memory_bytes=123_000_000
)


def graph() -> Graph:
    edges = np.array([[0, 1], [1, 0], [1, 2], [2, 3], [3, 2], [4, 4]], np.uint32).T
    return Graph.from_edges(5, edges[0], edges[1], ids=np.array([10, 20, 30, 40, 50]))


def bfs_result(run: BfsRun, **values: Any) -> BfsResult:
    common = {"graph": graph(), "setting": SETTING, "wall": WALL, "checked": None, "statistics": {}}
    return BfsResult(run=run, **{**common, **values})


def scc_result(run: ComponentRun, **values: Any) -> SccResult:
    common = {"graph": graph(), "setting": SETTING, "wall": WALL, "checked": CHECKED, "statistics": {}}
    return SccResult(run=run, **{**common, "labels": np.array([0, 0, 2, 2, 4], np.uint32), **values})


def test_without_cycles_there_is_no_throughput() -> None:
    run = ComponentRun(colours=np.arange(1, 4, dtype=np.uint32), components=3, trimmed=3)
    wall = Wall(load=0, build=0, simulate=0, record=0, verify=0, simulated_cycles=0, peak_memory_bytes=0)
    document = scc_result(run, wall=wall).document()
    assert (document["gteps"], document["seconds"], document["longest_iteration"]) == (0.0, 0.0, None)
    assert document["wall"]["cycles_per_second"] == 0.0


def bfs_run(levels: int) -> BfsRun:
    return BfsRun(
        source=2,
        levels=np.array([-1, 1, 0, 2, -1], np.int32),
        level_records=tuple(Level(1, int(number < levels - 1), 1000, 1000 * number) for number in range(levels)),
        reached=3,
        duplicates=1,
        edges_traversed=1234,
        retries=0,
    )


@pytest.mark.parametrize(
    ("clock", "shown"),
    [(3e3, "1.000 s"), (3001.0, "999.667 ms"), (3e6, "1.000 ms"), (3e9, "1.000 us"), (4e10, "75 ns")],
)
def test_simulated_time_has_the_unit_that_suits_it(clock: float, shown: str) -> None:
    table = str(bfs_result(bfs_run(3), setting=replace(SETTING, clock_hz=clock)))
    assert f"simulated   {shown} at {clock / 1e6:g} MHz\n" in table


@pytest.mark.parametrize(("levels", "lines"), [(31, 31), (32, 30), (100_000, 30)])
def test_of_very_many_levels_the_middle_is_left_out(levels: int, lines: int) -> None:
    table = str(bfs_result(bfs_run(levels), checked=CHECKED)).splitlines()
    head, _, *rows = table[table.index("") + 1 :]
    assert len(rows) == lines
    assert head == ("levels" if levels == 31 else f"levels: 30 of {levels:,}")
    assert rows[-1].split()[0] == f"{levels - 1:,}"


def test_one_is_not_many() -> None:
    run = ComponentRun(colours=np.array([1], np.uint32), components=1, trimmed=1)
    alone = replace(SETTING, spec=replace(SETTING.spec, threads=1), vertices=1, edges=1)
    table = str(scc_result(run, setting=alone, labels=np.zeros(1, np.uint32)))
    for part in ("1 vertex, 1 edge\n", "the largest of 1 vertex\n", "1 thread\n", "trimmed       1 vertex\n"):
        assert part in table


ROOT = Path(__file__).resolve().parents[3]


def test_what_decides_about_a_result_counts() -> None:
    names = [path.resolve().relative_to(ROOT).as_posix() for path in source_files()]
    assert len(set(names)) == len(names)
    machine = {"hw/config.py", "hw/bfs/kernel.py", "sim/machine.py", "sim/memory/profiles/hc2.py"}
    native = {f"sim/executors/compiled/{name}" for name in ("parts.py", "native/machine.cpp", "native/engine.h")}
    host = {"driver/search", "graph/generators", "baselines/software/hong", "experiments/measuring/runs"}
    host |= {"experiments/measuring/graphs", "runs/execution", "output/errors"}
    assert machine | native | {f"host/{name}.py" for name in host} <= set(names)
    reports = {"command_line/main", "experiments/studies/attia", "analysis/explain/verdict"}
    assert {f"host/{name}.py" for name in reports}.isdisjoint(names), "they may change without measuring again"


def test_every_byte_and_name_counts(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))

    def digest(first: str, second: str) -> str:
        one.write_text(first)
        two.write_text(second)
        return files_digest([one, two])

    digests = [digest("a\nb\n", "c\n"), digest("a\n", "b\nc\n"), digest("a\nb\n", "d\n"), digest("a\nb\nc\n", "")]
    assert len(set(digests)) == 4
    assert digest("a\nb\n", "c\n") == digests[0]
    two.rename(three)
    assert files_digest([one, three]) not in digests


def test_the_digest_is_that_of_the_sources() -> None:
    assert sources_digest() == files_digest(source_files())
