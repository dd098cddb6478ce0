"""Runs beside each other, and what their differences consist of."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from host.record.colours import CAUSE_COLOURS, STACK
from host.report.charts import Chart, bars, cause_name, choice, new_figure
from host.report.comparison import Comparison

__all__ = ["comparison_charts"]

_NAMES = {cause: cause_name(cause) for cause in STACK}
_LINE = {"width": 0.3, "color": "#6b7078"}


def comparison_charts(comparison: Comparison, names: Sequence[str]) -> list[Chart]:
    """Return the charts.

    Parameters
    ----------
    comparison : Comparison
        The runs.
    names : sequence of str
        What they are called, in their order.
    """
    return [_whole(comparison, names), _beside(comparison, names), _difference(comparison, names)]


def _whole(comparison: Comparison, names: Sequence[str]) -> Chart:
    figure = new_figure(height=170 + 44 * len(names), x="cycles")
    for cause in STACK:
        values = [whole[cause] for whole in comparison.whole]
        if not any(values):
            continue
        more = np.array([[value - values[0]] for value in values], np.float32)
        figure.add_trace(
            go.Bar(
                y=list(names),
                x=np.array(values, np.float32),
                customdata=more,
                orientation="h",
                name=_NAMES[cause],
                marker={"color": CAUSE_COLOURS[cause], "line": _LINE},
                hovertemplate=(
                    f"{_NAMES[cause]}: %{{x:,.0f}} cycles, %{{customdata[0]:+,.0f}} against {names[0]}"
                    "<extra>%{y}</extra>"
                ),
            )
        )
    figure.update_layout(barmode="stack")
    figure.update_yaxes(autorange="reversed", type="category")
    about = "The whole runs. Cycles are those of an average kernel, so machines of different size can be compared."
    return Chart(name="compare-whole", title="Cycle stacks of the runs", about=about, figure=figure)


def _beside(comparison: Comparison, names: Sequence[str]) -> Chart:
    figure = new_figure(height=460, y="cycles")
    levels = comparison.levels
    both = [
        [title for title in levels.titles for _ in names],
        [name for _ in levels.titles for name in _short(names)],
    ]
    for cause in STACK:
        values = np.stack([each[cause] for each in comparison.by_cause], axis=1).ravel()
        if not values.any():
            continue
        figure.add_trace(
            go.Bar(
                x=both,
                y=values.astype(np.float32),
                name=_NAMES[cause],
                marker={"color": CAUSE_COLOURS[cause], "line": _LINE},
                hovertemplate=f"%{{x}}<br>{_NAMES[cause]}: %{{y:,.0f}} cycles<extra></extra>",
            )
        )
    figure.update_layout(barmode="stack")
    called = ", ".join(f"{short}: {name}" for short, name in zip(_short(names), names, strict=True))
    about = f"Each level of all runs, {called}."
    if not levels.detailed:
        about += " Those that differ most stand by themselves, the others are put together by phase."
    return Chart(name="compare-levels", title="Levels beside each other", about=about, figure=figure)


def _short(names: Sequence[str]) -> list[str]:
    return [chr(ord("A") + number % 26) * (1 + number // 26) for number in range(len(names))]


def _difference(comparison: Comparison, names: Sequence[str]) -> Chart:
    figure = new_figure(height=460, y="cycles")
    options = {}
    titles = ["whole run", *comparison.levels.titles]
    for run in range(1, len(names)):
        begin = len(figure.data)
        levels, whole = comparison.difference(run), comparison.whole_difference(run)
        parts = {cause: np.concatenate([[whole[cause]], levels[cause]]) for cause in STACK}
        bars(figure, titles, parts, colours=CAUSE_COLOURS, names=_NAMES, form="+,.0f")
        sums = np.sum(list(parts.values()), axis=0)
        figure.add_trace(
            go.Scatter(
                x=titles,
                y=sums.astype(np.float32),
                name="difference",
                mode="markers",
                marker={"symbol": "diamond", "size": 9, "color": "white", "line": {"width": 1.6, "color": "black"}},
                hovertemplate="%{x}<br>difference: %{y:+,.0f} cycles<extra></extra>",
            )
        )
        options[f"{names[run]} against {names[0]}"] = list(range(begin, len(figure.data)))
    if len(names) > 2:
        choice(figure, options)
    figure.add_hline(y=0, line={"width": 1, "color": "#2b2f36"})
    about = (
        "What the difference consists of: above the line are causes that took more cycles than in the first run, below "
        "it those that took fewer; the diamond is their sum, the difference in cycles."
    )
    title = "Differences by cause"
    if len(names) == 2:
        title = f"Differences by cause: {names[1]} against {names[0]}"
    return Chart(name="compare-difference", title=title, about=about, figure=figure)
