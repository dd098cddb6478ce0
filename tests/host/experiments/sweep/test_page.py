"""Page and tables of a sweep, compared with its rows."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cyscc.host.answer.colours import STACK
from cyscc.host.experiments.sweep.definition import SweepStudy
from cyscc.host.experiments.sweep.outcome import Outcome
from cyscc.host.experiments.sweep.page import sweep_page
from cyscc.host.experiments.sweep.points import Swept
from cyscc.host.experiments.sweep.rows import Row
from cyscc.host.interface.sweep import Sweep
from cyscc.sim.observation.causes import cause_named
from tests.host.analysis.report.test_page import array, charts
from tests.host.experiments.sweep.studies import study_of

TEXT = """
title = "Depths & banks"
config = "test"
graph.vertices = "2^5"
graph.degree = 4
[grid]
word_depth = [16, 32, 64]
memory.bank_busy = [5, 40]
"""
CYCLES = (1200, 5000, 1000, 4000, 1100, 4000)
LUTS = (10_000, 9_000, 12_000, 12_000, 11_000, 20_000)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SweepStudy:
    monkeypatch.chdir(tmp_path)
    return study_of(TEXT)


def rows_of(study: SweepStudy, *, area: bool = True, failed: int = -1) -> list[Row]:
    """Return rows as of simulations, whose shares of causes are made up."""
    random = np.random.default_rng(1)
    rows = []
    for place, each in enumerate(study.points):
        row: Row = {**each.values, "point": each.point.digest, "status": "done", "reason": ""}
        row |= {"cycles": CYCLES[place], "gteps": 300 / CYCLES[place]}
        shares = random.dirichlet(np.ones(len(STACK)))
        row |= {f"bfs.{cause}": share for cause, share in zip(STACK, shares, strict=True)}
        if area:
            row |= {"luts": LUTS[place], "registers": LUTS[place] + 7, "block_ram": 36 * place}
        if place == failed:
            row = {**each.values, "point": each.point.digest, "status": "failed", "reason": "it broke"}
        rows.append(row)
    return rows


def name_of(row: Row) -> str:
    return f"word_depth={row['word_depth']}, memory.bank_busy={row['memory.bank_busy']}"


def facts_of(page: str, section: str) -> dict[str, list[str]]:
    """Return the cells of a section's table by the head of their row."""
    text = page.split(f'<section id="{section}"')[1].split("</section>")[0]
    found = {}
    for line in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL):
        cells = [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>.*?</t[hd]>", line)]
        found[cells[0]] = cells[1:]
    return found


def test_effects_are_drawn(study: SweepStudy) -> None:
    rows = rows_of(study)
    drawn = charts(sweep_page(study, rows))
    cycles = np.array(CYCLES).reshape(3, 2)
    factors = {
        "memory.bank_busy": np.exp(np.log(cycles.max(axis=1) / cycles.min(axis=1)).mean()),
        "word_depth": np.exp(np.log(cycles.max(axis=0) / cycles.min(axis=0)).mean()),
    }
    (trace,) = drawn["effect-factors"]["data"]
    assert trace["y"] == list(factors)
    assert array(trace["x"]) == pytest.approx(list(factors.values()))
    best = {"memory.bank_busy": 5, "word_depth": 32}
    assert trace["text"] == [f"{factor:.2f}, best: {best[name]}" for name, factor in factors.items()]
    busy, depth = drawn["effect-0"]["data"], drawn["effect-1"]["data"]
    assert [each["name"] for each in busy] == [f"word_depth={depth}" for depth in (16, 32, 64)]
    assert [each["name"] for each in depth] == ["memory.bank_busy=5", "memory.bank_busy=40"]
    for traces, values, places in ((busy, [5, 40], cycles), (depth, [16, 32, 64], cycles.T)):
        assert [list(each["x"]) for each in traces] == [values] * len(places)
        assert [array(each["y"]).tolist() for each in traces] == places.tolist()
        shown = [[value for (value,) in each["customdata"]] for each in traces]
        assert np.array(shown) == pytest.approx(300 / places)
    for number, lines in enumerate((3, 2)):
        layout = drawn[f"effect-{number}"]["layout"]
        assert layout["showlegend"]
        assert layout["height"] == 420 + 20 * ((lines + 2) // 3)
        assert {trace["mode"] for trace in drawn[f"effect-{number}"]["data"]} == {"lines+markers"}
    assert drawn["effect-1"]["layout"]["xaxis"]["ticktext"] == ["16", "32", "64"]


def test_values_without_an_order_are_not_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = TEXT.replace('config = "test"\n', "")
    study = study_of(text.replace("word_depth = [16, 32, 64]", 'config = ["hc2", "published", "hc2-1ae"]'))
    drawn = charts(sweep_page(study, rows_of(study)))
    modes = {drawn[f"effect-{number}"]["layout"]["xaxis"]["title"]["text"]: number for number in (0, 1)}
    assert {trace["mode"] for trace in drawn[f"effect-{modes['config']}"]["data"]} == {"markers"}
    assert {trace["mode"] for trace in drawn[f"effect-{modes['memory.bank_busy']}"]["data"]} == {"lines+markers"}


def test_area_and_causes_are_drawn(study: SweepStudy) -> None:
    rows = rows_of(study)
    drawn = charts(sweep_page(study, rows))
    for column, front in (("luts", (2, 4, 0, 1)), ("registers", (2, 4, 0, 1)), ("block_ram", (2, 0))):
        every, best = drawn[f"pareto-{column}"]["data"]
        for trace, chosen in ((every, rows), (best, [rows[place] for place in front])):
            assert list(trace["text"]) == [name_of(row) for row in chosen]
            assert array(trace["x"]).tolist() == [row[column] for row in chosen]
            assert array(trace["y"]).tolist() == [row["cycles"] for row in chosen]
    by_cycles = sorted(rows, key=lambda row: row["cycles"])
    traces = drawn["causes-bfs"]["data"]
    assert [trace["name"] for trace in traces] == [cause_named(cause).title for cause in STACK]
    for trace, cause in zip(traces, STACK, strict=True):
        assert list(trace["y"]) == [name_of(row) for row in by_cycles]
        assert array(trace["x"]) == pytest.approx([row[f"bfs.{cause}"] for row in by_cycles], rel=1e-6)
    assert drawn["causes-bfs"]["layout"]["height"] == 180 + 22 * 6
    assert "causes-intersection" not in drawn


def test_facts_and_points_are_told(study: SweepStudy) -> None:
    rows = rows_of(study, failed=4)
    page = sweep_page(study, rows)
    facts = facts_of(page, "facts")
    assert facts["points"] == ["6, 1 of them failed"]
    assert facts["word_depth"] == ["16, 32, 64"]
    assert facts["graph.degree"] == ["4"]
    assert facts["fewest cycles"] == ["1,000: word_depth=32, memory.bank_busy=5"]
    points = facts_of(page, "points")
    for row in rows:
        shown = points[name_of(row)]
        assert shown[-1] == f"points/{row['point']}"
        if row["status"] == "done":
            area = [f"{row[name]:,}" for name in ("luts", "registers", "block_ram")]
            assert shown[:-1] == [f"{row['cycles']:,}", f"{row['gteps']:.3f}", *area]
        else:
            assert shown[0] == "failed"
    assert facts_of(page, "failures") == {name_of(rows[4]): ["it broke"]}
    assert "<h1>Depths &amp; banks</h1>" in page
    assert "6 points: what each parameter does" in page
    # A point without a partner has no line, one without a result no place among the others.
    traces = charts(page)["effect-0"]["data"]
    assert [each["name"] for each in traces] == ["word_depth=16", "word_depth=32"]
    done = [row for row in rows if row["status"] == "done"]
    assert array(charts(page)["effect-1"]["data"][1]["y"]).tolist() == [CYCLES[1], CYCLES[3], CYCLES[5]]
    assert len(charts(page)["causes-bfs"]["data"][0]["y"]) == len(done)
    failed = [{**row, "status": "failed", "reason": "it broke"} for row in rows]
    assert re.findall(r'<section id="([^"]+)"', sweep_page(study, [rows[0], *failed[1:]])) == [
        *("facts", "pareto", "causes", "points", "failures")
    ]


def test_long_pages_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    count = 62
    study = study_of(TEXT.replace(", 64]", "]").replace("[5, 40]", str(list(range(1, 1 + count)))))
    rows: list[Row] = []
    for place, each in enumerate(study.points):
        row = {**each.values, "point": each.point.digest, "status": "done", "reason": ""}
        rows.append(row | {"cycles": 1000 + place, "gteps": 0.1, "bfs.refused": 0.5, "bfs.write": 0.5})
        rows[-1] |= {f"bfs.{cause}": 0.0 for cause in STACK if cause not in ("refused", "write")}
    page = sweep_page(study, rows)
    drawn = charts(page)
    (depth,) = (
        each
        for name, each in drawn.items()
        if name in ("effect-0", "effect-1") and each["layout"]["xaxis"]["title"]["text"] == "word_depth"
    )
    assert len(depth["data"]) == 24
    assert f"The first 24 of {count} lines." in page
    lines = [trace["line"] for trace in depth["data"]]
    assert len({(each["color"], each["dash"]) for each in lines}) == len(lines)
    bars = drawn["causes-bfs"]["data"]
    assert [len(trace["y"]) for trace in bars] == [60, 60], "causes that are nowhere are left out"
    assert f"The first 60 of {2 * count}." in page
    assert "pareto" not in page


@pytest.fixture
def answered(study: SweepStudy) -> Callable[..., Sweep]:
    """Return what makes the answer of rows."""

    def of(rows: list[Row], *, made: int = 6, study: SweepStudy = study, **failures: str) -> Sweep:
        swept = Swept(found=len(rows) - made, made=made, failures=failures)
        files = {"table": Path("a.parquet"), "page": Path("a.html")}
        folder: Any = None
        return Sweep(Outcome(study=study, rows=rows, swept=swept, folder=folder, files=files), "cycles")

    return of


def test_answer(study: SweepStudy, answered: Callable[..., Sweep]) -> None:
    rows = rows_of(study, failed=4)
    sweep = answered(rows, made=3, **{rows[4]["point"]: "it broke"})
    cells = {name: table.cells() for name, table in sweep.tables.items()}
    area = [f"{rows[0][name]:,}" for name in ("luts", "registers", "block_ram")]
    assert cells["rows"][0] == ["16", "5", "1,200", "0.250", *area, "done", ""]
    assert cells["rows"][4] == ["64", "5", "", "", "", "", "", "failed", "it broke"]
    factors = [(5000 / 1200 * 4) ** 0.5, (1200 / 1000 * 5000 / 4000) ** 0.5]
    assert sweep.effects["factor"].tolist() == pytest.approx(factors)
    assert cells["effects"] == [
        ["memory.bank_busy", "5", f"{factors[0]:.2f}"],
        ["word_depth", "32", f"{factors[1]:.2f}"],
    ]
    assert cells["best"] == [["32", "5", "1,000"]]
    assert sweep.said == ["6 points: 3 made, 3 from before, 1 failure\nwritten: a.parquet, a.html"]
    document = sweep.document()
    assert document["points"] == rows
    assert [each["parameter"] for each in document["effects"]] == ["memory.bank_busy", "word_depth"]
    whole = answered(rows_of(study, area=False))
    assert whole.tables["rows"].cells()[0] == ["16", "5", "1,200", "0.250"]


def test_no_input_is_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: Callable[..., Sweep]) -> None:
    monkeypatch.chdir(tmp_path)
    text = TEXT.replace("graph.degree = 4\n", "").replace("memory.bank_busy = [5, 40]", "graph.degree = [2, 4]")
    study = study_of(text)
    assert (study.inputs, study.settings) == (("graph.degree",), ("word_depth",))
    sweep = answered(rows_of(study, area=False), study=study)
    # The cycles are those of degrees 2 and 4 in turns.
    assert [each["parameter"] for each in sweep.document()["effects"]] == ["word_depth"]
    assert sweep.tables["best"].cells() == [
        ["graph.degree=2", "32", "1,000"],
        ["graph.degree=4", "32", "4,000"],
        ["all, geometric mean", "32", "2,000"],
    ]
    only = study_of(TEXT.replace("word_depth = [16, 32, 64]\nmemory.bank_busy = [5, 40]", "graph.seed = [1, 2]"))
    sweep = answered(rows_of(only, area=False), study=only)
    assert len(sweep.best) == len(sweep.effects) == 0
    page = sweep_page(only, rows_of(only, area=False))
    assert "effect-factors" not in page
    assert "fewest cycles" not in page
