"""Reports of benchmarks, and the measured search."""

import dataclasses
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cyscc.host.experiments.benchmark.reports as reports
import cyscc.host.experiments.benchmark.search as search_module
from cyscc.host.experiments.benchmark.reports import benchmark_answer, busy_warnings, compare, run_benchmark, summarise
from cyscc.host.experiments.benchmark.search import PRESETS, ContenderRequest, Workload
from cyscc.host.output.progress import Progress
from cyscc.host.runs.execution import Session
from cyscc.host.specification.run import RunSpec
from cyscc.sim.caching.folder import cache_directory, code_directory
from cyscc.sim.errors import SimulationError
from tests.host.conftest import Answers
from tests.host.experiments.told import told

WORKLOAD = Workload(config="hc2", memory="hc2", vertices=2**10, degree=8)


def repetition(seconds: float, **changes: Any) -> dict[str, Any]:
    return {
        "levels": [600, 400],
        "cycles": 1010,
        "memory": "digest",
        "kernels": 64,
        "edges": 8000,
        "seconds": seconds,
        "user_seconds": seconds,
        "peak_memory_bytes": 2**27,
        "build_seconds": 12.0,
        **changes,
    }


def row(name: str, *seconds: float, workload: Workload = WORKLOAD, **changes: Any) -> dict[str, Any]:
    return summarise(name, workload, [repetition(each, **changes) for each in seconds])


@pytest.mark.parametrize("changes", [{"levels": [600, 401]}, {"cycles": 1011}, {"memory": "other"}, {"edges": 1}])
def test_what_differs_is_not_summarised_and_not_the_same(changes: dict[str, Any]) -> None:
    message = "one Verilator model, 2^10 × 8: repetitions differ in cycles or memory contents"
    with pytest.raises(SimulationError, match=f"^{re.escape(message)}$"):
        summarise("verilator", WORKLOAD, [repetition(1.0), repetition(1.0, **changes)])
    assert compare(row("verilator", 1.0), [row("compiled-1", 1.0)])["same"] is True
    assert compare(row("verilator", 1.0), [row("compiled-1", 1.0, **changes)])["same"] is False


def test_another_machine_is_compared_by_its_cycles_a_second_alone() -> None:
    found = compare(row("next-1", 0.4, workload=replace(WORKLOAD, config="fast"), cycles=505), [row("compiled-1", 0.2)])
    assert found["same"] is None
    assert found["faster"] == pytest.approx({"compiled-1": 4})


@pytest.mark.parametrize(
    ("name", "seconds", "user", "expected"),
    [
        ("compiled-1", 1.0, 0.81, None),
        ("compiled-1", 0.4, 0.1, None),
        ("compiled-2", 1.0, 1.7, None),
        ("compiled-2", 1.0, 1.0, "compiled executor, 2 threads, 2^10 × 8: its 2 threads had 50%"),
        ("verilator", 1.0, 0.7, "one Verilator model, 2^10 × 8: its 1 thread had 70%"),
    ],
)
def test_warning_when_the_cores_are_shared(name: str, seconds: float, user: float, expected: str | None) -> None:
    tail = " of the time of as many cores: another process took the rest, or they waited"
    assert busy_warnings(row(name, seconds, user_seconds=user)) == ([] if expected is None else [expected + tail])


SMALL = Workload(config="test", memory="fixed:75", vertices=64, degree=4)


