"""Figures 10 and 11 as plots: a panel for each degree, throughput against vertices."""

import math
from typing import TYPE_CHECKING, Any

from host.results.plots import BLACK, BLUE, ORANGE, new_figure, power_text
from host.studies.paper import ENGINES, TABLE1_VERTICES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["throughput_figure"]

_COLUMNS = 2
_COUNT = {1: "one FPGA", 4: "four FPGAs"}
_COLOURS = {1: ORANGE, 4: BLUE}
_MARKERS = {1: "o", 4: "s"}
_LINES = ("-", "--", ":", "-.")


def _reference(axes: "Axes", height: float | None, *, colour: str, label: str, width: float) -> None:
    """Draw an average of the paper over the vertices that it is an average of."""
    if height is not None:
        exponents = [math.log2(TABLE1_VERTICES[0]), math.log2(TABLE1_VERTICES[-1])]
        axes.plot(exponents, [height, height], color=colour, linewidth=width, label=label, linestyle=(0, (4, 1)))


def _panel(axes: "Axes", points: list[dict[str, Any]], configs: list[str]) -> None:
    for number, config in enumerate(configs):
        for engines in ENGINES:
            series = [point for point in points if (point["config"], point["engines"]) == (config, engines)]
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
    points = document["points"]
    degrees = list(dict.fromkeys(point["degree"] for point in points))
    configs = list(dict.fromkeys(point["config"] for point in points))
    exponents = sorted({round(math.log2(point["vertices"])) for point in points} | {20, 21, 22, 23})
    rows = -(-len(degrees) // _COLUMNS)
    figure = new_figure(width=10, height=3.4 * rows + 0.7)
    panels = figure.subplots(rows, _COLUMNS, squeeze=False, sharey=True).flatten()
    for number, (axes, degree) in enumerate(zip(panels, degrees, strict=False)):
        _panel(axes, [point for point in points if point["degree"] == degree], configs)
        axes.set_title(f"({chr(ord('a') + number)}) average degree {degree}")
        axes.set_xticks(exponents, [power_text(1 << exponent) for exponent in exponents])
        axes.set_xlabel("vertices")
        axes.set_ylabel("throughput (GTEPS)")
        axes.grid(color="0.85")
    panels[0].set_ylim(bottom=0)  # last, and for all: they share it
    for axes in panels[len(degrees) :]:
        axes.remove()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure
