"""The roofline plot: throughput over edges per request, and the throughput of the whole search by each limit."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cyscc.host.analysis.roofline.analysis import Roofline, level_points
from cyscc.host.analysis.roofline.limits import CROSSBAR, LIMITS, Limit, ceilings
from cyscc.host.specification.run import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The first line is wide, so that it stays visible below another one.
_LINES: dict[str, dict[str, Any]] = {
    "ports": {"linewidth": 4.5, "alpha": 0.45, "linestyle": "-"},
    "links": {"linewidth": 1.8, "linestyle": "--"},
    "banks": {"linewidth": 1.8, "linestyle": ":"},
    "channels": {"linewidth": 1.8, "linestyle": ":"},
    "rows": {"linewidth": 1.8, "linestyle": (0, (1, 3))},
    CROSSBAR.title: {"linewidth": 1.4, "linestyle": "-."},
}
_NOTE: dict[str, Any] = {
    "textcoords": "offset points",
    "va": "top",
    "fontsize": "small",
    # A white rim, so that a text stays readable above a line or another point.
    "path_effects": [withStroke(linewidth=2.5, foreground="white")],
    "zorder": 5,
}
_LARGEST, _SMALLEST, _IN_LEGEND = 300.0, 24.0, 49.0
"""Areas of the points in square points: for the most edges, for the fewest, and in the legend."""
_NAMED_SHARE = 0.05
"""Least share of the cycles with which a level is labelled with its number."""


def _style(limit: Limit) -> dict[str, Any]:
    """Return the style of a limit's points; combinations of limits are drawn as black lines."""
    if limit.marker == "_":
        return {"c": "black", "marker": "_", "linewidths": 2.5, "zorder": 3}
    return {"c": limit.colour, "marker": limit.marker, "edgecolors": "black", "linewidths": 0.7, "zorder": 3}


def roofline_figure(roofline: Roofline, setting: Setting) -> Figure:
    """Draw the plot.

    On the left, levels and the whole search are drawn below the ceilings of ports, links and banks; each level has
    the marker and colour of its tightest limit. On the right are the limits of the whole search.
    """
    figure = Figure(figsize=(11, 6.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.3, 1))
    reached = setting.gteps(roofline.total_edges, roofline.total_cycles)
    _draw_levels(left, roofline, setting)
    _draw_limits(right, roofline, setting)
    left.set_yscale("log")
    if not roofline.total_edges:
        left.set_ylim(0.01, 10)
        left.text(0.5, 0.5, "no edge was traversed", transform=left.transAxes, ha="center")
    for axis in (left.yaxis, left.xaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    left.set_ylabel("throughput (GTEPS)")
    for axes in (left, right):
        axes.grid(which="major", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    name = "".join(letter if letter.isprintable() else "?" for letter in setting.spec.graph)
    title = f"{name} on {setting.spec.machine_text}: {reached:.3g} GTEPS"
    figure.suptitle(title, parse_math=False)
    figure.legend(loc="outside lower center", ncols=4, fontsize="small", frameon=False)
    return figure


def _an_edge(reads: Fraction) -> str:
    """Return how many requests an edge takes at least, in words."""
    words = {Fraction(2): "two requests", Fraction(1): "one request", Fraction(1, 2): "half a request"}
    return words.get(reads, f"{float(reads):g} requests")


def _draw_levels(axes: "Axes", roofline: Roofline, setting: Setting) -> None:
    """Draw ceilings, levels and the whole search."""
    names = roofline.bounds.names
    points = level_points(roofline)
    highest = roofline.bounds.highest_intensity
    lowest = min([0.2, *(0.8 * points.intensity)])
    intensity = np.geomspace(lowest, highest, 200)
    scale = setting.clock_hz / 1e9
    for ceiling in ceilings(roofline.bounds):
        what = "reads" if roofline.bounds.request_cycles > 1 and ceiling.name == "ports" else "requests"
        title = f"{ceiling.name}, saturated" if ceiling.name == CROSSBAR.title else ceiling.name
        axes.plot(
            intensity,
            scale * ceiling.edges(intensity),
            color=LIMITS.get(ceiling.name, CROSSBAR).colour,
            label=f"{title}: {scale * ceiling.reads:.2f} G {what}/s",
            **_LINES[ceiling.name],
        )
    axes.axvline(highest, color="#444444", linewidth=0.8)
    axes.text(
        highest,
        0.02,
        f" {_an_edge(roofline.bounds.edge_reads)} an edge",
        transform=axes.get_xaxis_transform(),
        rotation=90,
        ha="left",
        va="bottom",
        fontsize="small",
        color="#444444",
    )
    largest = max([1, *points.edges])
    areas = _SMALLEST + (_LARGEST - _SMALLEST) * points.edges / largest
    for number, name in enumerate(names):
        own = points.tightest == number
        if own.any():
            style = _style(LIMITS[name])
            axes.scatter(points.intensity[own], scale * points.rate[own], areas[own], **style)
            axes.scatter([], [], _IN_LEGEND, label=f"level, tightest: {LIMITS[name].title}", **style)
    named = (points.share >= _NAMED_SHARE) & (points.level >= 0)
    for x, y, area, level in zip(
        points.intensity[named], scale * points.rate[named], areas[named], points.level[named], strict=True
    ):
        axes.annotate(f"{level}", (x, y), (0, -0.6 * float(np.sqrt(area)) - 1), ha="center", **_NOTE)
    if roofline.total_edges:
        axes.scatter(
            [roofline.intensity],
            [setting.gteps(roofline.total_edges, roofline.total_cycles)],
            s=170,
            c="white",
            marker="*",
            edgecolors="black",
            linewidths=1.4,
            label="whole search",
            zorder=4,
        )
    axes.set_xscale("log")
    axes.set_xlim(lowest, 1.15 * highest)
    decades = np.log10(highest / lowest)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 5) if decades < 2 else (1,)))
    axes.set_xlabel("intensity (edges per memory request)")
    axes.set_title(f"levels (area: edges; numbered: {_NAMED_SHARE:.0%} of the cycles or more)", fontsize="medium")


def _draw_limits(axes: "Axes", roofline: Roofline, setting: Setting) -> None:
    """Draw the throughput of the whole search by each limit, and the one reached."""
    edges = roofline.total_edges
    allowed = [total for name, total in roofline.totals.items() if name != "expected"]
    for place, (limit, cycles, _) in enumerate(allowed):
        if cycles and edges:
            axes.scatter([place], [setting.gteps(edges, cycles)], 90, **_style(limit))
    if edges:
        reached = setting.gteps(edges, roofline.total_cycles)
        axes.axhline(reached, color="black", linewidth=1.2)
        share = f"reached: {reached:.3g}, {roofline.efficiency:.0%} of all of them "
        axes.annotate(share, (1, reached), (0, -3), xycoords=("axes fraction", "data"), ha="right", **_NOTE)
    titles = [total.limit.title for total in allowed]
    axes.set_xticks(range(len(titles)), titles, rotation=55, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(allowed) - 0.4)
    axes.set_title("limits of the whole search", fontsize="medium")
