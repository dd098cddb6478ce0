"""One measurement: its cycles by cause, its dependencies, and refusals."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import cyscc.host.baselines.software.decomposition
import cyscc.host.experiments.measuring.machines
import cyscc.host.runs.execution
from cyscc.host.experiments.measuring.machines import CAUSES, BfsRequest, MachineRequest, SccRequest, cause_shares
from cyscc.host.experiments.measuring.software import SoftwareRequest, fastest
from cyscc.host.experiments.plan.request import Request
from cyscc.host.graph.csr import Graph
from cyscc.host.output.progress import Progress
from cyscc.host.runs.execution import Session, source_vertex
from cyscc.host.specification.numbers import number_text
from cyscc.host.specification.run import RunSpec
from cyscc.sim.errors import SimulationError
from tests.host.experiments.plan.requests import spec
from tests.system.graphs import graph_of

REQUEST = BfsRequest(graph=spec(vertices=256, degree=8), preset="published-1ae", memory="fixed:75")

# Two kernels, 100 cycles.
CYCLES_BY_CAUSE = dict.fromkeys(CAUSES, 0) | {"issue_1": 80, "resting": 60, "slot": 30, "response": 10, "idle": 20}


def test_shares_of_the_causes() -> None:
    shares = cause_shares(CYCLES_BY_CAUSE, kernels=2, cycles=100)
    assert list(shares) == list(CAUSES)
    named = {"issue_1": 0.4, "resting": 0.3, "slot": 0.15, "response": 0.05, "idle": 0.1}
    assert shares == pytest.approx(dict.fromkeys(CAUSES, 0) | named)


@pytest.mark.parametrize("idle", [19, 21])
def test_counts_that_do_not_add_up_are_refused(idle: int) -> None:
    with pytest.raises(SimulationError, match="the cycles of 2 kernels by cause do not add up to 100 each: "):
        cause_shares({**CYCLES_BY_CAUSE, "idle": idle}, kernels=2, cycles=100)


def test_a_search_whose_queues_overflowed_is_measured_again_with_larger_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[int | None, int]] = []

    def executed(_: BfsRequest, spec: RunSpec, graph: Graph) -> Any:
        # The first one has queues that are too small.
        spec = replace(spec, queue_slack=1) if spec.queue_slack is None else spec
        result = Session(spec, Progress(quiet=True), graph).execute()
        runs.append((spec.queue_slack, result.run.retries))
        return result

    monkeypatch.setattr(cyscc.host.experiments.measuring.machines, "default_slack", lambda _: 1)
    monkeypatch.setattr(MachineRequest, "_executed", executed)
    result = REQUEST.measure(REQUEST.graph.generate(), verify=True)
    assert runs[0][0] == 1
    assert [retries > 0 for _, retries in runs] == [True] * (len(runs) - 1) + [False]
    assert len(runs) > 1
    assert result["reached"] == 256
    assert sum(result["shares"].values()) == pytest.approx(1)


def test_a_search_that_misses_the_giant_component_is_an_error() -> None:
    graph = graph_of(100, [(0, 1), (0, 2), *((v, v + 1) for v in range(5, 60))])
    with pytest.raises(SimulationError, match=r"^the search from vertex 0 reached only 3 vertices$"):
        REQUEST.measure(graph, verify=True)


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cyscc.host.runs.execution, "check_levels", lambda *_: "vertex 3: level 1 found, 2 expected")
    with pytest.raises(SimulationError, match=r"^wrong result: vertex 3: level 1 found, 2 expected$"):
        REQUEST.measure(REQUEST.graph.generate(), verify=True)
    assert REQUEST.measure(REQUEST.graph.generate(), verify=False)["verified"] is False


def test_every_input_counts() -> None:
    scc = SccRequest(graph=REQUEST.graph, preset="published-1ae", memory="fixed:75")
    software = SoftwareRequest(graph=REQUEST.graph, algorithm="hong", threads=2)
    changes: list[dict[str, Any]] = [{"kind": "rmat"}, {"degree": 9}, {"vertices": 512}, {"seed": 2}]
    requests: list[Request] = [
        REQUEST,
        replace(REQUEST, preset="hc2-1ae"),
        replace(REQUEST, preset="published"),
        replace(REQUEST, memory="hc2"),
        replace(REQUEST, memory="fixed:76"),
        *(replace(REQUEST, graph=spec(**{"vertices": 256, "degree": 8, **change})) for change in changes),
        scc,
        replace(scc, memory="hc2"),
        software,
        replace(software, threads=1),
        replace(software, algorithm="kosaraju"),
    ]
    inputs = [request.inputs() for request in requests]
    assert all(inputs.count(each) == 1 for each in inputs)
    assert all(len(each["sources"]) == 64 for each in inputs)
    assert REQUEST.inputs()["rule"] == "lowest vertex with an out-edge"


def test_labels() -> None:
    assert REQUEST.label == "random, degree 8, 2^8 vertices, published-1ae"
    software = SoftwareRequest(graph=spec(kind="rmat", degree=3, vertices=100), algorithm="hong", threads=2)
    assert software.label == "rmat, degree 3, 100 vertices, hong on 2 threads"
    assert replace(software, threads=1).label == "rmat, degree 3, 100 vertices, hong on 1 thread"
    assert [number_text(n) for n in (1, 2, 3, 1 << 20)] == ["2^0", "2^1", "3", "2^20"]


def test_the_source_is_the_lowest_vertex_with_an_out_edge() -> None:
    assert source_vertex(graph_of(4, [(1, 0), (3, 0), (3, 1)])) == 1
    assert source_vertex(graph_of(4, [(0, 1), (3, 0), (3, 1)])) == 0


@pytest.mark.parametrize("algorithm", ["kosaraju", "hong"])
def test_the_software_is_the_best_of_three(algorithm: str) -> None:
    request = SoftwareRequest(graph=spec(vertices=256, degree=8), algorithm=algorithm, threads=1)
    result = request.measure(request.graph.generate(), verify=True)
    assert result["runs"] == 3
    assert result["seconds"] > 0
    if algorithm == "kosaraju":
        assert result["seconds"] == pytest.approx(sum(result[name] for name in ("searches", "intersections", "starts")))


@pytest.mark.parametrize("algorithm", ["kosaraju", "hong"])
def test_wrong_components_by_software_are_refused(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cyscc.host.baselines.software.decomposition, "canonical", np.zeros_like)
    request = SoftwareRequest(graph=spec(vertices=64, degree=2), algorithm=algorithm, threads=1)
    with pytest.raises(SimulationError, match=r"^wrong result: vertex \d+: component 0 found, \d+ expected "):
        request.measure(request.graph.generate(), verify=True)
    assert request.measure(request.graph.generate(), verify=False)["verified"] is False


def test_the_quickest_of_some_runs() -> None:
    @dataclass
    class Run:
        seconds: float

    told: list[Run] = []

    def best(*found: float, limit: float = 60.0) -> tuple[float, int]:
        times = iter(found)
        chosen, runs = fastest(lambda: Run(next(times)), runs=3, limit=limit, on_best=told.append)
        return chosen.seconds, runs

    assert best(3.0, 1.0, 2.0) == (1.0, 3)
    assert told == [Run(3.0), Run(1.0)]
    assert best(61.0) == (61.0, 1), "no run begins that would end after the limit"
