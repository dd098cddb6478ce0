"""The charts of a report: where cycles went, work, token, FIFOs; memory and latencies; the roofline."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from cyscc.host.analysis.explain.evidence import evidence_of
from cyscc.host.analysis.explain.observations import busiest_bank
from cyscc.host.analysis.report import charts
from cyscc.host.analysis.report.activity import Activity, key_point
from cyscc.host.analysis.report.charts import COLOURS, Chart, HeatMap
from cyscc.host.analysis.roofline.analysis import level_points
from cyscc.host.analysis.roofline.limits import CROSSBAR, LIMITS, ceilings
from cyscc.host.answer.colours import RUN_COLOURS, STACK
from cyscc.host.record.arrow import Integers
from cyscc.host.record.tables import ARRAYS, LONGEST_LATENCY, MODULES, PHASES
from cyscc.sim.observation.causes import WORK

_ITERATIONS = 60
"""Most bars of a chart of iterations."""
_FEW_TRACKS = 12
"""Most kernels that are named one by one."""
_OPTION = 30
"""Height in pixels of an option in an open drop-down list."""
_ENTRIES = {"entries read": "frontier", "vertices pushed": "pushed", "of them copies": "duplicates"}
_ENTRY_COLOURS = {"entries read": "#0072B2", "vertices pushed": "#E69F00", "of them copies": "#b74d1a"}
_ENTRY_SYMBOLS = {"entries read": "circle", "vertices pushed": "triangle-up", "of them copies": "x"}
_HOTTEST = 24
_BINS = 80
_TURNS = 40
"""Least turns of the token over which a rate is averaged: one more or less in a column is not to be seen."""
_WAITED = ("accesses", "waiting")
_DASHES = {"ports": "solid", "links": "dash", "banks": "dot", "channels": "dot", "rows": "dashdot"}


def chart_sections(activity: Activity) -> list[tuple[str, str, list[Chart]]]:
    """Return the charts of a run by section, each section with its name for links and its title.

    Parameters
    ----------
    activity : Activity
        Activity of the kernels.
    """
    iterations = [_iterations] if activity.of_instructions("iteration").any() else []
    # Some memories have no banks or links, and the limits of some machines are not known.
    banks = [_arrays_of_levels, _hottest, _banks, _controllers, _links] if activity.banks else []
    limits = [_roof, _limits, _limits_of_levels] if activity.has_roofline else []
    sections = {
        ("stacks", "Cycle stacks"): [_whole, *iterations, _levels, _over_time],
        ("kernels", "Kernels"): [_lapse, _kernels],
        ("work", "Work"): [_work],
        ("memory", "Memory"): [_arrays, _array_latencies, *banks],
        ("fifos", "FIFOs"): [_fifo_kinds, _fifos_over_time],
        ("latencies", "Latencies"): [_histogram, _latencies_of_levels],
        ("token", "Token and slots"): [_token],
        ("stalls", "Credits and stalls"): [_stalls],
        ("roofline", "Roofline"): limits,
    }
    return [(name, title, [make(activity) for make in its]) for (name, title), its in sections.items() if its]


def _whole(activity: Activity) -> Chart:
    ran = set(activity.instructions["phase"])
    outside = [cause for cause in ("host", "restarted") if activity.whole.get(cause)]
    phases_run = [phase for phase in PHASES if phase in ran]
    titles = ["whole run", *phases_run, *(charts.part_title(cause) for cause in outside)]
    figure = charts.new_figure(height=120 + 48 * len(titles), x="cycles")
    phases = activity.by_group(activity.of_instructions("phase"), len(PHASES))
    parts = {
        cause: [
            activity.whole.get(cause, 0.0),
            *(float(phases[cause][PHASES.index(phase)]) for phase in phases_run),
            *(activity.whole[cause] if cause == each else 0.0 for each in outside),
        ]
        for cause in STACK
    }
    totals = np.maximum(1.0, np.sum(list(parts.values()), axis=0))
    shown = "%{cause}: %{x:,.0f} cycles, %{customdata:.1%}<extra>%{y}</extra>"
    charts.bar_rows(figure, titles, parts, customdata=lambda values: (values / totals).astype(np.float32), form=shown)
    about = (
        "Every cycle of every kernel has exactly one cause; lengths are cycles of an average kernel of the module that "
        "ran, so that they add up to the cycles simulated. Blue is work, yellow to brown what the machine waited for, "
        "grey what had nothing to do, pale and purple what was outside of the run."
    )
    return Chart(name="whole", title="Cycle stack of the run", about=about, figure=figure)


def _stack_of(
    titles: Sequence[str], by_cause: dict[str, npt.NDArray[np.float64]], what: str, *, alone: int | None = None
) -> go.Figure:
    """Return bars of cycles by cause, or of shares; those after the first `alone` have an axis of their own."""
    figure = charts.new_figure(height=440, y="cycles")
    charts.bars(figure, titles, {cause: by_cause[cause] for cause in STACK}, form="%{y:,.0f}")
    if alone is not None:
        charts.part_axes(figure, alone)
    every = list(range(len(figure.data)))
    autoranges = {f"{axis}.autorange": True for axis in ("yaxis", "yaxis2")[: 1 if alone is None else 2]}
    charts.choice(
        figure,
        {"cycles": every, "shares": every},
        updates=[
            {"barnorm": "", "yaxis.title.text": "cycles", **autoranges},
            {"barnorm": "percent", "yaxis.title.text": f"% of the {what}", **autoranges},
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
    by_level = activity.by_group(levels.of, levels.count)
    figure = _stack_of(levels.titles, by_level, "level", alone=None if levels.detailed else levels.alone)
    about = "The same for each level."
    if not levels.detailed:
        about = (
            "The same for each level and intersection. There are too many to show: those that took longest stand by "
            "themselves, in the order in which they ran; behind them the others together, with an axis of their own at "
            "the right."
        )
    first = [int(np.argmax(levels.of == group)) for group in range(levels.count)]
    points = tuple(key_point(activity.keys[place]) for place in first)
    return Chart(name="levels", title="Cycle stack of each level", about=about, figure=figure, points=points)


def _over_time(activity: Activity) -> Chart:
    time = activity.time
    parts = {cause: 100 * values / time.lengths for cause, values in activity.machine_by_time.items()}
    entries = sum(bool(values.any()) for values in parts.values())
    figure = charts.over_time(activity, height=430, y="% of the cycles", entries=entries)
    ordered = {cause: parts[cause] for cause in STACK if cause in parts}
    charts.stack_over_time(figure, time, ordered, form="%{y:.1f} %")
    figure.update_layout(yaxis={"range": [0, 100]})
    about = (
        f"The kernels of the module that runs. A point is {time.width:,} cycles; the strip above says which phase and "
        "level it is, dotted lines are where levels begin. All charts over time zoom together; a double click shows "
        "everything again."
    )
    return Chart(name="time", title="Cycle stack over time", about=about, figure=figure, time_of="run")


def _lapse(activity: Activity) -> Chart:
    time = activity.time
    issued = np.sum([activity.by_time[cause] for cause in WORK], axis=0)
    shown = {"requests issued": issued, **{charts.part_title(each): activity.by_time[each] for each in STACK}}
    shown = {title: cycles for title, cycles in shown.items() if cycles.any()}
    # The open drop-down list must fit into the chart.
    height = max(220 + 5 * len(activity.tracks), 120 + _OPTION * len(shown))
    hover = {title: title + ": %{z} % of the cycles" for title in shown}
    maps = {
        title: HeatMap(np.rint(100 * cycles / time.lengths).astype(np.uint8), hover[title], "% of the cycles", 100)
        for title, cycles in shown.items()
    }
    figure = charts.lapse(activity, activity.tracks, maps, height=height)
    charts.name_groups(figure, _groups(activity, " "), "y")
    figure.update_yaxes(autorange="reversed", selector={"anchor": None})
    about = "A row is a kernel, a column is time. Choose what is shown: requests issued, or any cause."
    return Chart(name="lapse", title="Time-lapse of the kernels", about=about, figure=figure, time_of="run")


def _groups(activity: Activity, between: str) -> list[tuple[str, int]]:
    """Return names and sizes of the groups in which kernels are named: AEs, or every kernel if there are few."""
    several = sum(count > 0 for count in activity.kernels) > 1
    found = []
    for module, kernels in zip(MODULES, activity.kernels, strict=True):
        kind = "int." if module == "intersection" else module
        for engine in range(activity.engines if kernels else 0):
            if len(activity.tracks) <= _FEW_TRACKS:
                found += [(f"AE {engine}{between}{kind} {kernel}", 1) for kernel in range(kernels)]
            else:
                found.append((f"AE {engine}{between}{kind}" if several else f"AE {engine}", kernels))
    return found


def _kernels(activity: Activity) -> Chart:
    figure = charts.new_figure(height=430, y="% of the cycles")
    total = max(activity.record.cycles, 1)
    parts = {cause: 100 * activity.by_time[cause].sum(axis=1) / total for cause in STACK}
    charts.bars(figure, activity.tracks, parts, form="%{y:.1f} %")
    figure.update_layout(height=430, bargap=0, yaxis={"range": [0, 100]}, xaxis={"tickfont": {"size": 11}})
    figure.update_traces(marker={"line": {"width": 0}})
    charts.name_groups(figure, _groups(activity, "<br>"), "x", colour=charts.INK)
    about = (
        "Every kernel over the whole run, AE by AE, the kernels of each in their order: where one stands out, its AE "
        "or its share of the work does."
    )
    return Chart(name="kernels", title="Cycle stack of each kernel", about=about, figure=figure)


def _work(activity: Activity) -> Chart:
    levels = activity.levels
    figure = charts.new_figure(height=360, y="entries", hovermode="x unified")
    parts = {
        title: np.bincount(levels.of, weights=activity.of_instructions(name), minlength=levels.count)
        for title, name in _ENTRIES.items()
    }
    for title, values in parts.items():
        marker = {"color": _ENTRY_COLOURS[title], "symbol": _ENTRY_SYMBOLS[title], "size": 9}
        marker["line"] = {"width": 0.8, "color": charts.PAPER}
        drawn = np.where(values > 0, values, np.nan).astype(np.float32)
        form = f"{title}: %{{y:,.0f}}<extra></extra>"
        charts.points(figure, levels.titles, drawn, title, form=form, marker=marker)
    charts.name_places(figure, levels.titles)
    charts.logarithmic(figure.update_yaxes, 1, max(10.0, *(float(values.max(initial=0)) for values in parts.values())))
    about = (
        "Entries of the queues that a level read, and those that it pushed; copies are entries for vertices that it "
        "pushed more than once. A logarithmic axis: nothing has no point."
    )
    return Chart(name="work", title="Frontier, pushes and copies", about=about, figure=figure)


def _token(activity: Activity) -> Chart:
    time = activity.time
    figure = charts.over_time(activity, height=340, y="turns in 1,000 cycles", entries=3)
    by_engine = activity.sums("engines", [f"{name}_turns" for name in MODULES], "engine", "time")
    for name, colour, counts in zip(MODULES, (RUN_COLOURS[0], RUN_COLOURS[2]), by_engine, strict=True):
        # It passes all AEs in each turn.
        turns = counts.mean(axis=0)
        if not turns.any():
            continue
        together = int(np.ceil(_TURNS / max(float(np.median(turns[turns > 0])), 1e-9)))
        rate = 1000 * _moving(turns, together) / _moving(time.lengths, together)
        form = f"{name} token: %{{y:.1f}} turns in 1,000 cycles<extra></extra>"
        charts.line(figure, time, np.where(turns > 0, rate, 0), f"{name} token", colour, form=form)
    waiting = activity.machine_by_time["slot"]
    figure.add_scatter(
        **charts.ends(time, 100 * waiting / time.lengths),
        name="kernels that wait for a slot (right)",
        yaxis="y3",
        mode="lines",
        line={"width": 0.8, "color": charts.EDGE["color"]},
        fill="tozeroy",
        fillcolor=f"rgba({', '.join(str(int(COLOURS['slot'][at : at + 2], 16)) for at in (1, 3, 5))}, 0.4)",
        hovertemplate="waiting for a slot: %{y:.1f} %<extra></extra>",
    )
    figure.update_layout(
        hovermode="x unified",
        yaxis={"rangemode": "tozero"},
        yaxis3={
            "overlaying": "y",
            "side": "right",
            "title": {"text": "% of the kernel-cycles"},
            "range": [0, max(1.0, 1.1 * float((100 * waiting / time.lengths).max(initial=0)))],
            "tickmode": "auto",
            "showgrid": False,
        },
    )
    about = (
        "How often the token came by, averaged over some dozen turns, and which share of the kernel-cycles was waiting "
        "for the slots that it brings. A kernel that pushes can reserve once a turn."
    )
    return Chart(name="token", title="Token and slots", about=about, figure=figure, time_of="run")


def _moving(values: npt.NDArray[Any], columns: int) -> npt.NDArray[np.float64]:
    """Return the sums over so many columns around each, fewer at the ends."""
    before = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(values.size)
    first, last = np.maximum(places - columns // 2, 0), np.minimum(places - columns // 2 + columns, values.size)
    return np.asarray(before[last] - before[first])


def _fifo_kinds(activity: Activity) -> Chart:
    fill = activity.fill
    figure = charts.new_figure(height=340, y="entries")
    depths = [kind.depth for kind in fill.kinds]
    for name, values, colour, width in (
        ("depth", depths, charts.GRID, 0.8),
        ("with reads in flight", [min(kind.needed, kind.depth) for kind in fill.kinds], "#f7d9a0", 0.65),
        ("high-water mark", [kind.most for kind in fill.kinds], "#56B4E9", 0.5),
        ("mean", [kind.mean for kind in fill.kinds], "#0072B2", 0.25),
    ):
        figure.add_bar(
            x=fill.titles,
            y=np.array(values, np.float32),
            name=name,
            width=width,
            marker={"color": colour, "line": {"width": 0.5, "color": charts.EDGE["color"]}},
            hovertemplate=f"{name}: %{{y:,.1f}} entries<extra>%{{x}}</extra>",
        )
    figure.update_layout(barmode="overlay")
    names = [title.replace(" ", "<br>", 1) for title in fill.titles]
    figure.update_xaxes(type="category", tickmode="array", tickvals=fill.titles, ticktext=names)
    about = (
        "The most entries that one of a kind held, and the mean over kernels and time, against its depth. The two "
        "registers behind a FIFO's places count, so that a full one may hold more. Reads in flight have their places "
        "reserved; how many these were is estimated from their rate and their latency."
    )
    return Chart(name="fifos", title="FIFO fill against depth", about=about, figure=figure)


def _fifos_over_time(activity: Activity) -> Chart:
    fill = activity.fill
    mean, most = (np.rint(100 * shares).astype(np.uint8) for shares in fill.shares)
    maps = {
        "mean": HeatMap(mean, "mean fill: %{z} % of the depth", "% of the depth", 100),
        "high-water mark": HeatMap(most, "high-water mark: %{z} % of the depth", "% of the depth", 100),
    }
    figure = charts.lapse(activity, fill.titles, maps, height=180 + 28 * len(fill.titles))
    about = "Share of the depth that was taken, over all kernels: on average, or in the fullest of them."
    return Chart(name="fifo-time", title="FIFO fill over time", about=about, figure=figure, time_of="run")


def _arrays(activity: Activity) -> Chart:
    time = activity.time
    figure = charts.over_time(activity, height=360, y="requests a cycle", entries=len(ARRAYS))
    reads, writes = activity.sums("arrays", ("reads", "writes"), "array", "time")
    parts = dict(zip(ARRAYS, (reads + writes) / time.lengths, strict=True))
    charts.stack_over_time(figure, time, parts, form="%{y:.2f} requests a cycle")
    figure.update_layout(yaxis={"rangemode": "tozero"})
    about = "Reads and writes that the ports took, by the array that they were to."
    return Chart(name="arrays", title="Requests by array over time", about=about, figure=figure, time_of="run")


def _array_latencies(activity: Activity) -> Chart:
    time = activity.time
    figure = charts.over_time(activity, height=320, y="cycles", entries=len(ARRAYS), hovermode="x unified")
    sums = activity.sums("arrays", ("reads", "latency"), "array", "time")
    for array, reads, latency in zip(ARRAYS, *sums, strict=True):
        if not reads.any():
            continue
        mean = np.where(reads > 0, latency / np.maximum(reads, 1), np.nan)
        charts.line(figure, time, mean, array, COLOURS[array], form=f"{array}: %{{y:,.0f}} cycles<extra></extra>")
    figure.update_layout(yaxis={"rangemode": "tozero"})
    about = "Mean time from a read to its response: the array whose line rises is the one that is waited for."
    title = "Latency by array over time"
    return Chart(name="array-latency", title=title, about=about, figure=figure, time_of="run")


def _accesses_or_waiting(
    titles: list[str], accesses: Integers, waiting: Integers, *, means: tuple[float, float] | None = None
) -> go.Figure:
    """Return stacked bars by array, of accesses or of waiting cycles; `means` are those of all banks, as lines."""
    figure = charts.new_figure(height=380, y="accesses")
    options = {}
    for place, (name, values) in enumerate((("accesses", accesses), ("waiting", waiting))):
        begin = len(figure.data)
        unit = "accesses" if name == "accesses" else "cycles waited"
        charts.bars(figure, titles, dict(zip(ARRAYS, values, strict=True)), form=f"%{{y:,.0f}} {unit}")
        if means is not None:
            figure.add_scatter(
                x=titles,
                y=np.full(len(titles), means[place], np.float32),
                name=f"mean of all banks: {means[place]:,.0f}",
                mode="lines",
                line={"dash": "dash", "width": 1.5, "color": charts.INK},
                hoverinfo="skip",
            )
        options[name] = list(range(begin, len(figure.data)))
    names = ("accesses", "cycles waited for banks")
    charts.choice(figure, options, updates=[{"yaxis.title.text": name, "yaxis.autorange": True} for name in names])
    return figure


def _arrays_of_levels(activity: Activity) -> Chart:
    figure = _accesses_or_waiting(
        list(activity.levels.titles), *activity.sums("instruction_banks", _WAITED, "array", "level")
    )
    about = "Which array causes the accesses to banks of each level, and the waiting for them."
    return Chart(name="array-levels", title="Banks by array and level", about=about, figure=figure)


def _hottest(activity: Activity) -> Chart:
    accesses, waiting = activity.sums("instruction_banks", _WAITED, "array", "bank")
    order = np.argsort(-accesses.sum(axis=0), kind="stable")[:_HOTTEST]
    figure = _accesses_or_waiting(
        [f"c{bank // activity.banks_each} b{bank % activity.banks_each}" for bank in order.tolist()],
        accesses[:, order],
        waiting[:, order],
        means=(float(accesses.sum() / activity.banks), float(waiting.sum() / activity.banks)),
    )
    about = (
        f"The {min(_HOTTEST, activity.banks)} banks with the most accesses, and for which array: c1 b17 is bank 17 of "
        "controller 1."
    )
    every = {evidence.module: busiest_bank(evidence) for evidence in evidence_of(activity.record)}
    about += "".join(f" {module.capitalize()}: {text}." for module, text in every.items() if text)
    return Chart(name="hottest", title="Hottest banks", about=about, figure=figure)


def _busy(
    activity: Activity, rows: list[str], utilisation: npt.NDArray[np.float64], waiting: Integers, *, height: int
) -> go.Figure:
    """Return a heat map of the rows' utilisation, or of the number of waiting requests."""
    time = activity.time
    busy = np.clip(np.rint(100 * utilisation), 0, 255).astype(np.uint8)
    queued = (waiting / time.lengths).astype(np.float32)
    top = float(np.quantile(queued, 0.999)) if queued.size else 0.0
    hover = "waiting on average: %{z:.1f} requests"
    maps = {
        "accesses": HeatMap(busy, "busy: %{z} % of the cycles", "% busy", 100),
        "waiting": HeatMap(queued, hover, "requests waiting", top or None),
    }
    return charts.lapse(activity, rows, maps, height=height)


