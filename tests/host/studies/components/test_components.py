"""Figures 12 and 13, from made-up measurements."""

import re
from collections.abc import Iterable
from typing import Any

import pytest

import host.studies.reproduction.components as components
from host.measuring.processor import cores, processor_name
from host.studies.reproduction.components import measure_components, speed_up_document, time_document
from host.studies.reproduction.components_report import speed_up_markdown, time_markdown
from host.studies.reproduction.measure_scc import SccRequest, SoftwareRequest
from tests.host.studies.reproduction.results import component_times

OPTIONS: dict[str, Any] = {"most": 1 << 10, "memory": "hc2", "seed": 9, "version": "1.2"}


@pytest.fixture(autouse=True)
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "processor_name", lambda: "Abacus 2000")
    monkeypatch.setattr(components, "cores", lambda: 5)


class FakeCampaign:
    """Remembers what it was asked for, and returns it as the result."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[Any], bool]] = []

    def measure(self, requests: Iterable[Any], *, alone: bool = False) -> dict[Any, Any]:
        wanted = list(requests)
        self.asked.append((wanted, alone))
        return {request: {"request": request} for request in wanted}


def test_software_is_measured_first_and_alone() -> None:
    campaign = FakeCampaign()
    times = measure_components(
        campaign,  # type: ignore[arg-type]  # what is used of it
        [(16, 32), (64, 32)],
        configs=("published", "hc2"),
        memory="fixed:75",
        seed=9,
        hong=True,
    )
    (software, alone), (machines, beside) = campaign.asked
    assert (alone, beside) == (True, False)
    assert all(isinstance(each, SoftwareRequest) for each in software)
    assert [(each.algorithm, each.threads, each.graph.degree) for each in software] == [
        ("kosaraju", 1, 16),
        ("kosaraju", 1, 64),
        ("hong", 5, 16),
        ("hong", 5, 64),
    ]
    assert all(isinstance(each, SccRequest) for each in machines)
    assert [(each.preset, each.memory, each.graph.degree) for each in machines] == [
        ("published", "fixed:75", 16),
        ("hc2", "fixed:75", 16),
        ("published", "fixed:75", 64),
        ("hc2", "fixed:75", 64),
    ]
    assert [each.graph for each in times] == [software[0].graph, software[1].graph]
    assert times[1].machines["hc2"] == {"request": machines[3]}
    assert times[1].software == {"request": software[1]}
    assert times[1].hong == {"request": software[3]}


def test_figure_12() -> None:
    document = time_document(component_times((16, 32), (64, 32), hong=False), [(64, 64)], **OPTIONS)
    points = document.pop("points")
    assert document == {
        "figure": "fig12",
        "version": "1.2",
        "memory": "hc2",
        "clock_hz": 150e6,
        "seed": 9,
        "kind": "random",
        "max_edges": 1024,
        "processor": "Abacus 2000",
        "cores": 5,
        "left_out": [{"degree": 64, "vertices": 64}],
    }
    assert [(point["degree"], point["series"]) for point in points] == [
        (16, "kosaraju"),
        (16, "published"),
        (64, "kosaraju"),
        (64, "published"),
    ]
    assert points[0]["milliseconds"] == pytest.approx({"searches": 4, "intersections": 1.5, "starts": 0.5})
    assert points[0]["total"] == pytest.approx(6)
    assert points[1]["milliseconds"] == pytest.approx({"searches": 1, "intersections": 0.4, "starts": 0.1})
    assert points[1]["total"] == pytest.approx(1.5)
    assert points[1]["cycles"] == {"searches": 150_000, "intersections": 60_000}, "wall time is in no cycle"
    text = time_markdown({**document, "points": points})
    assert text.startswith("# Figure 12: time for strongly connected components\n")
    assert "Software: Abacus 2000, 5 cores; the paper's was a Xeon X5670 with 12 threads.\n" in text
    assert "Left out, more than 2^10 edges: degree 64 with 2^6 vertices.\n" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == ["degree", "series", "BFS", "intersection", "search for a start", "total", "speed-up"]
    assert rows[2:4] == [
        ["16", "kosaraju", "4.000", "1.500", "0.500", "6.000", "1.00"],
        ["16", "published", "1.000", "0.400", "0.100", "1.500", "4.00"],
    ]


def test_figure_13() -> None:
    document = speed_up_document(component_times((16, 32), hong=True), [], **OPTIONS)
    assert document["figure"] == "fig13"
    assert [(p["series"], p["milliseconds"], p["kosaraju"], p["speed_up"]) for p in document["points"]] == [
        ("published", pytest.approx(1.5), pytest.approx(6), pytest.approx(4)),
        ("hong", pytest.approx(4), pytest.approx(6), pytest.approx(1.5)),
    ]
    text = speed_up_markdown(document)
    assert "Left out" not in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == ["degree", "Kosaraju (ms)", "published (ms)", "speed-up", "hong (ms)", "speed-up"]
    assert rows[2] == ["16", "6.000", "1.500", "4.00", "4.000", "1.50"]


def test_the_processor_has_a_name() -> None:
    assert re.search(r"\w", processor_name())
    assert "\n" not in processor_name()
    assert cores() >= 1
