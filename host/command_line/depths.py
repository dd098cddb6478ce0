"""`cyscc explain --depths`: the smallest FIFOs with which a recorded run takes hardly more cycles."""

import argparse
from math import isfinite

from cyscc.host.command_line.trial import recorded_batch
from cyscc.host.specification.options import Noted, UsageError

__all__ = ["add_depths", "check_depths", "run_depths"]

_WITHIN = 1.0
"""Default of ``--within``."""


def add_depths(parser: argparse.ArgumentParser) -> None:
    """Add the options of the search for the smallest FIFOs."""
    parser.add_argument(
        "--depths",
        action="store_true",
        help="find the smallest FIFOs with which the run takes hardly more cycles, by runs",
    )
    parser.add_argument(
        "--within",
        action=Noted,
        type=_percent,
        default=_WITHIN,
        metavar="PERCENT",
        help="cycles that the smallest FIFOs may cost (default: %(default)g)",
    )
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="GRAPH",
        help="check the smallest FIFOs on this graph, too; may be repeated",
    )


def check_depths(arguments: argparse.Namespace) -> None:
    """Refuse ``--within`` and ``--check`` without ``--depths``.

    Raises
    ------
    UsageError
        One was given.
    """
    for name, given in (("within", Noted.given(arguments, "within")), ("check", arguments.check)):
        if given:
            raise UsageError(f"--{name} needs --depths")


def _percent(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not (isfinite(number) and 0 <= number <= 100):
        raise argparse.ArgumentTypeError(f"must be from 0 to 100, not {text}")
    return number


def run_depths(arguments: argparse.Namespace) -> None:
    """Find the smallest FIFOs of a record's run.

    Raises
    ------
    InputError
        The record, its graph or the folder cannot be used.
    SimulationError
        A run failed.
    """
    from cyscc.host.analysis.explain.terminal import rendered
    from cyscc.host.experiments.depths.page import depths_document, depths_page
    from cyscc.host.experiments.depths.smallest import smallest_depths
    from cyscc.host.output.files import output_result

    record, batch = recorded_batch(arguments)
    found = smallest_depths(
        record,
        batch,
        within=arguments.within / 100,
        check=arguments.check,
        graph=arguments.graph,
        memory=arguments.memory,
    )
    document = {} if arguments.json is None else depths_document(found)
    output_result(document, rendered(depths_page(found)), path=arguments.json, quiet=arguments.quiet)
