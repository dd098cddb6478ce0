"""Figures 2, 3, 5 and 6 and table 2 of Li et al., from made-up measurements and from small graphs."""

from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.catalogue import study_of
from cyscc.host.experiments.studies.li import (
    FIGURE2,
    FIGURE3,
    PARTITION,
    REAL,
    SINGLE,
    TABLE2,
    TENTH,
    Degrees,
    RealRunTimes,
    Sources,
    Times,
    row_of,
)
from cyscc.host.experiments.studies.run_times import REPLACED
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import version
from tests.host.experiments.studies.results import FakeMeasurements

PRINTED = ("as-printed", 1)
COUNTS = {"depth": 260, "queries": 1000, "edges": 2000, "passes": 300, "subgraphs": 800}


def made_up(request: Any) -> dict[str, Any]:
    """Return a result: 40 ms of li, 60 ms of Tarjan's algorithm."""
    seconds = {"tarjan": 0.06, "fbt": 0.05, "li": 0.04 if PRINTED in request.options else 0.02}[request.algorithm]
    sizes = {"vertices": 1000, "edges": 12_000, "components": 16}
    return {"seconds": seconds, "counts": COUNTS, "verified": True, **sizes}


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
    answer = Degrees.answer_of(document)
    assert answer.title == "Figure 2 of Li et al. 2013: recursion depth"
    assert answer.facts == {"graphs": "uniform random, 100,000 vertices, seed 3"}
    cells = answer.tables["points"].cells()
    assert cells[0] == [SINGLE, "0", "100,000", "260", "0.00", "1,000", "2,000", "300", "40.0"]
    assert cells[1][:5] == [PARTITION, "0", "203", "260", "1.28"]


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
    assert Degrees.answer_of(small).tables["points"].cells()[0][:3] == [PARTITION, "1", "260"]


RUNS = [("li", (PRINTED,), 5), ("li", (), 5), ("fbt", (PRINTED,), 5), ("tarjan", (), 1)]


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.experiments.studies.li.processor_name", lambda: "Abacus 2000")


def times(measurements: Any, *, kind: type[Times] = Times, figure: str = "li-table2", **changes: Any) -> dict[str, Any]:
    """Return the document of a study of run times."""
    return kind(**{"figure": figure, "device": "cpu", "threads": 5, "seed": 2, **changes}).document(measurements)


@pytest.mark.usefixtures("processor")
def test_table_2(measurements: Any) -> None:
    document = times(measurements, vertices=(1 << 20, 1 << 10))
    asked = [
        (each.graph.kind, each.graph.degree, (each.algorithm, each.options, each.threads))
        for each in measurements.requests
    ]
    kinds = (("random", 12), ("rmat", 12), ("ssca2", 30))
    assert asked == [(*kind, run) for kind in kinds for _ in range(2) for run in RUNS]
    first, other = document["rows"][2:4]
    assert [first[name] for name in ("kind", "milliseconds", "additions", "fbt", "tarjan")] == ["rmat", 40, 20, 50, 60]
    assert first["speed_up"] == pytest.approx(1.5)
    assert first["paper"] == TABLE2["rmat", 12][0]._asdict()
    assert (first["paper"]["name"], first["paper"]["depth"], first["paper"]["barnat"]) == ("rmat1", 560, 36)
    assert other["paper"] is None
    answer = Times.answer_of(document)
    assert (answer.facts["li and fbt"], answer.facts["Tarjan"]) == ("5 threads", "one thread of Abacus 2000")
    here = ["rmat, 2^20 vertices", "40.0", "20.0", "50.0", "60.0", "1.50"]
    cells = answer.tables["rows"].cells()
    assert cells[2] == [*here, "35", "36", "295", "8.43"]
    assert cells[3][-4:] == [""] * 4
    sizes = ["1,000", "12,000", "16", "260", "2,000"]
    assert answer.tables["graphs"].cells()[2] == [here[0], *sizes, "rmat1", "1.0", "12.0", "0.48M", "560"]