def _banks(activity: Activity) -> Chart:
    controllers, each = activity.controllers, activity.banks_each
    accesses, waiting = activity.sums("banks", _WAITED, "bank", "time")
    rows = [f"controller {number}, bank {bank}" for number in range(controllers) for bank in range(each)]
    busy = accesses * activity.bank_busy / activity.time.lengths
    figure = _busy(activity, rows, busy, waiting, height=860)
    charts.name_groups(figure, [(f"controller {number}", each) for number in range(controllers)], "y")
    about = (
        f"A row is a bank: {activity.banks:,} of them, those of a controller next to each other. A row that stays "
        "bright is a bank that many ask for, as the one with a hub's word."
    )
    return Chart(name="banks", title="Time-lapse of the banks", about=about, figure=figure, time_of="run")


def _controllers(activity: Activity) -> Chart:
    shape = (activity.controllers, activity.banks_each, -1)
    by_bank = activity.sums("banks", _WAITED, "bank", "time")
    accesses, waiting = (values.reshape(shape).sum(axis=1) for values in by_bank)
    rows = [f"controller {number}" for number in range(activity.controllers)]
    busy = accesses * activity.bank_busy / (activity.time.lengths * activity.banks_each)
    figure = _busy(activity, rows, busy, waiting, height=320)
    about = "The same for the controllers: the share of their banks' time that was taken."
    return Chart(name="controllers", title="Controllers over time", about=about, figure=figure, time_of="run")


