"""Charts of the memory: requests and their latencies, banks, controllers, links, arrays, latencies, stalls."""

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from host.analysis.report.activity import Activity
from host.analysis.report.charts import (
    Chart,
    HeatMap,
    bars,
    cause_name,
    choice,
    lapse,
    line,
    logarithmic,
    name_rows,
    new_figure,
    over_time,
    stack_over_time,
)
from host.analysis.report.traffic import LONGEST_LATENCY, Traffic
from host.record.arrow import Integers
from host.record.colours import ARRAY_COLOURS, CAUSE_COLOURS, PHASE_COLOURS
from host.record.tables import ARRAYS, PHASES

__all__ = ["latency_charts", "memory_charts", "stall_chart"]

_HOTTEST = 24
_BINS = 80


def memory_charts(traffic: Traffic) -> list[Chart]:
    """Return the charts; those of banks and links only where the memory has any."""
    found = [_arrays(traffic), _array_latencies(traffic)]
    if traffic.banks:
        found += [
            _arrays_of_levels(traffic),
            _hottest(traffic),
            _banks(traffic),
            _controllers(traffic),
            _links(traffic),
        ]
    return found


def _arrays(traffic: Traffic) -> Chart:
    activity, time = traffic.activity, traffic.time
    figure = over_time(activity, height=360, y="requests a cycle")
    by_array = traffic.by_array
    parts = {
        array: (by_array["reads"][place] + by_array["writes"][place]) / time.lengths
        for place, array in enumerate(ARRAYS)
    }
    stack_over_time(figure, time, parts, colours=ARRAY_COLOURS, form=".2f")
    figure.update_layout(yaxis={"rangemode": "tozero"})
    about = "Reads and writes that the ports took, by the array that they were to."
    return Chart(name="arrays", title="Requests by array over time", about=about, figure=figure, time_of="run")


def _array_latencies(traffic: Traffic) -> Chart:
    activity, time = traffic.activity, traffic.time
    figure = over_time(activity, height=320, y="cycles", hovermode="x unified")
    for place, array in enumerate(ARRAYS):
        reads, latency = (traffic.by_array[name][place] for name in ("reads", "latency"))
        if not reads.any():
            continue
        mean = np.where(reads > 0, latency / np.maximum(reads, 1), np.nan)
        line(figure, time, mean, array, ARRAY_COLOURS[array], form=f"{array}: %{{y:,.0f}} cycles<extra></extra>")
    figure.update_layout(yaxis={"rangemode": "tozero"})
    about = "Mean time from a read to its response: the array whose line rises is the one that is waited for."
    title = "Latency by array over time"
    return Chart(name="array-latency", title=title, about=about, figure=figure, time_of="run")


def _accesses_or_waiting(titles: list[str], accesses: Integers, waiting: Integers, *, height: int = 380) -> go.Figure:
    """Return bars by array, of accesses or of waiting."""
    figure = new_figure(height=height, y="accesses")
    options = {}
    for name, values in (("accesses", accesses), ("waiting", waiting)):
        begin = len(figure.data)
        bars(figure, titles, dict(zip(ARRAYS, values, strict=True)), colours=ARRAY_COLOURS, form=",.0f")
        options[name] = list(range(begin, len(figure.data)))
    names = ("accesses", "cycles waited for banks")
    choice(figure, options, updates=[{"yaxis.title.text": name, "yaxis.autorange": True} for name in names])
    return figure


def _arrays_of_levels(traffic: Traffic) -> Chart:
    figure = _accesses_or_waiting(list(traffic.levels.titles), *traffic.by_level)
    about = "Which array causes the accesses to banks of each level, and the waiting for them."
    return Chart(name="array-levels", title="Banks by array and level", about=about, figure=figure)


def _hottest(traffic: Traffic) -> Chart:
    accesses, waiting = traffic.by_bank_and_array
    order = np.argsort(-accesses.sum(axis=0), kind="stable")[:_HOTTEST]
    figure = _accesses_or_waiting(
        [f"c{bank // traffic.banks_each} b{bank % traffic.banks_each}" for bank in order.tolist()],
        accesses[:, order],
        waiting[:, order],
        height=440,
    )
    mean = accesses.sum() / max(traffic.banks, 1)
    figure.add_hline(
        y=mean, line={"dash": "dash", "width": 1, "color": "#2b2f36"}, annotation_text=f"mean of all banks: {mean:,.0f}"
    )
    figure.update_layout(xaxis={"tickangle": 45})
    about = (
        f"The {min(_HOTTEST, traffic.banks)} banks with the most accesses, and for which array: c1 b17 is bank 17 of "
        "controller 1."
    )
    return Chart(name="hottest", title="Hottest banks", about=about, figure=figure)


