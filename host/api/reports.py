"""Pages and charts of records for Python."""

from os import PathLike
from typing import TYPE_CHECKING

from host.api.records import Recorded, record_of
from host.output import open_output

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["figures", "report"]


def report(path: str | PathLike[str], *recorded: Recorded) -> None:
    """Write the page of runs: one HTML file that loads nothing.

    Parameters
    ----------
    path : str or path
        The file.
    *recorded : Record, Result, str or path
        Records, results of runs that were recorded, or records' folders; several are compared with the first one.

    Raises
    ------
    ValueError
        There is none, or a run was not recorded.
    InputError
        A record cannot be read, or the file cannot be written.
    """
    from host.report.page import page

    if not recorded:
        raise ValueError("a report needs a record")
    text = page([record_of(each) for each in recorded])
    with open_output(str(path)) as file:
        file.write(text.encode())


def figures(*recorded: Recorded) -> "dict[str, go.Figure]":
    """Return the charts of the page of runs, by their titles; where there are several runs, after the run's name.

    Parameters and errors are those of `report`.
    """
    from host.report.page import sections

    if not recorded:
        raise ValueError("charts need a record")
    made = sections([record_of(each) for each in recorded])
    several = len(recorded) > 1
    return {
        f"{section.run}: {chart.title}" if several and section.run else chart.title: chart.figure
        for section in made
        for chart in section.charts
    }
