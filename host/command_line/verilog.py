"""`cyscc verilog`: the hardware as Verilog."""

import argparse
from pathlib import Path

from cyscc.host.output.progress import Progress
from cyscc.host.specification.options import UsageError, add_set, add_shared, at_least, configuration, read_overrides

__all__ = ["TEXTS", "add_options", "run"]


TEXTS = {
    "help": "write one Application Engine as Verilog",
    "description": "Write one Application Engine as Verilog, each kind of module once, with a template of\n"
    "constraints and a README of its ports.",
    "epilog": "examples:\n  cyscc verilog -o rtl\n  cyscc verilog --config hc2-1ae --top axi -o rtl\n",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_shared(parser, "--config")
    add_set(parser)
    parser.add_argument(
        "--top",
        default="ae",
        choices=("ae", "convey", "axi"),
        help="ports: ae (default): native streams; convey: those of an HC-2 personality; axi: AXI4 and AXI4-Lite",
    )
    for name in ("reads", "writes"):
        parser.add_argument(
            f"--outstanding-{name}",
            type=at_least(1),
            metavar="N",
            help=f"{name} that each AXI master may have outstanding: a power of two from 4 to 512 (default: 64)",
        )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to write to")
    add_shared(parser, "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    SimulationError
        A tool is missing or failed.
    """
    from cyscc.host.output.files import check_folder, removing_empty, show

    check_folder(arguments.output, "--output")
    config = configuration(arguments.config, read_overrides(arguments.overrides))
    given = {
        name: getattr(arguments, name)
        for name in ("outstanding_reads", "outstanding_writes")
        if getattr(arguments, name) is not None
    }
    if given and arguments.top != "axi":
        raise UsageError(f"--{next(iter(given)).replace('_', '-')}: only --top axi has AXI masters")
    from cyscc.sim.export import AxiLimits, export_verilog

    try:
        limits = AxiLimits(**given)
    except ValueError as error:
        raise UsageError(str(error).replace("outstanding_", "--outstanding-", 1)) from None
    output = Path(arguments.output)
    with removing_empty(output), Progress(quiet=arguments.quiet).step("writing Verilog"):
        paths = export_verilog(config, output, top=arguments.top, limits=limits)
    if not arguments.quiet:
        show("".join(f"{path}\n" for path in paths))
