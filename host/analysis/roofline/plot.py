"""The roofline plot: throughput against edges per request, and what each limit allows the whole search."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from host.analysis.roofline.analysis import Roofline, level_points
from host.analysis.roofline.limits import CROSSBAR, HIGHEST_INTENSITY, LIMITS, Limit, ceilings
from host.runs.results import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["roofline_figure"]

# The first line is wide, so that it is seen also where another lies upon it.
_LINES: dict[str, dict[str, Any]] = {
    "ports": {"linewidth": 4.5, "alpha": 0.45, "linestyle": "-"},
    "links": {"linewidth": 1.8, "linestyle": "--"},
    "banks": {"linewidth": 1.8, "linestyle": ":"},
    "channels": {"linewidth": 1.8, "linestyle": ":"},
    "rows": {"linewidth": 1.8, "linestyle": (0, (1, 3))},
    CROSSBAR.title: {"linewidth": 1.4, "linestyle": "-."},
}
_NOTE: dict[str, Any] = {"textcoords": "offset points", "va": "top", "fontsize": "small"}
_LARGEST, _SMALLEST, _IN_LEGEND = 300.0, 24.0, 49.0
"""Area of a level's point in square points: of most edges, of next to none, and of any in the legend."""
_NAMED_SHARE = 0.05
"""Share of the cycles from which on a level has its number beside it."""


def _style(limit: Limit) -> dict[str, Any]:
    """Return how points of a limit are drawn: those of all limits together as black lines."""
    if limit.marker == "_":
        return {"c": "black", "marker": "_", "linewidths": 2.5, "zorder": 3}
    return {"c": limit.colour, "marker": limit.marker, "edgecolors": "black", "linewidths": 0.7, "zorder": 3}


def roofline_figure(roofline: Roofline, setting: Setting) -> Figure:
    """Draw the plot.

    On the left each level and the whole search stand under the ceilings of ports, links and banks; levels have the
    shape and colour of their tightest limit. On the right is what each limit allows the whole search.
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


def _draw_levels(axes: "Axes", roofline: Roofline, setting: Setting) -> None:
    """Draw ceilings, levels and the whole search."""
    names = roofline.bounds.names
    points = level_points(roofline)
    lowest = min([0.2, *(0.8 * points.intensity)])
    intensity = np.geomspace(lowest, HIGHEST_INTENSITY, 200)
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
    axes.axvline(HIGHEST_INTENSITY, color="#444444", linewidth=0.8)
    axes.text(
        HIGHEST_INTENSITY,
        0.02,
        " two requests an edge",
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
        axes.annotate(f"{level}", (x, y), (0, -0.6 * float(np.sqrt(area)) - 1), ha="center", zorder=5, **_NOTE)
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
    axes.set_xlim(lowest, 1.15 * HIGHEST_INTENSITY)
    decades = np.log10(HIGHEST_INTENSITY / lowest)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 5) if decades < 2 else (1,)))
    axes.set_xlabel("intensity (edges per memory request)")
    axes.set_title(f"levels (area: edges; numbered: {_NAMED_SHARE:.0%} of the cycles or more)", fontsize="medium")


def _draw_limits(axes: "Axes", roofline: Roofline, setting: Setting) -> None:
    """Draw what each limit allows the whole search, and what was reached."""
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
