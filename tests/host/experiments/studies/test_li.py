"""Figures 2, 3, 5 and 6 and table 2 of Li et al., from made-up measurements and from small graphs."""

from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.catalogue import study_of
from cyscc.host.experiments.studies.software import GENERATED, REAL, ROWS, row_of
from cyscc.host.output.errors import InputError
from tests.host.experiments.studies.results import FakeMeasurements, made

PRINTED = ("as-printed", 1)
COUNTS = {"depth": 260, "queries": 1000, "edges": 2000, "passes": 300, "subgraphs": 800}
REPLACED = "A G(n, m) graph stands for each of the paper's graphs that was not given"


def made_up(request: Any) -> dict[str, Any]:
    """Return a result: 40 ms of li, 60 ms of Tarjan's algorithm."""
    seconds = {"tarjan": 0.06, "fbt": 0.05, "li": 0.04 if PRINTED in request.options else 0.02}[request.algorithm]
    sizes = {"vertices": 1000, "edges": 12_000, "components": 16}
    return {"seconds": seconds, "counts": COUNTS, "verified": True, **sizes}


def test_graphs_of_the_user(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("Amazon-2008.mtx.gz", "mine.txt")]
    for path in paths:
        path.write_text("0 1\n")
    found = made("li-table2", made_up, vertices=(), graphs=paths, device="cuda")
    assert [(row["graph"], row["kind"], row["paper"]) for row in found.document["rows"]] == [
        ("Amazon-2008", None, REAL[0]),
        ("mine", None, None),
    ]
    assert {(each.device, each.threads) for each in found.requests if each.algorithm != "tarjan"} == {("cuda", 1)}
    assert found.answer.facts["li and fbt"] == "cuda"
    assert str(tmp_path) not in str(found.document)
    assert not any(line.startswith(REPLACED) for line in found.answer.said)
    figure_6 = made("li-fig6", made_up, graphs=paths)
    assert [row["stands_for"] for row in figure_6.document["rows"]] == [None, None, *(row["name"] for row in REAL[1:])]
    last = figure_6.requests[-1].graph
    assert (last.kind, last.vertices, last.edges) == ("gnm", 700_000, 6_000_000)
    assert figure_6.document["rows"][-1]["paper"]["name"] == "pre2"
    assert any(line.startswith(REPLACED) for line in figure_6.answer.said)
    quick = made("li-fig6", made_up, quick=True)
    assert quick.requests[-1].graph.vertices == 7_000
    assert {row["paper"] for row in quick.document["rows"]} == {None}


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
        made("li-fig6", graphs=[tmp_path / "none.mtx"])


def test_what_was_typed_in_agrees_with_the_papers_text() -> None:
    rows = [row for row in ROWS.values() if row["barnat"]]
    # "Up to 41x speedup over Tarjan's algorithm, and up to 3.8x speedup over the previous GPU algorithms."
    assert int(max(row["tarjan"] / row["milliseconds"] for row in rows)) == 41
    assert max(row["barnat"] / row["milliseconds"] for row in rows) == pytest.approx(3.8, abs=0.05)
    # "2.0x to 11x speedup over Tarjan's algorithm" on real graphs.
    ratios = [row["tarjan"] / row["milliseconds"] for row in REAL]
    assert (len(REAL), round(min(ratios), 1), int(max(ratios))) == (6, 2.0, 11)


def test_rows_of_the_paper_are_those_of_whole_millions() -> None:
    for (kind, degree), name in GENERATED.items():
        rows = [ROWS[f"{name}{millions}"] for millions in (1, 2, 3)]
        assert [row["vertices"] for row in rows] == [1, 2, 3]
        assert [row_of(kind, degree, millions << 20) for millions in range(5)] == [None, *rows, None]
        assert row_of(kind, degree, (1 << 20) + 1) is None


def measured(request: Any) -> dict[str, Any]:
    """Measure at once, in this process."""
    result: dict[str, Any] = request.measure(request.graph.generate(), verify=True)
    return result


@pytest.mark.parametrize(("name", "count"), [("li-fig2", 21), ("li-fig3", 5), ("li-fig5", 3)])
def test_small_graphs_are_measured(name: str, count: int, tmp_path: Path) -> None:
    measurements: Any = FakeMeasurements(measured)
    answer = study_of(name, {"vertices": 64}).answer(measurements)
    answer.plot(tmp_path / "figure.svg")
    assert answer.markdown().startswith(f"# {answer.title}\n")
    document = answer.document()
    assert document["figure"] == name
    rows = document["rows" if name == "li-fig5" else "points"]
    assert len(rows) == count
    for row in rows:
        assert row["verified"] is True
        assert 1 <= row["counts"]["depth"] <= 128
        assert row["milliseconds"] > 0
