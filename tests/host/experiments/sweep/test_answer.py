"""Tables and page of a sweep, compared with its rows."""

import html
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.answer.colours import STACK
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep.answer import Sweep
from cyscc.host.experiments.sweep.definition import SweepStudy
from cyscc.host.experiments.sweep.outcome import Outcome
from cyscc.host.experiments.sweep.rows import Row
from cyscc.sim.errors import SimulationError
from tests.host.analysis.report.test_page import charts
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


def cells_of(section: str) -> list[list[str]]:
    """Return the cells of the tables of a section."""
    rows = re.findall(r"<tr>(.*?)</tr>", section, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in row] for row in cells]


@pytest.fixture
def answered(study: SweepStudy) -> Callable[..., Sweep]:
    """Return what makes the answer of rows."""

    def of(rows: list[Row], *, made: int = 6, study: SweepStudy = study, **failures: str) -> Sweep:
        plan = Plan(folder=Path("out"))
        plan.found, plan.made = len(rows) - made, made
        plan.failures = {digest: SimulationError(reason) for digest, reason in failures.items()}
        files = {"table": Path("a.parquet"), "page": Path("a.html")}
        return Sweep(Outcome(study=study, rows=rows, plan=plan, files=files), "cycles")

    return of


def test_page(study: SweepStudy, answered: Callable[..., Sweep]) -> None:
    rows = rows_of(study, failed=4)
    page = answered(rows, **{rows[4]["point"]: "it broke"}).page()
    sections = dict(re.findall(r'<section id="([^"]+)".*?>(.*?)</section>', page, re.DOTALL))
    assert list(sections) == ["best", "effects", "area", "causes", "points", "facts"]
    facts = cells_of(sections["facts"])
    assert ["points", "6, 1 of them failed"] in facts
    assert ["word_depth", "16, 32, 64"] in facts
    assert ["graph.degree", "4"] in facts
    best = cells_of(sections["best"])
    assert best == [["word_depth", "memory.bank_busy", "cycles"], ["32", "5", "1,000"]]
    assert ["memory.bank_busy", "5", f"{(5000 / 1200 * 4) ** 0.5:.2f}"] in cells_of(sections["effects"])
    names = ("word_depth", "memory.bank_busy")
    shown = {tuple(cells[:2]): cells[2:] for cells in cells_of(sections["points"])[1:]}
    for row in rows:
        area = [f"{row[name]:,}" if name in row else "" for name in ("luts", "registers", "block_ram")]
        results = [f"{row['cycles']:,}", f"{row['gteps']:.3f}"] if row["status"] == "done" else ["", ""]
        cells = shown[tuple(str(row[name]) for name in names)]
        assert cells == [*results, *area, row["status"], row["reason"], f"results/{row['point']}"]
    assert "<h1>Depths &amp; banks</h1>" in page
    assert "6 points: what each parameter does" in page
    lines = [each["name"] for each in charts(page)["effect-1"]["data"]]
    assert lines == ["word_depth=16", "word_depth=32", "word_depth=64"]
    assert len(charts(page)["causes-bfs"]["data"][0]["y"]) == 5


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
    assert "parameter decides" not in sweep.page()
    assert "Fewest cycles" not in sweep.page()
