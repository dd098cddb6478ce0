"""`cyscc verilog`: the hardware as Verilog."""

import argparse
import sys
from pathlib import Path
from typing import Any

from host.commands.options import add_config, configuration
from host.output import check_folder

__all__ = ["add_parser", "run"]


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "verilog",
        help="write one Application Engine as Verilog",
        description="Write one Application Engine as Verilog, each kind of module once.",
        epilog="examples:\n  cyscc verilog -o rtl\n  cyscc verilog --config published-1ae -o rtl\n",
    )
    add_config(parser)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to write to")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    SimulationError
        A tool is missing or failed.
    """
    check_folder(arguments.output, "--output")
    config = configuration(arguments.config)
    from sim.verilog import export_verilog

    paths = export_verilog(config, Path(arguments.output))
    if not arguments.quiet:
        sys.stdout.writelines(f"{path}\n" for path in paths)
