"""`cyscc report`: the page of recorded runs."""

import argparse

__all__ = ["TEXTS", "add_options", "run"]


TEXTS = {
    "help": "draw where the cycles of recorded runs went, as a page",
    "description": "Draw where the cycles of recorded runs went, and say why: one HTML file, which loads nothing.",
    "epilog": """examples:
  cyscc bfs random.gr --source 1 --record hc2
  cyscc report hc2 -o hc2.html
  cyscc bfs random.gr --source 1 --config published --record published
  cyscc report hc2 published -o both.html

DIR: a folder that --record of scc or bfs wrote; the runs after the first are compared with it, level by level
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("records", metavar="DIR", nargs="+", help="a record; several are compared with the first")
    parser.add_argument("-o", "--output", metavar="OUT.html", required=True, help="the page ('-': standard output)")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    InputError
        There is no record, it cannot be read, or the page cannot be written.
    """
    from cyscc.host.output.files import STANDARD_OUTPUT, Content, check_output, open_output, show
    from cyscc.host.output.progress import Progress
    from cyscc.host.output.text import bytes_text, count_text
    from cyscc.host.record.reader import Record

    check_output(arguments.output, "-o", Content.PAGE)
    records = [Record(folder) for folder in arguments.records]
    from cyscc.host.analysis.report.page import page

    progress = Progress(quiet=arguments.quiet)
    with progress.step("drawing") as step:
        text = page(records, on_run=lambda done: step(done, len(records))).encode()
    with open_output(arguments.output) as file:
        file.write(text)
    if not arguments.quiet and arguments.output != STANDARD_OUTPUT:
        show(f"{arguments.output}: {count_text(len(records), 'run')}, {bytes_text(len(text))}\n")
