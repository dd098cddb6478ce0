"""Parsing of option values, and the options that several commands share."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from os.path import exists, isfile
from typing import TYPE_CHECKING, Any, NoReturn

from host.output import show
from sim.executors.names import EXECUTORS

if TYPE_CHECKING:
    from host.runs.overrides import Overrides
    from host.runs.interval import Interval
    from hw.config import AcceleratorConfig
    from sim.memory import Profile

__all__ = [
    "RECORD_INTERVAL",
    "Absent",
    "Parser",
    "UsageError",
    "add_checkpoint_options",
    "add_config",
    "add_device",
    "add_machine",
    "add_machine_options",
    "add_order",
    "add_quiet",
    "add_record_options",
    "add_result_options",
    "add_set",
    "add_threads",
    "add_wave_choice",
    "at_least",
    "available_threads",
    "changes",
    "check_required",
    "configuration",
    "integer",
    "memory_profile",
    "window",
]

RECORD_INTERVAL = 1024
"""Cycles of an interval of a record, unless said otherwise."""

_LARGEST = 1 << 64

_MOST_CHOICES = 12
"""Choices that a message lists."""


class Absent(str):
    """The default of an option, which shows that it was not given."""

    __slots__ = ()


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


def _hint(word: str, known: Iterable[str]) -> str:
    """Return what is added to a message about a word that is not known: the known one that was meant, if any."""
    # Here, as most command lines are right.
    from difflib import get_close_matches

    return "".join(f"; did you mean {match}?" for match in get_close_matches(word, list(known), n=1))


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line each, and suggest what may have been meant."""

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

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help; argparse's own would keep it secret that this failed."""
        show(message)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse, but refuse an unknown option first: what is missing may be what it was meant to be."""
        args = sys.argv[1:] if args is None else args
        for word in args:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                break
            name = word.partition("=")[0]
            if name.startswith("--") and name not in self._option_string_actions:
                self.error(f"unrecognized arguments: {name}{_hint(name, self._option_string_actions)}")
        return super().parse_known_args(args, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            choices = list(action.choices or ())
            message = error.message
            if len(choices) > _MOST_CHOICES:
                message = f"invalid choice: {value!r} (--help lists all {len(choices)})"
            raise argparse.ArgumentError(action, message + _hint(value, choices)) from None


def integer(text: str, *, low: int, high: int = _LARGEST) -> int:
    """Return the integer that a text such as 1000, 1e3 or 2^10 is.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none, or outside `low` to `high`.
    """
    base, power, exponent = text.partition("^")
    try:
        number = Decimal(base) ** (int(exponent) if power else 1)
        whole = number == number.to_integral_value()
    except (ValueError, ArithmeticError):
        whole = False
    if not whole:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer")
    if number < low:
        raise argparse.ArgumentTypeError(f"must be at least {low}, not {text}")
    if number > high:
        raise argparse.ArgumentTypeError(f"must be at most {high}, not {text}")
    return int(number)


def at_least(low: int, high: int = _LARGEST) -> Callable[[str], int]:
    """Return a parser of integers from `low` on."""
    return lambda text: integer(text, low=low, high=high)


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
    from sim.configuration import PRESETS

    parser.add_argument(
        "--config",
        default=Absent("hc2"),
        metavar="NAME|FILE.toml",
        help=f"machine: {', '.join(PRESETS)}, or a TOML file (default: hc2)",
    )


def add_set(parser: argparse.ArgumentParser, *, config: bool = True, memory: bool = False) -> None:
    """Add the option that changes single values of what else is configured: of the configuration, of the memory."""
    examples = [*(["neighbour_depth=64"] if config else []), *(["memory.bank_busy=20"] if memory else [])]
    parser.add_argument(
        "--set",
        dest="changes",
        action="append",
        metavar="KEY=VALUE",
        help=f"in the place of its own value: {', '.join(examples)}; may be repeated",
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add the option that silences a command."""
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def available_threads() -> int:
    """Return the threads that a run uses unless it is told: as many as this process has cores."""
    return len(os.sched_getaffinity(0))


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the device of what is made of steps."""
    parser.add_argument(
        "--device",
        default="cpu",
        choices=("cpu", "cuda"),
        help="where it runs: cpu (default), or cuda, a graphics processor",
    )


def add_order(parser: argparse.ArgumentParser) -> None:
    """Add the option that says in which order the threads of a step run."""
    parser.add_argument(
        "--order",
        default="natural",
        choices=("natural", "reversed", "shuffled"),
        help="order in which the threads of a step run: natural (default), reversed, or shuffled",
    )


def add_threads(parser: argparse.ArgumentParser, user: str) -> None:
    """Add the option that limits the threads of a user."""
    parser.add_argument(
        "--threads",
        default=available_threads(),
        type=at_least(1, 1024),
        metavar="N",
        help=f"threads that {user} may use (default: the cores, %(default)s)",
    )


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all commands that have a result to check and to print."""
    parser.add_argument("--json", metavar="OUT", help="write the result as JSON ('-': standard output)")
    parser.add_argument("--no-verify", action="store_true", help="do not check the result")
    add_quiet(parser)


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what machine is simulated, and what executes it."""
    add_config(parser)
    parser.add_argument(
        "--memory",
        default=Absent("hc2"),
        metavar="PROFILE|FILE.toml",
        help="memory: hc2 (default), hbm2, fixed:CYCLES, stress, stress:SEED, or a TOML file",
    )
    parser.add_argument(
        "--executor",
        default=Absent(EXECUTORS[0]),
        choices=EXECUTORS,
        help="compiled (default): built at the first run; amaranth: in Python, for small machines",
    )
    add_set(parser, memory=True)


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a simulation."""
    add_machine(parser)
    add_threads(parser, "the executor")
    add_result_options(parser)
    parser.add_argument(
        "--simplify",
        action="store_true",
        default=None,
        help="drop repeated edges and self-loops before the machine gets the graph",
    )
    parser.add_argument("--cycle-limit", type=at_least(1), metavar="N", help="give up after this many cycles")
    parser.add_argument(
        "--queue-slack",
        type=at_least(0, 1 << 40),
        metavar="N",
        help="queue entries beyond one a vertex, for vertices pushed twice (default: 65536 + vertices / 4)",
    )
    parser.add_argument(
        "--waves",
        metavar="OUT.fst|OUT.vcd",
        help="write the hardware's waveforms, compressed or as text (large without a window)",
    )
    parser.add_argument(
        "--wave-window", type=window, metavar="FIRST:LAST", help="cycles that the waveforms show (default: all)"
    )
    add_wave_choice(parser)


