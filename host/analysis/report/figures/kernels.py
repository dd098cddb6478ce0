"""Where the cycles of kernels went, and what they had to do: stacks of causes, work, token, FIFOs."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from host.analysis.report.activity import Activity, key_point
from host.analysis.report.charts import (
    Chart,
    HeatMap,
    bar_rows,
    bars,
    cause_name,
    choice,
    lapse,
    line,
    name_rows,
    new_figure,
    over_time,
    stack_over_time,
)
from host.analysis.report.traffic import Fill, Traffic
from host.record.colours import CAUSE_COLOURS, RUN_COLOURS, STACK
from host.record.tables import MODULES, PHASES

__all__ = ["activity_charts", "fifo_charts", "token_chart", "work_chart"]

_ITERATIONS = 60
"""Most bars of iterations."""
_UPRIGHT = 16
_OPTION = 30
"""Pixels of an option in an open list."""
_NAMES = {cause: cause_name(cause) for cause in STACK}
_WORK_COLOURS = {"frontier": "#0072B2", "pushed": "#E69F00", "duplicates": "#7a2500"}
_WORK_NAMES = {"frontier": "entries read", "pushed": "vertices pushed", "duplicates": "of them copies"}


def activity_charts(activity: Activity) -> list[Chart]:
    """Return the charts.

    Parameters
    ----------
    activity : Activity
        What the kernels did.
    """
    return [make(activity) for make in (_whole, _iterations, _levels, _over_time, _lapse, _kernels)]


def _whole(activity: Activity) -> Chart:
    ran = set(activity.instructions["phase"])
    titles = ["whole run", *(phase for phase in PHASES if phase in ran)]
    figure = new_figure(height=150 + 48 * len(titles), x="cycles")
    phases = activity.by_phase
    parts = {
        cause: [activity.whole.get(cause, 0.0), *(float(phases[cause][PHASES.index(title)]) for title in titles[1:])]
        for cause in STACK
    }
    totals = np.maximum(1.0, np.sum(list(parts.values()), axis=0))
    shown = "%{cause}: %{x:,.0f} cycles, %{customdata:.1%}<extra>%{y}</extra>"
    bar_rows(figure, titles, parts, customdata=lambda values: (values / totals).astype(np.float32), form=shown)
    about = (
        "Every cycle of every kernel has exactly one cause; lengths are cycles of an average kernel of the module that "
        "ran, so that they add up to the cycles simulated. Blue is work, yellow to brown what the machine waited for, "
        "grey what had nothing to do, pale and purple what was outside of the run."
    )
    return Chart(name="whole", title="Cycle stack of the run", about=about, figure=figure)


def _stack_of(titles: Sequence[str], by_cause: dict[str, npt.NDArray[np.float64]], what: str) -> go.Figure:
    """Return bars of cycles by cause, or of shares."""
    # Many names stand upright.
    figure = new_figure(height=440 if len(titles) < _UPRIGHT else 520, y="cycles")
    bars(figure, titles, {c: by_cause[c] for c in STACK}, colours=CAUSE_COLOURS, names=_NAMES, form=",.0f")
    every = list(range(len(figure.data)))
    choice(
        figure,
        {"cycles": every, "shares": every},
        updates=[
            {"barnorm": "", "yaxis.title.text": "cycles", "yaxis.autorange": True},
            {"barnorm": "percent", "yaxis.title.text": f"% of the {what}", "yaxis.autorange": True},
        ],
    )
    return figure


def _iterations(activity: Activity) -> Chart:
    iteration = activity.of_instructions("iteration")
    last = int(iteration.max(initial=0))
    each = max(1, -(-last // _ITERATIONS))
    group = np.maximum(iteration - 1, 0) // each
    firsts = range(1, max(last, 1) + 1, each)
    titles = [str(first) if each == 1 else f"{first:,} to {min(first + each - 1, last):,}" for first in firsts]
    figure = _stack_of(titles, activity.by_group(group, len(titles)), "iterations")
    figure.update_xaxes(title_text="iteration" if each == 1 else "iterations")
    about = "Searches and intersection of an iteration together."
    if each > 1:
        about = f"Searches and intersections of {each:,} iterations together."
    points = tuple(f"iteration={number}" for number in firsts) if last else ()
    return Chart(name="iterations", title="Cycle stack of iterations", about=about, figure=figure, points=points)


def _levels(activity: Activity) -> Chart:
    levels = activity.levels
    figure = _stack_of(levels.titles, activity.by_level, "level")
    about = "The same for each level."
    if not levels.detailed:
        about = (
            "The same for each level and intersection. There are too many to show: those that took longest stand by "
            "themselves, in the order in which they ran; behind them the others together, whose bars may go beyond "
            "what is shown until a double click shows everything."
        )
        cycles = np.sum(list(activity.by_level.values()), axis=0)
        figure.update_yaxes(range=[0, 1.15 * float(cycles[levels.sizes == 1].max(initial=1))])
    first = [int(np.argmax(levels.of == group)) for group in range(levels.count)]
    points = tuple(key_point(activity.keys[place]) for place in first)
    return Chart(name="levels", title="Cycle stack of each level", about=about, figure=figure, points=points)


def _over_time(activity: Activity) -> Chart:
    time = activity.time
    figure = over_time(activity, height=430, y="% of the cycles")
    parts = {cause: 100 * values / time.lengths for cause, values in activity.machine_by_time.items()}
    ordered = {cause: parts[cause] for cause in STACK if cause in parts}
    stack_over_time(figure, time, ordered, colours=CAUSE_COLOURS, names=_NAMES, form=".1f")
    figure.update_layout(yaxis={"range": [0, 100]})
    about = (
        f"The kernels of the module that runs. A point is {time.width:,} cycles; the strip above says which phase and "
        "level it is, dotted lines are where levels begin. All charts over time zoom together; a double click shows "
        "everything again."
    )
    return Chart(name="time", title="Cycle stack over time", about=about, figure=figure, time_of="run")


def _lapse(activity: Activity) -> Chart:
    time = activity.time
    shown = {"requests issued": activity.issued, **{_NAMES[cause]: activity.by_time[cause] for cause in STACK}}
    shown = {title: cycles for title, cycles in shown.items() if cycles.any()}
    # The list of what can be chosen must find room within the chart.
    height = max(220 + 5 * len(activity.tracks), 120 + _OPTION * len(shown))
    hover = {title: title + ": %{z} % of the cycles" for title in shown}
    maps = {
        title: HeatMap(np.rint(100 * cycles / time.lengths).astype(np.uint8), hover[title], "% of the cycles", 100)
        for title, cycles in shown.items()
    }
    figure = lapse(activity, activity.tracks, maps, height=height)
    _name_engines(figure, activity)
    about = "A row is a kernel, a column is time. Choose what is shown: requests issued, or any cause."
    return Chart(name="lapse", title="Time-lapse of the kernels", about=about, figure=figure, time_of="run")


def _name_engines(figure: go.Figure, activity: Activity) -> None:
    """Name the first kernel of each AE at the axis; the others are named where the pointer is."""
    places, texts, place = [], [], 0
    several = sum(count > 0 for count in activity.kernels) > 1
    for module, kernels in zip(MODULES, activity.kernels, strict=True):
        for engine in range(activity.engines if kernels else 0):
            places.append(place)
            texts.append(f"AE {engine} {'int.' if module == 'intersection' else module}" if several else f"AE {engine}")
            place += kernels
    name_rows(figure, places, texts)


def _kernels(activity: Activity) -> Chart:
    figure = new_figure(height=430, y="% of the cycles")
    total = max(activity.record.cycles, 1)
    parts = {cause: 100 * activity.by_track[cause] / total for cause in STACK}
    bars(figure, activity.tracks, parts, colours=CAUSE_COLOURS, names=_NAMES, form=".1f")
    figure.update_layout(bargap=0, yaxis={"range": [0, 100]}, xaxis={"tickangle": 60, "tickfont": {"size": 9}})
    about = "Every kernel over the whole run: where one stands out, its AE or its share of the work does."
    return Chart(name="kernels", title="Cycle stack of each kernel", about=about, figure=figure)


def work_chart(activity: Activity) -> Chart:
    """Return the chart of queue entries by level."""
    levels = activity.levels
    figure = new_figure(height=360, y="entries")
    parts = {
        name: np.bincount(levels.of, weights=activity.of_instructions(name), minlength=levels.count)
        for name in _WORK_COLOURS
    }
    bars(figure, levels.titles, parts, colours=_WORK_COLOURS, names=_WORK_NAMES, form=",.0f")
    figure.update_layout(barmode="group")
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    about = (
        "Entries of the queues that a level read, and those that it pushed; copies are entries for vertices that it "
        "pushed more than once. A logarithmic axis: nothing has no bar."
    )
    return Chart(name="work", title="Frontier, pushes and copies", about=about, figure=figure)


def token_chart(traffic: Traffic) -> Chart:
    """Return the chart of the token's turns and of what waited for slots."""
    activity, time = traffic.activity, traffic.time
    figure = over_time(activity, height=340, y="turns in 1,000 cycles")
    for number in range(activity.engines):
        for name, dash in (("bfs", "solid"), ("intersection", "dot")):
            turns = traffic.by_engine[f"{name}_turns"][number]
            if not turns.any():
                continue
            line(
                figure,
                time,
                1000 * turns / time.lengths,
                f"{name} token at AE {number}",
                RUN_COLOURS[number % len(RUN_COLOURS)],
                width=1.4,
                dash=dash,
                form="%{y:.1f} turns in 1,000 cycles",
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
    return Chart(name="token", title="Token and slots", about=about, figure=figure, time_of="run")


def fifo_charts(fill: Fill) -> list[Chart]:
    """Return the charts."""
    return [_fifo_kinds(fill), _fifos_over_time(fill)]


def _fifo_kinds(fill: Fill) -> Chart:
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
    return Chart(name="fifos", title="FIFO fill against depth", about=about, figure=figure)


def _fifos_over_time(fill: Fill) -> Chart:
    maps = {
        label: HeatMap(np.rint(100 * values).astype(np.uint8), hover + ": %{z} % of the depth", "% of the depth", 100)
        for label, values, hover in (
            ("mean", fill.mean, "mean fill"),
            ("high-water mark", fill.most, "high-water mark"),
        )
    }
    figure = lapse(fill.activity, fill.titles, maps, height=180 + 28 * len(fill.titles))
    about = "Share of the depth that was taken, over all kernels: on average, or in the fullest of them."
    return Chart(name="fifo-time", title="FIFO fill over time", about=about, figure=figure, time_of="run")
