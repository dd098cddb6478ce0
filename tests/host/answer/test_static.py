"""Charts in files, against the figures that pages draw."""

import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.colors import to_hex

import cyscc
from cyscc.host.analysis.report.comparison import AlignedRuns, comparison_charts
from cyscc.host.analysis.report.figures import chart_sections
from cyscc.host.answer.charts import Panel, log_axis, look, new_figure, panels
from cyscc.host.answer.colours import BLUE
from cyscc.host.answer.static import draw, options_of, write
from tests.host.analysis.report.pages import BFS, SCC, frames_of, record_of
from tests.record.synthetic import Shape


@cache
def charts_of(shape: Shape) -> dict[str, go.Figure]:
    """Return the charts of a run by title."""
    found = chart_sections(frames_of(shape))
    return {chart.title: chart.figure for _, _, charts in found for chart in charts}


@cache
def compared() -> dict[str, go.Figure]:
    """Return the charts of two runs by title."""
    runs = AlignedRuns([record_of(BFS), record_of(SCC)], most=30)
    return {chart.title: chart.figure for chart in comparison_charts(runs, ["one", "other"])}


DRAWN = (
    "Cycle stack of each level",
    "Time-lapse of the kernels",
    "Token and slots",
    "Roofline",
    "Levels of the runs",
    "Differences by cause: other against one",
)
"""Charts that have all kinds of traces, axes, legends and labels between them."""


@pytest.mark.parametrize("title", DRAWN)
def test_nothing_is_cut_off_and_the_legend_is_whole(title: str) -> None:
    chart = {**charts_of(SCC), **compared()}[title]
    drawn = draw(chart, title=title, width=800)
    drawn.draw_without_rendering()
    inside, (width, height) = drawn.get_tightbbox(), drawn.get_size_inches()
    assert width == 8
    assert min(inside.x0, inside.y0) >= 0
    assert inside.x1 <= width
    assert inside.y1 <= height
    shown = [trace for trace in chart.data if trace.visible in (None, True) and trace.type != "heatmap"]
    named = {trace.name for trace in shown if trace.name}
    if chart.layout.showlegend is not False and len(shown) > 1:
        (legend,) = drawn.legends
        assert {text.get_text() for text in legend.get_texts()} == named


def test_bars_and_areas_stand_on_each_other() -> None:
    charts = charts_of(SCC)
    for title in ("Cycle stack of each level", "Cycle stack of the run"):
        (axes,) = draw(charts[title]).axes
        ends: dict[float, float] = {}
        shown = [trace for trace in charts[title].data if trace.visible is not False]
        for bars, trace in zip(axes.containers, shown, strict=True):
            lying = trace.orientation == "h"
            assert to_hex(bars[0].get_facecolor()) == trace.marker.color
            for bar, length in zip(bars, trace.x if lying else trace.y, strict=True):
                begin, size = (bar.get_x(), bar.get_width()) if lying else (bar.get_y(), bar.get_height())
                place = bar.get_y() if lying else bar.get_x()
                assert (size, begin) == pytest.approx((length, ends.get(place, 0)), abs=0.1)
                ends[place] = begin + size
    panels: list[Any] = sorted(draw(charts["Cycle stack over time"]).axes, key=lambda axes: len(axes.collections))
    strip, over_time = panels
    assert (len(strip.images), len(over_time.images)) == (1, 0)
    assert {text.get_text() for text in over_time.figure.legends[0].get_texts()} >= {"forward", "backward"}
    top = max(path.vertices[:, 1].max() for area in over_time.collections for path in area.get_paths())
    assert top == pytest.approx(100, abs=0.1)


def test_options() -> None:
    charts = charts_of(SCC)
    lapse, levels = charts["Time-lapse of the kernels"], charts["Cycle stack of each level"]
    names = options_of(lapse)
    assert names[0] == "requests issued"
    for place in (0, 3):
        axes = next(axes for axes in draw(lapse, option=names[place]).axes if axes.get_title(loc="left"))
        images: list[Any] = [image for panel in axes.figure.axes for image in panel.images]
        assert any(np.array_equal(image.get_array(), lapse.data[1 + place].z) for image in images)
    shares: Any = draw(levels, option="shares").axes[0]
    assert shares.get_ylabel() == "% of the level"
    assert max(bar.get_y() + bar.get_height() for bar in shares.patches) == pytest.approx(100)
    assert levels.layout.yaxis.title.text == "cycles"
    with pytest.raises(ValueError, match="the chart has no option 'all': there are cycles, shares"):
        draw(levels, option="all")
    with pytest.raises(ValueError, match="the chart has no option 'all': it has no selector"):
        draw(charts["Roofline"], option="all")
    with pytest.raises(ValueError, match="a figure has a width of 300 pixels at least, not 10"):
        draw(levels, width=10)
    with pytest.raises(ValueError, match="a chart has lines, bars and heat maps, not 'pie'"):
        draw(go.Figure(go.Pie(values=[1])))


