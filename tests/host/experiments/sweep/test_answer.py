"""Answers of sweeps: rows, effects, charts."""

import json
import os
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cyscc.host.answer.charts import Chart
from cyscc.host.answer.colours import STACK
from cyscc.host.answer.static import draw
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep.answer import Sweep
from cyscc.host.experiments.sweep.charts import area_chart, causes_chart, matrix_chart, parameter_chart
from cyscc.host.experiments.sweep.definition import SweepStudy, line_study
from cyscc.host.experiments.sweep.rows import Row, effects, front, rows_of, table_of
from cyscc.host.experiments.sweep.search import Outcome
from cyscc.host.output.errors import InputError
from cyscc.sim.errors import SimulationError
from tests.host.analysis.report.test_page import charts
from tests.host.conftest import Answers
from tests.host.experiments.sweep.studies import study_of
from tests.host.experiments.told import line_of, told

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


def shown_rows(study: SweepStudy, *, area: bool = True, failed: int = -1) -> list[Row]:
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
    rows = 9 * shown_rows(study, failed=4)
    page = answered(rows, **{rows[4]["point"]: "it broke"}).page()
    sections = dict(re.findall(r'<section id="([^"]+)".*?>(.*?)</section>', page, re.DOTALL))
    assert list(sections) == ["best", "effects", "area", "causes", "points", "facts"]
    assert "<h1>Depths &amp; banks</h1>" in page
    assert "54 points: what each parameter does" in page
    assert sections["points"].count("<tr") == 55, "every point is there, and the heads"
    lines = [each["name"] for each in charts(page)["effect-1"]["data"]]
    assert lines == ["word_depth=16", "word_depth=32", "word_depth=64"]
    assert len(charts(page)["causes-bfs"]["data"][0]["y"]) == 45


def test_answers(study: SweepStudy, answered: Callable[..., Sweep], answers: Answers) -> None:
    rows = shown_rows(study, failed=4)
    sweep = answered(rows, made=3, **{rows[4]["point"]: "it broke"})
    assert sweep.document()["points"] == rows
    # No input is the best; the cycles are those of degrees 2 and 4 in turns.
    text = TEXT.replace("graph.degree = 4\n", "").replace("memory.bank_busy = [5, 40]", "graph.degree = [2, 4]")
    only = TEXT.replace("word_depth = [16, 32, 64]\nmemory.bank_busy = [5, 40]", "graph.seed = [1, 2]")
    others = [answered(shown_rows(each, area=False), study=each) for each in (study, study_of(text), study_of(only))]
    answers("answers", "".join(map(told, (sweep, *others))))


def test_rows_have_results_and_failures() -> None:
    results = {"search": {"row": {"cycles": 99}}, "components": {"row": {"cycles": 7}}}
    names = ("search", "components", "search", "lost")
    points = [SimpleNamespace(values={"n": n}, point=SimpleNamespace(digest=name)) for n, name in enumerate(names)]
    plan = SimpleNamespace(failures={"lost": SimulationError("it broke")})
    rows = rows_of(SimpleNamespace(points=points), plan, results)  # type: ignore[arg-type]
    done = {"status": "done", "reason": ""}
    assert rows == [
        {"n": 0, "point": "search", **done, "cycles": 99},
        {"n": 1, "point": "components", **done, "cycles": 7},
        {"n": 2, "point": "search", **done, "cycles": 99},
        {"n": 3, "point": "lost", "status": "failed", "reason": "it broke"},
    ]


def test_columns_have_the_type_of_their_values() -> None:
    rows = [
        {"a": 1, "b": "2020-01-01", "c": True, "d": 1, "e": 2, "f": None, "seed": 2**63},
        {"a": 2, "b": "ü\n", "c": False, "d": 0.5, "e": "\udcff", "f": None, "seed": 0, "late": 3},
    ]
    table = table_of(rows)
    kinds = [pa.int64(), pa.string(), pa.bool_(), pa.float64(), pa.string(), pa.string(), pa.string(), pa.int64()]
    assert [field.type for field in table.schema] == kinds
    assert table.to_pylist() == [
        {"a": 1, "b": "2020-01-01", "c": True, "d": 1.0, "e": "2", "f": None, "seed": str(2**63), "late": None},
        {"a": 2, "b": "ü\n", "c": False, "d": 0.5, "e": "\\udcff", "f": None, "seed": "0", "late": 3},
    ]


