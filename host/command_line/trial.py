"""`cyscc explain --try`: changes of a recorded run's settings, measured."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cyscc.host.command_line.experiment import add_area, add_jobs, batch_of
from cyscc.host.specification.options import Noted, UsageError
from cyscc.host.specification.overrides import Overrides
from cyscc.host.specification.run import option_of
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.host.experiments.sweep.batch import Batch
    from cyscc.host.record.reader import Record

__all__ = ["add_runs", "add_try", "check_runs", "recorded_batch", "run_trial"]


def add_try(parser: argparse.ArgumentParser) -> None:
    """Add the option that tries changes."""
    parser.add_argument(
        "--try",
        dest="changes",
        action="append",
        nargs="*",
        type=_setting,
        metavar="KEY=VALUE",
        help="make the run again with what its record proposes, or with these settings changed; may be repeated",
    )
    parser.add_argument(
        "--limit",
        metavar="SECONDS",
        help="time for what the record proposes (default: ten times that of the recorded run, and 60)",
    )


def add_runs(parser: argparse.ArgumentParser, user: str) -> None:
    """Add the options for runs that are made again for an option `user`."""
    runs = parser.add_argument_group(f"runs of {user}")
    runs.add_argument(
        "-o",
        "--output",
        action=Noted,
        default="build/explain",
        metavar="DIR",
        help="folder for the runs, which are found there again (default: %(default)s)",
    )
    add_jobs(runs)
    runs.add_argument(
        "--scheduler",
        action=Noted,
        metavar="ADDRESS",
        help="simulate on the workers of this Dask scheduler, instead of --jobs",
    )
    add_area(runs, "synthesise each machine too: LUTs, registers, block RAM")
    runs.add_argument("--graph", action=Noted, metavar="FILE", help="the graph, if its file was moved")
    runs.add_argument(
        "--memory",
        action=Noted,
        type=GivenText,
        metavar="FILE.py",
        help="the run's memory rules, if they are in a file",
    )


def check_runs(arguments: argparse.Namespace, user: str) -> None:
    """Refuse options of `add_runs` without the option `user`.

    Raises
    ------
    UsageError
        One was given.
    """
    for name in ("output", "jobs", "scheduler", "area", "family", "graph", "memory"):
        if Noted.given(arguments, name) or (name in ("area", "family") and getattr(arguments, name)):
            raise UsageError(f"--{name} needs {user}")


def recorded_batch(arguments: argparse.Namespace) -> "tuple[Record, Batch]":
    """Return the record of a command, and where and how the options of `add_runs` say that its runs are made.

    Raises
    ------
    UsageError, InputError
        A family is given without ``--area``; the record or the file of ``--json`` cannot be used.
    """
    from cyscc.host.output.files import STANDARD_OUTPUT, check_output
    from cyscc.host.record.reader import Record

    batch = batch_of(arguments, quiet=arguments.quiet or arguments.json == STANDARD_OUTPUT)
    if arguments.json is not None:
        check_output(arguments.json, "--json")
    with batch.progress.step("reading the record"):
        return Record(arguments.record), batch


def _setting(text: str) -> tuple[str, Any]:
    """Parse a setting ``KEY=VALUE``: a TOML value, or the name of a configuration or memory."""
    name, _, value = (part.strip() for part in text.partition("="))
    try:
        if name in ("config", "memory") and value:
            return name, option_of(name).read(value)
        ((name, found),) = Overrides.parse([text]).values().items()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return name, found


def _together(given: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the settings of one option.

    Raises
    ------
    UsageError
        One is given twice.
    """
    settings = dict(given)
    for name in settings:
        if [each for each, _ in given].count(name) > 1:
            raise UsageError(f"--try: {name!r} is given twice")
    return settings


def run_trial(arguments: argparse.Namespace) -> None:
    """Try the proposals for a record, the user's changes, or both.

    Raises
    ------
    UsageError, InputError
        A change is invalid; the record, its graph or the folder cannot be used.
    SimulationError
        The run as it was, or with a change, failed.
    """
    from cyscc.host.analysis.explain.proposals import proposals
    from cyscc.host.analysis.explain.terminal import rendered
    from cyscc.host.experiments.trial.page import attempt_line, trial_document, trial_page
    from cyscc.host.experiments.trial.trial import checked_seconds, try_changes
    from cyscc.host.output.files import output_result
    from cyscc.host.specification.run import SpecError
    from cyscc.sim.errors import SimulationError

    own = [_together(given) for given in arguments.changes if given]
    proposing = not all(arguments.changes)
    if arguments.limit is not None and not proposing:
        raise UsageError("--limit is about what the record proposes: it needs a --try without settings")
    try:
        limit = None if arguments.limit is None else checked_seconds(arguments.limit)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    record, batch = recorded_batch(arguments)
    try:
        trial = try_changes(
            record,
            own,
            batch,
            proposed=proposals(record) if proposing else [],
            limit=limit,
            on_attempt=lambda attempt: batch.progress.tell(attempt_line(attempt)),
            graph=arguments.graph,
            memory=arguments.memory,
        )
    except SpecError as error:
        raise UsageError(f"--try: {error}") from None
    document = {} if arguments.json is None else trial_document(trial)
    output_result(document, rendered(trial_page(trial)), path=arguments.json, quiet=arguments.quiet)
    if failed := trial.failed:
        of = f"{len(failed)} of {len(trial.attempts)} changes failed"
        raise SimulationError(f"{of}: {failed[0].text}: {failed[0].failure}")
