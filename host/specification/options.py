"""Parsing of option values, and the options that several commands share."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from cyscc.host.output.files import Content, check_distinct, check_output, show
from cyscc.host.specification.ask import Ask, SpecError
from cyscc.host.specification.numbers import listed_values, whole_number
from cyscc.host.specification.overrides import MEMORY, NO_OVERRIDES, Overrides
from cyscc.host.specification.run import RunSpec, available_cores, option_of, resolved_configuration, resolved_profile
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.sim.memory import Profile

__all__ = [
    "Noted",
    "Parser",
    "UsageError",
    "add_ask",
    "add_run_options",
    "add_set",
    "add_shared",
    "add_threads",
    "as_usage",
    "at_least",
    "check_outputs",
    "configuration",
    "given_options",
    "listed",
    "memory_profile",
    "one_of",
    "read_overrides",
]

_Value = TypeVar("_Value")

_NOTED = "noted"

_MOST_CHOICES = 12
"""Largest number of choices that a message lists."""


class UsageError(Exception):
    """An invalid command line.

    Parameters
    ----------
    message : str
        One line: what is wrong.
    prog : str, optional
        The command, if known; precedes the message.
    """

    def __init__(self, message: str, *, prog: str | None = None) -> None:
        super().__init__(message)
        self.prog = prog


def _hint(word: str, known: Iterable[str]) -> str:
    """Return a "did you mean" suffix for a message about an unknown word; empty if no known word is close."""
    # Imported here because most command lines need no hint.
    from difflib import get_close_matches

    return "".join(f"; did you mean {match}?" for match in get_close_matches(word, list(known), n=1))


class Parser(argparse.ArgumentParser):
    """An argument parser with one-line errors that suggest the nearest valid word.

    Parameters
    ----------
    prog : str, optional
        The command.
    removed : mapping of str to str, optional
        Options that it once had, and what to do instead.
    """

    def __init__(
        self, prog: str | None = None, *, removed: Mapping[str, str] | None = None, **keywords: object
    ) -> None:
        super().__init__(
            prog=prog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **keywords,  # type: ignore[arg-type]  # argparse's own keywords
        )
        self._removed = removed or {}

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` instead of printing the usage."""
        raise UsageError(message, prog=self.prog)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help, and report a failed write, which argparse would ignore."""
        show(message)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse, and report an unknown option before a missing one, of which it may be a misspelling."""
        args = sys.argv[1:] if args is None else args
        for word in args:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                break
            name = word.partition("=")[0]
            if name in self._removed:
                self.error(f"{name} is gone: {self._removed[name]}")
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


class Noted(argparse.Action):
    """Stores a value, and notes that it was given: some commands refuse options that they would not use."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, *_: Any) -> None:
        """Store the value, and the note."""
        setattr(namespace, self.dest, value)
        setattr(namespace, _NOTED, {*getattr(namespace, _NOTED, ()), self.dest})

    @staticmethod
    def given(arguments: argparse.Namespace, name: str) -> bool:
        """Return whether a value was given, by its name in the namespace."""
        return name in getattr(arguments, _NOTED, ())


def at_least(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a parser of integers such as 1000, 1e3 or 2^10, from `low` to `high`."""
    return partial(_parsed, partial(whole_number, low=low, high=high))


def listed(parse: Callable[[str], _Value]) -> Callable[[str], tuple[_Value, ...]]:
    """Return a parser of comma-separated lists without duplicates."""
    return partial(_parsed, partial(listed_values, parse=parse))


def one_of(known: Iterable[str], what: str) -> Callable[[str], str]:
    """Return a parser that accepts only known names; `what` is the noun for its messages."""

    def parsed(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"unknown {what} {text!r}: there are {', '.join(known)}")
        return text

    return parsed