def row(cycles: int, *, status: str = "done", **values: Any) -> Row:
    return {"cycles": cycles, "status": status, **values}


def of(axes: list[str], rows: list[Row]) -> list[Row]:
    study = SweepStudy(name="s", title="s", axes={name: [] for name in axes}, points=())
    return effects(study, rows)


ROWS = [
    row(100, depth=16, memory="hc2"),
    row(50, depth=32, memory="hc2"),
    row(400, depth=16, memory="slow"),
    row(50, depth=32, memory="slow"),
]


def test_effect_is_the_geometric_mean_over_the_other_parameters() -> None:
    depth, memory = of(["memory", "depth"], ROWS)
    assert (depth["parameter"], depth["best"]) == ("depth", 32)
    assert depth["factor"] == pytest.approx((2 * 8) ** 0.5)
    assert (memory["parameter"], memory["best"]) == ("memory", "hc2")
    assert memory["factor"] == pytest.approx((4 * 1) ** 0.5)


def test_points_that_failed_are_left_out() -> None:
    (depth,) = of(["depth", "memory"], [*ROWS[:2], row(0, status="failed", depth=16, memory="slow")])
    assert (depth["factor"], depth["best"]) == (pytest.approx(2), 32)


def test_no_value_is_best_where_none_is_everywhere() -> None:
    (depth,) = of(["depth"], ROWS[:2])
    assert depth["best"] == 32
    rows = [row(1, a=1, b=1), row(2, a=2, b=1), row(3, a=3, b=2), row(4, a=4, b=2)]
    assert of(["a", "b"], rows)[0]["best"] is None


def test_front() -> None:
    rows = [row(9, luts=1), row(5, luts=5), row(5, luts=4), row(6, luts=4), row(7, luts=3), row(8, luts=3)]
    assert [(each["cycles"], each["luts"]) for each in front(rows, ("cycles", "luts"))] == [(5, 4), (7, 3), (9, 1)]
    assert front([], ("cycles", "luts")) == []
    assert front(rows, ("luts",)) == [rows[0]]


GRAPH = "random:2^5:4"
SETTINGS = {"visit_depth": [64, 16, 32], "memory.bank_busy": [8, 15]}


def rows_by(study: SweepStudy, *, failed: int = -1, factor: float = 1.1) -> list[Row]:
    """Return rows whose cycles grow by a factor from point to point."""
    rows: list[Row] = []
    for place, each in enumerate(study.points):
        cycles = round(1000 * factor**place)
        results = {"status": "done", "cycles": cycles, "gteps": 1e3 / cycles, "seconds": cycles / 150e6}
        row = {**each.values, "point": each.point.digest, **(results if place != failed else {"status": "failed"})}
        rows.append(row)
    return rows


def answer(study: SweepStudy, rows: list[Row]) -> Sweep:
    return Sweep(Outcome(study=study, rows=rows, plan=Plan(folder=Path("out")), files={}), "cycles")


def test_plot(tmp_path: Path) -> None:
    study = line_study([GRAPH], {"memory": ["hc2", "fixed:75"], "visit_depth": [16, 32, 64, 128]})
    figure = answer(study, rows_by(study)).plot(tmp_path / "plot.svg", measure="gteps")
    layout = figure.layout
    assert (layout.xaxis.title.text, layout.xaxis.type) == ("visit_depth", "log"), "an order is preferred"
    assert layout.yaxis.title.text == "throughput (GTEPS)"
    assert "bfs of random, degree 4, 2^5 vertices on hc2. Points of a line " in layout.title.text
    assert "memory=" not in (tmp_path / "plot.svg").read_text().split("hc2")[0]
    with pytest.raises(ValueError, match=r"^measure must be cycles or gteps or seconds, not 'time'$"):
        answer(study, []).plot(measure="time")
    with pytest.raises(InputError, match=r"^s: nothing varies, so that there is nothing to plot$"):
        answer(SweepStudy(name="s", title="s", axes={}, points=()), []).plot()


