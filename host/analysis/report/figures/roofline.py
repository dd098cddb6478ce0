"""The roofline of a recorded run, and how much of each level its limits explain."""

import numpy as np
import plotly.graph_objects as go

from host.analysis.report.activity import Activity
from host.analysis.report.charts import Chart, logarithmic, new_figure
from host.analysis.roofline.analysis import Roofline, level_points
from host.analysis.roofline.limits import CROSSBAR, HIGHEST_INTENSITY, LIMITS, ceilings
from host.record.arrow import Integers

__all__ = ["roofline_charts"]

_DASHES = {"ports": "solid", "links": "dash", "banks": "dot", "channels": "dot", "rows": "dashdot"}


def roofline_charts(activity: Activity, roofline: Roofline) -> list[Chart]:
    """Return the charts.

    Parameters
    ----------
    activity : Activity
        What the kernels did.
    roofline : Roofline
        Of its levels.
    """
    return [_roof(activity, roofline), _totals(roofline), _levels(activity, roofline)]


def _roof(activity: Activity, roofline: Roofline) -> Chart:
    bounds = roofline.bounds
    scale = float(activity.record.document["clock_hz"]) / 1e9
    figure = new_figure(height=480, x="intensity (edges per memory request)", y="throughput (GTEPS)")
    points = level_points(roofline)
    intensity = np.geomspace(min([0.2, *(0.8 * points.intensity)]), HIGHEST_INTENSITY, 60)
    for ceiling in ceilings(bounds):
        title = f"{ceiling.name}: {scale * ceiling.reads:.2f} G/s"
        figure.add_trace(
            go.Scatter(
                x=intensity.astype(np.float32),
                y=(scale * ceiling.edges(intensity)).astype(np.float32),
                name=title,
                mode="lines",
                line={
                    "color": LIMITS.get(ceiling.name, CROSSBAR).colour,
                    "dash": _DASHES.get(ceiling.name, "longdashdot"),
                    "width": 2,
                },
                hovertemplate=f"{title}<br>%{{y:.2f}} GTEPS<extra></extra>",
            )
        )
    largest = max(1, int(points.edges.max(initial=1)))
    for number, name in enumerate(bounds.names):
        own = points.tightest == number
        if not own.any():
            continue
        figure.add_trace(
            go.Scatter(
                x=points.intensity[own].astype(np.float32),
                y=(scale * points.rate[own]).astype(np.float32),
                customdata=np.stack([100 * points.share[own], points.edges[own]], axis=1).astype(np.float64),
                name=f"tightest: {LIMITS[name].title}",
                mode="markers",
                marker={
                    "color": LIMITS[name].colour,
                    "size": (7 + 22 * np.sqrt(points.edges[own] / largest)).astype(np.float32),
                    "line": {"color": "black", "width": 0.8},
                },
                hovertemplate=(
                    f"tightest: {LIMITS[name].title}<br>%{{y:.3f}} GTEPS, %{{customdata[1]:,}} edges<br>"
                    "%{customdata[0]:.1f} % of the cycles<extra></extra>"
                ),
            )
        )
    logarithmic(figure.update_xaxes, float(intensity.min()), HIGHEST_INTENSITY)
    logarithmic(figure.update_yaxes, scale * float(points.rate.min(initial=0.01)), 20.0)
    about = (
        "A point is a level, or several alike; its area is for its edges. No level is above a ceiling, but for that "
        "of the crossbar's queues, which is what random traffic gets. One far below is bound by something else: its "
        "colour says by what."
    )
    return Chart(name="roofline", title="Roofline", about=about, figure=figure)


def _totals(roofline: Roofline) -> Chart:
    taken = max(roofline.total_cycles, 1)
    limits, cycles, _ = zip(*roofline.totals.values(), strict=True)
    figure = new_figure(height=130 + 28 * len(limits), x="% of the cycles of the levels")
    figure.add_trace(
        go.Bar(
            y=[limit.title for limit in limits],
            x=np.array([100 * each / taken for each in cycles], np.float32),
            customdata=np.array(cycles, np.float64),
            orientation="h",
            marker={"color": [limit.colour for limit in limits], "line": {"width": 0.4, "color": "#6b7078"}},
            texttemplate="%{x:.1f} %",
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{customdata:,} cycles, %{x:.1f} %<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(margin={"l": 150}, xaxis={"range": [0, 105]}, showlegend=False)
    about = (
        "Least cycles that each part of the machine allows, against those taken. All of them: each level's tightest "
        "limit. Queues at the crossbar let a request wait behind one for another link; what they pass is expected, not "
        "a limit."
    )
    return Chart(name="limits", title="What the limits explain", about=about, figure=figure)


def _levels(activity: Activity, roofline: Roofline) -> Chart:
    shown = activity.levels
    group = shown.of[activity.of_instructions("level") >= 0]

    def summed(values: Integers) -> Integers:
        return np.bincount(group, weights=values, minlength=shown.count).astype(np.int64)

    reached = summed(roofline.cycles)
    there = reached > 0
    titles = [title for title, shows in zip(shown.titles, there, strict=True) if shows]
    figure = new_figure(height=460, y="cycles")
    figure.add_trace(
        go.Bar(
            x=titles,
            y=reached[there],
            name="taken",
            marker={"color": "#e4e6ea", "line": {"width": 0.8, "color": "#6b7078"}},
            hovertemplate="%{x}<br>taken: %{y:,} cycles<extra></extra>",
        )
    )
    lines = [(LIMITS[name], roofline.limits[:, number]) for number, name in enumerate(roofline.bounds.names)]
    if roofline.crossbar is not None:
        lines.append((CROSSBAR, roofline.crossbar))
    for (title, colour, _), cycles in lines:
        values = summed(cycles)[there]
        figure.add_trace(
            go.Scatter(
                x=titles,
                y=values,
                customdata=(100 * values / reached[there]).astype(np.float32),
                name=title,
                mode="markers",
                marker={"color": colour, "size": 10, "symbol": "line-ew", "line": {"color": colour, "width": 3.5}},
                hovertemplate=f"%{{x}}<br>{title}: %{{y:,}} cycles, %{{customdata:.0f}} %<extra></extra>",
            )
        )
    figure.update_xaxes(type="category")
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    about = (
        "Cycles that each level took, and the least that each limit allows: the highest mark binds. A logarithmic axis."
    )
    return Chart(name="limit-levels", title="Limits of each level", about=about, figure=figure)
