"""The commands of the command line, and what parses their names."""

import argparse
from typing import Any, NoReturn

# What help and bad usage need, and nothing heavier: the commands import the rest when they run.
from host.command_line import (
    bench,
    bfs,
    cache,
    compare,
    explain,
    generate,
    life,
    mec,
    model,
    replay,
    report,
    reproduce,
    scc,
    software,
    sweep,
    synth,
    timing,
    verilog,
)
from host.options import Parser
from host.output import show

__all__ = ["make_parser"]

_EPILOG = """examples:
  cyscc generate rmat --vertices 2^14 --degree 8 -o rmat.gr
  cyscc scc rmat.gr
  cyscc bfs rmat.gr --source 1

exit status: 0 done and verified, 2 bad input or usage, 3 the simulation failed
"""

_COMMANDS = (
    *(scc, bfs, explain, report, replay, life, generate, model, mec, verilog, software, compare),
    *(reproduce, sweep, bench, synth, timing, cache),
)


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from host.results.version import version

        show(f"cyscc {version()}\n")
        parser.exit()


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="cyscc",
        description="Cycle-accurate simulator of an accelerator that finds strongly connected components.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for command in _COMMANDS:
        command.add_parser(commands)
    return parser
