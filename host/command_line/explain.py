"""`cyscc explain`: breakdown of a recorded run's cycles by cause."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from cyscc.host.command_line.depths import add_depths, check_depths, run_depths
from cyscc.host.command_line.trial import add_runs, add_try, check_runs, run_trial
from cyscc.host.specification.options import UsageError, add_shared, at_least

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["TEXTS", "add_options", "run"]

_BY = ("phase", "iteration", "level", "engine", "kernel", "interval")
_ROWS = 12
"""Rows of a table, unless --top says otherwise."""
_PHASES = ("forward", "backward", "intersection")
_PARTS = ("phase", "iteration", "level", "by", "numbers", "banks", "fifos")
"""Options that show a part of a record."""
_MAKING = "--try or --depths"
"""Options that make the run again."""


TEXTS = {
    "help": "say why a recorded run spent its cycles as it did",
    "description": "Say where the cycles of a recorded run went, what bounds each phase, and what to try; of two "
    "runs, which is slower, by how much, where and why; of more, whether machines differ by more than the spread over "
    "graphs, seeds and sources.",
    "epilog": """examples:
  cyscc bfs random.gr --source 1 --record seen
  cyscc explain seen
  cyscc explain seen --level 5
  cyscc explain seen --by kernel --level 5
  cyscc explain seen --by phase --numbers
  cyscc explain seen --banks
  cyscc explain seen --fifos
  cyscc explain seen-hc2 seen-published
  cyscc explain hc2-* published-*
  cyscc explain published-* --against hc2-*
  cyscc explain seen --json why.json --quiet
  cyscc explain seen --try
  cyscc explain seen --try word_depth=64 --try neighbour_depth=256 word_depth=256 --area
  cyscc explain seen --depths

