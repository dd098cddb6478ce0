"""Charts of a sweep: results by parameter, or by number of points; cycles against area, and by cause.

Pages draw them in a browser, files of figures without one.
"""

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from cyscc.host.analysis.report.charts import NARROWEST, Chart, bar_rows, logarithmic, new_figure
from cyscc.host.answer.colours import RUN_COLOURS, STACK
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sweep.definition import SweepStudy, is_logarithmic, is_ordered, is_wide, value_text
from cyscc.host.experiments.sweep.measures import MEASURES
from cyscc.host.experiments.sweep.rows import DONE, Row, best_so_far, front, shares
from cyscc.host.output.figures import row_places
from cyscc.host.output.text import count_text
from cyscc.host.specification.overrides import NO_OVERRIDES
from cyscc.host.specification.run import resolved_configuration, resolved_profile

_RESULTS = {**MEASURES, **AREA}
"""Titles of the axes of results, by their columns."""
_FACTORS = {"seconds": 1e3}
"""Factors from columns to the units of their axes."""

_MOST_LINES = 24
_MOST_BARS = 60
_MOST_TICKS = 20
_LEGEND = 70
"""Letters beside each other in a legend, on a narrow page."""
_LETTER = 7
"""Width of a letter of a label in pixels, roughly."""
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_DASHES = ("solid", "dash", "dot", "dashdot")
_HOVER = "%{text}: %{customdata[0]:,} cycles, %{customdata[1]:.3f} GTEPS<extra></extra>"
_GREY = "#868680"