def add_wave_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that writes waveforms: what of the machine they show, and how."""
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="GLOB",
        help="what the waveforms show, as engine0.bfs3.allocator or '*.token_*'; may be repeated (default: all)",
    )
    parser.add_argument(
        "--wave-view", action="store_true", help="write views for GTKWave and Surfer beside the waveforms"
    )


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run that is recorded."""
    parser.add_argument(
        "--record", metavar="DIR", help="keep in this folder what happens over time, for `report` and `explain`"
    )
    parser.add_argument(
        "--record-interval",
        type=at_least(16, 1 << 40),
        metavar="CYCLES",
        help=f"cycles of an interval of the record (default: {RECORD_INTERVAL})",
    )
    parser.add_argument("--trace", metavar="OUT.pftrace", help="write what happens over time as a trace for Perfetto")


def _interval(text: str) -> "Interval":
    from host.runs.interval import Interval

    try:
        return Interval.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_checkpoint_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run that can be taken up again."""
    parser.add_argument(
        "--checkpoint", metavar="DIR", help="keep the run in this folder, so that it can be taken up again"
    )
    parser.add_argument(
        "--checkpoint-every",
        type=_interval,
        metavar="INTERVAL",
        help="how often: 2Mcycles, 30s, 5min (default: 1min)",
    )
    parser.add_argument(
        "--resume",
        metavar="DIR",
        help="go on from the checkpoint in this folder, and keep the run there; what is not given is as it was",
    )


def check_required(arguments: argparse.Namespace, **names: str) -> None:
    """Refuse a run that is not taken up again, and of which something is missing.

    Parameters
    ----------
    arguments : argparse.Namespace
        The arguments, with those of `add_checkpoint_options`.
    **names : str
        What messages call each one that is needed.

    Raises
    ------
    UsageError
        It is missing.
    """
    missing = [name for argument, name in names.items() if getattr(arguments, argument) is None]
    if missing and arguments.resume is None:
        raise UsageError(f"the following arguments are required: {', '.join(missing)}")


def changes(texts: Sequence[str] | None, *, config: bool = True, memory: bool = False) -> "Overrides":
    """Return the changes that ``--set`` asks for.

    Parameters
    ----------
    texts : sequence of str or None
        What was given.
    config, memory : bool
        Whether there is a configuration, and a memory, that could be changed.

    Raises
    ------
    UsageError
        A text makes none, or there is nothing that it could change.
    """
    from host.runs.overrides import MEMORY, Overrides

    try:
        found = Overrides.parse(texts or ())
    except ValueError as error:
        raise UsageError(f"--set: {error}") from None
    for kind, allowed, values, prefix in (
        ("configuration", config, found.config, ""),
        ("memory", memory, found.memory, MEMORY),
    ):
        if values and not allowed:
            raise UsageError(f"--set: {prefix}{next(iter(values))}: this command has no {kind}")
    return found


def configuration(text: str, changes: "Overrides | None" = None) -> "AcceleratorConfig":
    """Return the configuration of a name, with the changes of ``--set``.

    Raises
    ------
    UsageError
        There is none, or it cannot be read or used.
    """
    from sim.configuration import load_config

    with _usable("--config", text):
        config = load_config(text)
    with _usable("--set", text):
        return config if changes is None else changes.applied_to(config)


def memory_profile(text: str, changes: "Overrides | None" = None) -> "Profile":
    """Return the memory profile that an option names, with the changes of ``--set``.

    Raises
    ------
    UsageError
        There is none, or it cannot be read or used.
    """
    from sim.memory import parse_profile

    with _usable("--memory", text):
        profile = parse_profile(text)
    with _usable("--set", text):
        return profile if changes is None else changes.applied_to_memory(profile)


@contextmanager
def _usable(option: str, text: str) -> Iterator[None]:
    """Refuse the name, or the TOML file, that an option has when the block cannot use it.

    Raises
    ------
    UsageError
        One line that names the option; also for what is no plain file, and might have no end.
    """
    if text.endswith(".toml") and exists(text) and not isfile(text):
        raise UsageError(f"{option}: {text}: is no plain file")
    try:
        yield
    except RecursionError:
        raise UsageError(f"{option}: {text}: not TOML: nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
