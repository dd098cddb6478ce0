"""Figures 2 and 3 and table 2 of Li et al. as plots."""

from typing import TYPE_CHECKING, Any

from host.measuring.graphs import size_text
from host.results.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, add_legend, new_figure
from host.studies.li.depths import PARTITION, SINGLE, TENTH
from host.studies.points import grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["depth_figure", "time_figure"]

_AXES = {"degree": "average degree", "sources": "number of sources, k"}
_COLOURS = {SINGLE: BLUE, PARTITION: VERMILION, TENTH: GREEN}
_WIDTH = 0.4


def depth_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 2 or 3: recursion depth, what was measured as lines, the text's as marks.

    Parameters
    ----------
    document : dict
        What `host.studies.li.depths.figure2_document` or `figure3_document` returned.
    """
    figure = new_figure(width=7, height=4.5)
    axes = figure.subplots()
    axis = document["axis"]
    for (series,), points in grouped(document["points"], "series").items():
        places = [point[axis] for point in points]
        heights = [point["depth"] for point in points]
        axes.plot(places, heights, color=_COLOURS[series], marker="o", label=f"{series}, measured")
        # Those of both series with Partition are the same.
        known = [point for point in points if point["paper"] is not None and series != TENTH]
        if known:
            heights = [point["paper"] for point in known]
            where = [point[axis] for point in known]
            axes.plot(where, heights, color=BLACK, marker="x", linestyle=":", label=f"{series}, paper")
    axes.set_yscale("log")
    axes.set_xlabel(_AXES[axis])
    axes.set_ylabel("recursion depth")
    axes.grid(axis="y", color="0.85")
    axes.set_axisbelow(True)
    add_legend(figure, 2)
    return figure


def time_figure(document: dict[str, Any]) -> "Figure":
    """Return table 2 as bars: speed-up over Tarjan's algorithm, here and in the text.

    Parameters
    ----------
    document : dict
        What `host.studies.li.times.table2_document` returned.
    """
    rows = document["rows"]
    figure = new_figure(width=max(6, 1.2 * len(rows)), height=4)
    axes = figure.subplots()
    papers = [row["paper"]["tarjan"] / row["paper"]["milliseconds"] if row["paper"] else 0.0 for row in rows]
    places = range(len(rows))
    here = [row["speed_up"] for row in rows]
    axes.bar([place - _WIDTH / 2 for place in places], here, _WIDTH, color=BLUE, label="here")
    axes.bar([place + _WIDTH / 2 for place in places], papers, _WIDTH, color=ORANGE, label="paper, GTX 480")
    axes.axhline(1, color="0.5", linewidth=1)
    axes.set_xticks(list(places), [f"{row['kind']}\n{size_text(row['vertices'])}" for row in rows])
    axes.set_yscale("log")
    axes.set_ylabel("speed-up over Tarjan's algorithm")
    add_legend(figure, 2)
    return figure
