"""Charts of a sweep: results by parameter, or by number of points; what parameters decide; area; causes.

Pages draw them in a browser, files of figures without one.
"""

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from cyscc.host.analysis.report.charts import NARROWEST, Chart, bar_rows, logarithmic, new_figure
from cyscc.host.answer.colours import RUN_COLOURS, STACK
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sweep.definition import SweepStudy, is_logarithmic, is_ordered, is_wide, value_text
from cyscc.host.experiments.sweep.measures import MEASURES
from cyscc.host.experiments.sweep.rows import DONE, Effect, Row, best_so_far, front, shares
from cyscc.host.output.figures import row_places
from cyscc.host.output.text import count_text
from cyscc.host.specification.overrides import NO_OVERRIDES
from cyscc.host.specification.run import resolved_configuration, resolved_profile

__all__ = ["area_chart", "causes_chart", "factors_chart", "parameter_chart", "search_chart"]

_RESULTS = {**MEASURES, **AREA}
"""Titles of the axes of results, by their columns."""
_FACTORS = {"seconds": 1e3}
"""Factors from columns to the units of their axes."""

_MOST_LINES = 24
_MOST_BARS = 60
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
    texts, end = [], 0.0
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


def search_chart(study: SweepStudy, rows: Sequence[Row], column: str) -> Chart:
    """Return the chart of a result by number of points of a search, with the least one so far."""
    assert study.search is not None, "the study searches"
    title = _RESULTS[column]
    figure = new_figure(height=420, x="points", y=title)
    hover = f"%{{text}}<br>point %{{x}}: %{{y:,}} {title}<extra></extra>"
    kept = "within the budget" if study.search.budget else "point"
    done = [(number, row) for number, row in enumerate(rows, start=1) if row["status"] == DONE]
    for within, text, colour in ((True, kept, _GREY), (False, "over the budget", RUN_COLOURS[2])):
        shown = [(number, row) for number, row in done if row["within_budget"] == within]
        if shown:
            figure.add_scatter(
                x=[number for number, _ in shown],
                y=[_result(row, column) for _, row in shown],
                mode="markers",
                name=text,
                marker={"color": colour, "size": 8},
                text=[study.label(row) for _, row in shown],
                hovertemplate=hover,
            )
    if column not in ("gteps", "seconds"):
        best = best_so_far(rows, column)
        looks = {"color": RUN_COLOURS[1], "shape": "hv"}
        after = f"after %{{x}} points: %{{y:,}} {title}<extra></extra>"
        figure.add_scatter(
            x=list(range(1, len(rows) + 1)), y=best, mode="lines", name="best so far", line=looks, hovertemplate=after
        )
    about = "The points in the order in which they were chosen."
    return Chart(name=f"best-{column}", title=f"Least {title} by number of points", about=about, figure=figure)


def factors_chart(effects: Sequence[Effect]) -> Chart:
    """Return the chart of each parameter's effect factor."""
    figure = new_figure(height=120 + 36 * len(effects), x="cycles of its worst value / cycles of its best")
    figure.add_scatter(
        y=[each.name for each in effects],
        x=[each.factor for each in effects],
        mode="markers+text",
        marker={"color": RUN_COLOURS[0], "size": 11},
        text=[f"{each.factor:.2f}, best: {value_text(each.best)}" for each in effects],
        textposition="middle right",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )
    # Names of values stand to the right of the points, those of parameters to the left.
    width = max(0.1, 1.5 * (max(each.factor for each in effects) - 1))
    figure.update_xaxes(range=[1 - 0.04 * width, 1 + width])
    figure.update_yaxes(autorange="reversed", type="category", automargin=True)
    about = (
        "For each parameter, how many times the cycles of the best value those of the worst are while the others stay "
        "as they are: the geometric average over all of their values. 1 is no effect."
    )
    return Chart(name="effect-factors", title="What each parameter decides", about=about, figure=figure)


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
    all_points: Mapping[str, Any] = {"mode": "markers", "marker": {"color": _GREY, "size": 8}}
    best = {"mode": "lines+markers", "line": {"color": RUN_COLOURS[1], "shape": "vh"}, "marker": {"size": 10}}
    for name, shown, looks in (
        ("all points", rows, all_points),
        ("no other point has fewer cycles and takes no more", front(rows, ("cycles", column)), best),
    ):
        figure.add_scatter(
            x=[row[column] for row in shown],
            y=[row["cycles"] for row in shown],
            name=name,
            text=[study.label(row) or study.name for row in shown],
            hovertemplate=f"%{{text}}<br>%{{y:,}} cycles, %{{x:,}} {title}<extra></extra>",
            **looks,
        )
    budget = {} if study.search is None else study.search.budget
    if column in budget:
        figure.add_vline(x=budget[column], line={"color": RUN_COLOURS[2], "dash": "dash"}, annotation_text="budget")
    about = f"Cycles of each point against the {title} of its machine, as synthesised for a Virtex-5."
    return Chart(name=f"pareto-{column}", title=f"Cycles against {title}", about=about, figure=figure)
