"""Parsing of option values, and the options that several commands share."""

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from sim.executors.names import EXECUTORS

if TYPE_CHECKING:
    from hw.config import AcceleratorConfig

__all__ = ["Parser", "UsageError", "add_config", "add_machine_options", "configuration", "integer", "size", "window"]


class UsageError(Exception):
    """A command line that makes no sense.

    Parameters
    ----------
    message : str
        One line: what is wrong.
    prog : str, optional
        The command, when it is known here: its name goes before the message.
    """

    def __init__(self, message: str, *, prog: str | None = None) -> None:
        super().__init__(message)
        self.prog = prog


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line each."""

    def __init__(self, prog: str | None = None, **keywords: object) -> None:
        super().__init__(
            prog=prog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **keywords,  # type: ignore[arg-type]  # argparse's own keywords
        )

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` instead of printing the usage."""
        raise UsageError(message, prog=self.prog)


def integer(text: str, *, low: int, high: int | None = None) -> int:
    """Return the integer that a text is.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none, or outside `low` to `high`.
    """
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
    if value < low:
        raise argparse.ArgumentTypeError(f"must be at least {low}, not {value}")
    if high is not None and value > high:
        raise argparse.ArgumentTypeError(f"must be at most {high}, not {value}")
    return value


def at_least(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a parser of integers from `low` on."""
    return lambda text: integer(text, low=low, high=high)


def size(text: str) -> int:
    """Return the number of vertices that a text such as 1000 or 2^20 names.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none, or not positive.
    """
    base, power, exponent = text.partition("^")
    if not power:
        return integer(text, low=1)
    return integer(base, low=1, high=1 << 32) ** integer(exponent, low=0, high=64)


def window(text: str) -> tuple[int, int]:
    """Return the first and the last cycle that a text such as 100:200 names.

    Raises
    ------
    argparse.ArgumentTypeError
        It names none, or the last comes before the first.
    """
    first, colon, last = text.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f"{text!r} is not FIRST:LAST")
    begin, end = integer(first, low=0), integer(last, low=0)
    if begin > end:
        raise argparse.ArgumentTypeError(f"the first cycle must not come after the last: {text!r}")
    return begin, end


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the configuration."""
    parser.add_argument(
        "--config",
        default="hc2",
        metavar="NAME|FILE.toml",
        help="machine: hc2 (default), hc2-1ae, published, published-1ae, published-bfs, published-bfs-1ae, test, or a "
        "TOML file",
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a simulation."""
    add_config(parser)
    parser.add_argument(
        "--memory",
        default="hc2",
        metavar="PROFILE|FILE.toml",
        help="memory: hc2 (default), fixed:CYCLES, stress, stress:SEED, or a TOML file",
    )
    parser.add_argument(
        "--executor",
        default=EXECUTORS[0],
        choices=EXECUTORS,
        help="compiled (default): built at the first run; amaranth: in Python, for small machines",
    )
    parser.add_argument(
        "--threads",
        default=len(os.sched_getaffinity(0)),
        type=at_least(1, 1024),
        metavar="N",
        help="threads that the executor may use (default: the cores, %(default)s)",
    )
    parser.add_argument("--json", metavar="OUT", help="write the result as JSON ('-': standard output)")
    parser.add_argument("--no-verify", action="store_true", help="do not check the result")
    parser.add_argument("--cycle-limit", type=at_least(1), metavar="N", help="give up after this many cycles")
    parser.add_argument(
        "--queue-slack",
        type=at_least(0, 1 << 40),
        metavar="N",
        help="queue entries beyond one a vertex, for vertices pushed twice (default: 65536 + vertices / 4)",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument(
        "--waves", metavar="OUT.vcd", help="write the hardware's waveforms (VCD; large without a window)"
    )
    parser.add_argument(
        "--wave-window", type=window, metavar="FIRST:LAST", help="cycles that the waveforms show (default: all)"
    )


def configuration(text: str) -> "AcceleratorConfig":
    """Return the configuration of a name.

    Raises
    ------
    UsageError
        There is none, or it cannot be read or used.
    """
    from sim.configuration import load_config

    try:
        return load_config(text)
    except ValueError as error:
        raise UsageError(f"--config: {error}") from None
