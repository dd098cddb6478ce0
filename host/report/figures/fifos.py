"""How full FIFOs were."""

import numpy as np
import plotly.graph_objects as go

from host.report.activity import Activity
from host.report.charts import Chart, choice, heat_map, new_figure, over_time
from host.report.fifos import Fill

__all__ = ["fifo_charts"]


def fifo_charts(activity: Activity, fill: Fill, run: str) -> list[Chart]:
    """Return the charts."""
    return [_kinds(fill, run), _over_time(activity, fill, run)]


def _kinds(fill: Fill, run: str) -> Chart:
    figure = new_figure(height=340, y="entries")
    depths = [kind.depth for kind in fill.kinds]
    for name, values, colour, width in (
        ("depth", depths, "#e4e6ea", 0.8),
        ("with reads in flight", [min(kind.needed, kind.depth) for kind in fill.kinds], "#f7d9a0", 0.65),
        ("high-water mark", [kind.most for kind in fill.kinds], "#56B4E9", 0.5),
        ("mean", [kind.mean for kind in fill.kinds], "#0072B2", 0.25),
    ):
        figure.add_trace(
            go.Bar(
                x=fill.titles,
                y=np.array(values, np.float32),
                name=name,
                width=width,
                marker={"color": colour, "line": {"width": 0.5, "color": "#6b7078"}},
                hovertemplate=f"{name}: %{{y:,.1f}} entries<extra>%{{x}}</extra>",
            )
        )
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(type="category")
    about = (
        "The most entries that one of a kind held, and the mean over kernels and time, within its depth. Reads in "
        "flight have their places reserved; how many these were is estimated from their rate and their latency."
    )
    return Chart(name=f"{run}-fifos", title="FIFO fill against depth", about=about, figure=figure)


def _over_time(activity: Activity, fill: Fill, run: str) -> Chart:
    time = activity.time
    figure = over_time(time, activity.instructions, height=180 + 28 * len(fill.titles), y="")
    for values, what in ((fill.mean, "mean fill"), (fill.most, "high-water mark")):
        share = np.rint(100 * values).astype(np.uint8)
        hover = what + ": %{z} % of the depth"
        figure.add_trace(heat_map(share, time, rows=fill.titles, hover=hover, top=100, title="% of the depth"))
    choice(figure, {"mean": [1], "high-water mark": [2]})
    figure.update_layout(yaxis={"autorange": "reversed"})
    about = "Share of the depth that was taken, over all kernels: on average, or in the fullest of them."
    return Chart(name=f"{run}-fifo-time", title="FIFO fill over time", about=about, figure=figure, time_of=run)
