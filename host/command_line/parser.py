"""The parser of command lines, whose errors are one line."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from cyscc.host.output.files import show
from cyscc.host.specification.ask import Ask

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

    names = {each.lstrip("-"): each for each in known}
    return "".join(f"; did you mean {names[match]}?" for match in get_close_matches(word.lstrip("-"), names, n=1))


class Parser(argparse.ArgumentParser):
    """An argument parser with one-line errors that suggest the nearest valid word.

    Parameters
    ----------
    prog : str, optional
        The command.
    removed : mapping of str to str, optional
        Options or commands that it once had, and what to do instead.
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
            name = word.partition("=")[0]
            if name in self._removed:
                self.error(f"{name} is gone: {self._removed[name]}")
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                break
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
