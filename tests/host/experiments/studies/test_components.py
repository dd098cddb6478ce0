"""Figures 12 and 13, from made-up measurements."""

import re

import pytest

from cyscc.host.experiments.measuring.machines import SccRequest
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.runs.environment import processor_name
from tests.host.experiments.studies.results import grid, patch_computer


def test_software_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_computer(monkeypatch)
    requests = grid("fig13", [(16, 32), (64, 32)], configs=("published", "hc2"), memory="fixed:75").requests
    software = [each for each in requests if each.alone]
    machines = [each for each in requests if not each.alone]
    assert all(isinstance(each, SoftwareRequest) for each in software)
    timed = [(*run, degree) for degree in (16, 64) for run in (("kosaraju", 1), ("hong", 5))]
    assert [(each.algorithm, each.threads, each.graph.degree) for each in software] == timed
    assert all(isinstance(each, SccRequest) for each in machines)
    runs = [(preset, "fixed:75", degree) for degree in (16, 64) for preset in ("published", "hc2")]
    assert [(each.preset, each.memory, each.graph.degree) for each in machines] == runs


def test_wall_time_is_in_no_cycle_and_what_is_left_out_is_said() -> None:
    found = grid("fig12", [(16, 32), (128, 32)], max_edges=2048)
    points = {point["series"]: point for point in found.document["points"]}
    assert points["published"]["cycles"] == {"searches": 150_000, "intersections": 60_000}
    assert points["published"]["total"] == pytest.approx(1.5)
    assert found.answer.said[1:] == ["Left out, more than 2^11 edges: degree 128 with 2^5 vertices."]
    assert len(grid("fig13", [(16, 32)]).answer.said) == 1, "nothing is left out"


def test_the_processor_has_a_name() -> None:
    assert re.search(r"\w", processor_name())
    assert "\n" not in processor_name()
