"""`report`: the page of recorded runs, its charts (`figures`, `write_figure`), and the trace of one run."""

from os import fspath
from typing import TYPE_CHECKING

from cyscc.host.answer.answer import Answer
from cyscc.host.interface import notes
from cyscc.host.interface.given import FORMS, record_of
from cyscc.host.output.files import Content, check_suffix, write_text
from cyscc.host.output.progress import Progress
from cyscc.host.output.text import bytes_text, count_text
from cyscc.host.specification.ask import SpecError, question
from cyscc.host.specification.numbers import checked_number
from cyscc.sim.notices import printable

if TYPE_CHECKING:
    import plotly.graph_objects as go


@question(own=("page", "markdown"))
def report(
    recorded: notes.AnyRecord,
    *others: notes.AnyRecord,
    output: notes.MaybeFile = None,
    trace: notes.MaybeFile = None,
    progress: notes.Wanted = False,
) -> Answer:
    """Draw where the cycles of recorded runs went, as a page.

    The page also says why. It is one HTML file, which loads nothing. Or write the trace of a run for Perfetto.

    Returns
    -------
    Answer
        Where the page and the trace are: `files`.

    Raises
    ------
    ValueError
        No output is named, the trace is of several runs, or a run was not recorded.
    InputError
        There is no record, it cannot be read, or an output cannot be written.

    Notes
    -----
    DIR: a folder that --record of scc or bfs wrote; the runs after the first are compared with it, level by level

    Examples
    --------
    cyscc bfs random.gr --source 1 --record hc2
    cyscc report hc2 -o hc2.html
    cyscc report hc2 --trace hc2.pftrace
    cyscc bfs random.gr --source 1 --config published --record published
    cyscc report hc2 published -o both.html
    """
    if output is None and trace is None:
        raise SpecError("", "nothing is to be written: name a page (-o), a trace (--trace), or both")
    if trace is not None and others:
        raise SpecError("trace", f"--trace is of one run, and there are {1 + len(others)}")
    if output is not None:
        check_suffix(fspath(output), Content.PAGE)
    records = [record_of(each) for each in (recorded, *others)]
    progress, files = Progress.of(progress), []
    if output is not None:
        from cyscc.host.analysis.report.page import page

        with progress.step("drawing") as step:
            text = page(records, on_run=lambda done: step(done, len(records)))
        size = bytes_text(write_text(fspath(output), text))
        files.append({"file": printable(fspath(output)), "content": f"{count_text(len(records), 'run')}, {size}"})
    if trace is not None:
        from cyscc.host.analysis.trace import write_trace

        with progress.step("writing the trace"):
            write_trace(records[0], fspath(trace))
        files.append(
            {"file": printable(fspath(trace)), "content": f"trace of {count_text(records[0].cycles, 'cycle')}"}
        )
    title, *more = [": ".join(each.values()) for each in files]
    return Answer(title=title, said=more, tables={"files": FORMS.table("files", files)})


def figures(recorded: notes.AnyRecord, *others: notes.AnyRecord) -> "dict[str, go.Figure]":
    """Return the charts of the page of runs by title; with several runs, the title follows the run's name.

    Takes the runs of `report`, and raises its errors.
    """
    from cyscc.host.analysis.report.page import sections

    made = sections([record_of(each) for each in (recorded, *others)])
    return {
        f"{section.run}: {chart.title}" if others and section.run else chart.title: chart.figure
        for section in made
        for chart in section.charts
    }


def write_figure(
    figure: "go.Figure", path: notes.File, *, title: str = "", option: str = "", width: int | None = None
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
    from cyscc.host.answer.static import write

    width = None if width is None else checked_number("width", width, low=1)
    write(figure, str(path), title=str(title), option=option, width=width)
