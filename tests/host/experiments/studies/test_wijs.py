"""Tables 1 and 2 of Wijs et al. 2014, from made-up measurements, and from models of some states."""

from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.experiments.studies.wijs import MODELS, PUBLISHED
from tests.host.experiments.studies.results import made

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
