"""Figures 10 and 11 as plots: a panel for each degree, throughput against vertices."""

import math
from typing import TYPE_CHECKING, Any

from host.results.plots import BLACK, BLUE, ORANGE, power_text
from host.studies.grouping import Point, grouped
from host.studies.panels import add_legend, lettered, panel_grid
from host.studies.paper import ENGINES, TABLE1_VERTICES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["throughput_figure"]

_COUNT = {1: "one FPGA", 4: "four FPGAs"}
_COLOURS = {1: ORANGE, 4: BLUE}
_MARKERS = {1: "o", 4: "s"}
_LINES = ("-", "--", ":", "-.")


def _reference(axes: "Axes", height: float | None, *, colour: str, label: str, width: float) -> None:
    """Draw an average of the paper over the vertices that it is an average of."""
    if height is not None:
        exponents = [math.log2(TABLE1_VERTICES[0]), math.log2(TABLE1_VERTICES[-1])]
        axes.plot(exponents, [height, height], color=colour, linewidth=width, label=label, linestyle=(0, (4, 1)))


def _panel(axes: "Axes", points: list[Point]) -> None:
    for number, ((config,), group) in enumerate(grouped(points, "config").items()):
        for (engines,), series in grouped(group, "engines").items():
            axes.plot(
                [math.log2(point["vertices"]) for point in series],
                [point["simulated"] for point in series],
                color=_COLOURS[engines],
                marker=_MARKERS[engines],
                linestyle=_LINES[number % len(_LINES)],
                label=f"CyGraph {_COUNT[engines]}, {config}",
            )
    _reference(axes, points[0]["betkaoui"], colour=BLACK, label="Betkaoui et al. four FPGAs, paper", width=2.0)
    for engines in ENGINES:
        paper = next(point["paper"] for point in points if point["engines"] == engines)
        _reference(axes, paper, colour=_COLOURS[engines], label=f"CyGraph {_COUNT[engines]}, paper", width=1.0)


def throughput_figure(document: dict[str, Any]) -> "Figure":
    """Return the figure; the paper's averages are lines over the vertices that they are averages of.

    Parameters
    ----------
    document : dict
        What `host.studies.throughput.document.throughput_document` returned.
    """
    groups = grouped(document["points"], "degree")
    sizes = sorted({*TABLE1_VERTICES, *(point["vertices"] for point in document["points"])})
    figure, panels = panel_grid(lettered(f"average degree {degree}" for (degree,) in groups), sharey=True)
    for axes, points in zip(panels, groups.values(), strict=True):
        _panel(axes, points)
        axes.set_xticks([math.log2(size) for size in sizes], [power_text(size) for size in sizes])
        axes.set_xlabel("vertices")
        axes.set_ylabel("throughput (GTEPS)")
        axes.grid(color="0.85")
    panels[0].set_ylim(bottom=0)  # last, and for all: they share it
    add_legend(figure, 3)
    return figure
