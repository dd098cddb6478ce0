"""Requests of runs: graphs, options and what is measured."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import cyscc.host.baselines.software.decomposition
import cyscc.host.experiments.measuring.runs
import cyscc.host.runs.execution
from cyscc.host.baselines.mec.checker import reference_mecs
from cyscc.host.command_line.main import main
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec, ModelSpec
from cyscc.host.experiments.measuring.runs import BfsRequest, MachineRequest, PointRequest, SccRequest, stored_graph
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest, fastest
from cyscc.host.experiments.plan.plan import LostError
from cyscc.host.experiments.plan.request import Request, graph_of
from cyscc.host.experiments.plan.store import Store
from cyscc.host.graph.csr import Graph, graph_digest
from cyscc.host.graph.formats import write_graph
from cyscc.host.graph.reference import component_sizes
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import Progress
from cyscc.host.runs.execution import Session, source_vertex
from cyscc.host.specification.run import RunSpec
from cyscc.sim.errors import CycleLimitError, SimulationError
from tests.host.experiments.plan.requests import FakeRequest, spec
from tests.refusals import refused
from tests.system.graphs import graph_of as made_graph

REQUEST = BfsRequest.of(spec(vertices=256, degree=8), preset="test", memory="fixed:75")


def test_a_search_whose_queues_overflowed_is_measured_again_with_larger_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[int | None, int]] = []

    def executed(_: BfsRequest, spec: RunSpec, graph: Graph) -> Any:
        # The first one has queues that are too small.
        spec = replace(spec, queue_slack=1) if spec.queue_slack is None else spec
        result = Session(spec, Progress(quiet=True), graph).execute()
        runs.append((spec.queue_slack, result.run.retries))
        return result

    monkeypatch.setattr(cyscc.host.experiments.measuring.runs, "default_slack", lambda _: 1)
    monkeypatch.setattr(MachineRequest, "_executed", executed)
    result = REQUEST.measure(REQUEST.graph.generate(), verify=True)
    assert runs[0][0] == 1
    assert [retries > 0 for _, retries in runs] == [True] * (len(runs) - 1) + [False]
    assert len(runs) > 1
    assert result["reached"] == 256
    assert sum(result["shares"].values()) == pytest.approx(1)


def test_a_search_that_misses_the_giant_component_is_an_error() -> None:
    graph = made_graph(100, [(0, 1), (0, 2), *((v, v + 1) for v in range(5, 60))])
    with pytest.raises(SimulationError, match=r"^the search from vertex 0 reached only 3 vertices$"):
        REQUEST.measure(graph, verify=True)


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cyscc.host.runs.execution, "check_levels", lambda *_: "vertex 3: level 1 found, 2 expected")
    with pytest.raises(SimulationError, match=r"^wrong result: vertex 3: level 1 found, 2 expected$"):
        REQUEST.measure(REQUEST.graph.generate(), verify=True)
    assert REQUEST.measure(REQUEST.graph.generate(), verify=False)["verified"] is False


def test_every_input_counts() -> None:
    software = SoftwareRequest(graph=REQUEST.graph, algorithm="hong", threads=2)
    changes: list[dict[str, Any]] = [{"kind": "rmat"}, {"degree": 9}, {"vertices": 512}, {"seed": 2}]
    requests: list[Request] = [
        REQUEST,
        *(BfsRequest.of(REQUEST.graph, *made) for made in (("hc2", "fixed:75"), ("test", "fixed:76"))),
        *(replace(REQUEST, graph=spec(**{"vertices": 256, "degree": 8, **change})) for change in changes),
        *(SccRequest.of(REQUEST.graph, "test", memory) for memory in ("fixed:75", "hc2")),
        software,
        replace(software, threads=1),
        replace(software, algorithm="kosaraju"),
    ]
    inputs = [request.inputs() for request in requests]
    assert all(inputs.count(each) == 1 for each in inputs)
    assert all(len(each["sources"]) == 64 for each in inputs)
    assert REQUEST.inputs()["rule"] == "lowest vertex with an out-edge"


@pytest.mark.parametrize("algorithm", ["kosaraju", "hong"])
def test_the_software_is_the_best_of_three(algorithm: str) -> None:
    request = SoftwareRequest(graph=spec(vertices=256, degree=8), algorithm=algorithm, threads=1)
    result = request.measure(request.graph.generate(), verify=True)
    assert result["runs"] == 3
    assert result["seconds"] > 0
    if algorithm == "kosaraju":
        assert result["seconds"] == pytest.approx(sum(result["phases"].values()))


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


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = b"0 1\n" * 5
    for name in ("g.txt", "g.txt.gz", "my.graph.txt.gz"):
        Path(name).write_bytes(content)
        graph = GraphFile.of(Path(name))
        assert graph.path == tmp_path / name
        assert graph.label == name
        assert (graph.edges, graph.vertices) == (3, 3)
        assert graph.identity() == {
            "contents": hashlib.sha256(content).hexdigest(),
            "format": ".txt.gz" if name.endswith("gz") else ".txt",
        }
    with pytest.raises(InputError, match=r"^none.txt: cannot be read: No such file or directory$"):
        GraphFile.of(Path("none.txt"))


GRAPH = GraphSpec(kind="random", vertices=128, degree=2, seed=3)
MACHINE: dict[str, Any] = {"preset": "test", "memory": "fixed:75"}


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    write_graph(GRAPH.generate(), "g.npz")
    return "g.npz"


def told(*arguments: str) -> dict[str, Any]:
    """Return the document of a run on the command line."""
    options = ["--config", "test", "--memory", "fixed:75", "--threads", "1", "--quiet", "--json", "json"]
    assert main([*arguments, *options]) == 0
    document: dict[str, Any] = json.loads(Path("json").read_text())
    return document


def check_row(request: MachineRequest, document: dict[str, Any], **own: int) -> None:
    """Check the row of a point, which is recorded, against the document of the run."""
    point = PointRequest(graph=request.graph, spec=replace(request.spec, record="record"))
    row = Store(Path("store")).make(point)["row"]
    same = {name: document[name] for name in ("seconds", "gteps", "edges_traversed", "retries")}
    expected = {**same, "vertices": 128, "edges": 256, "cycles": document["cycles"]["total"], **own}
    assert {name: row[name] for name in expected} == expected
    write, issue = (row[f"bfs.{cause}"] for cause in ("write", "issue_1"))
    causes = document["statistics"]["causes"]["bfs"]
    assert write * causes["issue_1"] == pytest.approx(issue * causes["write"])
    assert ("intersection.write" in row) == (request.algorithm == "scc")


def test_a_search(graph: str) -> None:
    request = BfsRequest.of(GRAPH, **MACHINE)
    found = request.measure(GRAPH.generate(), verify=True)
    document = told("bfs", graph, "--source", str(found["source"]))
    causes = document["statistics"]["causes"]["bfs"]
    assert found["cycles"] == document["cycles"]["total"]
    assert found["gteps"] == pytest.approx(document["gteps"])
    assert found["reached"] == document["reached"]
    assert [cycles for cycles, _, _ in found["levels"]] == [level["cycles"] for level in document["levels"]]
    assert sum(vertices for _, vertices, _ in found["levels"]) == found["reached"]
    assert sum(edges for _, _, edges in found["levels"]) == found["edges"]
    assert (found["duplicates"], found["edges"]) == (document["duplicates"], document["edges_traversed"])
    assert found["shares"] == pytest.approx({name: count / sum(causes.values()) for name, count in causes.items()})
    assert found["clock_hz"] == document["clock_hz"] == 150e6
    assert (found["source"], found["verified"]) == (source_vertex(GRAPH.generate()), True)
    assert 0 < found["wall"]["simulate"] < 600
    assert found["wall"]["peak_memory_bytes"] > 1 << 20
    seconds = f"{found['wall']['simulate']:.1f} s"
    names = ("source", "reached", "duplicates")
    check_row(request, document, levels=len(document["levels"]), **{name: document[name] for name in names})
    assert request.summary(found) == f"{document['gteps']:.3f} GTEPS, {found['cycles']:,} cycles, {seconds}"


def test_components(graph: str) -> None:
    request = SccRequest.of(GRAPH, **MACHINE)
    found = request.measure(GRAPH.generate(), verify=True)
    document = told("scc", graph)
    cycles = document["cycles"]
    assert found["cycles"] == {
        "searches": cycles["forward"] + cycles["backward"],
        "intersections": cycles["intersection"],
    }
    names = ("trimmed", "iterations", "edges")
    assert [found[name] for name in names] == [document[name] for name in ("trimmed", "iterations", "edges_traversed")]
    assert found["components"] == document["components"]["count"]
    assert found["trimmed"] > 0
    assert found["verified"] is True
    assert 0 < found["start_seconds"] < found["wall"]["simulate"]
    check_row(request, document, components=found["components"], iterations=found["iterations"])
    assert request.summary(found) == f"{cycles['total']:,} cycles, {found['wall']['simulate']:.1f} s"


MODEL = ModelSpec(family="random", sizes=(("states", 60), ("seed", 5)))


def test_maximal_end_components() -> None:
    request = MecRequest(model=MODEL, algorithm="parallel", threads=1)
    found = request.measure(None, verify=True)
    mdp = MODEL.model()
    mecs = reference_mecs(mdp)
    assert found["in_mecs"] == int((mecs >= 0).sum())
    assert found["mecs"] == component_sizes(mecs[mecs >= 0])[0].size
    assert (found["states"], found["choices"]) == (mdp.states, mdp.choice_count)
    assert found["transitions"] == mdp.transition_count
    assert found["rounds"]
    assert 0 < found["seconds"] < 60
    assert found["verified"] is True


def test_wrong_maximal_end_components_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run_mec = cyscc.host.experiments.measuring.software.run_mec

    def wrong(*arguments: Any) -> Any:
        run = run_mec(*arguments)
        run.found.mecs[:] = np.arange(run.found.mecs.size)
        return run

    monkeypatch.setattr(cyscc.host.experiments.measuring.software, "run_mec", wrong)
    request = MecRequest(model=MODEL, algorithm="parallel", threads=1)
    with pytest.raises(SimulationError, match=r"^wrong result: "):
        request.measure(None, verify=True)
    assert request.measure(None, verify=False)["verified"] is False


@dataclass(frozen=True, kw_only=True)
class Placed(FakeRequest):
    """A request with a place, which its result does not depend on, and a text."""

    folder: Path = field(compare=False)
    text: str = ""


def test_a_result_depends_on_texts_but_on_no_place() -> None:
    here, there = (Placed(graph=GRAPH, folder=Path(name)).inputs() for name in ("here", "there"))
    assert here == there
    texts = ["", "short", 500 * "long", 501 * "long"]
    inputs = [Placed(graph=GRAPH, folder=Path(), text=text).inputs() for text in texts]
    assert [each["text"] for each in inputs[:2]] == texts[:2]
    assert len({each["text"] for each in inputs}) == 4
    assert max(len(each["text"]) for each in inputs) <= 64


def point(**settings: Any) -> PointRequest:
    """Return a point of the graph on the small machine with settings."""
    spec = RunSpec(algorithm="bfs", graph=GRAPH.label, config="test", threads=1, record="record")
    return PointRequest(graph=GRAPH, spec=spec.changed(settings))


def test_what_points_say() -> None:
    changed = [{}, {"memory.bank_busy": 40}, {"word_depth": 32}]
    points = [point(**settings) for settings in changed]
    machine = "bfs of random, degree 2, 2^7 vertices on test"
    texts = [", memory hc2", ", memory hc2 (bank_busy=40)", " (word_depth=32), memory hc2"]
    assert [each.label for each in points] == [machine + text for text in texts]
    assert points[0].bytes == 20 * 256 + 200 * 128 + (400 << 20), "there is room for graph and transpose"
    assert points[0].machine == points[1].machine != points[2].machine
    assert len({each.digest for each in points}) == 3
    with refused(msgspec.ValidationError, "Object missing required field `vertices`"):
        points[0].check({"record": "", "cycles": 9, "row": {"cycles": 9}, "verified": True})


@pytest.mark.parametrize(("own", "most", "lost"), [(None, 5, True), (9, 5, True), (5, 9, False), (None, None, False)])
def test_runs_that_are_given_up(
    own: int | None, most: int | None, lost: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(session: Session) -> None:
        assert (session.spec.cycle_limit, session.most_cycles) == (own, most)
        raise CycleLimitError("cycle limit reached")

    monkeypatch.setattr(Session, "execute", execute)
    kind, message = (LostError, "takes more cycles than it may") if lost else (CycleLimitError, "cycle limit reached")
    with refused(kind, message):
        Store(tmp_path).make(point(cycle_limit=own), most=most)


def test_a_graph_in_memory_is_kept_once(tmp_path: Path) -> None:
    store, graph = Store(tmp_path), GRAPH.generate()
    file = stored_graph(graph, store)
    assert stored_graph(graph, store) == file
    assert file.path.parent.parent == tmp_path
    assert graph_digest(graph_of(file)) == graph_digest(graph)