def _parsed(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_ask(
    parser: argparse._ActionsContainer, name: str, ask: Ask, flag: str, default: Any = None, *, required: bool = False
) -> None:
    """Add an option, or a positional argument if its flag has no dash; absent from the namespace if not given."""
    how: dict[str, Any] = {"default": argparse.SUPPRESS, "help": ask.help.replace("{default}", str(default))}
    if ask.switch is not None:
        how |= {"action": "store_const", "const": ask.switch}
    else:
        how |= {"metavar": ask.metavar, "type": partial(_parsed, ask.read)}
        how |= {"choices": ask.choices} if ask.choices and ask.parse is None else {}
        how |= {"nargs": ask.count} if ask.count is not None else {}
    if ask.repeated:
        how |= {"action": "append"}
    if required:
        how |= {"required": True}
    if flag.startswith("-"):
        parser.add_argument(*filter(None, (ask.short, flag)), dest=name, **how)
    else:
        # What is not given is None: a choice is checked even if it is the value for what is absent.
        parser.add_argument(name, **{**how, "default": None, "metavar": flag})


def add_run_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add the options of runs, fields of `RunSpec`; an option that is not given is absent from the namespace."""
    for name in names:
        option = option_of(name)
        if option.positional:
            parser.add_argument(name, metavar=option.flag, nargs="?", default=argparse.SUPPRESS, help=option.help)
        else:
            add_ask(parser, name, option, option.flag)


def given_options(arguments: argparse.Namespace, *, required: Iterable[str] = ()) -> dict[str, Any]:
    """Return the run options given on a command line, by field of `RunSpec`.

    Parameters
    ----------
    arguments : argparse.Namespace
        The arguments, with the options added by `add_run_options`.
    required : iterable of str
        Fields that are mandatory, unless a run is resumed.

    Raises
    ------
    UsageError
        A mandatory field is missing, or an override is malformed.
    """
    given = {name: value for name, value in vars(arguments).items() if name in RunSpec.__dataclass_fields__}
    missing = [option_of(name).flag for name in required if name not in given]
    if missing and "resume" not in given:
        raise UsageError(f"the following arguments are required: {', '.join(missing)}")
    if "overrides" in given:
        given["overrides"] = read_overrides(given["overrides"], memory=True)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


@contextmanager
def as_usage() -> Iterator[None]:
    """Turn a `SpecError` of the block into a usage error that names the option.

    Raises
    ------
    UsageError
        One line, in place of the `SpecError`.
    """
    try:
        yield
    except SpecError as error:
        text = str(error)
        raise UsageError(text if text.startswith("--") else f"{option_of(error.field).flag}: {text}") from None


_SHARED: dict[str, dict[str, Any]] = {
    "--config": {
        "default": "hc2",
        "metavar": option_of("config").metavar,
        "help": option_of("config").help,
    },
    "--memory": {
        "type": GivenText,
        "default": "hc2",
        "metavar": option_of("memory").metavar,
        "help": option_of("memory").help,
    },
    "--device": {
        "default": "cpu",
        "choices": ("cpu", "cuda"),
        "help": "where it runs: cpu (default), or cuda, a graphics processor",
    },
    "--json": {"metavar": "OUT", "help": "write the result as JSON ('-': standard output)"},
    "--undirected": {"action": "store_true", "help": option_of("undirected").help},
    "--quiet": {"action": "store_true", "help": "print nothing but errors"},
}
"""Options with the same meaning in several commands."""


def add_shared(parser: argparse.ArgumentParser, *flags: str) -> None:
    """Add options shared by several commands."""
    for flag in flags:
        parser.add_argument(flag, **_SHARED[flag])


def add_set(parser: argparse.ArgumentParser, *, config: bool = True, memory: bool = False) -> None:
    """Add the option for overrides of the configuration, the memory, or both."""
    examples = [*(["neighbour_depth=64"] if config else []), *(["memory.bank_busy=20"] if memory else [])]
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        metavar="KEY=VALUE",
        help=f"override a single value: {', '.join(examples)}; may be repeated",
    )


def add_threads(parser: argparse.ArgumentParser, user: str) -> None:
    """Add the option that limits the threads of `user`."""
    parser.add_argument(
        "--threads",
        action=Noted,
        default=available_cores(),
        type=at_least(1, 1024),
        metavar="N",
        help=f"threads that {user} may use (default: the cores, %(default)s)",
    )


def read_overrides(texts: Sequence[str] | None, *, config: bool = True, memory: bool = False) -> Overrides:
    """Return the overrides given with ``--set``.

    Parameters
    ----------
    texts : sequence of str or None
        Texts as given on the command line.
    config, memory : bool
        Whether the command has a configuration, and a memory, to override.

    Raises
    ------
    UsageError
        A text is not an override, or the command has nothing that it could override.
    """
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


def configuration(text: str, overrides: Overrides = NO_OVERRIDES) -> AcceleratorConfig:
    """Return the configuration that ``--config`` names, with overrides.

    Raises
    ------
    UsageError
        It does not exist, or cannot be read or used.
    """
    with as_usage():
        return resolved_configuration(text, overrides)


def memory_profile(text: str, overrides: Overrides = NO_OVERRIDES) -> "Profile":
    """Return the memory profile that ``--memory`` names, with overrides.

    Raises
    ------
    UsageError
        It does not exist, or cannot be read or used.
    """
    with as_usage():
        return resolved_profile(text, overrides)


def check_outputs(
    outputs: Mapping[str, str | None], *, others: Mapping[str, str], content: Content | None = None
) -> None:
    """Refuse output files that cannot be written, or that coincide with another file of the command.

    Parameters
    ----------
    outputs : mapping of str to (str or None)
        The files by option; None where one was not given.
    others : mapping of str to str
        Files that the command reads, or writes to a fixed place, by their names in messages.
    content : Content, optional
        What is written to the file of ``-o``.

    Raises
    ------
    InputError
        Two are the same file; one cannot be written, or its suffix promises another content.
    """
    given = {option: path for option, path in outputs.items() if path is not None}
    check_distinct(given, read=others)
    for option, path in given.items():
        check_output(path, option, content if option == "-o" else None)
