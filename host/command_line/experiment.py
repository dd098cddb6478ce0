"""Options that commands share that make several runs."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cyscc.host.experiments.studies.paper import DEVICES, FAMILY
from cyscc.host.output.progress import Progress
from cyscc.host.specification.options import Noted, UsageError, at_least
from cyscc.host.specification.run import available_cores

if TYPE_CHECKING:
    from cyscc.host.experiments.sweep.batch import Batch

__all__ = [
    "add_area",
    "add_jobs",
    "area_families",
    "batch_of",
]


def add_jobs(parser: "argparse._ActionsContainer") -> None:
    """Add the option for the number of parallel jobs."""
    parser.add_argument(
        "--jobs",
        action=Noted,
        default=available_cores(),
        type=at_least(1, 1024),
        metavar="N",
        help="processes that measure in parallel (default: the cores, %(default)s)",
    )


def add_area(parser: "argparse._ActionsContainer", text: str) -> None:
    """Add the options for the area of machines; `text` is the help of the first."""
    parser.add_argument("--area", action="store_true", help=text)
    parser.add_argument(
        "--family",
        action="append",
        choices=tuple(DEVICES),
        help="FPGA family of the area; may be repeated (default: xc5v, the paper's)",
    )


def area_families(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the families of the area that the options of `add_area` ask for; none without an area.

    Raises
    ------
    UsageError
        A family is given without ``--area``.
    """
    if not arguments.area:
        if arguments.family:
            raise UsageError("--family needs --area")
        return ()
    return tuple(dict.fromkeys(arguments.family or (FAMILY,)))


def _kept_results(progress: Progress, folder: Path) -> str:
    """Return what an interrupt leaves of an experiment, whose finished results are kept in a folder."""
    step = progress.latest
    if step is None or step.total is None:
        return f"finished results are kept in {folder}; the same command goes on"
    kept = f"kept in {folder}" if step.done else "nothing is kept yet"
    return f"{progress.name}: {step.done:,} of {step.total:,} done, {kept}; the same command goes on"


def batch_of(arguments: argparse.Namespace, *, quiet: bool) -> "Batch":
    """Return where and how the options of a command say that runs are made; an interrupt says what is kept of them.

    Raises
    ------
    UsageError
        A family is given without ``--area``.
    """
    families = area_families(arguments)
    # Imported late: it imports the simulator.
    from cyscc.host.experiments.sweep.batch import Batch

    folder, progress = Path(arguments.output), Progress(quiet=quiet)
    arguments.kept = partial(_kept_results, progress, folder)
    return Batch(
        folder=folder, jobs=arguments.jobs, scheduler=arguments.scheduler, families=families, progress=progress
    )
