"""Charts of sweeps: what they join, mark and leave out, in pages and in files."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from cyscc.host.answer.colours import STACK
from cyscc.host.answer.static import draw
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep.answer import Sweep
from cyscc.host.experiments.sweep.charts import area_chart, causes_chart, matrix_chart, parameter_chart
from cyscc.host.experiments.sweep.definition import SweepStudy, line_study
from cyscc.host.experiments.sweep.outcome import Outcome
from cyscc.host.experiments.sweep.rows import Row
from cyscc.host.output.errors import InputError
from cyscc.sim.observation.causes import cause_named

GRAPH = "random:2^5:4"
SETTINGS = {"visit_depth": [64, 16, 32], "memory.bank_busy": [8, 15]}


def rows_of(study: SweepStudy, *, failed: int = -1, factor: float = 1.1) -> list[Row]:
    """Return rows whose cycles grow by a factor from point to point."""
    rows: list[Row] = []
    for place, each in enumerate(study.points):
        cycles = round(1000 * factor**place)
        results = {"status": "done", "cycles": cycles, "gteps": 1e3 / cycles, "seconds": cycles / 150e6}
        row = {**each.values, "point": each.point.digest, **(results if place != failed else {"status": "failed"})}
        rows.append(row)
    return rows


def drawn(figure: go.Figure) -> dict[str, tuple[str, list[Any], list[Any]]]:
    """Return the points of a chart by the names of their lines, with the mode of the line."""
    return {trace.name: (trace.mode, list(trace.x), list(trace.y)) for trace in figure.data}


def answer(study: SweepStudy, rows: list[Row]) -> Sweep:
    return Sweep(Outcome(study=study, rows=rows, plan=Plan(folder=Path("out")), files={}), "cycles")


def test_a_line_for_each_combination_of_the_others() -> None:
    study = line_study([GRAPH], SETTINGS)
    rows = rows_of(study)
    chart = parameter_chart(study, rows, "visit_depth")
    lines = drawn(chart.figure)
    # In ascending order of the parameter, whatever the order of the study.
    cycles = {(row["visit_depth"], row["memory.bank_busy"]): row["cycles"] for row in rows}
    for busy in (8, 15):
        expected = [cycles[depth, busy] for depth in (16, 32, 64)]
        assert lines.pop(f"memory.bank_busy={busy}") == ("lines+markers", [16, 32, 64], expected)
    assert lines == {"hc2, unchanged": ("markers", [64], [cycles[64, 15]])}
    layout = chart.figure.layout
    assert (layout.xaxis.title.text, layout.yaxis.title.text) == ("visit_depth", "cycles")
    assert layout.yaxis.rangemode == "tozero"
    assert layout.xaxis.ticktext == ("16", "32", "64")
    assert list(chart.figure.data[0].customdata[0]) == ["16", cycles[16, 8], 1e3 / cycles[16, 8]]


@pytest.mark.parametrize(
    "settings",
    [
        {"memory": ["hc2", "fixed:75"]},
        {"simplify": [True, False]},
        {"graph.seed": [1, 2]},
        {"source": [0, 7]},
        {"config": ["hc2", "published"]},
    ],
)
def test_values_without_an_order_are_not_joined(settings: dict[str, Any]) -> None:
    study = line_study([GRAPH], settings)
    (across,) = settings
    figure = parameter_chart(study, rows_of(study), across, "seconds").figure
    mode, x, y = drawn(figure)["seconds"]
    assert mode == "markers"
    assert x == pytest.approx([1e3 * 1000 / 150e6, 1e3 * 1100 / 150e6])
    assert y == [0, 1]
    assert (figure.layout.xaxis.title.text, figure.layout.xaxis.rangemode) == ("simulated time (ms)", "tozero")
    assert len(figure.layout.yaxis.ticktext) == 2


def test_plot(tmp_path: Path) -> None:
    study = line_study([GRAPH], {"memory": ["hc2", "fixed:75"], "visit_depth": [16, 32, 64, 128]})
    figure = answer(study, rows_of(study)).plot(tmp_path / "plot.svg", measure="gteps")
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
        answer(study, rows_of(study)).plot(tmp_path / "plot.svg")
        assert "\\udcff.txt" in (tmp_path / "plot.svg").read_text()


def test_two_parameters_are_lines_in_shades_and_a_matrix() -> None:
    study = line_study([GRAPH], SETTINGS)
    rows = rows_of(study, failed=4)
    first, second = (trace for trace in parameter_chart(study, rows, "visit_depth").figure.data if "=" in trace.name)
    assert (first.line.color, second.line.color) == ("#1764ab", "#08264f")
    chart = matrix_chart(study, rows, "memory.bank_busy", "visit_depth")
    (trace,) = chart.figure.data
    assert (list(trace.y), list(trace.x)) == (["8", "15"], ["64", "16", "32"])
    cycles = {(row["memory.bank_busy"], row["visit_depth"]): row.get("cycles", np.nan) for row in rows}
    expected = [[cycles[busy, depth] for depth in (64, 16, 32)] for busy in (8, 15)]
    assert trace.z == pytest.approx(np.array(expected), nan_ok=True)
    assert (trace.zmin, trace.zmax) == (np.nanmin(expected), np.nanmax(expected))
    assert trace.text[0][0] == "1,000"
    assert "" in [text for line in trace.text for text in line], "a failed point has no number"


def test_many_combinations_are_panels() -> None:
    busy = [4, 8, 15, 30, 60, 80]
    settings = {"visit_depth": [16, 32], "memory.bank_busy": busy, "simplify": [False, True]}
    study = line_study([GRAPH], settings)
    chart = parameter_chart(study, rows_of(study), "visit_depth")
    titles = [note.text for note in chart.figure.layout.annotations]
    assert titles == [f"memory.bank_busy={each}" for each in busy]
    lines = [trace for trace in chart.figure.data if "unchanged" not in trace.name]
    assert {trace.name for trace in lines} == {"simplify=false", "simplify=true"}
    assert len(lines) == 12
    assert [trace.showlegend for trace in lines[:4]] == [True, True, False, False]


def test_failures_are_left_out() -> None:
    settings = {"visit_depth": [16, 32, 64], "config": ["hc2", "published"], "simplify": [False, True]}
    study = line_study([GRAPH], settings)
    chart = parameter_chart(study, rows_of(study, failed=4, factor=1.5), "visit_depth")
    assert chart.figure.layout.yaxis.type == "log", "the results differ by a factor of 86"
    _, depths, cycles = drawn(chart.figure)["config=hc2, simplify=false"]
    assert (depths, cycles) == ([16, 64], [1000, round(1000 * 1.5**8)])
    assert chart.about.endswith(" 1 point failed, and is left out.")


def test_labels_of_many_values_do_not_overlap() -> None:
    values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 1000, 10_000]
    study = line_study([GRAPH], {"memory.bank_busy": values})
    figure = draw(answer(study, rows_of(study)).plot())
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert len(boxes) > 5


def test_many_lines_and_bars_are_cut() -> None:
    count = 62
    study = line_study([GRAPH], {"word_depth": [16, 32], "memory.bank_busy": list(range(1, 1 + count))})
    rows = [{**row, **{f"bfs.{cause}": float(cause == "refused") for cause in STACK}} for row in rows_of(study)]
    chart = parameter_chart(study, rows, "word_depth")
    lines = [trace for trace in chart.figure.data if trace.mode == "lines+markers"]
    assert len({each.xaxis for each in lines}) == len(lines) == 24
    assert chart.about.endswith(f" The first 24 of {count} panels.")
    bars = causes_chart(study, rows, "bfs")
    assert bars is not None
    (only,) = bars.figure.data
    assert (len(only.y), only.name) == (60, cause_named("refused").title), "causes that are nowhere are left out"
    assert bars.about.endswith(f" The first 60 of {2 * count}.")
    assert causes_chart(study, rows, "intersection") is None


def test_causes_and_area() -> None:
    study = line_study([GRAPH], SETTINGS)
    random = np.random.default_rng(1)
    luts = (10, 9, 12, 12, 11, 8)
    rows = [
        {**row, "luts": area, **{f"bfs.{cause}": random.random() for cause in STACK}}
        for row, area in zip(rows_of(study), luts, strict=True)
    ][::-1]
    names = {row["point"]: study.label(row) for row in rows}
    by_cycles = rows[::-1]
    bars = causes_chart(study, rows, "bfs")
    assert bars is not None
    assert [trace.name for trace in bars.figure.data] == [cause_named(cause).title for cause in STACK]
    for trace, cause in zip(bars.figure.data, STACK, strict=True):
        assert list(trace.y) == [names[row["point"]] for row in by_cycles]
        assert list(trace.x) == pytest.approx([row[f"bfs.{cause}"] for row in by_cycles], rel=1e-6)
    every, best = area_chart(study, rows, "luts").figure.data
    for trace, chosen in ((every, rows), (best, [by_cycles[place] for place in (0, 1, 5)])):
        assert [told for (told,) in trace.customdata] == [names[row["point"]] for row in chosen]
        assert list(zip(trace.x, trace.y, strict=True)) == [(row["luts"], row["cycles"]) for row in chosen]