A stack is a row of letters, one for each cause, as long as its share of the kernel-cycles.
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("record", metavar="DIR", help="the folder that --record wrote")
    parser.add_argument(
        "others",
        metavar="DIR2",
        nargs="*",
        default=[],
        help="a second one, to compare with the first; several: groups of runs",
    )
    parser.add_argument(
        "--against",
        metavar="DIR",
        nargs="+",
        default=[],
        help="compare the runs with these; without it, several runs are grouped by what differs besides their inputs",
    )
    parser.add_argument("--phase", choices=_PHASES, help="only this phase: forward, backward or intersection")
    parser.add_argument("--iteration", type=at_least(1), metavar="N", help="only this iteration of an SCC run, from 1")
    parser.add_argument("--level", type=at_least(0), metavar="N", help="only this level of the searches, from 0")
    parser.add_argument(
        "--by", choices=_BY, help="stacks of phases, iterations, levels (default), AEs, kernels or intervals"
    )
    parser.add_argument("--banks", action="store_true", help="only the hottest banks: utilisation, array, time")
    parser.add_argument("--fifos", action="store_true", help="only the occupancy of each FIFO")
    parser.add_argument(
        "--numbers", action="store_true", help="only the stacks of --by, as a table of cycles by cause, with all rows"
    )
    parser.add_argument(
        "--top", type=at_least(1), metavar="N", help=f"maximum rows of a table (default: {_ROWS}; all with --numbers)"
    )
    parser.add_argument("--json", metavar="OUT", help="write everything as JSON ('-': standard output)")
    add_shared(parser, "--quiet")
    add_try(parser)
    add_depths(parser)
    add_runs(parser, _MAKING)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage; a folder without a record, or a record without the requested part.
    SimulationError
        A run that is made again failed.
    """
    making = "--depths" if arguments.depths else "--try"
    if arguments.depths and arguments.changes is not None:
        raise UsageError("--try and --depths are two questions: ask one after the other")
    if not arguments.depths:
        check_depths(arguments)
    if arguments.changes is None and arguments.limit is not None:
        raise UsageError("--limit needs --try")
    if arguments.depths or arguments.changes is not None:
        for name in ("others", "against", *_PARTS):
            if getattr(arguments, name) not in (None, False, []):
                several = name in ("others", "against")
                what = (
                    f"one record, and there are {_number(arguments)}"
                    if several
                    else f"the whole run, and --{name} shows a part"
                )
                raise UsageError(f"{making} is about {what}")
        (run_depths if arguments.depths else run_trial)(arguments)
        return
    check_runs(arguments, _MAKING)
    grouped = bool(arguments.against) or len(arguments.others) > 1
    if arguments.others or grouped:
        for name in (
            "by",
            "numbers",
            "banks",
            "fifos",
            *(("phase", "iteration", "level") if grouped else ()),
        ):
            if getattr(arguments, name) not in (None, False):
                least = "one record or two" if name in ("phase", "iteration", "level") else "one record"
                raise UsageError(f"--{name} is about {least}, and there are {_number(arguments)}")
    stacked = "by" if arguments.by is not None else "numbers"
    if getattr(arguments, stacked) and (arguments.banks or arguments.fifos):
        raise UsageError(f"--{stacked} shows stacks, and --{'banks' if arguments.banks else 'fifos'} does not")
    from cyscc.host.output.files import STANDARD_OUTPUT, check_output, show, write_json
    from cyscc.host.output.progress import Progress

    if arguments.json is not None:
        check_output(arguments.json, "--json")
    quiet = arguments.quiet or arguments.json == STANDARD_OUTPUT
    with Progress(quiet=quiet).step("reading the record"):
        show_runs = _grouped if grouped else _compared if arguments.others else _explained
        make_document, parts = show_runs(arguments)
        document = {} if arguments.json is None else make_document()
    if arguments.json is not None:
        write_json(arguments.json, document)
    if not quiet:
        from cyscc.host.analysis.explain.terminal import rendered

        show(rendered(parts))


def _number(arguments: argparse.Namespace) -> str:
    """Return the number of records in words."""
    number = 1 + len(arguments.others) + len(arguments.against)
    return "two" if number == 2 else f"{number}"


def _selection(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("phase", "iteration", "level")}


def _explained(arguments: argparse.Namespace) -> "tuple[Callable[[], dict[str, Any]], list[RenderableType]]":
    """Return the explanation of one record as a document and as text."""
    from cyscc.host.analysis.explain.page import (
        bank_section,
        explanation_document,
        fifo_section,
        head,
        numbers_text,
        page,
    )
    from cyscc.host.record.reader import Record

    record = Record(arguments.record)
    rows = record.select(**_selection(arguments))
    top = arguments.top or _ROWS
    if arguments.numbers:
        parts = [*head(record, rows), numbers_text(record, rows, arguments.by or "level", arguments.top)]
    elif arguments.banks or arguments.fifos:
        parts = head(record, rows)
        parts += bank_section(record, rows, top) if arguments.banks else []
        parts += fifo_section(record, rows) if arguments.fifos else []
    else:
        parts = page(record, rows, by=arguments.by, top=top)
    document = partial(explanation_document, record, rows, arguments.by or "level", banks=top)
    return document, parts


def _compared(arguments: argparse.Namespace) -> "tuple[Callable[[], dict[str, Any]], list[RenderableType]]":
    """Return the comparison of two records as a document and as text."""
    from cyscc.host.analysis.explain.comparison import compare
    from cyscc.host.analysis.explain.comparison_page import comparison_document, difference_page
    from cyscc.host.record.reader import Record

    comparison = compare(Record(arguments.record), Record(arguments.others[0]), **_selection(arguments))
    return partial(comparison_document, comparison), difference_page(comparison, top=arguments.top or _ROWS)


def _grouped(arguments: argparse.Namespace) -> "tuple[Callable[[], dict[str, Any]], list[RenderableType]]":
    """Return the comparison of groups of records as a document and as text."""
    from cyscc.host.analysis.explain.groups import compare_groups, groups_of_runs
    from cyscc.host.analysis.explain.groups_page import groups_document, groups_page
    from cyscc.host.record.reader import Record

    records = [Record(folder) for folder in (arguments.record, *arguments.others)]
    groups = groups_of_runs(records, [Record(folder) for folder in arguments.against])
    comparisons = compare_groups(groups)
    return partial(groups_document, groups, comparisons), groups_page(groups, comparisons, top=arguments.top or _ROWS)