def _busy(
    activity: Activity, rows: list[str], utilisation: npt.NDArray[np.float64], waiting: Integers, *, height: int
) -> go.Figure:
    """Return a heat map of how busy rows were, or how many requests waited there."""
    time = activity.time
    busy = np.clip(np.rint(100 * utilisation), 0, 255).astype(np.uint8)
    queued = (waiting / time.lengths).astype(np.float32)
    top = float(np.quantile(queued, 0.999)) if queued.size else 0.0
    hover = "waiting on average: %{z:.1f} requests"
    maps = {
        "accesses": HeatMap(busy, "busy: %{z} % of the cycles", "% busy", 100),
        "waiting": HeatMap(queued, hover, "requests waiting", top or None),
    }
    return lapse(activity, rows, maps, height=height)


def _banks(traffic: Traffic) -> Chart:
    activity = traffic.activity
    accesses, waiting = traffic.by_bank
    rows = [traffic.bank_title(bank) for bank in range(traffic.banks)]
    busy = accesses * traffic.bank_busy / activity.time.lengths
    figure = _busy(activity, rows, busy, waiting, height=860)
    places = list(range(0, traffic.banks, traffic.banks_each))
    name_rows(figure, places, [f"controller {number}" for number in range(traffic.controllers)])
    about = (
        f"A row is a bank: {traffic.banks:,} of them, those of a controller next to each other. A row that stays "
        "bright is a bank that many ask for, as the one with a hub's word."
    )
    return Chart(name="banks", title="Time-lapse of the banks", about=about, figure=figure, time_of="run")


def _controllers(traffic: Traffic) -> Chart:
    activity = traffic.activity
    shape = (traffic.controllers, traffic.banks_each, -1)
    accesses, waiting = (values.reshape(shape).sum(axis=1) for values in traffic.by_bank)
    rows = [f"controller {number}" for number in range(traffic.controllers)]
    busy = accesses * traffic.bank_busy / (activity.time.lengths * traffic.banks_each)
    figure = _busy(activity, rows, busy, waiting, height=320)
    about = "The same for the controllers: the share of their banks' time that was taken."
    return Chart(name="controllers", title="Controllers over time", about=about, figure=figure, time_of="run")


def _links(traffic: Traffic) -> Chart:
    activity = traffic.activity
    requests, waiting = traffic.by_link
    rows = [f"AE {ae}, link {link}" for ae in range(activity.engines) for link in range(traffic.links_each)]
    figure = _busy(activity, rows, requests / activity.time.lengths, waiting, height=240 + 6 * len(rows))
    places = list(range(0, len(rows), traffic.links_each))
    name_rows(figure, places, [f"AE {number}" for number in range(activity.engines)])
    about = (
        "Links of the crossbar; one takes a request a cycle. Waiting counts requests behind the first one of their "
        "port too: links that are far from busy while many wait are head-of-line blocking."
    )
    return Chart(name="links", title="Crossbar links over time", about=about, figure=figure, time_of="run")


def stall_chart(traffic: Traffic) -> Chart:
    """Return the chart of what held requests back: credits, ports, the order of responses."""
    activity, time = traffic.activity, traffic.time
    figure = over_time(activity, height=360, y="% of the cycles", hovermode="x unified")
    ports = activity.engines * activity.kernels[0]
    shown = [
        (f"kernels: {cause_name(cause)}", activity.machine_by_time[cause], CAUSE_COLOURS[cause], "solid")
        for cause in ("credit", "refused", "response")
    ]
    shown += [
        (f"ports that took no {kind}", traffic.by_engine[f"{kind}_stalls"].sum(axis=0) / ports, colour, "dash")
        for kind, colour in (("read", "#0072B2"), ("write", "#009E73"))
    ]
    for title, cycles, colour, dash in shown:
        form = f"{title}: %{{y:.1f}} %<extra></extra>"
        line(figure, time, 100 * cycles / time.lengths, title, colour, form=form, dash=dash)
    figure.update_layout(yaxis={"rangemode": "tozero"})
    about = (
        "Kernels that had no credit, that a port refused, or that waited for responses; and ports that took nothing, "
        "whether or not there was a request."
    )
    return Chart(name="stalls", title="Credits and stalls", about=about, figure=figure, time_of="run")


def latency_charts(traffic: Traffic) -> list[Chart]:
    """Return the charts."""
    return [_histogram(traffic), _latencies_of_levels(traffic)]


def _histogram(traffic: Traffic) -> Chart:
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
    return Chart(name="latencies", title="Latencies of reads", about=about, figure=figure)


def _latencies_of_levels(traffic: Traffic) -> Chart:
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
    return Chart(name="latency-levels", title="Latencies by level", about=about, figure=figure)
