"""The table of commands, their parser, and a check of system limits before any of them runs."""

import argparse
import resource
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from cyscc.host.command_line.asking import add_question, answer_question, texts
from cyscc.host.command_line.removed import REMOVED
from cyscc.host.output.files import show
from cyscc.host.specification.options import Parser, UsageError

__all__ = ["COMMANDS", "check_limits", "make_parser"]

_EPILOG = """examples:
  cyscc generate rmat --vertices 2^14 --degree 8 -o rmat.gr
  cyscc scc rmat.gr
  cyscc bfs rmat.gr --source 1

exit status: 0 done and verified, 2 bad input or usage, 3 the simulation failed, 130 interrupted,
             141 standard output closed by its reader
"""

COMMANDS = {
    "scc": "interface.runs",
    "bfs": "interface.runs",
    "explain": "interface.explain",
    "events": "interface.events",
    "report": "interface.report",
    "replay": "interface.replay",
    "life": "interface.life",
    "generate": "interface.generate",
    "model": "interface.model",
    "mec": "interface.mec",
    "verilog": "interface.verilog",
    "software": "interface.software",
    "compare": "interface.compare",
    "reproduce": "interface.reproduce",
    "sweep": "interface.sweep",
    "bench": "interface.bench",
    "synth": "interface.synth",
    "timing": "interface.timing",
    "cache": "interface.cache",
}
"""The commands, and the modules of their functions, which have the same names.

These import at the top only what help and usage errors need."""

_LEAST = 1 << 30
"""Least address space in bytes: the libraries cannot be loaded in less."""

_LIMITS = (("address space (ulimit -v)", resource.RLIMIT_AS), ("data (ulimit -d)", resource.RLIMIT_DATA))


class _ShowVersion(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from cyscc.host.output.files import version

        show(f"cyscc {version()}\n")
        parser.exit()


def make_parser(argv: Sequence[str] | None = None) -> Parser:
    """Return the parser of a command line, by default that of the process.

    If it begins with a command, the parser knows no other, so that their number does not delay each start.
    """
    argv = sys.argv[1:] if argv is None else argv
    parser = Parser(
        prog="cyscc",
        description="Cycle-accurate simulator of an accelerator that finds strongly connected components.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name in {name: COMMANDS[name] for name in argv[:1] if name in COMMANDS} or COMMANDS:
        module = import_module(f"cyscc.host.{COMMANDS[name]}")
        removed = {option: instead for (command, option), instead in REMOVED.items() if command == name}
        function = getattr(module, name, None)
        if function is not None:
            question = function.question
            command = commands.add_parser(name, removed=removed, **texts(question))
            if name in argv:
                add_question(command, question)
            command.set_defaults(run=partial(answer_question, function))
            continue
        command = commands.add_parser(name, removed=removed, **module.TEXTS.get(name, module.TEXTS))
        if name in argv:
            module.add_options(command)
        command.set_defaults(run=module.run)
    return parser


def check_limits() -> None:
    """Refuse to run with too little address space, in which compiled libraries abort the process.

    Raises
    ------
    UsageError
        There is too little; quotes the limit and the need.
    """
    for name, number in _LIMITS:
        bytes_ = resource.getrlimit(number)[0]
        if bytes_ != resource.RLIM_INFINITY and bytes_ < _LEAST:
            raise UsageError(f"the process may have {bytes_ >> 20:,} MiB of {name}, and needs {_LEAST >> 20:,} MiB")