def _links(activity: Activity) -> Chart:
    each = activity.links_each
    requests, waiting = activity.sums("links", ("requests", "waiting"), "link", "time")
    rows = [f"AE {number}, link {link}" for number in range(activity.engines) for link in range(each)]
    figure = _busy(activity, rows, requests / activity.time.lengths, waiting, height=240 + 6 * len(rows))
    charts.name_groups(figure, [(f"AE {number}", each) for number in range(activity.engines)], "y")
    about = (
        "Links of the crossbar; one takes a request a cycle. Waiting counts requests behind the first one of their "
        "port too: links that are far from busy while many wait are head-of-line blocking."
    )
    return Chart(name="links", title="Crossbar links over time", about=about, figure=figure, time_of="run")


def _stalls(activity: Activity) -> Chart:
    time = activity.time
    figure = charts.over_time(activity, height=360, y="% of the cycles", entries=5, hovermode="x unified")
    ports = activity.engines * activity.kernels[0]
    shown = [
        (f"kernels: {charts.part_title(cause)}", activity.machine_by_time[cause], COLOURS[cause], "solid")
        for cause in ("credit", "refused", "response")
    ]
    stalls = activity.sums("engines", ("read_stalls", "write_stalls"), "engine", "time")
    shown += [
        (f"ports that took no {kind}", counts.sum(axis=0) / ports, colour, "dash")
        for kind, colour, counts in zip(("read", "write"), ("#0072B2", "#009E73"), stalls, strict=True)
    ]
    for title, cycles, colour, dash in shown:
        form = f"{title}: %{{y:.1f}} %<extra></extra>"
        charts.line(figure, time, 100 * cycles / time.lengths, title, colour, form=form, dash=dash)
    figure.update_layout(yaxis={"rangemode": "tozero"})
    about = (
        "Kernels that had no credit, that a port refused, or that waited for responses; and ports that took nothing, "
        "whether or not there was a request."
    )
    return Chart(name="stalls", title="Credits and stalls", about=about, figure=figure, time_of="run")


