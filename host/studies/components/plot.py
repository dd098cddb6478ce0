"""Figures 12 and 13 as plots: stacked bars of time, and lines of speed-up, against degree."""

from typing import TYPE_CHECKING, Any

import numpy as np

from host.results.plots import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, power_text
from host.studies.components.document import PHASES, SOFTWARE
from host.studies.grouping import Point, grouped
from host.studies.panels import add_legend, degree_axis, lettered, panel_grid, time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["speed_up_figure", "time_figure"]

_COLOURS = {"searches": BLUE, "intersections": ORANGE, "starts": GREEN}
_HATCHES = ("", "////", "....", "xxxx")
_WIDTH = 0.8


def _panels(document: dict[str, Any]) -> "tuple[Figure, list[int], list[tuple[Axes, dict[str, list[Point]]]]]":
    """Return a figure, the degrees of its axes, and for each number of vertices its panel and its points by series."""
    groups = grouped(document["points"], "vertices")
    degrees = sorted({point["degree"] for point in document["points"]})
    figure, panels = panel_grid(lettered(f"{power_text(vertices)} vertices" for (vertices,) in groups))
    for axes in panels:
        degree_axis(axes, degrees)
        axes.set_xlim(-0.6, len(degrees) - 0.4)
    series = ({name: own for (name,), own in grouped(group, "series").items()} for group in groups.values())
    return figure, degrees, list(zip(panels, series, strict=True))


def time_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 12: for each degree a bar of sequential Kosaraju and one of each machine, by phase.

    Parameters
    ----------
    document : dict
        What `host.studies.components.document.component_document` returned.
    """
    figure, degrees, panels = _panels(document)
    for axes, series in panels:
        width = _WIDTH / len(series)
        for place, (name, points) in enumerate(series.items()):
            centres = [degrees.index(point["degree"]) + (place - (len(series) - 1) / 2) * width for point in points]
            floor = np.zeros(len(points))
            for phase, text in PHASES.items():
                heights = np.array([point["milliseconds"][phase] for point in points])
                bars = axes.bar(
                    centres,
                    heights,
                    width * 0.92,
                    bottom=floor,
                    color=_COLOURS[phase],
                    edgecolor="white",
                    hatch=_HATCHES[place % len(_HATCHES)],
                    linewidth=0,
                    label=f"{'software' if name == SOFTWARE else name}: {text}",
                )
                floor = floor + heights
            axes.bar_label(bars, [time_text(total) for total in floor], padding=2, fontsize=7)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("time (ms)")
    add_legend(figure, len(PHASES))
    return figure


def speed_up_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 13: speed-up over sequential Kosaraju against degree.

    Parameters
    ----------
    document : dict
        What `host.studies.components.document.component_document` returned.
    """
    figure, degrees, panels = _panels(document)
    threads = document["cores"]
    colours = (BLUE, SKY, PURPLE, VERMILION)
    for axes, series in panels:
        for place, (name, points) in enumerate(series.items()):
            hong = name == "hong"
            axes.plot(
                [degrees.index(point["degree"]) for point in points],
                [point["speed_up"] for point in points],
                color=ORANGE if hong else colours[place % len(colours)],
                marker="o" if hong else "s",
                linestyle="--" if hong else "-",
                label=f"Hong et al., {threads} thread{'s' if threads > 1 else ''}" if hong else f"four FPGAs, {name}",
            )
        axes.axhline(1, color="0.5", linewidth=1)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("speed-up over sequential Kosaraju")
    add_legend(figure, 4)
    return figure
