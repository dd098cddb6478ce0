"""How long reads took."""

import numpy as np
import plotly.graph_objects as go

from host.record.colours import PHASE_COLOURS
from host.record.tables import PHASES
from host.report.charts import Chart, logarithmic, new_figure
from host.report.traffic import LONGEST_LATENCY, Traffic

__all__ = ["latency_charts"]

_BINS = 80


def latency_charts(traffic: Traffic, run: str) -> list[Chart]:
    """Return the charts."""
    return [_histogram(traffic, run), _levels(traffic, run)]


def _histogram(traffic: Traffic, run: str) -> Chart:
    counts = traffic.latencies_by_phase
    (taken,) = np.nonzero(counts.sum(axis=0))
    low = max(1, int(taken[0])) if taken.size else 1
    edges = np.unique(np.rint(np.geomspace(low, LONGEST_LATENCY + 1, _BINS + 1)).astype(np.int64))
    edges[0] = min(low, int(taken[0])) if taken.size else 0
    figure = new_figure(height=340, x="cycles from a read to its response", y="reads")
    for phase, values in zip(PHASES, counts, strict=True):
        if not values.any():
            continue
        binned = np.add.reduceat(values, edges[:-1])
        figure.add_trace(
            go.Bar(
                x=(edges[:-1] + np.diff(edges) / 2).astype(np.float32),
                width=np.diff(edges).astype(np.float32),
                y=binned,
                customdata=np.stack([edges[:-1], edges[1:] - 1], axis=1),
                name=phase,
                marker={"color": PHASE_COLOURS[phase], "line": {"width": 0}},
                hovertemplate="%{customdata[0]} to %{customdata[1]} cycles: %{y:,} reads<extra>" + phase + "</extra>",
            )
        )
    figure.update_layout(barmode="stack", showlegend=True, bargap=0)
    logarithmic(figure.update_xaxes, max(1, edges[0]), edges[-1])
    figure.update_xaxes(range=[float(np.log10(max(1, edges[0]))), float(np.log10(edges[-1]))])
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    about = f"Both axes are logarithmic; {LONGEST_LATENCY:,} cycles are that or more."
    return Chart(name=f"{run}-latencies", title="Latencies of reads", about=about, figure=figure)


def _levels(traffic: Traffic, run: str) -> Chart:
    figure = new_figure(height=400, y="cycles", hovermode="x unified")
    for share, name, colour in ((0.5, "median", "#0072B2"), (0.95, "95 %", "#E69F00"), (0.99, "99 %", "#D55E00")):
        figure.add_trace(
            go.Scatter(
                x=list(traffic.levels.titles),
                y=traffic.percentile(share).astype(np.float32),
                name=name,
                mode="lines+markers",
                line={"color": colour, "width": 1.2},
                hovertemplate="%{y:,.0f} cycles",
            )
        )
    figure.update_xaxes(type="category")
    logarithmic(figure.update_yaxes, 1, LONGEST_LATENCY)
    about = "So many cycles half of the reads, 95 % and 99 % of them did not exceed."
    return Chart(name=f"{run}-latency-levels", title="Latencies by level", about=about, figure=figure)