def parameter_chart(study: SweepStudy, rows: Sequence[Row], across: str, column: str = "cycles") -> Chart:
    """Return the chart of a result by value of a parameter, with a line for each combination of the others.

    Values without an order have rows, in which nothing joins the points.

    Parameters
    ----------
    study : SweepStudy
        The study.
    rows : sequence of Row
        The rows of its points; failed ones are left out.
    across : str
        The parameter.
    column : str
        The result: ``cycles``, ``gteps`` or ``seconds``.
    """
    done = [row for row in rows if row["status"] == DONE]
    others = [name for name in study.axes if name != across]
    lines: dict[str, list[Row]] = {}
    for row in done:
        lines.setdefault(study.label(row, others) or column, []).append(row)
    shown = dict(list(lines.items())[:_MOST_LINES])
    values, labels = study.axes[across], study.labels[across]
    ordered = is_ordered(across, values)
    figure = new_figure(height=420 if ordered else 100 + len(values) * (20 + 8 * len(shown)), x=across)

    def add(name: str, points: Sequence[Row], place: int, **looks: Any) -> None:
        """Add points at the place of a line."""
        shifted = row_places(len(values), place, len(shown))
        at = [row[across] if ordered else shifted[values.index(row[across])] for row in points]
        results = [_result(row, column) for row in points]
        x, y = (at, results) if ordered else (results, at)
        figure.add_scatter(
            x=x,
            y=y,
            name=name,
            text=[labels[row[across]] for row in points],
            customdata=[[row["cycles"], row["gteps"]] for row in points],
            hovertemplate=f"{name}<br>{_HOVER}",
            **looks,
        )

    unchanged, machine = _unchanged(study)
    for place, (name, line) in enumerate(shown.items()):
        again, colour = divmod(place, len(RUN_COLOURS))
        looks = {"color": RUN_COLOURS[colour], "dash": _DASHES[again]}
        marker = {"symbol": _SYMBOLS[again], "size": 8}
        points = sorted(line, key=lambda row: row[across]) if ordered else line
        add(name, points, place, mode="lines+markers" if ordered else "markers", line=looks, marker=marker)
    rings = [(place, row) for place, line in enumerate(shown.values()) for row in line if row["point"] in unchanged]
    for number, (place, row) in enumerate(rings):
        ring = {"symbol": "circle-open", "size": 16, "color": "#000000", "line": {"width": 1.5}}
        add(machine, [row], place, mode="markers", marker=ring, legendgroup=machine, showlegend=not number)
    _scale(figure, [_result(row, column) for row in done], _RESULTS[column], "y" if ordered else "x")
    if ordered:
        numbers = sorted(values)
        scale = "log" if is_logarithmic(numbers) else "linear"
        figure.update_xaxes(type=scale, tickvals=numbers, ticktext=_ticks(numbers))
    else:
        texts = [labels[value] for value in values]
        figure.update_yaxes(
            title_text=across,
            tickvals=list(range(len(texts))),
            ticktext=texts,
            range=[len(texts) - 0.5, -0.5],
            automargin=True,
        )
    longest = max(map(len, shown), default=0)
    legend = 20 * -(-len(shown) // max(_LEGEND // (longest + 6), 1))
    figure.update_layout(
        height=figure.layout.height + legend,
        showlegend=len(shown) > 1 or bool(rings),
        legend={"maxheight": legend + 40},
    )
    kind = "line" if ordered else "colour"
    about = f"Points of a {kind} have everything else in common."
    if len(lines) > len(shown):
        about += f" The first {len(shown)} of {len(lines)} {kind}s."
    if failed := len(rows) - len(done):
        about += f" {count_text(failed, 'point')} failed, and {'is' if failed == 1 else 'are'} left out."
    return Chart(name=f"effect-{list(study.axes).index(across)}", title=across, about=about, figure=figure)


def _result(row: Row, column: str) -> float:
    """Return a result in the unit of its axis."""
    return float(row[column] * _FACTORS.get(column, 1))


def _scale(figure: go.Figure, results: Sequence[float], title: str, which: str) -> None:
    """Set title and scale of the axis of results, which is logarithmic if they differ much."""
    update = figure.update_yaxes if which == "y" else figure.update_xaxes
    update(title_text=title, rangemode="tozero")
    if is_wide(results):
        logarithmic(update, min(results), max(results))


def _ticks(numbers: Sequence[float]) -> list[str]:
    """Return the labels of ascending numbers of an axis; those that have no room are empty."""
    places = [log(number) if is_logarithmic(numbers) else number for number in numbers]
    scale = NARROWEST / ((places[-1] - places[0]) or 1)
    texts: list[str] = []
    end = 0.0
    for number, place in zip(numbers, places, strict=True):
        text = f"{number:,}"
        half = _LETTER * (len(text) + 1) / 2
        begin = scale * (place - places[0]) - half
        fits = begin >= end or not texts
        texts.append(text if fits else "")
        end = begin + 2 * half if fits else end
    return texts


def _unchanged(study: SweepStudy) -> tuple[set[str], str]:
    """Return the points on machine and memory as their presets have them, by digest, and their name in the legend.

    They are none where all points are, so that nothing sets them apart.
    """
    machines: dict[tuple[str, str], tuple[Any, Any]] = {}
    found: dict[str, str] = {}
    for each in study.points:
        spec = each.point.spec
        named = (str(spec.config), str(spec.memory))
        if named not in machines:
            own = resolved_configuration(spec.config, NO_OVERRIDES), resolved_profile(spec.memory, NO_OVERRIDES)
            machines[named] = (own[0], own[1].describe())
        if machines[named] == (spec.configuration, spec.profile.describe()):
            found[each.point.digest] = f"{value_text(Path(spec.config_name).name)}, unchanged"
    if len(found) == len({each.point.digest for each in study.points}):
        return set(), ""
    texts = set(found.values())
    return set(found), texts.pop() if len(texts) == 1 else "machine unchanged"


def _scatter(
    figure: go.Figure, study: SweepStudy, name: str, points: Sequence[tuple[float, float, Row]], **looks: Any
) -> None:
    """Add points, each with its place and its row, which have the labels of the study."""
    axes = f"{figure.layout.xaxis.title.text} %{{x:,}}, {figure.layout.yaxis.title.text} %{{y:,}}"
    figure.add_scatter(
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        name=name,
        text=[study.label(row) or study.name for _, _, row in points],
        hovertemplate=f"%{{text}}<br>{axes}<extra></extra>",
        **looks,
    )


def search_chart(study: SweepStudy, rows: Sequence[Row], column: str) -> Chart:
    """Return the chart of a result by number of points of a search, with the least one so far."""
    assert study.search is not None, "the study searches"
    title = _RESULTS[column]
    figure = new_figure(height=420, x="points", y=title)
    kept = "within the budget" if study.search.budget else "point"
    done = [(number, _result(row, column), row) for number, row in enumerate(rows, 1) if row["status"] == DONE]
    for within, text, colour in ((True, kept, _GREY), (False, "over the budget", RUN_COLOURS[2])):
        if shown := [point for point in done if point[2]["within_budget"] == within]:
            _scatter(figure, study, text, shown, mode="markers", marker={"color": colour, "size": 8})
    if column not in ("gteps", "seconds"):
        figure.add_scatter(
            x=list(range(1, len(rows) + 1)),
            y=best_so_far(rows, column),
            name="best so far",
            mode="lines",
            line={"color": RUN_COLOURS[1], "shape": "hv"},
            hovertemplate=f"after %{{x}} points: %{{y:,}} {title}<extra></extra>",
        )
    _scale(figure, [result for _, result, _ in done], title, "y")
    numbers = list(range(1, len(rows) + 1, max(len(rows) // _MOST_TICKS, 1)))
    figure.update_xaxes(tickvals=numbers, ticktext=_ticks(numbers))
    about = "The points in the order in which they were chosen."
    return Chart(name=f"best-{column}", title=f"Least {title} by number of points", about=about, figure=figure)


def causes_chart(study: SweepStudy, rows: Sequence[Row], module: str) -> Chart | None:
    """Return the chart of the kernels' cycles by cause at each point; None if no point has kernels of this module."""
    chosen = sorted((row for row in rows if shares(row, module)), key=lambda row: row["cycles"])
    shown = chosen[:_MOST_BARS]
    if not shown:
        return None
    figure = new_figure(height=180 + 22 * len(shown), x="share of the cycles of all kernels")
    parts = {cause: [shares(row, module)[cause] for row in shown] for cause in STACK}
    names = [study.label(row) or study.name for row in shown]
    bar_rows(figure, names, parts, form="%{y}<br>%{cause}: %{x:.1%}<extra></extra>")
    figure.update_yaxes(automargin=True)
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    about = "The points by their cycles, the fewest first."
    if len(chosen) > len(shown):
        about += f" The first {len(shown)} of {len(chosen)}."
    return Chart(name=f"causes-{module}", title=f"Cycles of the {module} kernels", about=about, figure=figure)


def area_chart(study: SweepStudy, rows: Sequence[Row], column: str) -> Chart:
    """Return the chart of cycles against a column of area, with the Pareto front."""
    title = AREA[column]
    figure = new_figure(height=460, x=f"{title}, all AEs", y="cycles")
    best = {"mode": "lines+markers", "line": {"color": RUN_COLOURS[1], "shape": "vh"}, "marker": {"size": 10}}
    for name, shown, looks in (
        ("all points", rows, {"mode": "markers", "marker": {"color": _GREY, "size": 8}}),
        ("no other point has fewer cycles and takes no more", front(rows, ("cycles", column)), best),
    ):
        _scatter(figure, study, name, [(row[column], row["cycles"], row) for row in shown], **looks)
    budget = {} if study.search is None else study.search.budget
    if column in budget:
        figure.add_vline(x=budget[column], line={"color": RUN_COLOURS[2], "dash": "dash"}, annotation_text="budget")
    about = f"Cycles of each point against the {title} of its machine, as synthesised for a Virtex-5."
    return Chart(name=f"pareto-{column}", title=f"Cycles against {title}", about=about, figure=figure)
