"""Charts drawn by matplotlib, against the figures that pages draw."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.colors import to_hex

import cyscc
from cyscc.host.analysis.report.comparison import AlignedRuns, comparison_charts
from cyscc.host.analysis.report.drawing import draw_chart, options_of
from cyscc.host.analysis.report.figures import chart_sections
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
    "Levels beside each other",
    "Differences by cause: other against one",
)
"""Charts that have all kinds of traces, axes, legends and labels between them."""


@pytest.mark.parametrize("title", DRAWN)
def test_nothing_is_cut_off_and_the_legend_is_whole(title: str) -> None:
    chart = {**charts_of(SCC), **compared()}[title]
    drawn = draw_chart(chart, title=title, width=800)
    drawn.draw_without_rendering()
    inside, (width, height) = drawn.get_tightbbox(), drawn.get_size_inches()
    assert width == 8
    assert min(inside.x0, inside.y0) >= 0
    assert inside.x1 <= width
    assert inside.y1 <= height
    shown = [trace for trace in chart.data if trace.visible in (None, True) and trace.type != "heatmap"]
    named = {trace.name for trace in shown if trace.name and trace.showlegend is not False}
    if chart.layout.showlegend is not False and len(shown) > 1:
        (legend,) = drawn.legends
        assert {text.get_text() for text in legend.get_texts()} == named


def test_bars_and_areas_stand_on_each_other() -> None:
    charts = charts_of(SCC)
    for title in ("Cycle stack of each level", "Cycle stack of the run"):
        (axes,) = draw_chart(charts[title]).axes
        ends: dict[float, float] = {}
        for bars, trace in zip(axes.containers, charts[title].data, strict=True):
            lying = trace.orientation == "h"
            assert to_hex(bars[0].get_facecolor()) == trace.marker.color
            for bar, length in zip(bars, trace.x if lying else trace.y, strict=True):
                begin, size = (bar.get_x(), bar.get_width()) if lying else (bar.get_y(), bar.get_height())
                place = bar.get_y() if lying else bar.get_x()
                assert (size, begin) == pytest.approx((length, ends.get(place, 0)), abs=0.1)
                ends[place] = begin + size
    panels: list[Any] = sorted(draw_chart(charts["Cycle stack over time"]).axes, key=lambda axes: len(axes.collections))
    strip, over_time = panels
    assert (len(strip.images), len(over_time.images)) == (1, 0)
    top = max(path.vertices[:, 1].max() for area in over_time.collections for path in area.get_paths())
    assert top == pytest.approx(100, abs=0.1)


def test_options() -> None:
    charts = charts_of(SCC)
    lapse, levels = charts["Time-lapse of the kernels"], charts["Cycle stack of each level"]
    names = options_of(lapse)
    assert names[0] == "requests issued"
    for place in (0, 3):
        axes = next(axes for axes in draw_chart(lapse, option=names[place]).axes if axes.get_title(loc="left"))
        images: list[Any] = [image for panel in axes.figure.axes for image in panel.images]
        assert any(np.array_equal(image.get_array(), lapse.data[1 + place].z) for image in images)
    shares: Any = draw_chart(levels, option="shares").axes[0]
    assert shares.get_ylabel() == "% of the level"
    assert max(bar.get_y() + bar.get_height() for bar in shares.patches) == pytest.approx(100)
    assert levels.layout.barnorm is None
    with pytest.raises(ValueError, match="the chart has no option 'all': there are cycles, shares"):
        draw_chart(levels, option="all")
    with pytest.raises(ValueError, match="the chart has no option 'all': it has no selector"):
        draw_chart(charts["Roofline"], option="all")
    with pytest.raises(ValueError, match="a figure has a width of 300 pixels at least, not 10"):
        draw_chart(levels, width=10)
    with pytest.raises(ValueError, match="a chart has lines, bars and heat maps, not 'pie'"):
        draw_chart(go.Figure(go.Pie(values=[1])))


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_files(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"figure.{suffix}"
    title, chart = next(iter(charts_of(SCC).items()))
    cyscc.write_figure(chart, path, title=f"{title}: $x_1$ <b>")
    if suffix == "png":
        assert path.read_bytes().startswith(b"\x89PNG")
        return
    words = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())
    assert {"cycles", "whole run", "writing", f"{title}: $x_1$ "} <= set(words)
