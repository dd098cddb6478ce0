"""Table I as a plot: bars of paper and simulation side by side."""

from typing import TYPE_CHECKING, Any

from host.results.plots import BLACK, BLUE, ORANGE, new_figure
from host.studies.paper import BETKAOUI_GTEPS, ENGINES, KINDS, TABLE1_DEGREES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["table1_figure"]

_KIND_TEXT = {"random": "uniform random", "rmat": "R-MAT"}
_WIDTH = 0.18
_HATCH = {1: "////", 4: ""}
_SIDES = {"paper": ORANGE, "simulated": BLUE}


def _panel(axes: "Axes", group: list[dict[str, Any]]) -> None:
    """Draw the cells of one configuration and kind."""
    place = 0
    for engines in ENGINES:
        for side, colour in _SIDES.items():
            heights = [
                next(cell[side] for cell in group if (cell["degree"], cell["engines"]) == (degree, engines))
                for degree in TABLE1_DEGREES
            ]
            offset = (place - 1.5) * _WIDTH
            axes.bar(
                [number + offset for number in range(len(TABLE1_DEGREES))],
                heights,
                _WIDTH,
                color=colour,
                edgecolor="white",
                hatch=_HATCH[engines],
                label=f"{side}, {engines} AE{'s' if engines > 1 else ''}",
            )
            place += 1
    axes.set_xticks(range(len(TABLE1_DEGREES)), [str(degree) for degree in TABLE1_DEGREES])
    axes.set_xlabel("average degree")
    axes.set_ylabel("throughput (GTEPS)")
    axes.grid(axis="y", color="0.85")
    axes.set_axisbelow(True)


def table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel for each configuration and kind of graph; of several numbers of vertices, their mean.

    Parameters
    ----------
    document : dict
        What `host.studies.table1.document.table1_document` returned.
    """
    found = document.get("averages", document["cells"])
    configs = list(document["errors"])
    figure = new_figure(width=10, height=3.6 * len(configs) + 0.5)
    panels = figure.subplots(len(configs), len(KINDS), squeeze=False, sharey=True)
    for row, config in enumerate(configs):
        for column, kind in enumerate(KINDS):
            axes = panels[row][column]
            _panel(axes, [cell for cell in found if (cell["config"], cell["kind"]) == (config, kind)])
            axes.plot(
                [number + 2.5 * _WIDTH for number in range(len(TABLE1_DEGREES))],
                BETKAOUI_GTEPS[kind],
                linestyle="",
                marker="D",
                markersize=5,
                color=BLACK,
                label="Betkaoui et al., 4 FPGAs",
            )
            axes.set_title(f"{config}: {_KIND_TEXT[kind]}")
    panels[0][0].set_ylim(bottom=0)  # last, and for all: they share it
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure
