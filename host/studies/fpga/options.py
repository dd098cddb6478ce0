"""Command lines of the reports: one-line errors, configurations, output files."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from host.studies.fpga.tools import ToolError
from hw.config import AcceleratorConfig, ConfigError, load_config

__all__ = [
    "Parser",
    "UsageError",
    "add_output_options",
    "at_least",
    "check_outputs",
    "configuration",
    "ended_by_errors",
    "progress",
    "work_folder",
    "write_report",
]

_STANDARD_OUTPUT = "-"
_USAGE = 2
_TOOL = 3
_INTERRUPTED = 130


class UsageError(Exception):
    """A command line that makes no sense, or a file that cannot be written. One line."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line each."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` instead of printing the usage."""
        raise UsageError(message)


def at_least(low: int) -> Callable[[str], int]:
    """Return a parser of integers from `low` on."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
        if value < low:
            raise argparse.ArgumentTypeError(f"must be at least {low}, not {value}")
        return value

    return parse


def configuration(name: str) -> AcceleratorConfig:
    """Return the configuration of a name or file.

    Raises
    ------
    UsageError
        There is none, or it cannot be read or used.
    """
    try:
        return load_config(name)
    except ConfigError as error:
        raise UsageError(f"--config: {error}") from None


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where results go."""
    parser.add_argument("-o", "--output", metavar="OUT.md", help="write the tables to a file (default: print them)")
    parser.add_argument("--json", metavar="OUT", help="write the figures as JSON ('-': standard output)")
    parser.add_argument("--keep", metavar="DIR", help="keep Verilog, netlists, reports and logs in this folder")


def check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse, before anything long begins, output files that could not be written.

    Raises
    ------
    UsageError
        The place is a folder, has none, or is read only.
    """
    for option, name in (("--output", arguments.output), ("--json", arguments.json)):
        if name in (None, _STANDARD_OUTPUT):
            continue
        path = Path(name)
        if path.is_dir():
            raise UsageError(f"{option}: {name!r} is a directory")
        if not path.absolute().parent.is_dir():
            raise UsageError(f"{option}: the directory of {name!r} does not exist")
        if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
            raise UsageError(f"{option}: {name!r} cannot be written")


@contextmanager
def work_folder(keep: str | None) -> Iterator[Path]:
    """Give a folder for the files of the tools: the one to keep, made if need be, or a temporary one.

    Raises
    ------
    UsageError
        The folder to keep cannot be made.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="cyscc-fpga-") as folder:
            yield Path(folder)
        return
    try:
        Path(keep).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--keep: {keep!r}: {error.strerror}") from None
    yield Path(keep).resolve()


def progress(text: str) -> None:
    """Say on a terminal what is being done; nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{text}\n")


def write_report(name: str | None, text: str) -> None:
    """Write a report, complete or not at all, to a file, or to standard output if the name is none or ``-``.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    if name is None or name == _STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            path.write_text(text)  # a device or a pipe
            return
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(text)
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{name!r} cannot be written: {error.strerror}") from None


def ended_by_errors(prog: str, run: Callable[[], int]) -> int:
    """Run a command and turn its errors into one line and an exit status.

    Parameters
    ----------
    prog : str
        Name that goes before the message.
    run : callable
        The command; returns its exit status.

    Returns
    -------
    int
        What the command returned; 2 after an error of usage, 3 if a tool is missing or failed, 130 if interrupted.
    """
    try:
        return run()
    except UsageError as error:
        text, status = str(error), _USAGE
    except ToolError as error:
        text, status = str(error), _TOOL
    except KeyboardInterrupt:
        text, status = "interrupted", _INTERRUPTED
    sys.stderr.write(f"{prog}: {' '.join(text.split())}\n")
    return status
