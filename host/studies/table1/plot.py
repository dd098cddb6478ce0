"""Table I as a plot: bars of paper and simulation side by side."""

import itertools
from typing import TYPE_CHECKING, Any

from host.results.plots import BLACK, BLUE, ORANGE
from host.studies.grouping import Point, grouped
from host.studies.panels import add_legend, degree_axis, panel_grid
from host.studies.paper import BETKAOUI_GTEPS, ENGINES, TABLE1_DEGREES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["table1_figure"]

_KIND_TEXT = {"random": "uniform random", "rmat": "R-MAT"}
_WIDTH = 0.18
_HATCH = {1: "////", 4: ""}
_SIDES = {"paper": ORANGE, "simulated": BLUE}


def _panel(axes: "Axes", group: list[Point]) -> None:
    """Draw the cells of one configuration and kind."""
    for place, (engines, (side, colour)) in enumerate(itertools.product(ENGINES, _SIDES.items())):
        axes.bar(
            [number + (place - 1.5) * _WIDTH for number in range(len(TABLE1_DEGREES))],
            [cell[side] for cell in group if cell["engines"] == engines],
            _WIDTH,
            color=colour,
            edgecolor="white",
            hatch=_HATCH[engines],
            label=f"{side}, {engines} AE{'s' if engines > 1 else ''}",
        )
    degree_axis(axes, TABLE1_DEGREES)
    axes.set_ylabel("throughput (GTEPS)")


def table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel for each configuration and kind of graph; of several numbers of vertices, their mean.

    Parameters
    ----------
    document : dict
        What `host.studies.table1.document.table1_document` returned.
    """
    groups = grouped(document.get("averages", document["cells"]), "config", "kind")
    titles = [f"{config}: {_KIND_TEXT[kind]}" for config, kind in groups]
    figure, panels = panel_grid(titles, row=3.6, rest=0.5, sharey=True)
    for axes, ((_, kind), cells) in zip(panels, groups.items(), strict=True):
        _panel(axes, cells)
        axes.plot(
            [number + 2.5 * _WIDTH for number in range(len(TABLE1_DEGREES))],
            BETKAOUI_GTEPS[kind],
            linestyle="",
            marker="D",
            markersize=5,
            color=BLACK,
            label="Betkaoui et al., 4 FPGAs",
        )
    panels[0].set_ylim(bottom=0)  # last, and for all: they share it
    add_legend(figure, 5)
    return figure
