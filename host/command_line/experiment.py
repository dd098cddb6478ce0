"""Options and output shared by the commands that run experiments."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cyscc.host.experiments.studies.paper import DEVICES, FAMILY
from cyscc.host.output.files import check_output, removing_empty
from cyscc.host.output.progress import Progress
from cyscc.host.specification.options import Noted, UsageError, add_shared, at_least
from cyscc.host.specification.run import available_cores

if TYPE_CHECKING:
    from cyscc.host.experiments.measuring.measurements import Measurements
    from cyscc.host.experiments.studies.study import Report
    from cyscc.host.experiments.sweep.batch import Batch

__all__ = [
    "add_area",
    "add_experiment_options",
    "add_jobs",
    "add_keep",
    "area_families",
    "batch_of",
    "make_experiment",
]


def add_experiment_options(parser: argparse.ArgumentParser, *, folder: str = "build") -> None:
    """Add the options for result files."""
    parser.add_argument(
        "-o", "--output", default=folder, metavar="DIR", help="folder for the results (default: %(default)s)"
    )
    parser.add_argument("--json", metavar="OUT", help="write the JSON to this file too ('-': standard output)")
    add_shared(parser, "--quiet")


def add_keep(parser: argparse.ArgumentParser) -> None:
    """Add the option that keeps the working files of tools."""
    parser.add_argument(
        "--keep", metavar="DIR", help="keep Verilog, netlists, reports and logs in this folder; all is measured anew"
    )


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


def make_experiment(
    arguments: argparse.Namespace, name: str, make: "Callable[[Measurements], Report]", *, plot: bool = False
) -> None:
    """Run an experiment, write its files, and print its report.

    Parameters
    ----------
    arguments : argparse.Namespace
        The options of `add_experiment_options`, and of `add_jobs` and `add_keep` where a command has them.
    name : str
        Base name of its files.
    make : callable
        Makes the report from a `Measurements`.
    plot : bool
        Whether there is a plot.

    Raises
    ------
    UsageError, InputError
        Bad usage, outputs that cannot be written.
    SimulationError
        A measurement failed, or the report describes a failure.
    """
    if arguments.json is not None:
        check_output(arguments.json, "--json")
    # Imported late: they import the simulator.
    from cyscc.host.experiments.measuring.measurements import Measurements
    from cyscc.host.experiments.measuring.store import Store
    from cyscc.host.output.files import output_result
    from cyscc.sim.errors import SimulationError

    folder = Path(arguments.output)
    with removing_empty(folder / "measurements"):
        store = Store(folder / "measurements")
        for suffix in ("json", "md", "svg") if plot else ("json", "md"):
            check_output(str(folder / f"{name}.{suffix}"), "--output", plain=True)
        progress = Progress(quiet=arguments.quiet)
        if getattr(arguments, "keep", None) is None:  # otherwise all is measured anew
            arguments.kept = partial(_kept_results, progress, store.folder)
        with progress.step("measuring") as step:
            measurements = Measurements(
                store,
                jobs=getattr(arguments, "jobs", 1),
                verify=not getattr(arguments, "no_verify", True),
                again=getattr(arguments, "keep", None) is not None,
                on_step=step,
            )
            report = make(measurements)
        written = report.write(folder, name)
    text = (
        f"{report.markdown}\n"
        f"{measurements.asked} measurements, {measurements.found} of them taken over from "
        f"{folder / 'measurements'}\nwritten: {', '.join(map(str, written))}\n"
    )
    output_result(report.document, text, path=arguments.json, quiet=arguments.quiet)
    if report.failure:
        raise SimulationError(report.failure)
