"""Measurements: an interruption, a second run, failures."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cyscc.host.experiments.measuring.measurements
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.measurements import Measurements, measure_request
from cyscc.host.experiments.measuring.store import Store
from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError
from cyscc.host.runs.sources import sources_digest
from cyscc.sim.errors import SimulationError
from tests.host.experiments.measuring.requests import FakeRequest, spec

REQUESTS = [FakeRequest(graph=spec(degree=degree), name=name) for degree in (2, 3, 1) for name in ("one", "four")]


class Run:
    """Measurements in a folder, with the steps that were told."""

    def __init__(self, folder: Path, *, jobs: int = 1, verify: bool = True) -> None:
        self.steps: list[tuple[int, int, str]] = []
        self.measurements = Measurements(
            Store(folder), jobs=jobs, verify=verify, on_step=lambda *step: self.steps.append(step)
        )


def test_every_measurement_is_made_once_and_graph_by_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = []
    generate = GraphSpec.generate

    def note(graph: GraphSpec) -> Graph:
        generated.append(graph.degree)
        return generate(graph)

    monkeypatch.setattr(GraphSpec, "generate", note)
    run = Run(tmp_path)
    results = run.measurements.measure([*REQUESTS, *REQUESTS])
    assert results == {r: {"edges": r.graph.edges, "verified": True} for r in REQUESTS}
    assert generated == [3, 2, 1]
    assert (run.measurements.asked, run.measurements.found) == (6, 0)
    assert run.steps[0] == (1, 6, "random, degree 3, 2^4 vertices, one: 48 edges")
    assert [step[:2] for step in run.steps] == [(done, 6) for done in range(1, 7)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path, jobs: int) -> None:
    run = Run(tmp_path, jobs=jobs)

    def stop_at_the_second(done: int, total: int, what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    interrupted = Measurements(Store(tmp_path), jobs=jobs, on_step=stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        interrupted.measure(REQUESTS)
    assert len(list(tmp_path.iterdir())) == 2
    results = run.measurements.measure(REQUESTS)
    assert set(results) == set(REQUESTS)
    assert run.measurements.found == 2
    assert run.steps[0] == (2, 6, "taken over")
    assert [step[:2] for step in run.steps[1:]] == [(done, 6) for done in range(3, 7)]
    again = Run(tmp_path)
    assert again.measurements.measure(REQUESTS) == results
    assert again.steps == [(6, 6, "taken over")]
    anew = Measurements(Store(tmp_path), again=True)
    assert anew.measure(REQUESTS[:1]) == {REQUESTS[0]: results[REQUESTS[0]]}
    assert anew.found == 0
    again.measurements.forget(REQUESTS)
    assert list(tmp_path.iterdir()) == []


def test_another_seed_is_another_measurement(tmp_path: Path) -> None:
    Run(tmp_path).measurements.measure(REQUESTS)
    run = Run(tmp_path)
    run.measurements.measure([replace(each, graph=replace(each.graph, seed=2)) for each in REQUESTS])
    assert run.measurements.found == 0


def test_what_was_not_checked_is_measured_again(tmp_path: Path) -> None:
    Run(tmp_path, verify=False).measurements.measure(REQUESTS)
    run = Run(tmp_path)
    assert all(result["verified"] for result in run.measurements.measure(REQUESTS).values())
    assert run.measurements.found == 0
    unchecked = Run(tmp_path, verify=False)
    unchecked.measurements.measure(REQUESTS)
    assert unchecked.measurements.found == 6


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_names_its_measurement_and_keeps_the_others(tmp_path: Path, jobs: int) -> None:
    bad = FakeRequest(graph=spec(degree=3), name="bad", fails=True)
    good = FakeRequest(graph=spec(degree=3), name="good")
    other = FakeRequest(graph=spec(degree=2), name="other")
    run = Run(tmp_path, jobs=jobs)
    with pytest.raises(SimulationError) as caught:
        run.measurements.measure([good, bad, other])
    assert str(caught.value) == "random, degree 3, 2^4 vertices, bad: nothing moved"
    assert caught.value.diagnosis == "kernel 0 waits"
    kept = Store(tmp_path)
    told = {what.partition(": ")[0] for *_, what in run.steps}
    for request in (good, bad, other):
        result = {"edges": request.graph.edges, "verified": True} if request.label in told else None
        assert kept.find(request.inputs(), verified=True, check=request.check) == result
    # In this process one is measured after the other; beside it, the failure may come first.
    assert jobs > 1 or told == {good.label}


def test_a_graph_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    expected = "the vertices of an R-MAT graph must be a power of two, not 12"
    with pytest.raises(InputError, match=f"^rmat, degree 2, 12 vertices, fake: {expected}$"):
        Run(tmp_path).measurements.measure([FakeRequest(graph=spec(kind="rmat", vertices=12))])


def test_lack_of_memory_names_the_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lack(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(FakeRequest, "measure", lack)
    with pytest.raises(InputError, match=r"^random, degree 2, 2\^4 vertices, fake: not enough memory$"):
        Run(tmp_path).measurements.measure([FakeRequest(graph=spec())])


def test_executors_are_built_once_before_anything_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[list[tuple[str, str]]] = []
    monkeypatch.setattr(
        cyscc.host.experiments.measuring.measurements,
        "prepare_executors",
        lambda machines: built.append(list(machines)),
    )
    monkeypatch.setattr(FakeRequest, "machine", property(lambda self: (self.name, "hc2")))
    Run(tmp_path).measurements.measure(REQUESTS[:2])
    assert built == [[("one", "hc2"), ("four", "hc2")]]
    Run(tmp_path).measurements.measure(REQUESTS[:2])
    assert len(built) == 1


def test_what_shares_a_graph_is_measured_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run_requests(requests: Any, *_: Any, **__: Any) -> None:
        asked.extend(request.name for request in requests)

    monkeypatch.setattr(cyscc.host.experiments.measuring.measurements, "run_requests", run_requests)
    graphs: dict[str, Any] = {"one": spec(degree=2), "two": None, "three": spec(degree=2), "four": None}
    Run(tmp_path).measurements.measure([FakeRequest(graph=graph, name=name) for name, graph in graphs.items()])
    assert asked == ["one", "three", "two", "four"]


def test_what_must_be_alone_comes_first_in_processes_of_its_own(tmp_path: Path) -> None:
    alone = [FakeRequest(graph=spec(degree=degree), name="alone", alone=True) for degree in (2, 3)]
    run = Run(tmp_path)
    results = run.measurements.measure([REQUESTS[0], *alone])
    assert [what.partition(":")[0] for _, _, what in run.steps] == [each.label for each in (*alone, REQUESTS[0])]
    assert len({os.getpid(), *(results[each]["process"] for each in alone)}) == 3


def test_a_process_that_read_other_sources_refuses() -> None:
    request = FakeRequest(graph=spec())
    with pytest.raises(
        SimulationError, match=r"^the program's sources have changed since it was started: start it again$"
    ):
        measure_request(request, verify=True, sources="other")
    assert measure_request(request, verify=True, sources=sources_digest()) == {"edges": 32, "verified": True}