def _histogram(activity: Activity) -> Chart:
    (counts,) = activity.sums("instruction_latencies", ("reads",), "phase", "latency")
    (taken,) = np.nonzero(counts.sum(axis=0))
    low, high = (int(taken[0]), int(taken[-1])) if taken.size else (1, LONGEST_LATENCY)
    edges = np.unique(np.rint(np.geomspace(max(1, low), high + 1, _BINS + 1)).astype(np.int64))
    edges[0] = low
    figure = charts.new_figure(height=340, x="cycles from a read to its response", y="reads")
    for phase, values in zip(PHASES, counts, strict=True):
        if not values.any():
            continue
        binned = np.add.reduceat(values[: high + 1], edges[:-1])
        figure.add_scatter(
            x=(edges[:-1] + np.diff(edges) / 2).astype(np.float32),
            y=binned,
            customdata=np.stack([edges[:-1], edges[1:] - 1], axis=1),
            name=phase,
            mode="lines+markers",
            line={"color": COLOURS[phase], "shape": "hvh", "width": 2},
            marker={"size": 4},
            hovertemplate="%{customdata[0]} to %{customdata[1]} cycles: %{y:,} reads<extra>" + phase + "</extra>",
        )
    figure.update_layout(showlegend=True)
    charts.logarithmic(figure.update_xaxes, 0.9 * max(1, low), 1.1 * high)
    figure.update_xaxes(range=np.log10([0.9 * max(1, low), 1.1 * high]).tolist())
    charts.logarithmic(figure.update_yaxes, 1, max(10.0, float(counts.max(initial=0))))
    about = f"Both axes are logarithmic: no reads have no line. {LONGEST_LATENCY:,} cycles are that or more."
    return Chart(name="latencies", title="Latencies of reads", about=about, figure=figure)


