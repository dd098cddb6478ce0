"""Figures 12 and 13 as plots: stacked bars of time, and lines of speed-up, against degree."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from host.results.plots import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, new_figure, power_text
from host.studies.components.document import PHASES, SOFTWARE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["speed_up_figure", "time_figure"]

_COLUMNS = 2
_COLOURS = {"searches": BLUE, "intersections": ORANGE, "starts": GREEN}
_PHASE_TEXT = {"searches": "BFS", "intersections": "intersection", "starts": "search for a start"}
_HATCHES = ("", "////", "....", "xxxx")
_WIDTH = 0.8
_WHOLE = 100
"""Milliseconds from which on a label has no fraction."""


def _degrees(document: dict[str, Any]) -> list[int]:
    """Return the degrees of the horizontal axis, the same in all panels."""
    return sorted({point["degree"] for point in document["points"]})


def _panels(document: dict[str, Any]) -> "tuple[Figure, Iterator[tuple[Axes, list[dict[str, Any]]]]]":
    """Return a figure, and for each number of vertices its panel and points."""
    points = document["points"]
    sizes = list(dict.fromkeys(point["vertices"] for point in points))
    degrees = _degrees(document)
    rows = -(-len(sizes) // _COLUMNS)
    figure = new_figure(width=10, height=3.4 * rows + 0.7)
    panels = figure.subplots(rows, _COLUMNS, squeeze=False).flatten()
    for axes in panels[len(sizes) :]:
        axes.remove()

    def filled() -> "Iterator[tuple[Axes, list[dict[str, Any]]]]":
        for number, (axes, vertices) in enumerate(zip(panels, sizes, strict=False)):
            yield axes, [point for point in points if point["vertices"] == vertices]
            axes.set_title(f"({chr(ord('a') + number)}) {power_text(vertices)} vertices")
            axes.set_xlabel("average degree")
            axes.set_xticks(range(len(degrees)), [str(degree) for degree in degrees])
            axes.set_xlim(-0.6, len(degrees) - 0.4)
            axes.set_ylim(bottom=0)
            axes.grid(axis="y", color="0.85")
            axes.set_axisbelow(True)

    return figure, filled()


def _legend(figure: "Figure", columns: int) -> None:
    """Show each series once, whatever panel it is in."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=columns, frameon=False)


def time_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 12: for each degree a bar of sequential Kosaraju and one of each machine, by phase.

    Parameters
    ----------
    document : dict
        What `host.studies.components.document.component_document` returned.
    """
    degrees = _degrees(document)
    figure, panels = _panels(document)
    for axes, group in panels:
        names = list(dict.fromkeys(point["series"] for point in group))
        width = _WIDTH / len(names)
        for place, name in enumerate(names):
            series = [point for point in group if point["series"] == name]
            centres = [degrees.index(point["degree"]) + (place - (len(names) - 1) / 2) * width for point in series]
            floor = [0.0] * len(series)
            text = "software" if name == SOFTWARE else name
            for phase in PHASES:
                heights = [point["milliseconds"][phase] for point in series]
                axes.bar(
                    centres,
                    heights,
                    width * 0.92,
                    bottom=floor,
                    color=_COLOURS[phase],
                    edgecolor="white",
                    hatch=_HATCHES[place % len(_HATCHES)],
                    linewidth=0,
                    label=f"{text}: {_PHASE_TEXT[phase]}",
                )
                floor = [low + height for low, height in zip(floor, heights, strict=True)]
            for centre, total in zip(centres, floor, strict=True):
                axes.annotate(
                    f"{total:,.0f}" if total >= _WHOLE else f"{total:.3g}",
                    (centre, total),
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                )
        axes.set_ylabel("time (ms)")
    _legend(figure, len(PHASES))
    return figure


def speed_up_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 13: speed-up over sequential Kosaraju against degree.

    Parameters
    ----------
    document : dict
        What `host.studies.components.document.component_document` returned.
    """
    degrees = _degrees(document)
    figure, panels = _panels(document)
    threads = document["cores"]
    colours = (BLUE, SKY, PURPLE, VERMILION)
    for axes, group in panels:
        names = list(dict.fromkeys(point["series"] for point in group))
        for place, name in enumerate(names):
            series = [point for point in group if point["series"] == name]
            hong = name == "hong"
            axes.plot(
                [degrees.index(point["degree"]) for point in series],
                [point["speed_up"] for point in series],
                color=ORANGE if hong else colours[place % len(colours)],
                marker="o" if hong else "s",
                linestyle="--" if hong else "-",
                label=f"Hong et al., {threads} thread{'s' if threads > 1 else ''}" if hong else f"four FPGAs, {name}",
            )
        axes.axhline(1, color="0.5", linewidth=1)
        axes.set_ylabel("speed-up over sequential Kosaraju")
    _legend(figure, 4)
    return figure
