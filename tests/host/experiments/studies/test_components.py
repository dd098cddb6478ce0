"""Figures 12 and 13, from made-up measurements."""

import re

import pytest

from cyscc.host.experiments.measuring.machines import SccRequest
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.output.files import version
from cyscc.host.runs.environment import processor_name
from tests.host.experiments.studies.results import grid

pytestmark = pytest.mark.usefixtures("processor")


def test_software_is_measured_alone() -> None:
    requests = grid("fig13", [(16, 32), (64, 32)], configs=("published", "hc2"), memory="fixed:75").requests
    software = [each for each in requests if each.alone]
    machines = [each for each in requests if not each.alone]
    assert all(isinstance(each, SoftwareRequest) for each in software)
    timed = [(*run, degree) for degree in (16, 64) for run in (("kosaraju", 1), ("hong", 5))]
    assert [(each.algorithm, each.threads, each.graph.degree) for each in software] == timed
    assert all(isinstance(each, SccRequest) for each in machines)
    runs = [(preset, "fixed:75", degree) for degree in (16, 64) for preset in ("published", "hc2")]
    assert [(each.preset, each.memory, each.graph.degree) for each in machines] == runs


def test_figure_12() -> None:
    found = grid("fig12", [(16, 32), (64, 32), (128, 32)], max_edges=2048)
    points = found.document.pop("points")
    assert found.document == {
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
    assert points[1]["cycles"] == {"searches": 150_000, "intersections": 60_000}, "wall time is in no cycle"
    assert found.answer.title == "Figure 12: time for strongly connected components"
    assert found.answer.facts["software"] == "Abacus 2000, 5 cores; the paper's was a Xeon X5670 with 12 threads"
    assert found.answer.said[1:] == ["Left out, more than 2^11 edges: degree 128 with 2^5 vertices."]
    assert found.cells("points")[:2] == [
        ["32", "16", "kosaraju", "4.000", "1.500", "0.500", "6.000", "1.00"],
        ["32", "16", "published", "1.000", "0.400", "0.100", "1.500", "4.00"],
    ]


def test_figure_13() -> None:
    found = grid("fig13", [(16, 32)])
    assert found.document["figure"] == "fig13"
    assert len(found.answer.said) == 1, "nothing is left out"
    assert found.cells("points") == [
        ["32", "16", "published", "6.000", "1.500", "4.00"],
        ["32", "16", "hong", "6.000", "4.000", "1.50"],
    ]


def test_the_processor_has_a_name() -> None:
    assert re.search(r"\w", processor_name())
    assert "\n" not in processor_name()
