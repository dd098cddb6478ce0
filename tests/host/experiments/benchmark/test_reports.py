"""Reports of benchmarks, and the measured search."""

import dataclasses
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cyscc.host.experiments.benchmark.reports as reports
import cyscc.host.experiments.benchmark.search as search_module
from cyscc.host.experiments.benchmark.reports import benchmark_answer, busy_warnings, compare, run_benchmark, summarise
from cyscc.host.experiments.benchmark.search import PRESETS, ContenderRequest, Preset, Workload
from cyscc.host.output.progress import Progress
from cyscc.host.runs.execution import Session
from cyscc.host.specification.run import RunSpec
from cyscc.sim.caching.folder import cache_directory, code_directory
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.comparison.contenders import CONTENDERS
from tests.host.experiments.told import answer_path, told

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


def test_medians() -> None:
    found = row("verilator", 2.0, 1.0, 5.0)
    assert found["cycles_per_second"] == 505
    assert found["kernel_cycles_per_second"] == 505 * 64
    assert found["edges_per_second"] == 4000
    assert found["peak_memory_bytes"] == 2**27
    assert [each["seconds"] for each in found["repetitions"]] == [2, 1, 5]


@pytest.mark.parametrize("changes", [{"levels": [600, 401]}, {"cycles": 1011}, {"memory": "other"}, {"edges": 1}])
def test_what_differs_is_not_summarised_and_not_the_same(changes: dict[str, Any]) -> None:
    message = "one Verilator model, 2^10 × 8: repetitions differ in cycles or memory contents"
    with pytest.raises(SimulationError, match=f"^{re.escape(message)}$"):
        summarise("verilator", WORKLOAD, [repetition(1.0), repetition(1.0, **changes)])
    assert compare(row("verilator", 1.0), [row("compiled-1", 1.0)])["same"] is True
    assert compare(row("verilator", 1.0), [row("compiled-1", 1.0, **changes)])["same"] is False


def test_comparison_is_with_the_own_executor_on_the_same_graph() -> None:
    ours = [row("compiled-2", 0.1), row("compiled-1", 0.2)]
    assert compare(row("verilator", 1.0), ours)["faster"] == pytest.approx({"compiled-2": 10, "compiled-1": 5})
    assert compare(ours[0], ours)["faster"] == {}
    assert compare(ours[0], ours[:1])["same"] is None


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


def document() -> dict[str, Any]:
    """Return the document of a row of ours, and one that differs."""
    ours = [row("compiled-2", 0.1), row("compiled-1", 0.2)]
    return {
        "machine": {"processor": "a processor", "cores": 2},
        "revision": None,
        "config": "hc2",
        "memory": "hc2",
        "rows": [
            compare(ours[0], ours),
            compare(row("verilator", 1.0, cycles=2), ours),
        ],
        "warnings": ["it was noisy"],
    }


def test_answer() -> None:
    assert told(benchmark_answer(document())) == answer_path(__file__, "bench").read_text()


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_have_a_graph_for_everyone(preset: Any) -> None:
    assert list(preset.graphs) == list(preset.repetitions) == [*CONTENDERS, "revisions"]
    for name in CONTENDERS:
        workload = preset.workload(name)
        assert workload.graph_text == f"2^{workload.vertices.bit_length() - 1} × {workload.degree}"
        assert workload.vertices & (workload.vertices - 1) == 0
    assert preset.graphs["compiled-2"] == preset.graphs["compiled-1"], "they are measured in turn"


SMALL = Workload(config="test", memory="fixed:75", vertices=64, degree=4)

LARGE = (1 << 18, 16)


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


