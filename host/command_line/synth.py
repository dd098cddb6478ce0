"""`cyscc synth`: resources of an Application Engine on an FPGA."""

import argparse

from cyscc.host.command_line.experiment import add_experiment_options, add_jobs, add_keep, make_experiment
from cyscc.host.experiments.studies.paper import DEVICES
from cyscc.host.specification.options import add_set, at_least, configuration, read_overrides

__all__ = ["TEXTS", "add_options", "run"]


TEXTS = {
    "help": "synthesise an engine for Virtex-5 and Virtex-6",
    "description": "Synthesise one Application Engine with Yosys and report what it takes, beside the paper's.",
    "epilog": """examples:
  cyscc synth --config hc2 --config published
  cyscc synth --family xc5v --set pair_reads=true
  cyscc synth --family xc5v --depth 32 --depth 64 --jobs 2
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--config", action="append", metavar="NAME|FILE.toml", help="machine; may be repeated (default: hc2)"
    )
    add_set(parser)
    parser.add_argument(
        "--family", action="append", choices=tuple(DEVICES), help="FPGA family; may be repeated (default: both)"
    )
    parser.add_argument(
        "--depth",
        action="append",
        default=[],
        type=at_least(1),
        metavar="N",
        help="also with all FIFOs of this depth; may be repeated",
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
        Yosys is missing or failed.
    """
    from cyscc.host.experiments.fpga.synthesis import synthesis_report

    changed = read_overrides(arguments.overrides)
    configs = {changed.config_text(name): configuration(name, changed) for name in arguments.config or ["hc2"]}

    families = tuple(dict.fromkeys(arguments.family or DEVICES))
    make_experiment(
        arguments,
        "synthesis-depth" if arguments.depth else "synthesis",
        lambda measurements: synthesis_report(
            measurements, configs, families=families, depths=arguments.depth, keep=arguments.keep
        ),
    )