def test_graphs_of_the_user(measurements: Any, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("Amazon-2008.mtx.gz", "mine.txt")]
    for path in paths:
        path.write_text("0 1\n")
    document = times(measurements, graphs=paths, device="cuda")
    assert [(row["graph"], row["kind"], row["paper"]) for row in document["rows"]] == [
        ("Amazon-2008", None, REAL[0]._asdict()),
        ("mine", None, None),
    ]
    assert {(each.device, each.threads) for each in measurements.requests if each.algorithm != "tarjan"} == {
        ("cuda", 1)
    }
    assert Times.answer_of(document).facts["li and fbt"] == "cuda"
    assert str(tmp_path) not in str(document)
    figure_6 = times(measurements, kind=RealRunTimes, figure="li-fig6", graphs=paths)
    assert [row["stands_for"] for row in figure_6["rows"]] == [None, None, *(row.name for row in REAL[1:])]
    last = measurements.requests[-1].graph
    assert (last.kind, last.vertices, last.edges, figure_6["rows"][-1]["paper"]["name"]) == (
        *("gnm", 700_000, 6_000_000),
        "pre2",
    )
    assert REPLACED in Times.answer_of(figure_6).said
    assert REPLACED not in Times.answer_of(document).said
    quick = times(measurements, kind=RealRunTimes, figure="li-fig6", quick=True)
    assert measurements.requests[-1].graph.vertices == 7_000
    assert {row["paper"] for row in quick["rows"]} == {None}


def test_files_are_known_by_their_contents(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    for path in (one, other):
        path.write_text("0 1\n1 0\n")
    inputs = [SoftwareRequest(graph=GraphFile.of(path), algorithm="li", threads=1).inputs() for path in (one, other)]
    assert inputs[0] == inputs[1]
    assert str(tmp_path) not in str(inputs)
    graph = GraphFile.of(one)
    assert graph.generate().edges == 2
    one.write_text("0 1\n")
    with pytest.raises(InputError, match="has changed since it was named"):
        graph.generate()
    with pytest.raises(InputError, match="cannot be read"):
        RealRunTimes(figure="li-fig6", graphs=[tmp_path / "none.mtx"], device="cpu", threads=1, seed=1).cases()


def test_what_was_typed_in_agrees_with_the_papers_text() -> None:
    rows = [row for own in TABLE2.values() for row in own]
    # "Up to 41x speedup over Tarjan's algorithm, and up to 3.8x speedup over the previous GPU algorithms."
    assert int(max(row.tarjan / row.milliseconds for row in rows)) == 41
    assert max(row.barnat / row.milliseconds for row in rows if row.barnat) == pytest.approx(3.8, abs=0.05)
    # "2.0x to 11x speedup over Tarjan's algorithm" on real graphs.
    ratios = [row.tarjan / row.milliseconds for row in REAL]
    assert (round(min(ratios), 1), int(max(ratios))) == (2.0, 11)


def test_rows_of_the_paper_are_those_of_whole_millions() -> None:
    for (kind, degree), rows in TABLE2.items():
        assert tuple(row_of(kind, degree, millions << 20) for millions in range(5)) == (None, *rows, None)
        assert row_of(kind, degree, (1 << 20) + 1) is None


def measured(request: Any) -> dict[str, Any]:
    """Measure at once, in this process."""
    result: dict[str, Any] = request.measure(request.graph.generate(), verify=True)
    return result


@pytest.mark.parametrize("name", ["li-fig2", "li-fig3", "li-fig5"])
def test_small_graphs_are_measured(name: str, tmp_path: Path) -> None:
    measurements: Any = FakeMeasurements(measured)
    answer = study_of(name, {"vertices": 64}).answer(measurements)
    answer.plot(tmp_path / "figure.svg")
    assert answer.markdown().startswith(f"# {answer.title}\n")
    document = answer.document()
    assert document["figure"] == name
    rows = document["rows" if name == "li-fig5" else "points"]
    assert len(rows) == {"li-fig2": 21, "li-fig3": 5, "li-fig5": 3}[name]
    for row in rows:
        assert row["verified"] is True
        assert 1 <= row["counts"]["depth"] <= 128
        assert row["milliseconds"] > 0
