"""Charts of the page of recorded runs: `figures` and `write_figure`, which no command has."""

from os import PathLike
from typing import TYPE_CHECKING

from cyscc.host.analysis.report.drawing import draw_chart
from cyscc.host.analysis.report.page import sections
from cyscc.host.interface.recorded import record_of
from cyscc.host.output.figures import write_plot
from cyscc.host.specification.numbers import checked_number

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from cyscc.host.interface.notes import Recorded

__all__ = ["figures", "write_figure"]


def figures(recorded: "Recorded", *others: "Recorded") -> "dict[str, go.Figure]":
    """Return the charts of the page of runs by title; with several runs, the title follows the run's name.

    Takes the runs of `report`, and raises its errors.
    """
    made = sections([record_of(each) for each in (recorded, *others)])
    return {
        f"{section.run}: {chart.title}" if others and section.run else chart.title: chart.figure
        for section in made
        for chart in section.charts
    }


def write_figure(
    figure: "go.Figure", path: str | PathLike[str], *, title: str = "", option: str = "", width: int | None = None
) -> None:
    """Write a chart of `figures` as SVG, PNG or PDF, by the file's suffix.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        The chart; it may have been changed.
    path : str or path
        The file.
    title : str
        Title above the chart.
    option : str
        Option of the chart's selector, such as a cause of a time-lapse; the first one by default.
    width : int, optional
        Width in pixels, of which an inch has 100; by default that of the chart's layout, else 1,000.

    Raises
    ------
    ValueError
        The chart has no such option, or is of another kind than those of `figures`.
    InputError
        The file cannot be written, or its suffix is of no format.
    """
    width = None if width is None else checked_number("width", width, low=1)
    write_plot(lambda: draw_chart(figure, title=str(title), option=option, width=width), str(path))
