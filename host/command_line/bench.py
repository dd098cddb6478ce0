"""`cyscc bench`: simulation speed."""

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cyscc.host.command_line.experiment import add_experiment_options, make_experiment
from cyscc.host.specification.options import UsageError, at_least, listed, one_of

if TYPE_CHECKING:
    from cyscc.host.experiments.measuring.measurements import Measurements

__all__ = ["TEXTS", "add_options", "run"]


def _chosen(rows: Sequence[str], table: Iterable[str]) -> list[str]:
    """Return the rows of a table that are wanted, in its order; without a wish all.

    Raises
    ------
    UsageError
        A row is of the other table.
    """
    names = list(table)
    for row in rows:
        if row not in names:
            raise UsageError(f"--rows: {row} is a row of the other table: there are {', '.join(names)}")
    return [name for name in names if name in rows or not rows]


TEXTS = {
    "help": "measure how fast the machine is simulated",
    "description": "Measure how fast the machine is simulated, by the compiled executor and by other means.",
    "epilog": """examples:
  cyscc bench --quick
  cyscc bench --rows compiled-1,cxxrtl --repetitions 3
  cyscc bench --compare HEAD~1 --rows random-1,record
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    # Imported here because the import is slow.
    from cyscc.host.experiments.benchmark.revisions import COMPARISONS
    from cyscc.sim.executors.comparison.contenders import CONTENDERS

    parser.add_argument("--quick", action="store_true", help="small graphs and a small machine, to see that it works")
    parser.add_argument(
        "--rows",
        type=listed(one_of((*CONTENDERS, *COMPARISONS), "row")),
        default=(),
        metavar="NAME[,...]",
        help=f"what to measure: {', '.join(CONTENDERS)}; with --compare: {', '.join(COMPARISONS)} (default: all)",
    )
    parser.add_argument(
        "--repetitions", type=at_least(1, 1000), metavar="N", help="repetitions (default: 3 to 7, 1 with --quick)"
    )
    parser.add_argument(
        "--compare", metavar="REVISION", help="compare the compiled executor with that of this revision instead"
    )
    add_experiment_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    SimulationError
        A measurement failed.
    """
    from cyscc.host.experiments.benchmark import reports, revisions
    from cyscc.host.experiments.benchmark.search import PRESETS
    from cyscc.host.experiments.measuring.environment import root_folder
    from cyscc.host.experiments.studies.study import Report
    from cyscc.sim.executors.comparison.contenders import CONTENDERS

    table = CONTENDERS if arguments.compare is None else revisions.COMPARISONS
    rows = _chosen(arguments.rows, table)
    preset = PRESETS["quick" if arguments.quick else "full"]

    def bench(measurements: "Measurements") -> Report:
        document = reports.run_benchmark(measurements, preset, rows, repetitions=arguments.repetitions)
        return Report(document=document, markdown=reports.benchmark_markdown(document))

    def compare(measurements: "Measurements") -> Report:
        document = revisions.compare_revisions(
            measurements,
            root_folder(),
            arguments.compare,
            preset=preset,
            comparisons=rows,
            turns=arguments.repetitions,
        )
        return Report(document=document, markdown=revisions.comparison_markdown(document))

    if arguments.compare is None:
        make_experiment(arguments, "bench", bench)
    else:
        make_experiment(arguments, "bench-compare", compare)
