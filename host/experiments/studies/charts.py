"""Charts that several studies share: bars in groups, lines in panels, and marks in rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cyscc.host.output.figures import MARKERS, add_legend, log_axis, row_axis, row_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Line(NamedTuple):
    """A line of a chart, or marks without a line: sequences of numbers."""

    label: str
    x: Any
    y: Any
    looks: Mapping[str, Any]
    """How it is drawn: colour, marker, style, as matplotlib has them."""


def draw_lines(axes: "Axes", lines: Sequence[Line], *, one: bool = False, log: str = "", **texts: Any) -> None:
    """Draw lines, label the axes, and make those named in `log` logarithmic.

    Parameters
    ----------
    axes : Axes
        The panel.
    lines : sequence of Line
        The lines.
    one : bool
        Whether there is a line at 1, too.
    log : str
        Names of axes: ``x``, ``y``, ``xy``.
    **texts
        Labels of the axes, and what else matplotlib sets.
    """
    for line in lines:
        axes.plot(line.x, line.y, label=line.label, **line.looks)
    if one:
        axes.axhline(1, color="0.5", linewidth=1)
    axes.set(**texts)
    for which in log:
        log_axis(axes, which)


def group_places(groups: Sequence[float], place: int, count: int, width: float) -> list[float]:
    """Return the centres of the bars of a series, one in each group, in `count` series of bars of a width."""
    return [group + (place - (count - 1) / 2) * width for group in groups]


class Marks(NamedTuple):
    """A series of marks in rows, and that of the paper beside it; None where there is no value."""

    colour: str
    label: str
    values: Sequence[float | None]
    paper_label: str = ""
    paper: Sequence[float | None] = ()


def draw_rows(
    figure: "Figure", panels: Sequence[tuple["Axes", Sequence[str], Sequence[Marks]]], label: str, *, line: bool = True
) -> "Figure":
    """Draw marks in rows on a logarithmic axis, and the legend; those of papers are hollow.

    Parameters
    ----------
    figure : Figure
        The figure.
    panels : sequence of (Axes, sequence of str, sequence of Marks)
        Each panel, the names of its rows, and its series.
    label : str
        Label of the axis.
    line : bool
        Whether there is a line at 1.
    """
    for axes, names, series in panels:
        for number, marks in enumerate(series):
            looks: dict[str, Any] = {"color": marks.colour, "marker": MARKERS[number], "linestyle": "none"}
            places = row_places(len(names), number, len(series))
            _draw_marks(axes, marks.label, marks.values, places, looks)
            _draw_marks(axes, marks.paper_label, marks.paper, places, {**looks, "markerfacecolor": "white"})
        row_axis(axes, names)
        if line:
            axes.axvline(1, color="0.5", linewidth=1)
        axes.set_xlabel(label)
        log_axis(axes, "x")
    add_legend(figure, max(len(series) for *_, series in panels))
    return figure


def _draw_marks(
    axes: "Axes", label: str, values: Sequence[float | None], places: Sequence[float], looks: Mapping[str, Any]
) -> None:
    known = [(value, place) for value, place in zip(values, places, strict=False) if value is not None]
    if known:
        axes.plot([value for value, _ in known], [place for _, place in known], label=label, **looks)
