"""Figures 2 and 3 and table 2 of Li et al., from made-up measurements and from small graphs."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS
from cyscc.host.experiments.studies.li import (
    FIGURE2,
    FIGURE3,
    PARTITION,
    SINGLE,
    TABLE2,
    TENTH,
    Degrees,
    Sources,
    Times,
    row_of,
)
from cyscc.host.output.files import version
from tests.host.experiments.studies.results import FakeMeasurements

PRINTED = ("as-printed", 1)
COUNTS = {"depth": 260, "queries": 1000, "edges": 2000, "passes": 300, "subgraphs": 800}


def made_up(request: Any) -> dict[str, Any]:
    """Return a result: 40 ms of li, 60 ms of Tarjan's algorithm."""
    if request.algorithm == "tarjan":
        return {"seconds": 0.06, "counts": {}, "verified": True}
    return {"seconds": 0.04, "counts": COUNTS, "verified": True}


@pytest.fixture
def measurements() -> Any:
    return FakeMeasurements(made_up)


def table(text: str, number: int = 0) -> list[list[str]]:
    """Return the cells of a table of a Markdown text."""
    part = [part for part in text.split("\n\n") if part.startswith("|")][number]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()]


def test_figure_2_asks_for_both_series(measurements: Any) -> None:
    document = Degrees(figure="li-fig2", vertices=100_000, seed=3).document(measurements)
    asked = [(each.graph.degree, each.options, each.threads, each.algorithm) for each in measurements.requests]
    each_degree = ((("sources", 0), PRINTED), (PRINTED,), (("sources", 10_000), PRINTED))
    assert asked == [(degree, options, 1, "li") for degree in range(7) for options in each_degree]
    assert {(each.graph.kind, each.graph.vertices, each.graph.seed) for each in measurements.requests} == {
        ("random", 100_000, 3)
    }
    points = document["points"]
    assert (document["figure"], document["version"], document["seed"]) == ("li-fig2", version(), 3)
    assert [(each["degree"], each["paper"]) for each in points if each["series"] == SINGLE] == [
        (degree, single) for degree, (single, _) in FIGURE2.items()
    ]
    for series in (PARTITION, TENTH):
        assert [each["paper"] for each in points if each["series"] == series] == [both for _, both in FIGURE2.values()]
    assert {(each["depth"], each["milliseconds"], each["verified"]) for each in points} == {(260, 40.0, True)}
    text = Degrees.markdown(document)
    assert text.startswith("# Figure 2 of Li et al. 2013: recursion depth\n")
    assert "random graphs of 100,000 vertices, seed 3; one thread." in text
    first, second = table(text), table(text, 1)
    assert first[0] == ["degree", "paper", "measured", "ratio", "queries", "edges", "passes", "ms"]
    assert first[2] == ["0", "100,000", "260", "0.00", "1,000", "2,000", "300", "40.0"]
    assert second[2][:4] == ["0", "203", "260", "1.28"]


def test_figure_3_scales_its_sources(measurements: Any) -> None:
    document = Sources(figure="li-fig3", vertices=100_000, seed=1).document(measurements)
    assert [(each["sources"], each["paper"]) for each in document["points"]] == list(FIGURE3.items())
    small = Sources(figure="li-fig3", vertices=500, seed=1).document(measurements)
    assert [(each["sources"], each["paper"]) for each in small["points"]] == [
        (sources, None) for sources in (1, 5, 25, 40, 50)
    ]
    assert [each.options for each in measurements.requests[5:]] == [
        (("sources", sources), PRINTED) for sources in (1, 5, 25, 40, 50)
    ]
    assert table(Degrees.markdown(small))[2][:4] == ["1", "–", "260", "–"]


def test_table_2(measurements: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.experiments.studies.li.available_cores", lambda: 5)
    monkeypatch.setattr("cyscc.host.experiments.studies.li.processor_name", lambda: "Abacus 2000")
    document = Times(vertices=(1 << 20, 1 << 10), seed=2).document(measurements)
    asked = [(each.graph.kind, each.graph.degree, each.algorithm, each.threads) for each in measurements.requests]
    kinds = (("random", 12), ("rmat", 12), ("ssca2", 30))
    runs = (("li", 5), ("tarjan", 1))
    assert asked == [(*kind, *run) for kind in kinds for _ in range(2) for run in runs]
    first, other = document["rows"][2:4]
    assert (first["kind"], first["milliseconds"], first["tarjan"]) == ("rmat", 40.0, 60.0)
    assert first["speed_up"] == pytest.approx(1.5)
    assert first["paper"] == {"milliseconds": 35, "depth": 560, "tarjan": 295}
    assert other["paper"] is None
    text = Times.markdown(document)
    assert "Software: Abacus 2000, 5 cores; the paper's was a GeForce GTX 480" in text
    assert table(text)[4] == ["rmat", "2^20", "12", "40.0", "60.0", "1.50", "260", "2,000", "35", "295", "8.43", "560"]
    assert table(text)[5][-4:] == ["–"] * 4


def test_rows_of_the_paper_are_those_of_whole_millions() -> None:
    for (kind, degree), rows in TABLE2.items():
        assert tuple(row_of(kind, degree, millions << 20) for millions in range(5)) == (None, *rows, None)
        assert row_of(kind, degree, (1 << 20) + 1) is None


def measured(request: Any) -> dict[str, Any]:
    """Measure at once, in this process."""
    result: dict[str, Any] = request.measure(request.graph.generate(), verify=True)
    return result


@pytest.mark.parametrize(("name", "vertices"), [("li-fig2", "64"), ("li-fig3", "64"), ("li-table2", "2^6")])
def test_small_graphs_are_measured(name: str, vertices: str, tmp_path: Path) -> None:
    (study,) = (each for each in REPRODUCTIONS if each.name == name)
    parser = argparse.ArgumentParser()
    study.options(parser)
    given = vars(parser.parse_args(["--vertices", vertices]))
    measurements: Any = FakeMeasurements(measured)
    report = study.asked({**given, "figure": study.name, "seed": 1}).report(measurements)
    assert {path.name for path in report.write(tmp_path, study.name)} == {
        f"{study.name}.{suffix}" for suffix in ("json", "md", "svg")
    }
    document = report.document
    assert document["figure"] == study.name
    rows = document["rows" if name == "li-table2" else "points"]
    assert len(rows) == {"li-fig2": 21, "li-fig3": 5, "li-table2": 3}[study.name]
    for row in rows:
        assert row["verified"] is True
        assert 1 <= row["counts"]["depth"] <= 128
        assert row["milliseconds"] > 0
