"""Tables 1 and 2 of Wijs et al. 2014, from made-up measurements, and from models of some states."""

from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.experiments.measuring.graphs import ModelSpec
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.experiments.studies.wijs import CONFIGURATIONS, MODELS, PUBLISHED
from cyscc.sim.errors import SimulationError
from tests.host.experiments.studies.results import made
from tests.refusals import refused

COUNTS = ("rounds", "pivots", "trimming_rounds", "search_iterations", "passes", "edges")
SECONDS = {"basic": 12.0, "parallel": 3.0, "tarjan": 4.0, "fbt": 2.0}


def made_up(request: SoftwareRequest) -> dict[str, Any]:
    """Return 8 s of Tarjan's algorithm, and 4 s of fbt; 2 s with segments."""
    options = dict(request.options)
    seconds = 8.0 if request.algorithm == "tarjan" else 2.0 if options["segment"] == 7 else 4.0
    counts = {name: 999 + len(options) for name in COUNTS}
    return {"seconds": seconds, "counts": counts, "vertices": 4000, "edges": 10_000, "components": 17}


def mecs_made_up(request: MecRequest | SoftwareRequest) -> dict[str, Any]:
    """Return 12 s of the basic algorithm and 4 s of Tarjan's, 3 s of the parallel one and 2 s of fbt."""
    result = {"seconds": SECONDS[request.algorithm], "counts": {"passes": 1700, "edges": 180_000}}
    if isinstance(request, SoftwareRequest):
        return {**result, "vertices": 4000, "edges": 10_000, "components": 1900}
    sizes = {"states": 4000, "choices": 6000, "transitions": 10_000}
    return {**result, **sizes, "mecs": 15, "in_mecs": 1600, "rounds": [{}, {}, {}]}


OPTIONS: dict[str, dict[str, int]] = {
    "F0,1": {"segment": 1},
    "F0,7": {"segment": 7},
    "F3,1": {"cached": 3, "segment": 1},
    "F3,7": {"cached": 3, "segment": 7},
    "F0,1-nh": {"segment": 1, "no-hybrid": 1},
}


def test_what_is_measured_of_components() -> None:
    requests = made("wijs-table1", made_up, quick=True, device="cuda", threads=5).requests
    assert list(OPTIONS) == CONFIGURATIONS
    assert len(requests) == len(MODELS) * (1 + len(OPTIONS))
    assert all(each.alone for each in requests)
    mine = requests[:6]
    assert (mine[0].algorithm, mine[0].device, mine[0].threads, mine[0].options) == ("tarjan", "cpu", 1, ())
    assert [dict(each.options) for each in mine[1:]] == [{**each, "as-printed": 1} for each in OPTIONS.values()]
    assert {(each.algorithm, each.device, each.threads, each.seed) for each in mine[1:]} == {("fbt", "cuda", 5, 9)}
    seeds = {each.graph.family: dict(each.graph.sizes).get("seed") for each in requests}
    assert seeds["random"] == seeds["islands"] == 9
    assert seeds["coin"] is None


def test_what_is_measured_of_end_components() -> None:
    found = made("wijs-table2", mecs_made_up, quick=True, device="cuda", threads=5)
    requests = found.requests
    assert len(requests) == 4 * len(MODELS)
    assert all(each.alone for each in requests)
    basic, parallel, tarjan, fbt = requests[:4]
    assert (basic.algorithm, basic.device, basic.threads, basic.options) == ("basic", "cpu", 1, ())
    assert (tarjan.algorithm, tarjan.device, tarjan.threads, tarjan.options) == ("tarjan", "cpu", 1, ())
    printed = (("segment", 7), ("as-printed", 1))
    for each, name in ((parallel, "parallel"), (fbt, "fbt")):
        assert (each.algorithm, each.device, each.threads, each.options) == (name, "cuda", 5, printed)
    assert fbt.seed == 9
    assert basic.model == parallel.model == tarjan.graph == fbt.graph
    assert found.answer.facts["parallel and fbt, as F0,7"] == "cuda"


