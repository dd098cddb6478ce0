"""Tables and figures of the papers: what was typed in, what they ask for, and what is measured on small graphs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.measuring.runs import BfsRequest
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.experiments.studies import paper, rows, wijs
from cyscc.host.experiments.studies.catalogue import (
    COMPONENT_MACHINES,
    REPRODUCTIONS,
    SEARCH_MACHINES,
    preset_of,
    study_of,
)
from cyscc.host.experiments.studies.rows import PAPERS, printed
from cyscc.host.experiments.studies.software import GENERATED, NETWORKS, REAL, ROWS, row_of
from cyscc.host.experiments.studies.wijs import PUBLISHED
from cyscc.host.output.errors import InputError
from cyscc.host.specification.ask import SpecError
from cyscc.hw.config import PRESETS
from tests.host.experiments.studies.results import (
    FakeMeasurements,
    Made,
    grid,
    li_made_up,
    made,
    made_up,
    quach_made_up,
    study,
)
from tests.refusals import refused


def asked(name: str, *, quick: bool = False, **given: Any) -> dict[str, Any]:
    """Return the fields of the study of a reproduction, but for what every one has."""
    found = vars(study_of(name, given, quick=quick))
    return {name: value for name, value in found.items() if name not in ("threads", "seed", "figure", "memory")}


def test_fields_are_the_defaults_and_quick_ones() -> None:
    # Which they are says the help of the command, which is pinned.
    for name, about in REPRODUCTIONS.items():
        own = asked(name)
        assert own.items() >= {each: about.options[each] for each in own if each in about.options}.items()
        if about.quick:
            assert asked(name, quick=True) == {**own, **about.quick} != own
    assert {name for name, about in REPRODUCTIONS.items() if "seed" not in about.options} == {"vhdl", "dram"}


def test_vertices_of_a_figure() -> None:
    for name, least in (("table1", 1 << 4), ("li-fig2", 10)):
        for value in (least, 1 << 25):
            assert asked(name, vertices=value)["vertices"] in (value, (value,))
        for value in (least - 1, (1 << 25) + 1):
            with pytest.raises(ValueError, match=r"must be "):
                asked(name, vertices=(value,))
    with refused(SpecError, "the figure has one number of vertices"):
        asked("li-fig3", vertices=(16, 32))


def numbers(value: Any) -> Iterator[float]:
    """Yield all numbers in a table."""
    match value:
        case int() | float():
            yield value
        case dict():
            yield from numbers(list(value.values()))
        case list() | tuple():
            for each in value:
                yield from numbers(each)


FPGAS = [paper.DEVICES, paper.PUBLISHED, paper.PUBLISHED_BFS, paper.PUBLISHED_LESS_VENDOR, paper.BAR]


@pytest.mark.parametrize(
    ("name", "count", "total"),
    [
        ("FPGAs", 18, 1_802_161),
        ("attia-table1", 32, 273.893),
        ("li-fig2", 21, 176_225),
        ("li-fig3", 10, 33309),
        ("li-table2", 84, 14_080.2),
        ("quach-table1", 18, 315_272.97),
        ("quach-table2", 126, 15_983_978.99),
        ("wijs-table1", 90, 6855.04),
        ("wijs-table2", 20, 2576.97),
        ("models", 35, 892_186),
    ],
)
def test_tables_have_the_sums_of_the_printed_ones(name: str, count: int, total: float) -> None:
    tables: dict[str, Any] = {"FPGAs": FPGAS, "models": [(each.sizes, each.quick) for each in wijs.MODELS]}
    texts = ("name", "files", "model", "components", "kind")
    found = list(numbers(tables[name] if name in tables else printed(name, texts=texts)))
    assert (len(found), round(sum(found), 3)) == (count, total)


def test_every_table_names_its_source_and_has_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (*PAPERS.glob("*.csv"), *PAPERS.glob("*-table*.toml")):
        source = r"# \w+ et al\. 20\d\d, (tables? [\dI]+|figure \d)( and (figure )?\d)?, section \d(\.\d)?: "
        assert re.match(source, path.read_text())
    (tmp_path / "wrong.csv").write_text("# Someone et al. 2013\nname,depth\na,1\nb,12k\n")
    monkeypatch.setattr(rows, "PAPERS", tmp_path)
    with pytest.raises(InputError) as caught:
        printed("wrong")
    assert str(caught.value) == f"{tmp_path / 'wrong.csv'}:4: '12k' is no number"


def test_every_machine_has_presets_that_can_do_its_work() -> None:
    for machine in SEARCH_MACHINES:
        one, four = (PRESETS[preset_of(machine, engines)] for engines in (1, 4))
        assert (one.engines, four.engines) == (1, 4)
        assert one == four.replace(engines=1, ring_stages=one.ring_stages)
    assert not any(PRESETS[preset].bfs_only for preset in COMPONENT_MACHINES.values())


def test_bounds() -> None:
    found = study("fig10", vertices=(16, 32, 64), degrees=(2, 4), max_edges=128)
    assert found.graphs() == [(2, 16), (2, 32), (2, 64), (4, 16), (4, 32)]
    with pytest.raises(InputError, match=r"^no graph has at most 31 edges: the smallest one has 32 \(--max-edges\)$"):
        study("fig10", vertices=(16, 32), degrees=(2, 4), max_edges=31).graphs()
    assert study("fig10", vertices=(16,), degrees=(2,), max_edges=32).graphs() == [(2, 16)]


def test_degrees_that_the_paper_has_not() -> None:
    def result(each: BfsRequest) -> dict[str, Any]:
        return made_up(each, gteps=each.graph.vertices / 100)

    found = grid("fig10", [(8, 16), (9, 32)], result, max_edges=256)
    assert [
        (p["degree"], p["vertices"], p["engines"], p["simulated"], p["paper"], p["ratio"])
        for p in found.document["points"][2:6]
    ] == [
        (8, 32, 1, 0.32, 0.504, pytest.approx(0.32 / 0.504)),
        (8, 32, 4, 0.32, 1.949, pytest.approx(0.32 / 1.949)),
        (9, 16, 1, 0.16, None, None),
        (9, 16, 4, 0.16, None, None),
    ]
    assert found.cells("points")[4] == ["published", "9", "16", "1", "", "0.160", "", ""]


REPLACED = "A G(n, m) graph stands for each of the paper's graphs that was not given"


def test_graphs_of_the_user(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("Amazon-2008.mtx.gz", "mine.txt")]
    for path in paths:
        path.write_text("0 1\n")
    found = made("li-table2", li_made_up, vertices=(), graphs=paths, device="cuda")
    assert [(row["graph"], row["kind"], row["paper"]) for row in found.document["rows"]] == [
        ("Amazon-2008", None, REAL[0]),
        ("mine", None, None),
    ]
    assert {(each.device, each.threads) for each in found.requests if each.algorithm != "tarjan"} == {("cuda", 1)}
    assert found.answer.facts["li and fbt"] == "cuda"
    assert str(tmp_path) not in str(found.document)
    assert not any(line.startswith(REPLACED) for line in found.answer.said)
    figure_6 = made("li-fig6", li_made_up, graphs=paths)
    assert [row["stands_for"] for row in figure_6.document["rows"]] == [None, None, *(row["name"] for row in REAL[1:])]
    last = figure_6.requests[-1].graph
    assert (last.kind, last.vertices, last.edges) == ("gnm", 700_000, 6_000_000)
    assert figure_6.document["rows"][-1]["paper"]["name"] == "pre2"
    assert any(line.startswith(REPLACED) for line in figure_6.answer.said)
    quick = made("li-fig6", li_made_up, quick=True)
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


def table(number: int, result: Any = quach_made_up, **options: Any) -> Made:
    return made(f"quach-table{number}", result, **{"pivots": 5, "threads": 2, **options})


def test_networks_of_the_user(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("CA-GrQc.txt.gz", "mine.mtx")]
    for path in paths:
        path.write_text("0 1\n")
    rows = table(1, lambda request: {**quach_made_up(request), "seconds": 0.003}, graphs=paths).document["rows"]
    assert [(row["graph"], row["stands_for"], row["paper"] and row["paper"]["tarjan"]) for row in rows] == [
        ("CA-GrQc", None, 837),
        ("mine", None, None),
        ("G(n, m) for e-mail", "e-mail", 3049),
        ("G(n, m) for Internet", "Internet", 175),
    ]


def test_the_published_ratios_are_those_of_the_published_times() -> None:
    for row in (*NETWORKS, *printed("quach-table2")):
        assert row["ratio"] == pytest.approx(row["tarjan"] / row["quach"], abs=0.05)
        assert row["prune"] < row["quach"]


def test_what_was_typed_in_agrees_with_the_papers_text_and_with_itself() -> None:
    # "Speedups up to 79 times were measured."
    speed_ups = sorted(row["mecs"]["basic"] / row["mecs"]["parallel"] for row in PUBLISHED)
    assert 78 < speed_ups[-3] < 79.1
    assert speed_ups[-1] == pytest.approx(81.5, abs=0.1)
    for row in PUBLISHED:  # diningcrypt and phil_1ss are rounded
        assert row["transitions"] / row["states"] == pytest.approx(row["degree"], abs=0.02)
        assert row["model"] == row["mecs"]["model"]


def test_components_of_models_of_some_states() -> None:
    found = {}

    def measured(request: SoftwareRequest) -> dict[str, Any]:
        found[request.graph] = request.graph.generate()
        return request.measure(found[request.graph], verify=True)

    rows = made("wijs-table1", measured, models=("random", "walk"), quick=True, threads=2, seed=3).document["rows"]
    one, walk = rows
    assert one["vertices"] == walk["vertices"] == 2048
    assert one["components"] < 60, "a giant component"
    assert walk["components"] > 1900, "nearly all by themselves"
    assert walk["degree"] == 1
    for row, graph in zip(rows, found.values(), strict=True):
        assert row["edges"] == graph.edges
        assert all(counts["edges"] > 0 for counts in row["counts"].values())
        assert all(seconds > 0 for seconds in row["seconds"].values())


def test_end_components_of_models_of_some_states() -> None:
    def measured(request: MecRequest | SoftwareRequest) -> dict[str, Any]:
        graph: Any = None if isinstance(request, MecRequest) else request.graph.generate()
        result = request.measure(graph, verify=True)
        assert result["verified"] is True
        assert 1 <= result["runs"] <= 3
        assert "ms, best of" in request.summary(result)
        return result

    rows = made("wijs-table2", measured, models=("islands", "walk"), quick=True, threads=2, seed=3).document["rows"]
    islands, walk = rows
    assert (islands["mecs"], islands["in_mecs"], islands["rounds"]) == (401, 2001, 2)
    assert walk["states"] == walk["choices"] == walk["transitions"] == 2048
    assert walk["rounds"] == 1
    assert 0 < walk["in_mecs"] < 300
    for row in rows:
        assert all(seconds > 0 for seconds in row["seconds"].values())
        assert all(count > 0 for count in row["counts"].values())