def test_what_the_presets_run() -> None:
    full, quick = PRESETS["full"], PRESETS["quick"]
    assert (full.config, full.memory, quick.config, quick.memory) == ("hc2", "hc2", "test", "hc2")
    assert full.graphs == dict.fromkeys(CONTENDERS, LARGE) | {"amaranth": (4, 16), "revisions": (1 << 20, 16)}
    ours = ("compiled-2", "compiled-1", "next-2", "next-1")
    assert full.repetitions == dict.fromkeys(CONTENDERS, 3) | dict.fromkeys(ours, 5) | {"revisions": 7}
    assert quick.graphs == dict.fromkeys((*CONTENDERS, "revisions"), (4096, 8)) | {"amaranth": (16, 4)}
    assert quick.repetitions == dict.fromkeys((*CONTENDERS, "revisions"), 1)
    workload = full.workload("amaranth")
    assert (workload.config, workload.memory, workload.vertices, workload.degree) == ("hc2", "hc2", 4, 16)
    assert (workload.graph.kind, workload.graph.seed) == ("random", 1)
    assert [full.workload(name).config for name in ours] == ["hc2", "hc2", "fast", "fast"]
    assert full.workload("compiled-1", beside="next-1").config == "hc2"
    assert quick.workload("next-1").config == "fast-test"


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
            "cycles": 1010 + each.workload.vertices,
            "memory": "digest",
            "kernels": 4,
            "edges": 8000,
            "seconds": seconds,
            "user_seconds": seconds,
            "peak_memory_bytes": 1 << 27,
            "build_seconds": 30.0 if each.contender == "compiled-1" and each.beside == "amaranth" else 0.5,
        }


def test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "describe_environment", lambda: {"machine": "this"})
    made: Any = Made()
    document = run_benchmark(made, PRESETS["quick"], ["compiled-2", "compiled-1", "amaranth"], repetitions=2)
    asked = [(each.contender, each.beside, each.repetition, each.repetitions) for each in made.asked]
    assert asked == [
        *((name, "compiled-2", number, 2) for number in (1, 2) for name in ("compiled-2", "compiled-1")),
        *((name, "amaranth", number, 2) for number in (1, 2) for name in ("amaranth", "compiled-2", "compiled-1")),
    ]
    assert [each.workload.vertices for each in made.asked] == [4096] * 4 + [16] * 6
    assert all(each.graph == each.workload.graph for each in made.asked)
    assert made.forgotten == made.asked
    assert (document["machine"], document["config"], document["memory"]) == ("this", "test", "hc2")
    rows = {row["name"]: row for row in document["rows"]}
    assert list(rows) == ["compiled-2", "compiled-1", "amaranth"]
    assert rows["amaranth"]["faster"] == pytest.approx({"compiled-2": 10, "compiled-1": 5})
    assert rows["amaranth"]["cycles_per_second"] == pytest.approx(np.median([1026 / 10, 1026 / 20]))
    assert rows["amaranth"]["build_seconds"] == 0.5
    # The executor of the project is built once, whichever of its rows that was for.
    assert [row["build_seconds"] for row in (rows["compiled-2"], rows["compiled-1"])] == [30.0, 30.0]
    assert [(row["name"], row["cycles"]) for row in document["references"]] == [
        ("compiled-2", 1026),
        ("compiled-1", 1026),
    ]
    assert [row["build_seconds"] for row in document["references"]] == [30.0, 30.0]
    # Two threads that had the time of one are told, on both graphs.
    assert [warning.split(":")[0] for warning in document["warnings"]] == [
        f"compiled executor, 2 threads, {graph}" for graph in ("2^12 × 8", "2^4 × 4")
    ]


def test_rows_of_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "describe_environment", dict)
    made: Any = Made()
    preset = Preset(
        config="test",
        memory="hc2",
        next_config="fast-test",
        graphs={"amaranth": (16, 4)},
        repetitions={"amaranth": 3},
    )
    document = run_benchmark(made, preset, ["amaranth"])
    assert [row["name"] for row in document["rows"]] == ["amaranth"]
    assert [each.repetition for each in made.asked[::3]] == [1, 2, 3]
    assert len(document["references"]) == 2
