"""Tables 1 and 2 of Quach et al. 2012, from made-up measurements."""

from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.quach import TABLE1, TABLE2, Table1, Table2
from cyscc.host.experiments.studies.run_times import REPLACED
from cyscc.host.output.files import version
from tests.host.experiments.studies.results import FakeMeasurements

COUNTS = {
    "edges": 70_000,
    "edges_pruning": 20_000,
    "edges_by_pivot": 90_000,
    "passes": 17,
    "prune_rounds": 4,
    "levels": 11,
    "pruned": 30,
    "components_searched": 2,
    "pivots_wasted": 9,
}


def made_up(request: SoftwareRequest) -> dict[str, Any]:
    if request.algorithm == "tarjan":
        assert isinstance(request.graph, GraphSpec | GraphFile)
        return {"seconds": request.graph.vertices * 1e-6, "counts": {}}
    sizes = {"vertices": 500, "edges": 1500, "components": 40}
    return {"seconds": 0.004 if ("as-printed", 1) in request.options else 0.002, "counts": COUNTS, **sizes}


@pytest.fixture
def measurements() -> Any:
    return FakeMeasurements(made_up)


@pytest.fixture(autouse=True)
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.experiments.studies.quach.processor_name", lambda: "Abacus 2000")


def document_of(measurements: Any, *, most: int = 1_000_000, device: str = "cpu") -> dict[str, Any]:
    return Table2(most=most, pivots=5, device=device, threads=2, seed=9).document(measurements)


def networks(measurements: Any, **changes: Any) -> dict[str, Any]:
    """Return the document of table 1."""
    return Table1(**{"pivots": 5, "device": "cpu", "threads": 2, "seed": 9, **changes}).document(measurements)


def test_table_1(measurements: Any, tmp_path: Path) -> None:
    document = networks(measurements)
    sizes = [(each.graph.kind, each.graph.vertices, each.graph.edges) for each in measurements.requests[::3]]
    assert sizes == [("gnm", row.vertices, row.edges) for row in TABLE1.values()]
    printed = (("pivots", 5), ("as-printed", 1))
    ways = [(each.algorithm, each.threads, each.options) for each in measurements.requests[:3]]
    assert ways == [("tarjan", 1, ()), ("quach", 2, printed), ("quach", 2, printed[:1])]
    row = document["rows"][0]
    assert (row["graph"], row["stands_for"]) == ("G(n, m) for collaboration", "collaboration")
    assert row["paper"] == {"tarjan": 837, "quach": 766, "ratio": 1.09, "prune": 0}
    answer = Table1.answer_of(document)
    times = ["500", "1,500", "40", "5.24", "4.00", "1.31", "2.00", "837", "766", "1.09"]
    assert answer.tables["rows"].cells()[0] == ["G(n, m) for collaboration", *times]
    counts = ["4", "30", "11", "2", "9", "20,000", "70,000", "90,000", "14"]
    assert answer.tables["counts"].cells()[-1] == ["G(n, m) for Internet", "500", "1,500", *counts]
    assert REPLACED in answer.said
    assert answer.facts == {
        "tarjan": "one thread of Abacus 2000",
        "quach": "2 threads, 5 pivots at a time",
        "the text's": "Core 2 Duo E6850 and GeForce GTX 560 Ti",
        "G(n, m) graphs": "seed 9",
    }


def test_networks_of_the_user(tmp_path: Path) -> None:
    measurements: Any = FakeMeasurements(lambda request: {**made_up(request), "seconds": 0.003})
    paths = [tmp_path / name for name in ("CA-GrQc.txt.gz", "mine.mtx")]
    for path in paths:
        path.write_text("0 1\n")
    rows = networks(measurements, graphs=paths)["rows"]
    assert [(row["graph"], row["stands_for"], row["paper"] and row["paper"]["tarjan"]) for row in rows] == [
        ("CA-GrQc", None, 837),
        ("mine", None, None),
        ("G(n, m) for e-mail", "e-mail", 3049),
        ("G(n, m) for Internet", "Internet", 175),
    ]


def test_what_is_measured(measurements: Any) -> None:
    document_of(measurements, most=1000)
    asked = [
        (each.graph.kind, each.graph.vertices, each.graph.edges, each.graph.seed) for each in measurements.requests
    ]
    sizes = [(100, 100), (100, 130), (100, 200), (1000, 2000)]
    assert asked == [("gnm", vertices, edges, 9) for vertices, edges in sizes for _ in range(2)]
    ways = [(each.algorithm, each.threads, each.device, each.options) for each in measurements.requests]
    printed = (("pivots", 5), ("as-printed", 1))
    assert ways == [("tarjan", 1, "cpu", ()), ("quach", 2, "cpu", printed)] * 4
    measurements.requests.clear()
    document_of(measurements, device="cuda")
    assert len(measurements.requests) == 2 * len(TABLE2) == 42
    places = [(each.algorithm, each.threads, each.device) for each in measurements.requests[:2]]
    assert places == [("tarjan", 1, "cpu"), ("quach", 1, "cuda")]


def test_document(measurements: Any) -> None:
    document = document_of(measurements)
    rows = document.pop("rows")
    assert document == {
        "figure": "quach-table2",
        "version": version(),
        "processor": "Abacus 2000",
        "device": "cpu",
        "threads": 2,
        "pivots": 5,
        "seed": 9,
    }
    assert rows[4] == {
        "vertices": 10_000,
        "edges": 1_000,
        "tarjan": pytest.approx(10),
        "quach": pytest.approx(4),
        "ratio": pytest.approx(2.5),
        "counts": COUNTS,
        "paper": {"tarjan": 131, "quach": 145, "ratio": 0.90, "prune": 4},
    }


def test_the_published_ratios_are_those_of_the_published_times() -> None:
    for row in (*TABLE1.values(), *TABLE2):
        assert row.ratio == pytest.approx(row.tarjan / row.quach, abs=0.05)
        assert row.prune < row.quach


def test_tables_of_table_2(measurements: Any) -> None:
    answer = Table2.answer_of(document_of(measurements))
    assert answer.title == "Table 2 of Quach et al. 2012: concurrent pivots against Tarjan's algorithm"
    expected = ["1,000,000", "1,000,000", "1000.00", "4.00", "250.00", "12,589", "1,300", "9.68"]
    assert answer.tables["rows"].cells()[18] == expected
    counts = ["4", "30", "11", "2", "9", "20,000", "70,000", "90,000"]
    assert answer.tables["counts"].cells()[18] == ["1,000,000", "1,000,000", *counts, "510"]


def test_no_machine_is_simulated(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "quach-table2", "--memory", "hc2"]) == 2
    assert "--memory: quach-table2 has no such option: it has --quick --pivots 10" in capfd.readouterr().err
    assert main(["reproduce", "quach-table2", "--pivots", "99"]) == 2
    assert "argument --pivots: must be " in capfd.readouterr().err