def test_names_that_are_not_utf_8_are_escaped(tmp_path: Path) -> None:
    names = [str(tmp_path / os.fsdecode(name)) for name in (b"\xff.txt", b"\xfe.txt")]
    config = Path(f"{names[0]}.toml")
    config.write_text('preset = "test"\n')
    for name in names:
        Path(name).write_text("0 1\n")
    settings = {"visit_depth": [4, 8], "source": [0], "config": [str(config)]}
    for study in (line_study(names, settings), line_study(names[:1], settings)):
        answer(study, rows_by(study)).plot(tmp_path / "plot.svg")
        assert "\\udcff.txt" in (tmp_path / "plot.svg").read_text()


def test_labels_of_many_values_do_not_overlap() -> None:
    study = line_study([GRAPH], {"memory.bank_busy": [*range(1, 11), 100, 1000, 10_000]})
    figure = draw(answer(study, rows_by(study)).plot())
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert len(boxes) > 5


def with_causes(rows: list[Row], module: str = "bfs") -> list[Row]:
    """Return rows, the last first, with areas, and shares of causes of which some are 0."""
    shares = [{cause: (place * number) % 7 / 70 for number, cause in enumerate(STACK)} for place in range(len(rows))]
    return [
        {**row, "luts": 12 - place % 5, **{f"{module}.{cause}": share for cause, share in own.items()}}
        for place, (row, own) in enumerate(zip(rows, shares, strict=True))
    ][::-1]


MANY: dict[str, Any] = {"word_depth": [16, 32], "memory.bank_busy": list(range(1, 63))}
PANELS: dict[str, Any] = {**SETTINGS, "visit_depth": [16, 32], "memory.bank_busy": [4, 8, 15, 30, 60, 80]}
CHARTS: dict[str, tuple[dict[str, Any], Callable[[SweepStudy], Chart | None]]] = {
    "lines": (SETTINGS, lambda study: parameter_chart(study, rows_by(study), "visit_depth")),
    "matrix": (SETTINGS, lambda study: matrix_chart(study, rows_by(study, failed=4), *reversed(SETTINGS))),
    "causes": (SETTINGS, lambda study: causes_chart(study, with_causes(rows_by(study)), "bfs")),
    "no causes": (SETTINGS, lambda study: causes_chart(study, with_causes(rows_by(study)), "intersection")),
    "area": (SETTINGS, lambda study: area_chart(study, with_causes(rows_by(study)), "luts")),
    "panels": (
        {**PANELS, "simplify": [False, True]},
        lambda study: parameter_chart(study, rows_by(study), "visit_depth"),
    ),
    "failed, and far apart": (
        {"visit_depth": [16, 32, 64], "config": ["hc2", "published"], "simplify": [False, True]},
        lambda study: parameter_chart(study, rows_by(study, failed=4, factor=1.5), "visit_depth"),
    ),
    "too many panels": (MANY, lambda study: parameter_chart(study, rows_by(study), "word_depth")),
    "too many bars": (MANY, lambda study: causes_chart(study, with_causes(rows_by(study)), "bfs")),
    **{
        f"no order of {name}": (
            {name: values},
            lambda study: parameter_chart(study, rows_by(study), next(iter(study.axes)), "seconds"),
        )
        for name, values in {
            "memory": ["hc2", "fixed:75"],
            "simplify": [True, False],
            "graph.seed": [1, 2],
            "source": [0, 7],
            "config": ["hc2", "published"],
        }.items()
    },
}
"""Settings of a study, and its chart."""


def chart_text(name: str) -> str:
    """Return what a chart shows: its text, axes, and traces, each on a line."""
    settings, make = CHARTS[name]
    chart = make(line_study([GRAPH], settings))
    if chart is None:
        return f"{name}: none\n"
    drawn = json.loads(chart.figure.to_json(engine="json"))
    axes = {key: value for key, value in drawn["layout"].items() if "axis" in key}
    lines = [f"{name}: {chart.name}, {chart.title}. {chart.about}", *map(line_of, (axes, *drawn["data"]))]
    return "\n".join([*lines, ""])


def test_charts_are_as_pinned(answers: Answers) -> None:
    answers("charts", "".join(map(chart_text, CHARTS)))
