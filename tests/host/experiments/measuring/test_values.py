"""Measured values are those that the command line prints for the same run."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cyscc.host.experiments.measuring.software
from cyscc.host.baselines.mec.checker import reference_mecs
from cyscc.host.command_line.main import main
from cyscc.host.experiments.measuring.graphs import GraphSpec, ModelSpec
from cyscc.host.experiments.measuring.machines import BfsRequest, SccRequest
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.graph.formats import write_graph
from cyscc.host.graph.reference import component_sizes
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.execution import source_vertex
from cyscc.sim.errors import SimulationError
from tests.host.experiments.plan.requests import FakeRequest

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


def test_a_search(graph: str) -> None:
    request = BfsRequest(graph=GRAPH, **MACHINE)
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
    assert request.summary(found) == f"{document['gteps']:.3f} GTEPS, {found['cycles']:,} cycles, {seconds}"


def test_components(graph: str) -> None:
    request = SccRequest(graph=GRAPH, **MACHINE)
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
    assert request.summary(found) == f"{cycles['total']:,} cycles, {found['wall']['simulate']:.1f} s"


def test_software(graph: str) -> None:
    request = SoftwareRequest(graph=GRAPH, algorithm="hong", threads=2)
    found = request.measure(GRAPH.generate(), verify=True)
    assert main(["software", "hong", graph, "--threads", "2", "--quiet", "--json", "json"]) == 0
    document = json.loads(Path("json").read_text())
    assert found["components"] == document["components"]["count"]
    assert (found["vertices"], found["edges"]) == (128, 256)
    assert found["verified"] is True
    assert request.summary(found) == f"{1e3 * found['seconds']:.1f} ms, best of 3"


MODEL = ModelSpec(family="random", sizes=(("states", 60), ("seed", 5)))


def test_maximal_end_components() -> None:
    request = MecRequest(model=MODEL, algorithm="parallel", threads=1)
    found = request.measure(None, verify=True)
    mdp = MODEL.model()
    mecs = reference_mecs(mdp)
    assert found["in_mecs"] == int((mecs >= 0).sum())
    assert found["mecs"] == component_sizes(mecs[mecs >= 0])[0].size
    assert (found["states"], found["choices"]) == (mdp.states, mdp.choice_count)
    assert (found["transitions"], found["runs"]) == (mdp.transition_count, 3)
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


def test_the_processor_has_the_name_that_the_system_tells() -> None:
    names = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()]
    assert processor_name() in names


@dataclass(frozen=True, kw_only=True)
class Placed(FakeRequest):
    """A request with a place, which its result does not depend on, and a text."""

    folder: Path = field(compare=False)
    text: str = ""


def test_a_result_depends_on_texts_but_on_no_place() -> None:
    here, there = (Placed(graph=GRAPH, folder=Path(name)).inputs() for name in ("here", "there"))
    assert here == there
    assert "folder" not in here
    texts = ["", "short", 500 * "long", 501 * "long"]
    inputs = [Placed(graph=GRAPH, folder=Path(), text=text).inputs() for text in texts]
    assert [each["text"] for each in inputs[:2]] == texts[:2]
    assert len({each["text"] for each in inputs}) == 4
    assert max(len(each["text"]) for each in inputs) <= 64


def test_only_what_is_timed_on_this_processor_runs_alone() -> None:
    machines = (kind(graph=GRAPH, **MACHINE).alone for kind in (BfsRequest, SccRequest))
    software = (
        SoftwareRequest(graph=GRAPH, algorithm="hong", threads=1),
        MecRequest(model=MODEL, algorithm="basic", threads=1),
    )
    assert [*machines, *(each.alone for each in software)] == [False, False, True, True]
