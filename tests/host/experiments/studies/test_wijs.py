"""Table 1 of Wijs et al. 2014, from made-up measurements, and from models of some states."""

from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import ModelSpec
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.wijs import CONFIGURATIONS, MODELS, TABLE1, Table1
from cyscc.host.output.files import version
from tests.host.experiments.studies.results import FakeMeasurements

COUNTS = ("rounds", "pivots", "trimming_rounds", "search_iterations", "passes", "edges")


def made_up(request: SoftwareRequest) -> dict[str, Any]:
    """Return 8 s of Tarjan's algorithm, and 4 s of fbt; 2 s with segments."""
    options = dict(request.options)
    seconds = 8.0 if request.algorithm == "tarjan" else 2.0 if options["segment"] == 7 else 4.0
    counts = {name: 999 + len(options) for name in COUNTS}
    return {"seconds": seconds, "counts": counts, "vertices": 4000, "edges": 10_000, "components": 17}


def made(**changes: Any) -> tuple[FakeMeasurements, dict[str, Any]]:
    measurements: Any = FakeMeasurements(made_up)
    settings: dict[str, Any] = {"quick": True, "device": "cpu", "threads": 5, "seed": 9, **changes}
    return measurements, Table1(**settings).document(measurements)


def test_what_is_measured() -> None:
    measurements, _ = made(device="cuda")
    requests = measurements.requests
    assert len(requests) == len(MODELS) * (1 + len(CONFIGURATIONS))
    assert all(each.alone for each in requests)
    mine = requests[:6]
    assert mine[0].algorithm == "tarjan"
    assert (mine[0].device, mine[0].threads, mine[0].options) == ("cpu", 1, ())
    assert [dict(each.options) for each in mine[1:]] == [
        {**options, "as-printed": 1} for options in CONFIGURATIONS.values()
    ]
    assert {(each.algorithm, each.device, each.threads, each.seed) for each in mine[1:]} == {("fbt", "cuda", 5, 9)}
    seeds = {each.graph.family: dict(each.graph.sizes).get("seed") for each in requests}
    assert seeds["random"] == seeds["islands"] == 9
    assert seeds["coin"] is None


def test_the_document() -> None:
    _, document = made()
    rows = document.pop("rows")
    processor = document.pop("processor")
    assert processor
    assert document == {"figure": "wijs-table1", "version": version(), "seed": 9, "device": "cpu", "threads": 5}
    assert [row["model"] for row in rows] == [chosen.name for chosen in MODELS]
    row = rows[0]
    assert (row["vertices"], row["edges"], row["degree"], row["components"]) == (4000, 10_000, 2.5, 17)
    assert row["seconds"] == {"tarjan": 8, "F0,1": 4, "F0,7": 2, "F3,1": 4, "F3,7": 2, "F0,1-nh": 4}
    assert row["counts"]["F3,7"] == dict.fromkeys(COUNTS, 1002)


def test_for_people() -> None:
    _, document = made()
    answer = Table1.answer_of(document)
    cells = {name: table.cells() for name, table in answer.tables.items()}
    seconds = ["8.000", "4.000", "2.000", "4.000", "2.000", "4.000"]
    assert cells["rows"][0] == ["phil", "4,000", "10,000", "2.50", "17", *seconds]
    seconds = ["135.610", "125.940", "9.100", "582.590", "42.040", "179.000"]
    assert ["coin.8.3", "87.9", "583.0", "6.63", "5.4M", *seconds] in cells["paper"]
    assert cells["speed_ups"][0] == ["phil", "phil, phil_1ss", "2.00", "4.00", "2.00", "4.00", "2.00"]
    assert ["paper: leader.7", "", "1.51", "12.73", "0.62", "5.55", "1.42"] in cells["speed_ups"]
    assert ["coin", "F3,7", *["1,002"] * 6] in cells["counts"]
    assert cells["models"][0] == ["phil", "philosophers", "phil, phil_1ss", "philosophers 4, risky 0"]
    assert answer.facts["fbt"] == "5 threads"
    assert Table1.answer_of(made(device="cuda")[1]).facts["fbt"] == "cuda"


def test_average_degrees_are_those_of_the_paper() -> None:
    # What was typed in agrees with itself; diningcrypt and phil_1ss are rounded.
    for row in TABLE1:
        assert row.transitions / row.states == pytest.approx(row.degree, abs=0.02)
        assert len(row.fbt) == len(CONFIGURATIONS)


def test_models_of_some_states() -> None:
    models = ("random", "walk")
    found = {}

    def measured(request: SoftwareRequest) -> dict[str, Any]:
        found[request.graph] = request.graph.generate()
        return request.measure(found[request.graph], verify=True)

    measurements: Any = FakeMeasurements(measured)
    document = Table1(models=models, quick=True, device="cpu", threads=2, seed=3).document(measurements)
    one, walk = document["rows"]
    assert one["vertices"] == walk["vertices"] == 2048
    assert one["components"] < 60, "a giant component"
    assert walk["components"] > 1900, "nearly all by themselves"
    assert walk["degree"] == 1
    for row, graph in zip(document["rows"], found.values(), strict=True):
        assert row["edges"] == graph.edges
        assert all(counts["edges"] > 0 for counts in row["counts"].values())
        assert all(seconds > 0 for seconds in row["seconds"].values())


def test_specs_of_models() -> None:
    spec = ModelSpec(family="random", sizes=(("states", 100), ("seed", 5)))
    assert spec.label == "random (states = 100, seed = 5)"
    assert spec.identity() == {"family": "random", "sizes": (("states", 100), ("seed", 5))}
    assert spec.model().states == spec.generate().vertices == 100
    request = SoftwareRequest(graph=spec, algorithm="fbt", threads=2, options=(("segment", 7),))
    assert request.label == "random (states = 100, seed = 5), fbt on 2 threads, segment = 7"
    other = SoftwareRequest(graph=ModelSpec(family="random"), algorithm="fbt", threads=2, options=(("segment", 7),))
    assert request.inputs() != other.inputs()