def request(**changes: Any) -> ContenderRequest:
    given: dict[str, Any] = {"contender": "compiled-1", "workload": SMALL, "beside": "verilator", "repetition": 2}
    given |= {"graph": SMALL.graph, "repetitions": 3, "cache": Path("cache")}
    return ContenderRequest(**given | changes)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NUMBA_CACHE_DIR", "CYSCC_CACHE"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
        if not os.environ[name]:
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("environment")
def test_a_search_is_that_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    numba, own = str(code_directory()), cache_directory()
    graph = SMALL.graph.generate()
    assert (graph.vertices, graph.edges) == (64, 256)
    found = request(cache=own).measure(graph, verify=False)
    assert (os.environ["NUMBA_CACHE_DIR"], os.environ["CYSCC_CACHE"]) == (numba, str(own))
    spec = RunSpec(algorithm="bfs", graph="g", config="test", memory="fixed:75", threads=1, source=0)
    result = Session(spec, Progress(quiet=True), graph).execute()
    levels: Any = result.document()["levels"]
    assert found["levels"] == [level["cycles"] for level in levels]
    assert sum(found["levels"]) < found["cycles"] <= result.document()["statistics"]["cycles"]["total"]
    assert found["edges"] == result.document()["edges_traversed"]
    assert found["kernels"] == 4
    assert 0 < found["seconds"] < 60
    assert found["user_seconds"] >= 0
    assert found["peak_memory_bytes"] > 50 << 20
    assert len(found["memory"]) == 64
    other = dataclasses.replace(SMALL, degree=3)
    assert request(workload=other, cache=own).measure(other.graph.generate(), verify=False)["memory"] != found["memory"]
    monkeypatch.setattr(search_module, "check_levels", lambda *_: "vertex 3: level 1 found, 2 expected")
    with pytest.raises(SimulationError, match=r"^wrong result: vertex 3: level 1 found, 2 expected$"):
        request(cache=own).measure(graph, verify=False)


def test_workloads_of_the_next_machine() -> None:
    quick = PRESETS["quick"]
    assert [quick.workload(name).config for name in ("next-1", "compiled-1")] == ["fast-test", "test"]
    assert quick.workload("compiled-1", beside="next-1").config == "test"
    assert quick.workload("compiled-1", beside="amaranth").graph.vertices == 16


def test_what_a_measurement_depends_on() -> None:
    one = request()
    assert one.alone
    assert one.label == "compiled executor, 1 thread, 2^6 × 4"
    assert one.summary({"cycles": 9000, "seconds": 2.0}) == "2 of 3, 4,500 cycles/s"
    assert one.inputs() == request(cache=Path("elsewhere")).inputs()
    changes: list[dict[str, Any]] = [{"contender": "compiled-2"}, {"repetition": 1}, {"beside": "amaranth"}]
    changes.append({"workload": dataclasses.replace(SMALL, memory="hc2")})
    assert one.inputs() not in [request(**each).inputs() for each in changes]
    setting = one.setting()
    assert len(set(setting["sources"])) == 2
    assert setting["tools"]["numba"]


class Made:
    """Makes results up: a thread fewer takes twice as long, another contender ten times."""

    def __init__(self) -> None:
        self.asked: list[ContenderRequest] = []
        self.forgotten: list[ContenderRequest] = []

    def measure(self, requests: Iterable[ContenderRequest]) -> dict[ContenderRequest, dict[str, Any]]:
        self.asked = list(requests)
        return {each: self.result(each) for each in self.asked}

    def forget(self, requests: Iterable[ContenderRequest]) -> None:
        self.forgotten = list(requests)

    @staticmethod
    def result(each: ContenderRequest) -> dict[str, Any]:
        seconds = {"compiled-2": 1.0, "compiled-1": 2.0}.get(each.contender, 10.0) * each.repetition
        return {
            "levels": [600, 400],
            "cycles": 1010 + each.workload.vertices + (each.contender == "amaranth"),
            "memory": "digest",
            "kernels": 4,
            "edges": 8000,
            "seconds": seconds,
            "user_seconds": seconds,
            "peak_memory_bytes": 1 << 27,
            "build_seconds": 30.0 if each.contender == "compiled-1" and each.beside == "amaranth" else 0.5,
        }


def test_answer(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> None:
    environment = {"machine": {"processor": "a processor", "cores": 2}, "revision": None}
    monkeypatch.setattr(reports, "describe_environment", lambda: environment)
    made: Any = Made()
    document = run_benchmark(made, PRESETS["quick"], ["compiled-2", "compiled-1", "next-1", "amaranth"], repetitions=2)
    asked = [(each.contender, each.beside, each.repetition, each.workload.vertices) for each in made.asked]
    assert asked == [
        *((name, "compiled-2", number, 4096) for number in (1, 2) for name in ("compiled-2", "compiled-1")),
        *((name, "next-1", number, 4096) for number in (1, 2) for name in ("next-1", "compiled-2", "compiled-1")),
        *((name, "amaranth", number, 16) for number in (1, 2) for name in ("amaranth", "compiled-2", "compiled-1")),
    ]
    assert all(each.graph == each.workload.graph for each in made.asked)
    assert made.forgotten == made.asked
    answers("bench", told(benchmark_answer(document)))
