"""`cyscc report`: the page of recorded runs, and the trace of one."""

import argparse

from cyscc.host.specification import options
from cyscc.host.specification.options import UsageError

__all__ = ["TEXTS", "add_options", "run"]


TEXTS = {
    "help": "draw where the cycles of recorded runs went, as a page",
    "description": "Draw where the cycles of recorded runs went, and say why: one HTML file, which loads nothing. Or "
    "write the trace of a run for Perfetto.",
    "epilog": """examples:
  cyscc bfs random.gr --source 1 --record hc2
  cyscc report hc2 -o hc2.html
  cyscc report hc2 --trace hc2.pftrace
  cyscc bfs random.gr --source 1 --config published --record published
  cyscc report hc2 published -o both.html

DIR: a folder that --record of scc or bfs wrote; the runs after the first are compared with it, level by level
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("records", metavar="DIR", nargs="+", help="a record; several are compared with the first")
    parser.add_argument("-o", "--output", metavar="OUT.html", help="the page ('-': standard output)")
    parser.add_argument(
        "--trace", metavar="OUT.pftrace", help="the activity of one run over time as a trace for Perfetto"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError
        No output is named, or the trace of several runs.
    InputError
        There is no record, it cannot be read, or an output cannot be written.
    """
    from cyscc.host.output.files import STANDARD_OUTPUT, Content, show, write_text
    from cyscc.host.output.progress import Progress
    from cyscc.host.output.text import bytes_text, count_text
    from cyscc.host.record.reader import Record

    if arguments.output is None and arguments.trace is None:
        raise UsageError("nothing is to be written: name a page (-o), a trace (--trace), or both")
    if arguments.trace is not None and len(arguments.records) > 1:
        raise UsageError(f"--trace is of one run, and there are {len(arguments.records)}")
    options.check_outputs({"-o": arguments.output, "--trace": arguments.trace}, others={}, content=Content.PAGE)
    records = [Record(folder) for folder in arguments.records]
    progress = Progress(quiet=arguments.quiet)
    lines = []
    if arguments.output is not None:
        from cyscc.host.analysis.report.page import page

        with progress.step("drawing") as step:
            text = page(records, on_run=lambda done: step(done, len(records)))
        size = write_text(arguments.output, text)
        lines.append(f"{arguments.output}: {count_text(len(records), 'run')}, {bytes_text(size)}\n")
    if arguments.trace is not None:
        from cyscc.host.analysis.trace import write_trace

        with progress.step("writing the trace"):
            write_trace(records[0], arguments.trace)
        lines.append(f"{arguments.trace}: trace of {count_text(records[0].cycles, 'cycle')}\n")
    if not arguments.quiet and STANDARD_OUTPUT not in (arguments.output, arguments.trace):
        show("".join(lines))
