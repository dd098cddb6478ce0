"""Where the cycles went: stacks of causes, and every kernel over time."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from host.record.colours import CAUSE_COLOURS, STACK
from host.record.tables import MODULES, PHASES
from host.report.activity import Activity
from host.report.charts import Chart, bars, cause_name, choice, heat_map, new_figure, over_time, stack_over_time
from host.report.levels import key_point

__all__ = ["activity_charts"]

_ITERATIONS = 60
"""Most bars of iterations."""
_UPRIGHT = 16
_OPTION = 30
"""Pixels of an option in an open list."""
_NAMES = {cause: cause_name(cause) for cause in STACK}


def activity_charts(activity: Activity, run: str) -> list[Chart]:
    """Return the charts.

    Parameters
    ----------
    activity : Activity
        What the kernels did.
    run : str
        What the page calls the run; begins the names of the charts.
    """
    return [make(activity, run) for make in (_whole, _iterations, _levels, _over_time, _lapse, _kernels)]


def _whole(activity: Activity, run: str) -> Chart:
    rows = ["whole run", *(phase for phase, count in zip(PHASES, _instructions(activity), strict=True) if count)]
    figure = new_figure(height=150 + 48 * len(rows), x="cycles")
    phases = activity.by_phase
    for cause in STACK:
        values = [activity.whole.get(cause, 0.0)]
        values += [float(phases[cause][PHASES.index(row)]) for row in rows[1:]]
        if not any(values):
            continue
        shares = [value / max(1.0, total) for value, total in zip(values, _totals(activity, rows), strict=True)]
        figure.add_trace(
            go.Bar(
                y=rows,
                x=np.array(values, np.float32),
                customdata=np.array(shares, np.float32),
                orientation="h",
                name=_NAMES[cause],
                marker={"color": CAUSE_COLOURS[cause], "line": {"width": 0.3, "color": "#6b7078"}},
                hovertemplate=f"{_NAMES[cause]}: %{{x:,.0f}} cycles, %{{customdata:.1%}}<extra>%{{y}}</extra>",
            )
        )
    figure.update_layout(barmode="stack")
    figure.update_yaxes(autorange="reversed", type="category")
    about = (
        "Every cycle of every kernel has exactly one cause; lengths are cycles of an average kernel of the module that "
        "ran, so that they add up to the cycles simulated. Blue is work, yellow to brown what the machine waited for, "
        "grey what had nothing to do, pale and purple what was outside of the run."
    )
    return Chart(name=f"{run}-whole", title="Cycle stack of the run", about=about, figure=figure)


def _instructions(activity: Activity) -> list[int]:
    return np.bincount(activity.instructions.phase, minlength=len(PHASES)).tolist()


def _totals(activity: Activity, rows: list[str]) -> list[float]:
    phases = activity.by_phase
    whole = sum(activity.whole.values())
    return [whole, *(float(sum(each[PHASES.index(row)] for each in phases.values())) for row in rows[1:])]


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


def _iterations(activity: Activity, run: str) -> Chart:
    instructions = activity.instructions
    last = int(instructions.iteration.max(initial=0))
    each = max(1, -(-last // _ITERATIONS))
    group = np.maximum(instructions.iteration - 1, 0) // each
    firsts = range(1, max(last, 1) + 1, each)
    titles = [str(first) if each == 1 else f"{first:,} to {min(first + each - 1, last):,}" for first in firsts]
    figure = _stack_of(titles, activity.by_group(group, len(titles)), "iterations")
    figure.update_xaxes(title_text="iteration" if each == 1 else "iterations")
    about = "Searches and intersection of an iteration together."
    if each > 1:
        about = f"Searches and intersections of {each:,} iterations together."
    points = tuple(f"iteration={number}" for number in firsts) if last else ()
    return Chart(name=f"{run}-iterations", title="Cycle stack of iterations", about=about, figure=figure, points=points)


def _levels(activity: Activity, run: str) -> Chart:
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
    keys = activity.instructions.keys()
    first = [int(np.argmax(levels.of == group)) for group in range(levels.count)]
    points = tuple(key_point(keys[place]) for place in first)
    return Chart(name=f"{run}-levels", title="Cycle stack of each level", about=about, figure=figure, points=points)


def _over_time(activity: Activity, run: str) -> Chart:
    time = activity.time
    figure = over_time(time, activity.instructions, height=430, y="% of the cycles")
    parts = {cause: 100 * values / time.lengths for cause, values in activity.machine_by_time.items()}
    ordered = {cause: parts[cause] for cause in STACK if cause in parts}
    stack_over_time(figure, time, ordered, colours=CAUSE_COLOURS, names=_NAMES, form=".1f")
    figure.update_layout(yaxis={"range": [0, 100]})
    about = (
        f"The kernels of the module that runs. A point is {time.width:,} cycles; the strip above says which phase and "
        "level it is, dotted lines are where levels begin. All charts over time zoom together; a double click shows "
        "everything again."
    )
    return Chart(name=f"{run}-time", title="Cycle stack over time", about=about, figure=figure, time_of=run)


def _lapse(activity: Activity, run: str) -> Chart:
    time = activity.time
    shown = {"requests issued": activity.issued, **{_NAMES[cause]: activity.by_time[cause] for cause in STACK}}
    shown = {title: cycles for title, cycles in shown.items() if cycles.any()}
    # The list of what can be chosen must find room within the chart.
    height = max(220 + 5 * len(activity.lanes), 120 + _OPTION * len(shown))
    figure = over_time(time, activity.instructions, height=height, y="")
    options = {}
    for title, cycles in shown.items():
        options[title] = [len(figure.data)]
        share = np.rint(100 * cycles / time.lengths).astype(np.uint8)
        hover = title + ": %{z} % of the cycles"
        figure.add_trace(heat_map(share, time, rows=activity.lanes, hover=hover, top=100, title="% of the cycles"))
    choice(figure, options)
    _name_engines(figure, activity)
    about = "A row is a kernel, a column is time. Choose what is shown: requests issued, or any cause."
    return Chart(name=f"{run}-lapse", title="Time-lapse of the kernels", about=about, figure=figure, time_of=run)


def _name_engines(figure: go.Figure, activity: Activity) -> None:
    """Name the first kernel of each AE at the axis; the others are named where the pointer is."""
    places, texts, place = [], [], 0
    several = sum(count > 0 for count in activity.kernels) > 1
    for module, kernels in zip(MODULES, activity.kernels, strict=True):
        for engine in range(activity.engines if kernels else 0):
            places.append(place)
            texts.append(f"AE {engine} {'int.' if module == 'intersection' else module}" if several else f"AE {engine}")
            place += kernels
    figure.update_layout(
        yaxis={"tickmode": "array", "tickvals": places, "ticktext": texts, "autorange": "reversed", "type": "category"}
    )


def _kernels(activity: Activity, run: str) -> Chart:
    figure = new_figure(height=430, y="% of the cycles")
    total = max(activity.record.cycles, 1)
    parts = {cause: 100 * activity.by_lane[cause] / total for cause in STACK}
    bars(figure, activity.lanes, parts, colours=CAUSE_COLOURS, names=_NAMES, form=".1f")
    figure.update_layout(bargap=0, yaxis={"range": [0, 100]}, xaxis={"tickangle": 60, "tickfont": {"size": 9}})
    about = "Every kernel over the whole run: where one stands out, its AE or its share of the work does."
    return Chart(name=f"{run}-kernels", title="Cycle stack of each kernel", about=about, figure=figure)