def test_models_are_chosen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["reproduce", "wijs-table2", "--quick", "--threads", "2", "-o", str(tmp_path)]
    assert main([*options, "--models", "random,rand"]) == 2
    known = ", ".join(chosen.name for chosen in MODELS)
    assert capfd.readouterr() == ("", f"cyscc reproduce: --models: unknown model 'rand': there are {known}\n")


def test_what_was_typed_in_agrees_with_the_papers_text_and_with_itself() -> None:
    # "Speedups up to 79 times were measured."
    speed_ups = sorted(row["mecs"]["basic"] / row["mecs"]["parallel"] for row in PUBLISHED)
    assert 78 < speed_ups[-3] < 79.1
    assert speed_ups[-1] == pytest.approx(81.5, abs=0.1)
    for row in PUBLISHED:  # diningcrypt and phil_1ss are rounded
        assert row["transitions"] / row["states"] == pytest.approx(row["degree"], abs=0.02)
        assert row["model"] == row["mecs"]["model"]


def test_components_of_models_of_some_states() -> None:
    found = {}

    def measured(request: SoftwareRequest) -> dict[str, Any]:
        found[request.graph] = request.graph.generate()
        return request.measure(found[request.graph], verify=True)

    rows = made("wijs-table1", measured, models=("random", "walk"), quick=True, threads=2, seed=3).document["rows"]
    one, walk = rows
    assert one["vertices"] == walk["vertices"] == 2048
    assert one["components"] < 60, "a giant component"
    assert walk["components"] > 1900, "nearly all by themselves"
    assert walk["degree"] == 1
    for row, graph in zip(rows, found.values(), strict=True):
        assert row["edges"] == graph.edges
        assert all(counts["edges"] > 0 for counts in row["counts"].values())
        assert all(seconds > 0 for seconds in row["seconds"].values())


def test_end_components_of_models_of_some_states() -> None:
    def measured(request: MecRequest | SoftwareRequest) -> dict[str, Any]:
        graph: Any = None if isinstance(request, MecRequest) else request.graph.generate()
        result = request.measure(graph, verify=True)
        assert result["verified"] is True
        assert 1 <= result["runs"] <= 3
        assert "ms, best of" in request.summary(result)
        return result

    rows = made("wijs-table2", measured, models=("islands", "walk"), quick=True, threads=2, seed=3).document["rows"]
    islands, walk = rows
    assert (islands["mecs"], islands["in_mecs"], islands["rounds"]) == (401, 2001, 2)
    assert walk["states"] == walk["choices"] == walk["transitions"] == 2048
    assert walk["rounds"] == 1
    assert 0 < walk["in_mecs"] < 300
    for row in rows:
        assert all(seconds > 0 for seconds in row["seconds"].values())
        assert all(count > 0 for count in row["counts"].values())


def test_specs_of_models() -> None:
    spec = ModelSpec(family="random", sizes=(("states", 100), ("seed", 5)))
    assert spec.label == "random (states = 100, seed = 5)"
    assert spec.identity() == {"family": "random", "sizes": (("states", 100), ("seed", 5))}
    assert spec.model().states == spec.generate().vertices == 100
    request = SoftwareRequest(graph=spec, algorithm="fbt", threads=2, options=(("segment", 7),))
    assert request.label == "random (states = 100, seed = 5), fbt on 2 threads, segment = 7"
    other = SoftwareRequest(graph=ModelSpec(family="random"), algorithm="fbt", threads=2, options=(("segment", 7),))
    assert request.inputs() != other.inputs()


def test_requests_say_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ModelSpec(family="random", sizes=(("states", 100),))
    request = MecRequest(model=spec, algorithm="parallel", threads=2, options=(("segment", 7),))
    assert request.label == "random (states = 100), MECs by parallel on 2 threads, segment = 7"
    assert request.inputs() != MecRequest(model=spec, algorithm="parallel", threads=2).inputs()
    monkeypatch.setattr("cyscc.host.experiments.measuring.software.check_mecs", lambda *_: "state 3 is in no MEC")
    with refused(SimulationError, "wrong result: state 3 is in no MEC"):
        request.measure(None, verify=True)
    assert request.measure(None, verify=False)["verified"] is False