def _latencies_of_levels(activity: Activity) -> Chart:
    figure = charts.new_figure(height=400, y="cycles", hovermode="x unified")
    shown = []
    for share, name, colour in ((0.5, "median", "#0072B2"), (0.95, "95 %", "#E69F00"), (0.99, "99 %", "#D55E00")):
        shown.append(activity.percentile(share).astype(np.float32))
        looks = {"mode": "lines+markers", "line": {"color": colour, "width": 1.2}}
        charts.points(figure, activity.levels.titles, shown[-1], name, form="%{y:,.0f} cycles", **looks)
    charts.name_places(figure, activity.levels.titles)
    latencies = np.stack(shown)
    latencies = latencies[np.isfinite(latencies)]
    charts.logarithmic(figure.update_yaxes, max(1.0, latencies.min(initial=LONGEST_LATENCY)), latencies.max(initial=10))
    about = "So many cycles half of the reads, 95 % and 99 % of them did not exceed."
    return Chart(name="latency-levels", title="Latencies by level", about=about, figure=figure)


def _roof(activity: Activity) -> Chart:
    roofline = activity.roofline
    bounds = roofline.bounds
    scale = float(activity.record.document["clock_hz"]) / 1e9
    figure = charts.new_figure(height=480, x="intensity (edges per memory request)", y="throughput (GTEPS)")
    points = level_points(roofline)
    intensity = np.geomspace(min([0.2, *(0.8 * points.intensity)]), bounds.highest_intensity, 60)
    for ceiling in ceilings(bounds):
        title = f"{ceiling.name}: {scale * ceiling.reads:.2f} G/s"
        figure.add_scatter(
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
    largest = max([1, *points.edges])
    for number, name in enumerate(bounds.names):
        own = points[points.tightest == number]
        if own.empty:
            continue
        figure.add_scatter(
            x=own.intensity.astype(np.float32),
            y=(scale * own.rate).astype(np.float32),
            customdata=np.stack([100 * own.share, own.edges], axis=1).astype(np.float64),
            name=f"tightest: {LIMITS[name].title}",
            mode="markers",
            marker={
                "color": LIMITS[name].colour,
                "size": (7 + 22 * np.sqrt(own.edges / largest)).astype(np.float32),
                "line": {"color": "black", "width": 0.8},
            },
            hovertemplate=(
                f"tightest: {LIMITS[name].title}<br>%{{y:.3f}} GTEPS, %{{customdata[1]:,}} edges<br>"
                "%{customdata[0]:.1f} % of the cycles<extra></extra>"
            ),
        )
    charts.logarithmic(figure.update_xaxes, float(intensity.min()), bounds.highest_intensity)
    charts.logarithmic(figure.update_yaxes, scale * min(points.rate, default=1.0), 20.0)
    about = (
        "A point is a level, or several alike; its area is for its edges. No level is above a ceiling, but for that "
        "of the crossbar's queues, which is what random traffic gets. One far below is bound by something else: its "
        "colour says by what."
    )
    return Chart(name="roofline", title="Roofline", about=about, figure=figure)


def _limits(activity: Activity) -> Chart:
    roofline = activity.roofline
    taken = max(roofline.total_cycles, 1)
    limits, cycles, _ = zip(*roofline.totals.values(), strict=True)
    figure = charts.new_figure(height=130 + 28 * len(limits), x="% of the cycles of the levels")
    figure.add_bar(
        y=[limit.title for limit in limits],
        x=np.array([100 * each / taken for each in cycles], np.float32),
        customdata=np.array(cycles, np.float64),
        orientation="h",
        marker={"color": [limit.colour for limit in limits], "line": charts.EDGE},
        texttemplate="%{x:.1f} %",
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{customdata:,} cycles, %{x:.1f} %<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(margin={"l": 176}, xaxis={"range": [0, 105]}, showlegend=False)
    about = (
        "Least cycles that each part of the machine allows, against those taken. All of them: each level's tightest "
        "limit. Queues at the crossbar let a request wait behind one for another link; what they pass is expected, not "
        "a limit."
    )
    return Chart(name="limits", title="What the limits explain", about=about, figure=figure)


def _dash(colour: str, length: float, places: int) -> dict[str, Any]:
    """Return the looks of a horizontal mark, whose length is a share of the longest for so many places.

    The library draws it 1.4 times as long as its size.
    """
    longest = min(40.0, 0.8 * charts.NARROWEST / places)
    return {
        "color": colour,
        "symbol": "line-ew",
        "size": max(3.0, length * longest) / 1.4,
        "line": {"color": colour, "width": 3},
    }


def _limits_of_levels(activity: Activity) -> Chart:
    roofline = activity.roofline
    shown = activity.levels
    group = shown.of[activity.of_instructions("level") >= 0]

    def summed(values: Integers) -> Integers:
        return np.bincount(group, weights=values, minlength=shown.count).astype(np.int64)

    reached = summed(roofline.cycles)
    there = reached > 0
    titles = [title for title, shows in zip(shown.titles, there, strict=True) if shows]
    figure = charts.new_figure(height=460, y="cycles")
    form = "%{x}<br>taken: %{y:,} cycles<extra></extra>"
    charts.points(figure, titles, reached[there], "taken", form=form, marker=_dash(charts.INK, 1.0, len(titles)))
    lines = [(LIMITS[name], roofline.limits[:, number]) for number, name in enumerate(roofline.bounds.names)]
    if roofline.crossbar is not None:
        lines.append((CROSSBAR, roofline.crossbar))
    for (title, colour, _), cycles in lines:
        values = summed(cycles)[there]
        form = f"%{{x}}<br>{title}: %{{y:,}} cycles, %{{customdata:.0f}} %<extra></extra>"
        shares, marker = (100 * values / reached[there]).astype(np.float32), _dash(colour, 0.4, len(titles))
        charts.points(figure, titles, values, title, form=form, customdata=shares, marker=marker)
    charts.name_places(figure, titles)
    charts.logarithmic(figure.update_yaxes, 1, float(reached.max()))
    about = (
        "Cycles that each level took, and the least that each limit allows: the highest mark binds. A logarithmic axis."
    )
    return Chart(name="limit-levels", title="Limits of each level", about=about, figure=figure)
