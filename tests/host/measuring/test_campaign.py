"""Many measurements: an interruption, a second run, failures."""

from dataclasses import replace
from pathlib import Path

import pytest

import host.measuring.campaign
from host.errors import InputError
from host.graph.csr import Graph
from host.measuring.campaign import Campaign, GraphTask, measure_task
from host.measuring.graphs import GraphSpec
from host.measuring.sources import sources_digest
from host.measuring.store import Store
from sim.errors import SimulationError
from tests.host.studies.reproduction.requests import FakeRequest, spec

REQUESTS = [FakeRequest(graph=spec(degree=degree), name=name) for degree in (2, 3, 1) for name in ("one", "four")]


class Run:
    """A campaign in a folder, with the lines that it reported."""

    def __init__(self, folder: Path, *, jobs: int = 1, verify: bool = True) -> None:
        self.lines: list[str] = []
        self.campaign = Campaign(Store(folder), jobs=jobs, verify=verify, report=self.lines.append)


def test_every_measurement_is_made_once_and_graph_by_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = []
    generate = GraphSpec.generate

    def note(graph: GraphSpec) -> Graph:
        generated.append(graph.degree)
        return generate(graph)

    monkeypatch.setattr(GraphSpec, "generate", note)
    run = Run(tmp_path)
    results = run.campaign.measure([*REQUESTS, *REQUESTS])
    assert results == {r: {"edges": r.graph.edges, "verified": True} for r in REQUESTS}
    assert generated == [3, 2, 1]
    assert (run.campaign.asked, run.campaign.found) == (6, 0)
    assert run.lines[0] == "1 of 6: random, degree 3, 2^4 vertices, one: 48 edges"
    assert len(run.lines) == 6


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path, jobs: int) -> None:
    run = Run(tmp_path, jobs=jobs)

    def stop_at_the_second(line: str) -> None:
        if line.startswith("2 of"):
            raise KeyboardInterrupt

    interrupted = Campaign(Store(tmp_path), jobs=jobs, verify=True, report=stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        interrupted.measure(REQUESTS)
    assert len(list(tmp_path.iterdir())) == 2
    results = run.campaign.measure(REQUESTS)
    assert set(results) == set(REQUESTS)
    assert run.campaign.found == 2
    assert run.lines[0] == "2 of 6 measurements taken over"
    assert [line.partition(":")[0] for line in run.lines[1:]] == [f"{n} of 4" for n in range(1, 5)]
    again = Run(tmp_path)
    assert again.campaign.measure(REQUESTS) == results
    assert again.lines == ["6 of 6 measurements taken over"]


def test_another_seed_is_another_measurement(tmp_path: Path) -> None:
    Run(tmp_path).campaign.measure(REQUESTS)
    run = Run(tmp_path)
    run.campaign.measure([replace(each, graph=replace(each.graph, seed=2)) for each in REQUESTS])
    assert run.campaign.found == 0


def test_what_was_not_checked_is_measured_again(tmp_path: Path) -> None:
    Run(tmp_path, verify=False).campaign.measure(REQUESTS)
    run = Run(tmp_path)
    assert all(result["verified"] for result in run.campaign.measure(REQUESTS).values())
    assert run.campaign.found == 0
    unchecked = Run(tmp_path, verify=False)
    unchecked.campaign.measure(REQUESTS)
    assert unchecked.campaign.found == 6


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_names_its_measurement_and_keeps_the_others(tmp_path: Path, jobs: int) -> None:
    bad = FakeRequest(graph=spec(degree=3), name="bad", fails=True)
    good = FakeRequest(graph=spec(degree=3), name="good")
    other = FakeRequest(graph=spec(degree=2), name="other")
    with pytest.raises(SimulationError) as caught:
        Run(tmp_path, jobs=jobs).campaign.measure([good, bad, other])
    assert str(caught.value) == "random, degree 3, 2^4 vertices, bad: nothing moved"
    assert caught.value.diagnosis == "kernel 0 waits"
    assert Store(tmp_path).find(good.inputs(), verified=True) == {"edges": 48, "verified": True}
    assert Store(tmp_path).find(bad.inputs(), verified=False) is None


def test_a_graph_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Run(tmp_path).campaign.measure([FakeRequest(graph=spec(kind="rmat", vertices=12))])
    expected = "the vertices of an R-MAT graph must be a power of two, not 12"
    assert str(caught.value) == f"rmat, degree 2, 12 vertices: {expected}"


def test_lack_of_memory_names_the_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lack(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(FakeRequest, "measure", lack)
    with pytest.raises(InputError) as caught:
        Run(tmp_path).campaign.measure([FakeRequest(graph=spec())])
    assert str(caught.value) == "random, degree 2, 2^4 vertices, fake: not enough memory"


def test_executors_are_built_once_before_anything_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[list[tuple[str, str]]] = []
    monkeypatch.setattr(host.measuring.campaign, "prepare_executors", lambda machines: built.append(list(machines)))
    monkeypatch.setattr(FakeRequest, "machine", property(lambda self: (self.name, "hc2")))
    Run(tmp_path).campaign.measure(REQUESTS[:2])
    assert built == [[("one", "hc2"), ("four", "hc2")]]
    Run(tmp_path).campaign.measure(REQUESTS[:2])
    assert len(built) == 1


def test_a_worker_that_read_other_sources_refuses_its_task() -> None:
    request = FakeRequest(graph=spec())
    task = GraphTask(graph=request.graph, requests=(request,), verify=True, sources="other")
    with pytest.raises(SimulationError) as caught:
        list(measure_task(task))
    assert str(caught.value) == "the program's sources have changed since it was started: start it again"
    ((_, result),) = measure_task(replace(task, sources=sources_digest()))
    assert result == {"edges": 32, "verified": True}
