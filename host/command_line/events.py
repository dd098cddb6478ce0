"""`cyscc events`: events of a recorded run."""

import argparse
from pathlib import Path

from cyscc.host.analysis.event_kinds import KINDS, LONGER, ORDERS
from cyscc.host.command_line.replay import rerun_setting
from cyscc.host.record.tables import MODULES, PHASES
from cyscc.host.specification import options
from cyscc.host.specification.options import UsageError, at_least
from cyscc.sim.trust import GivenText

__all__ = ["TEXTS", "add_options", "run"]

_SCOPE = ("iteration", "phase", "level", "engine", "module", "kernel", "cause", "fifo", "bank")


TEXTS = {
    "help": "list the events of a recorded run: long waits, full FIFOs, hot banks, overflows",
    "description": "List the events of a recorded run, each with the command that shows it: hottest banks, links and "
    "ports, full FIFOs, vertices pushed again, overflows; and with the run made again, long waits, and the vertices.",
    "epilog": """examples:
  cyscc bfs random.gr --source 1 --record seen
  cyscc events seen
  cyscc events seen --kind bank --top 10
  cyscc events seen --kind fifo --fifo words --sort time
  cyscc events seen --level 4 --json events.json --quiet
  cyscc events seen --longer 200
  cyscc events seen --longer 200 --cause slot --engine 0 --kernel 3 --sort time
  cyscc events seen --kind duplicate overflow --replay
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("record", metavar="DIR", help="the folder that --record wrote")
    parser.add_argument(
        "--kind", nargs="+", choices=KINDS, default=(), metavar="KIND", help=f"only these kinds: {', '.join(KINDS)}"
    )
    parser.add_argument(
        "--longer",
        type=at_least(1),
        metavar="N",
        help=f"waits of a kernel for more than N cycles; makes the run again (default of --kind wait: {LONGER})",
    )
    parser.add_argument(
        "--replay",
        action="store_true",
        help="make the run again: long waits, and cycle, kernel, vertex and address of duplicates and overflows",
    )
    parser.add_argument("--iteration", type=at_least(1), metavar="N", help="only this iteration of an SCC run, from 1")
    parser.add_argument("--phase", choices=PHASES, help="only this phase: forward, backward or intersection")
    parser.add_argument("--level", type=at_least(0), metavar="N", help="only this level of the searches, from 0")
    parser.add_argument("--engine", type=at_least(0), metavar="N", help="only this AE, from 0")
    parser.add_argument("--module", choices=MODULES, help="only kernels of this kind: bfs or intersection")
    parser.add_argument("--kernel", type=at_least(0), metavar="N", help="only the kernel of this number in each AE")
    parser.add_argument("--cause", metavar="NAME", help="only this cause, such as slot: waits and limits")
    parser.add_argument("--fifo", metavar="NAME", help="only this FIFO, such as words")
    parser.add_argument("--bank", type=_bank, metavar="C.B", help="only bank B of controller C")
    parser.add_argument(
        "--sort", choices=ORDERS, default="size", help="order of each kind: largest first (default), or by time"
    )
    parser.add_argument(
        "--top",
        type=at_least(1),
        metavar="N",
        help="maximum events of each kind (default: 100 in JSON; fewer in the tables)",
    )
    parser.add_argument("--json", metavar="OUT", help="write everything as JSON ('-': standard output)")
    parser.add_argument("--graph", metavar="FILE", help="the graph, if the run is made again and its file was moved")
    parser.add_argument(
        "--memory", type=GivenText, metavar="FILE.py", help="the run's memory rules, if they are in a file"
    )
    options.add_threads(parser, "the run that is made again")
    options.add_shared(parser, "--quiet")


def _bank(text: str) -> tuple[int, int]:
    """Return controller and number of a bank, given as ``3.17``."""
    controller, dot, bank = text.partition(".")
    if not (dot and controller.isdecimal() and bank.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be a controller and its bank, as in 3.17, not {text!r}")
    return int(controller), int(bank)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage; a folder without a record, or a run without what the options name.
    SimulationError
        The run that is made again failed.
    """
    from cyscc.host.analysis.event_kinds import TOP, EventQuery, EventScope
    from cyscc.host.analysis.events_page import events_document, events_page
    from cyscc.host.output.files import STANDARD_OUTPUT, show, write_json
    from cyscc.host.output.progress import Progress
    from cyscc.host.replay.events import events_of

    options.check_outputs({"--json": arguments.json}, others={})
    try:
        query = EventQuery(
            kinds=arguments.kind,
            scope=EventScope(**{name: getattr(arguments, name) for name in _SCOPE}),
            longer=arguments.longer,
            replay=arguments.replay,
            order=arguments.sort,
            top=arguments.top or TOP,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    quiet = arguments.quiet or arguments.json == STANDARD_OUTPUT
    found = events_of(Path(arguments.record), query, rerun_setting(arguments, Progress(quiet=quiet)))
    if arguments.json is not None:
        write_json(arguments.json, events_document(found))
    if not quiet:
        from cyscc.host.analysis.explain.terminal import rendered

        show(rendered(events_page(found, top=arguments.top)))
