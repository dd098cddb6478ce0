"""`cyscc sweep`: a parameter study over machine, memory, graph and algorithm."""

import argparse
import shlex
from functools import partial
from pathlib import Path

from cyscc.host.command_line.experiment import add_area, add_jobs, area_families, kept_results
from cyscc.host.specification.options import add_shared, check_outputs

__all__ = ["TEXTS", "add_options", "run"]


_MOST_ROWS = 48
"""Most rows of the printed table."""


TEXTS = {
    "help": "simulate a study of one's own over many parameters",
    "description": "Simulate all points of a study, and report the effect of each parameter.",
    "epilog": """examples:
  cyscc sweep depths.toml
  cyscc sweep depths.toml --area -o results
  cyscc sweep depths.toml --scheduler tcp://127.0.0.1:8786

STUDY.toml: parameters that vary, as a [grid] or as [[points]], and others that do not. With search = N, a search
chooses N points of them instead of making all. Complete points are kept
in DIR/points: a sweep that was interrupted goes on where it was, and studies share what is equal.
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("study", metavar="STUDY.toml", help="the study")
    parser.add_argument(
        "-o",
        "--output",
        default="build/sweep",
        metavar="DIR",
        help="folder for points, table and report (default: %(default)s)",
    )
    parser.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="FILE.py",
        help="memory rules that the study may use; they are code; may be repeated",
    )
    add_jobs(parser)
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="simulate on the workers of this Dask scheduler, instead of --jobs"
    )
    add_area(parser, "synthesise each machine too, and draw cycles against area")
    parser.add_argument("--json", metavar="OUT", help="write the rows as JSON too ('-': standard output)")
    add_shared(parser, "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage, an invalid study, outputs that cannot be written.
    SimulationError
        Points failed, or no point could run.
    """
    from cyscc.host.experiments.fpga.tools import YOSYS, check_tool
    from cyscc.host.experiments.measuring.measurements import OnStep, no_step
    from cyscc.host.experiments.sweep.definition import SweepStudy, read_study
    from cyscc.host.experiments.sweep.page import sweep_page
    from cyscc.host.experiments.sweep.points import SweepFolder, sweep
    from cyscc.host.experiments.sweep.rows import Row, rows_of, sweep_document, sweep_text, with_area, write_table
    from cyscc.host.experiments.sweep.search import search
    from cyscc.host.output.files import check_output, open_output, output_result, removing_empty
    from cyscc.host.output.progress import Progress
    from cyscc.sim.errors import SimulationError

    families = area_families(arguments)
    study = read_study(Path(arguments.study), arguments.memory)
    table, page = (Path(arguments.output) / f"{study.name}.{suffix}" for suffix in ("parquet", "html"))
    others = {"the study": arguments.study, "the table": str(table), "the page": str(page)}
    check_outputs({"--json": arguments.json}, others=others)
    output = Path(arguments.output)
    progress = Progress(quiet=arguments.quiet)
    arguments.kept = partial(kept_results, progress, output)
    if study.search is not None:
        families = tuple(dict.fromkeys((*study.search.families, *families)))
    with removing_empty(output / "points", output / "graphs"):
        if families:
            check_tool(YOSYS)
        folder = SweepFolder(output)
        for path in (table, page):
            check_output(str(path), "--output", plain=True)

        def add_area(study: SweepStudy, rows: list[Row], on_step: OnStep = no_step) -> list[Row]:
            return with_area(study, rows, families=families, jobs=arguments.jobs, on_step=on_step)

        make = {"jobs": arguments.jobs, "scheduler": arguments.scheduler}
        if study.search is not None:
            with progress.step("searching") as step:
                add = add_area if families else None
                study, rows, swept = search(study, folder, **make, add_area=add, on_step=step)
        else:
            with progress.step("simulating") as step:
                swept = sweep([each.point for each in study.points], folder, **make, on_step=step)
            rows = rows_of(study, folder, swept)
            if families:
                with progress.step("synthesising") as step:
                    rows = add_area(study, rows, step)
        write_table(rows, table)
    with progress.step("drawing"):
        text = sweep_page(study, rows, command=shlex.join(arguments.words)).encode()
        with open_output(str(page)) as file:
            file.write(text)
    shown = f"{sweep_text(study, rows, swept, most=_MOST_ROWS)}written: {table}, {page}\n"
    output_result(sweep_document(study, rows), shown, path=arguments.json, quiet=arguments.quiet)
    points = [each.point for each in study.points]
    if swept.failures:
        failed = [point for point in points if point.digest in swept.failures]
        of = f"{len(failed)} of {len(points)} points failed"
        raise SimulationError(f"{of}: {failed[0].label}: {swept.failures[failed[0].digest]}")