@pytest.mark.parametrize(("suffix", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_files(suffix: str, begin: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"figure.{suffix}"
    title, chart = next(iter(charts_of(SCC).items()))
    cyscc.write_figure(chart, path, title=f"{title}: $x_1$ <b>")
    assert path.read_bytes().startswith(begin)
    if suffix != "svg":
        return
    words = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())
    assert {"cycles", "whole run", "writing", f"{title}: $x_1$ "} <= set(words)


def test_files_are_the_same_whatever_a_user_has_set(tmp_path: Path) -> None:
    figure = new_figure([{**look("lines", BLUE), "x": [0, 1], "y": [0, 1], "name": "line"}], height=200, x="\U0001f9ee")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(figure, str(tmp_path / "one.svg"))
        with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "svg.hashsalt": "other"}):
            write(figure, str(tmp_path / "two.svg"))
            assert matplotlib.rcParams["lines.linewidth"] == 9
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "<text" in (tmp_path / "one.svg").read_text()


def test_panels_stand_in_rows_and_share_axes_and_a_legend() -> None:
    line = {**look("joined", BLUE), "x": [1, 2], "y": [1, 20], "name": "each"}
    last = {**line, "y": [1, 5], "name": "last"}
    parts = [Panel(title, [line], {"title": {"text": "x"}}, one="y") for title in ("one", "two")]
    figure = panels([*parts, Panel("three", [line, last])], shared="y")
    assert [trace.showlegend for trace in figure.data] == [True, False, False, True]
    drawn = draw(figure)
    drawn.draw_without_rendering()
    places = [axes.get_position() for axes in drawn.axes]
    assert places[0].y0 == pytest.approx(places[1].y0)
    assert places[0].x0 == pytest.approx(places[2].x0, abs=0.01)
    assert places[0].x1 < places[1].x0
    assert places[2].y1 < places[0].y0
    assert len({axes.get_ylim() for axes in drawn.axes}) == 1
    assert [text.get_text() for axes in drawn.axes for text in axes.texts] == ["one", "two", "three"]
    assert [len(axes.lines) for axes in drawn.axes] == [2, 2, 2]
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["each", "last"]


def test_bars_of_a_group_stand_beside_each_other_and_their_parts_on_each_other() -> None:
    bars = [
        {**look("bars", BLUE, offsetgroup=group), "x": ["a", "b"], "y": [1, 2], "name": f"{group} {part}"}
        for group in ("one", "other")
        for part in (0, 1)
    ]
    bars[-1] |= {"text": ["3", "5"]}
    (axes,) = draw(new_figure(bars, height=300, barmode="stack")).axes
    patches: Any = axes.patches
    found = [(round(bar.get_x(), 3), bar.get_y(), round(bar.get_width(), 3)) for bar in patches]
    one, other = [(-0.425, 0.575), (0.0, 1.0)]
    assert found == [
        (place, begin * part, 0.425)
        for places in (one, other)
        for part in (0, 1)
        for place, begin in zip(places, (1, 2), strict=True)
    ]
    assert [(text.get_text(), text.xy) for text in axes.texts] == [  # type: ignore[attr-defined]
        ("3", (pytest.approx(0.2125), 2)),
        ("5", (pytest.approx(1.2125), 4)),
    ]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [([2, 4], ["2", "3", "4", "5", "6", "7", "8", "9"]), ([2, 300], ["2", "5", "10"]), ([1, 1e6], ["1", "10", "100"])],
)
def test_logarithmic_axes_have_the_more_numbers_the_fewer_decades_they_have(
    values: list[float], ticks: list[str]
) -> None:
    found = log_axis(values)["ticktext"]
    begin = found.index(ticks[0])
    assert found[begin : begin + len(ticks)] == ticks
