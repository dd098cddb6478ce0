"""Table 2 of Wijs et al. 2014, from made-up measurements, and from models of some states."""

from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.experiments.measuring.graphs import ModelSpec
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.experiments.studies.wijs import MODELS, TABLE1, TABLE2, Table2
from cyscc.host.output.files import version
from cyscc.sim.errors import SimulationError
from tests.host.experiments.studies.results import FakeMeasurements
from tests.refusals import refused

SECONDS = {"basic": 12.0, "parallel": 3.0, "tarjan": 4.0, "fbt": 2.0}


def made_up(request: MecRequest | SoftwareRequest) -> dict[str, Any]:
    """Return 12 s of the basic algorithm and 4 s of Tarjan's, 3 s of the parallel one and 2 s of fbt."""
    result = {"seconds": SECONDS[request.algorithm], "counts": {"passes": 1700, "edges": 180_000}}
    if isinstance(request, SoftwareRequest):
        return {**result, "vertices": 4000, "edges": 10_000, "components": 1900}
    sizes = {"states": 4000, "choices": 6000, "transitions": 10_000}
    return {**result, **sizes, "mecs": 15, "in_mecs": 1600, "rounds": [{}, {}, {}]}


def made(**changes: Any) -> tuple[FakeMeasurements, dict[str, Any]]:
    measurements: Any = FakeMeasurements(made_up)
    settings: dict[str, Any] = {"quick": True, "device": "cpu", "threads": 5, "seed": 9, **changes}
    return measurements, Table2(**settings).document(measurements)


def test_what_is_measured() -> None:
    measurements, _ = made(device="cuda")
    requests = measurements.requests
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


def test_the_document() -> None:
    _, document = made()
    rows = document.pop("rows")
    assert document.pop("processor")
    assert document == {"figure": "wijs-table2", "version": version(), "seed": 9, "device": "cpu", "threads": 5}
    assert [row["model"] for row in rows] == [chosen.name for chosen in MODELS]
    row = rows[0]
    assert (row["states"], row["choices"], row["transitions"]) == (4000, 6000, 10_000)
    assert (row["components"], row["mecs"], row["in_mecs"], row["rounds"]) == (1900, 15, 1600, 3)
    assert row["seconds"] == SECONDS
    assert row["counts"] == {"passes": 1700, "edges": 180_000}


def test_for_people() -> None:
    _, document = made()
    answer = Table2.answer_of(document)
    cells = {name: table.cells() for name, table in answer.tables.items()}
    assert cells["rows"][0] == ["phil", "phil, phil_1ss", "4,000", "6,000", "10,000", "1,900", "15", "1,600", "3"]
    assert cells["times"][0] == ["phil", "12.000", "3.000", "4.00", "3.00", "1.50"]
    assert ["paper: coin.8.3", "363.070", "12.630", "28.75", "2.68", "1.39"] in cells["times"]
    assert ["coin", "1,700", "180,000"] in cells["counts"]
    assert answer.facts["parallel and fbt, as F0,7"] == "5 threads"


def test_models_are_chosen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["reproduce", "wijs-table2", "--quick", "--threads", "2", "-o", str(tmp_path)]
    assert main([*options, "--models", "random,rand"]) == 2
    known = ", ".join(chosen.name for chosen in MODELS)
    assert capfd.readouterr() == ("", f"cyscc reproduce: --models: unknown model 'rand': there are {known}\n")


def test_what_was_typed_in_agrees_with_the_papers_text() -> None:
    assert len(TABLE2) == len(TABLE1)
    # "Speedups up to 79 times were measured."
    speed_ups = sorted(basic / parallel for basic, parallel in TABLE2)
    assert 78 < speed_ups[-3] < 79.1
    assert speed_ups[-1] == pytest.approx(81.5, abs=0.1)


def test_models_of_some_states() -> None:
    chosen = ("islands", "walk")

    def measured(request: MecRequest | SoftwareRequest) -> dict[str, Any]:
        if isinstance(request, MecRequest):
            result = request.measure(None, verify=True)
        else:
            result = request.measure(request.graph.generate(), verify=True)
        assert result["verified"] is True
        assert 1 <= result["runs"] <= 3
        assert "ms, best of" in request.summary(result)
        return result

    measurements: Any = FakeMeasurements(measured)
    islands, walk = Table2(models=chosen, quick=True, device="cpu", threads=2, seed=3).document(measurements)["rows"]
    assert (islands["mecs"], islands["in_mecs"], islands["rounds"]) == (401, 2001, 2)
    assert walk["states"] == walk["choices"] == walk["transitions"] == 2048
    assert walk["rounds"] == 1
    assert 0 < walk["in_mecs"] < 300
    for row in (islands, walk):
        assert all(seconds > 0 for seconds in row["seconds"].values())
        assert all(count > 0 for count in row["counts"].values())


def test_requests_say_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ModelSpec(family="random", sizes=(("states", 100),))
    request = MecRequest(model=spec, algorithm="parallel", threads=2, options=(("segment", 7),))
    assert request.label == "random (states = 100), MECs by parallel on 2 threads, segment = 7"
    assert request.inputs() != MecRequest(model=spec, algorithm="parallel", threads=2).inputs()
    monkeypatch.setattr("cyscc.host.experiments.measuring.software.check_mecs", lambda *_: "state 3 is in no MEC")
    with refused(SimulationError, "wrong result: state 3 is in no MEC"):
        request.measure(None, verify=True)
    assert request.measure(None, verify=False)["verified"] is False
