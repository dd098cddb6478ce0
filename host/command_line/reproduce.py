"""`cyscc reproduce`: published tables and figures, from simulation or by software."""

import argparse

from cyscc.host.command_line.experiment import add_experiment_options, add_jobs, make_experiment
from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS
from cyscc.host.specification.options import Parser, add_set, add_shared, at_least, memory_profile, read_overrides
from cyscc.sim.trust import GivenText

__all__ = ["TEXTS", "add_options", "run"]


TEXTS = {
    "help": "reproduce published tables and figures",
    "description": "Reproduce a table or figure of Attia et al. 2015 from simulation, or one of the software that is "
    "published for the same problem, side by side with its paper.",
    "epilog": """examples:
  cyscc reproduce table1 --quick
  cyscc reproduce table1 --vertices 2^20,2^21,2^22,2^23 -o results

Finished measurements are kept in DIR/measurements: an interrupted run continues where it stopped.
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    figures = parser.add_subparsers(dest="figure", metavar="FIGURE", required=True, parser_class=Parser)
    for each in REPRODUCTIONS:
        figure = figures.add_parser(
            each.name, help=f"{each.title}: {each.text}", description=f"{each.title}: {each.text}."
        )
        each.options(figure)
        if each.simulated:
            add_shared(figure, "--memory")
            add_set(figure, config=False, memory=True)
        if each.generated:
            figure.add_argument(
                "--seed", default=1, type=at_least(0, 2**64 - 1), metavar="S", help="seed of the graphs (default: 1)"
            )
        figure.add_argument("--no-verify", action="store_true", help="do not check the results")
        add_jobs(figure)
        add_experiment_options(figure, folder="build/reproduce")
        figure.set_defaults(reproduction=each)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    SimulationError
        A measurement failed.
    """
    reproduction, given = arguments.reproduction, vars(arguments)
    if reproduction.simulated:
        # Validate the value before anything starts.
        changed = read_overrides(arguments.overrides, config=False, memory=True)
        memory_profile(arguments.memory, changed)
        given["memory"] = GivenText(changed.memory_text(arguments.memory))
    make_experiment(
        arguments, reproduction.name, lambda measurements: reproduction.asked(given).report(measurements), plot=True
    )
