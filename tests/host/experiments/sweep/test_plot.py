"""Plots of sweeps: what they join, mark and leave out."""

import math
import os
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from cyscc.host.experiments.sweep.definition import SweepStudy, line_study
from cyscc.host.experiments.sweep.plot import sweep_figure
from cyscc.host.experiments.sweep.rows import Row
from cyscc.host.output.figures import write_plot

GRAPH = "random:2^5:4"


def rows_of(study: SweepStudy, *, failed: int = -1, factor: float = 1.1) -> list[Row]:
    """Return rows whose cycles grow by a factor from point to point."""
    rows: list[Row] = []
    for place, each in enumerate(study.points):
        cycles = round(1000 * factor**place)
        results = {"status": "done", "cycles": cycles, "gteps": 1e3 / cycles, "seconds": cycles / 150e6}
        row = {**each.values, "point": each.point.digest, **(results if place != failed else {"status": "failed"})}
        rows.append(row)
    return rows


def drawn(figure: Figure) -> list[dict[str, tuple[str, list[Any], list[Any]]]]:
    """Return the lines of each panel by their labels: the style of the line, and where its points are."""

    def of(line: Any) -> tuple[str, list[Any], list[Any]]:
        return line.get_linestyle(), list(line.get_xdata()), list(line.get_ydata())

    return [
        {str(line.get_label()): of(line) for line in axes.lines if line.get_marker() not in ("", "None")}
        for axes in figure.axes
    ]


def test_a_line_for_each_value_of_the_second_parameter() -> None:
    study = line_study([GRAPH], {"visit_depth": [64, 16, 32], "memory.bank_busy": [8, 15]})
    rows = rows_of(study)
    figure = sweep_figure(study, rows)
    (lines,) = drawn(figure)
    (axes,) = figure.axes
    # In ascending order of the parameter, whatever the order of the study.
    cycles = {(row["visit_depth"], row["memory.bank_busy"]): float(row["cycles"]) for row in rows}
    for busy in (8, 15):
        assert lines[str(busy)] == ("-", [16, 32, 64], [cycles[depth, busy] for depth in (16, 32, 64)])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("visit_depth", "cycles")
    assert axes.get_ylim()[0] == 0
    assert [text.get_text() for text in axes.get_xticklabels()] == ["16", "32", "64"]
    (ring,) = axes.collections
    assert ring.get_label() == "hc2, unchanged"
    assert ring.get_offsets().tolist() == [[64, cycles[64, 15]]]  # type: ignore[union-attr]  # an array
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "memory.bank_busy"
    assert "bfs of random, degree 4, 2^5 vertices on hc2, memory hc2" in figure.get_suptitle()


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
    figure = sweep_figure(study, rows_of(study), "seconds")
    (axes,) = figure.axes
    (lines,) = drawn(figure)
    ((style, x, y),) = lines.values()
    assert style == "None"
    assert x == pytest.approx([1e3 * 1000 / 150e6, 1e3 * 1100 / 150e6])
    assert y == [0, 1]
    assert axes.get_xlabel() == "simulated time (ms)"
    assert axes.get_xlim()[0] == 0
    assert len(axes.get_yticklabels()) == 2


def test_names_that_are_not_utf_8_are_escaped(tmp_path: Path) -> None:
    names = [str(tmp_path / os.fsdecode(name)) for name in (b"\xff.txt", b"\xfe.txt")]
    config = Path(f"{names[0]}.toml")
    config.write_text('preset = "test"\n')
    for name in names:
        Path(name).write_text("0 1\n")
    settings = {"visit_depth": [4, 8], "source": [0], "config": [str(config)]}
    for study in (line_study(names, settings), line_study(names[:1], settings)):
        write_plot(partial(sweep_figure, study, rows_of(study)), str(tmp_path / "plot.svg"))
        assert "\\udcff.txt" in (tmp_path / "plot.svg").read_text()


def test_an_order_is_preferred_for_the_axis() -> None:
    study = line_study([GRAPH], {"memory": ["hc2", "fixed:75"], "visit_depth": [16, 32, 64, 128]})
    figure = sweep_figure(study, rows_of(study))
    (lines,) = drawn(figure)
    assert {name: x for name, (_, x, _) in lines.items()} == {name: [16, 32, 64, 128] for name in ("hc2", "fixed:75")}
    assert figure.axes[0].get_xscale() == "log"


def test_further_parameters_have_panels_and_failures_leave_gaps() -> None:
    settings = {"visit_depth": [16, 32, 64], "config": ["hc2", "published"], "simplify": [False, True]}
    study = line_study([GRAPH], settings)
    figure = sweep_figure(study, rows_of(study, failed=4, factor=1.5), "cycles")
    assert [axes.get_title() for axes in figure.axes] == ["simplify=false", "simplify=true"]
    assert [axes.get_yscale() for axes in figure.axes] == ["log"] * 2, "the results differ by a factor of 86"
    (_, _, cycles) = drawn(figure)[0]["hc2"]
    assert [math.isnan(value) for value in cycles] == [False, True, False]
    assert "1 point failed, and is left out" in figure.get_suptitle()


def test_labels_of_many_values_do_not_overlap() -> None:
    values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 1000, 10_000]
    study = line_study([GRAPH], {"memory.bank_busy": values})
    figure = sweep_figure(study, rows_of(study))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert len(boxes) > 5
