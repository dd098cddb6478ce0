"""Figures 12 and 13, from made-up measurements."""

import re
from typing import Any

import pytest

import cyscc.host.experiments.studies.components as components
from cyscc.host.experiments.measuring.machines import SccRequest
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.components import SpeedUps, Times
from cyscc.host.output.files import version
from cyscc.host.runs.environment import processor_name
from tests.host.experiments.studies.results import FakeMeasurements, components_of, grid_of


@pytest.fixture(autouse=True)
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "processor_name", lambda: "Abacus 2000")
    monkeypatch.setattr(components, "available_cores", lambda: 5)


def test_software_is_measured_alone() -> None:
    measurements: Any = FakeMeasurements()
    grid_of("fig13", [(16, 32), (64, 32)], configs=("published", "hc2"), memory="fixed:75").document(measurements)
    software = [each for each in measurements.requests if each.alone]
    machines = [each for each in measurements.requests if not each.alone]
    assert all(isinstance(each, SoftwareRequest) for each in software)
    timed = [(*run, degree) for degree in (16, 64) for run in (("kosaraju", 1), ("hong", 5))]
    assert [(each.algorithm, each.threads, each.graph.degree) for each in software] == timed
    assert all(isinstance(each, SccRequest) for each in machines)
    runs = [(preset, "fixed:75", degree) for degree in (16, 64) for preset in ("published", "hc2")]
    assert [(each.preset, each.memory, each.graph.degree) for each in machines] == runs


def test_figure_12() -> None:
    document = components_of("fig12", (16, 32), (64, 32), (128, 32), max_edges=2048)
    points = document.pop("points")
    assert document == {
        "figure": "fig12",
        "version": version(),
        "memory": "hc2",
        "clock_hz": 150e6,
        "seed": 9,
        "kind": "random",
        "max_edges": 2048,
        "processor": "Abacus 2000",
        "cores": 5,
        "left_out": [{"degree": 128, "vertices": 32}],
    }
    bars = [(degree, series) for degree in (16, 64) for series in ("kosaraju", "published")]
    assert [(point["degree"], point["series"]) for point in points] == bars
    assert points[0]["milliseconds"] == pytest.approx({"searches": 4, "intersections": 1.5, "starts": 0.5})
    assert points[0]["total"] == pytest.approx(6)
    assert points[1]["milliseconds"] == pytest.approx({"searches": 1, "intersections": 0.4, "starts": 0.1})
    assert points[1]["total"] == pytest.approx(1.5)
    assert points[1]["cycles"] == {"searches": 150_000, "intersections": 60_000}, "wall time is in no cycle"
    answer = Times.answer_of({**document, "points": points})
    assert answer.title == "Figure 12: time for strongly connected components"
    assert answer.facts["software"] == "Abacus 2000, 5 cores; the paper's was a Xeon X5670 with 12 threads"
    assert answer.said[1:] == ["Left out, more than 2^11 edges: degree 128 with 2^5 vertices."]
    assert answer.tables["points"].cells()[:2] == [
        ["32", "16", "kosaraju", "4.000", "1.500", "0.500", "6.000", "1.00"],
        ["32", "16", "published", "1.000", "0.400", "0.100", "1.500", "4.00"],
    ]


def test_figure_13() -> None:
    document = components_of("fig13", (16, 32))
    assert document["figure"] == "fig13"
    assert [(p["series"], p["milliseconds"], p["kosaraju"], p["speed_up"]) for p in document["points"]] == [
        ("published", pytest.approx(1.5), pytest.approx(6), pytest.approx(4)),
        ("hong", pytest.approx(4), pytest.approx(6), pytest.approx(1.5)),
    ]
    answer = SpeedUps.answer_of(document)
    assert len(answer.said) == 1, "nothing is left out"
    assert answer.tables["points"].cells() == [
        ["32", "16", "published", "6.000", "1.500", "4.00"],
        ["32", "16", "hong", "6.000", "4.000", "1.50"],
    ]


def test_the_processor_has_a_name() -> None:
    assert re.search(r"\w", processor_name())
    assert "\n" not in processor_name()
