"""`report`: the page of recorded runs, and the trace of one."""

from os import PathLike, fspath
from typing import TYPE_CHECKING, Annotated

from cyscc.host.interface.notes import Recorded, Wanted
from cyscc.host.output.files import Content, check_suffix
from cyscc.host.specification.ask import Ask, SpecError, question

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer
    from cyscc.host.record.reader import Record
    from cyscc.host.runs.results import Result

__all__ = ["report"]

Records = Annotated[
    "Record | Result | str | PathLike[str]",
    Ask(help="further records, which are compared with the first", metavar="DIR2", count="*"),
]
Page = Annotated[
    "str | PathLike[str] | None",
    Ask(help="the page ('-': standard output)", metavar="OUT.html", flag="--output", short="-o", writes=Content.PAGE),
]
Trace = Annotated[
    "str | PathLike[str] | None",
    Ask(help="the activity of one run over time as a trace for Perfetto", metavar="OUT.pftrace", writes=Content.TRACE),
]


@question(
    own=("page", "markdown"),
    examples="""examples:
  cyscc bfs random.gr --source 1 --record hc2
  cyscc report hc2 -o hc2.html
  cyscc report hc2 --trace hc2.pftrace
  cyscc bfs random.gr --source 1 --config published --record published
  cyscc report hc2 published -o both.html

DIR: a folder that --record of scc or bfs wrote; the runs after the first are compared with it, level by level
""",
)
def report(
    recorded: Recorded, *others: Records, output: Page = None, trace: Trace = None, progress: Wanted = False
) -> "Answer":
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
    """
    import pandas as pd

    from cyscc.host.answer.answer import Answer, Table
    from cyscc.host.interface.recorded import record_of
    from cyscc.host.output.files import write_text
    from cyscc.host.output.progress import Progress
    from cyscc.host.output.text import bytes_text, count_text
    from cyscc.sim.notices import printable

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
        files.append((printable(fspath(output)), f"{count_text(len(records), 'run')}, {size}"))
    if trace is not None:
        from cyscc.host.analysis.trace import write_trace

        with progress.step("writing the trace"):
            write_trace(records[0], fspath(trace))
        files.append((printable(fspath(trace)), f"trace of {count_text(records[0].cycles, 'cycle')}"))
    title, *more = [": ".join(each) for each in files]
    table = Table(title="files", frame=pd.DataFrame(files, columns=["file", "content"]), shown=False)
    return Answer(title=title, said=more, tables={"files": table})
