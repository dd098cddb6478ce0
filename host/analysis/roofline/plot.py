"""The roofline's charts: throughput over edges per request, and what each limit explains of the cycles."""

from fractions import Fraction

import numpy as np

from cyscc.host.analysis.roofline.analysis import Roofline, level_points
from cyscc.host.analysis.roofline.limits import CROSSBAR, LIMITS, ceilings
from cyscc.host.answer import charts
from cyscc.host.answer.charts import Figure, Panel, Trace, look
from cyscc.host.specification.run import Setting

_LARGEST, _SMALLEST = 26.0, 7.0
"""Sizes of the points in pixels: for the most edges, for the fewest."""
_NAMED_SHARE = 0.05
"""Least share of the cycles with which a level is labelled with its number."""
THROUGHPUT = "throughput (GTEPS)"
"""Title of its axis."""
_RIM = {"color": "black", "width": 0.8}


def roofline_figure(roofline: Roofline, setting: Setting) -> Figure:
    """Draw levels and the whole search below the ceilings, and at the right what the limits explain."""
    reached = setting.gteps(roofline.total_edges, roofline.total_cycles)
    name = "".join(letter if letter.isprintable() else "?" for letter in setting.spec.graph)
    title = charts.literal(f"{name} on {setting.spec.machine_text}: {reached:.3g} GTEPS")
    shown, limits = level_traces(roofline, setting.clock_hz), limit_traces(roofline)
    heads = (
        f"levels (area: edges; numbered: {_NAMED_SHARE:.0%} of the cycles or more)",
        "what the limits explain",
    )
    if not roofline.total_edges:
        heads = ("no edge was traversed", heads[1])
    x, y = {"title": intensity_title(roofline)}, {"title": THROUGHPUT}
    share, names = limit_axes()
    parts = [
        Panel(heads[0], shown, x, y, height=480, log="xy"),
        Panel(heads[1], limits, share, {**names, "side": "right"}, height=480),
    ]
    return charts.panels(parts, widths=(2.3, 1), title={"text": title})


def intensity_title(roofline: Roofline) -> str:
    """Return the title of the axis of intensity."""
    words = {Fraction(2): "two requests", Fraction(1): "one request", Fraction(1, 2): "half a request"}
    reads = roofline.bounds.edge_reads
    cheapest = words.get(reads, f"{float(reads):g} requests")
    return f"intensity (edges per memory request; the most: {cheapest} an edge)"


def limit_axes() -> tuple[Trace, Trace]:
    """Return the settings of the axes of what the limits explain."""
    share = {"title": "% of the cycles of the levels", "range": [0, 130], "tickvals": [0, 25, 50, 75, 100]}
    return {**share, "ticktext": ["0", "25", "50", "75", "100"]}, {"autorange": "reversed", "type": "category"}


def level_traces(roofline: Roofline, clock_hz: float) -> list[Trace]:
    """Return ceilings; levels, of which each has the colour and symbol of its tightest limit; and the whole search."""
    bounds, scale = roofline.bounds, clock_hz / 1e9
    points = level_points(roofline)
    intensity = np.geomspace(min([0.2, *(0.8 * points.intensity)]), float(1 / bounds.edge_reads), 60)
    found = []
    for ceiling in ceilings(bounds):
        what = "reads" if bounds.request_cycles > 1 and ceiling.name == "ports" else "requests"
        saturated = ", saturated" if ceiling.name == CROSSBAR.title else ""
        limit = LIMITS.get(ceiling.name, CROSSBAR)
        looks = look("lines", limit.colour, line={"dash": limit.dash, "width": 2})
        if ceiling.name == "ports":
            # Wide and pale, so that it stays visible below another one.
            looks = look("lines", "rgba(0, 114, 178, 0.45)", line={"width": 5})
        title = f"{ceiling.name}{saturated}: {scale * ceiling.reads:.2f} G {what}/s"
        ends = {"x": intensity.astype(np.float32), "y": (scale * ceiling.edges(intensity)).astype(np.float32)}
        found.append({**looks, **ends, "name": title, "hovertemplate": f"{title}<br>%{{y:.2f}} GTEPS<extra></extra>"})
    sizes = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(points.edges / max([1, *points.edges]))
    named = (points.share >= _NAMED_SHARE) & (points.level >= 0)
    for number, name in enumerate(bounds.names):
        own = points[points.tightest == number]
        if own.empty:
            continue
        title = f"level, tightest: {LIMITS[name].title}"
        marker = {"symbol": LIMITS[name].marker, "size": sizes[own.index].to_numpy(np.float32), "line": _RIM}
        texts = [str(level) if shows else "" for level, shows in zip(own.level, named[own.index], strict=True)]
        hover = "<br>%{y:.3f} GTEPS, %{customdata[1]:,} edges<br>%{customdata[0]:.1f} % of the cycles<extra></extra>"
        found.append(
            {
                **look("points", LIMITS[name].colour, mode="markers+text", marker=marker),
                "x": own.intensity.to_numpy(np.float32),
                "y": (scale * own.rate).to_numpy(np.float32),
                "customdata": np.stack([100 * own.share, own.edges], axis=1).astype(np.float64),
                "name": title,
                "text": texts,
                "textposition": "bottom center",
                "hovertemplate": title + hover,
            }
        )
    if edges := roofline.total_edges:
        every = roofline.totals["roof"].cycles
        for name, cycles, symbol in (
            ("all limits together", every, "star-open"),
            ("reached", roofline.total_cycles, "star"),
        ):
            height = scale * edges / cycles
            marker = {"symbol": symbol, "size": 16, "line": {"color": charts.INK, "width": 1.4}}
            point = {"x": [roofline.intensity], "y": [height], "name": f"whole search, {name}: {height:.3g} GTEPS"}
            found.append({**look("points", charts.INK, marker=marker), **point})
    return found


def limit_traces(roofline: Roofline) -> list[Trace]:
    """Return a bar for each limit: the share of the cycles taken that it explains, and that of all together."""
    taken = max(roofline.total_cycles, 1)
    limits, cycles, _ = zip(*roofline.totals.values(), strict=True)
    shares = [100 * each / taken for each in cycles]
    return [
        {
            **look("rows", charts.INK, marker={"color": [limit.colour for limit in limits]}),
            "y": [limit.title for limit in limits],
            "x": np.array(shares, np.float32),
            "customdata": np.array(cycles, np.float64),
            "text": [f"{share:.1f} %" for share in shares],
            "textposition": "outside",
            "cliponaxis": False,
            "name": "limits",
            "showlegend": False,
            "hovertemplate": "%{y}: %{customdata:,} cycles, %{x:.1f} %<extra></extra>",
        }
    ]
