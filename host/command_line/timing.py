"""`cyscc timing`: the clocks that the parts of an engine reach on an FPGA."""

import argparse

from cyscc.host.command_line.experiment import add_experiment_options, add_jobs, add_keep, make_experiment
from cyscc.host.specification.options import (
    UsageError,
    add_set,
    add_shared,
    at_least,
    configuration,
    one_of,
    read_overrides,
)

__all__ = ["TEXTS", "add_options", "run"]


def _component(text: str) -> str:
    """Return the name of a component."""
    from cyscc.host.experiments.fpga.timing import COMPONENTS

    return one_of(COMPONENTS, "component")(text)


TEXTS = {
    "help": "place and route the parts of an engine for ECP5",
    "description": "Place and route each kind of part of an engine for an ECP5-85k; report the clocks they reach.",
    "epilog": """examples:
  cyscc timing --config fast --jobs 2
  cyscc timing --component bfs_kernel --set pair_reads=true --seeds 3
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_shared(parser, "--config")
    add_set(parser)
    parser.add_argument(
        "--seeds", default=5, type=at_least(1, 1000), metavar="N", help="runs per component (default: 5)"
    )
    parser.add_argument(
        "--component",
        action="append",
        type=_component,
        metavar="NAME",
        help="what to run: bfs_kernel, intersection_kernel, shell, and kernel_slice, link_slice, exchange_slice of a "
        "machine that has them; may be repeated (default: all)",
    )
    add_keep(parser)
    add_jobs(parser)
    add_experiment_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    SimulationError
        A tool is missing or failed, or a median is below the clock of the configuration.
    """
    from cyscc.host.experiments.fpga.timing import components_of, timing_report

    changed = read_overrides(arguments.overrides)
    config = configuration(arguments.config, changed)
    name = changed.config_text(arguments.config)

    there = components_of(config)
    names = tuple(dict.fromkeys(arguments.component or there))
    for component in names:
        if component not in there:
            raise UsageError(f"--component: {name} has no {component}")
    make_experiment(
        arguments,
        "timing",
        lambda measurements: timing_report(
            measurements, config, name=name, names=names, seeds=arguments.seeds, keep=arguments.keep
        ),
    )
