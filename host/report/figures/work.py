"""How much work a run had: frontiers, vertices pushed, copies; the token that hands out their slots."""

import numpy as np
import plotly.graph_objects as go

from host.record.colours import CAUSE_COLOURS, RUN_COLOURS
from host.report.activity import Activity
from host.report.charts import Chart, bars, new_figure, over_time
from host.report.traffic import Traffic

__all__ = ["token_chart", "work_chart"]

_COLOURS = {"frontier": "#0072B2", "pushed": "#E69F00", "duplicates": "#7a2500"}
_NAMES = {"frontier": "entries read", "pushed": "vertices pushed", "duplicates": "of them copies"}


def work_chart(activity: Activity, run: str) -> Chart:
    """Return the chart of queue entries by level."""
    instructions, levels = activity.instructions, activity.levels
    figure = new_figure(height=360, y="entries")
    parts = {
        name: np.bincount(levels.of, weights=getattr(instructions, name), minlength=levels.count) for name in _COLOURS
    }
    bars(figure, levels.titles, parts, colours=_COLOURS, names=_NAMES, form=",.0f")
    figure.update_layout(barmode="group")
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    about = (
        "Entries of the queues that a level read, and those that it pushed; copies are entries for vertices that it "
        "pushed more than once. A logarithmic axis: nothing has no bar."
    )
    return Chart(name=f"{run}-work", title="Frontier, pushes and copies", about=about, figure=figure)


def token_chart(activity: Activity, traffic: Traffic, run: str) -> Chart:
    """Return the chart of the token's turns and of what waited for slots."""
    time = activity.time
    figure = over_time(time, activity.instructions, height=340, y="turns in 1,000 cycles")
    for number in range(activity.engines):
        for name, dash in (("bfs", "solid"), ("intersection", "dot")):
            turns = traffic.by_engine[f"{name}_turns"][number]
            if not turns.any():
                continue
            figure.add_trace(
                go.Scatter(
                    x=time.middles,
                    y=(1000 * turns / time.lengths).astype(np.float32),
                    name=f"{name} token at AE {number}",
                    mode="lines",
                    line={"width": 1.4, "color": RUN_COLOURS[number % len(RUN_COLOURS)], "dash": dash},
                    hovertemplate="%{y:.1f} turns in 1,000 cycles",
                )
            )
    waiting = activity.machine_by_time["slot"]
    figure.add_trace(
        go.Scatter(
            x=time.middles,
            y=(100 * waiting / time.lengths).astype(np.float32),
            name="kernels that wait for a slot (right)",
            yaxis="y3",
            mode="lines",
            line={"width": 0},
            fill="tozeroy",
            fillcolor=f"rgba({', '.join(str(int(CAUSE_COLOURS['slot'][at : at + 2], 16)) for at in (1, 3, 5))}, 0.25)",
            hovertemplate="%{y:.1f} %",
        )
    )
    figure.update_layout(
        hovermode="x unified",
        yaxis={"rangemode": "tozero"},
        yaxis3={
            "overlaying": "y",
            "side": "right",
            "title": {"text": "% of the cycles"},
            "range": [0, max(1.0, 1.1 * float((100 * waiting / time.lengths).max(initial=0)))],
            "tickmode": "auto",
            "showgrid": False,
        },
    )
    about = (
        "How often the token came by, and which share of the kernel-cycles was waiting for the slots that it brings. "
        "A kernel that pushes can reserve once a turn."
    )
    return Chart(name=f"{run}-token", title="Token and slots", about=about, figure=figure, time_of=run)
