"""Questions: public functions whose annotated parameters are the options of a command.

The options of a module's questions stand in the TOML file beside it, by question and parameter, and those that several
modules have in that of the module `notes` beside them, in the section ``shared``. A parameter may also be annotated
with its `Ask`. What is no option has neither.
"""

import inspect
import re
import sys
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial, wraps
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, get_args

from cyscc.host.output.files import Content, check_output
from cyscc.host.specification.numbers import LARGEST, checked_number, whole_number
from cyscc.host.specification.place import check_part
from cyscc.hw.values import plain

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer", bound="Answer")


class SpecError(ValueError):
    """An invalid value of an option.

    Parameters
    ----------
    name : str
        The field of `RunSpec`, or the parameter of a function.
    message : str
        One line, which quotes the error.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.field = name


@contextmanager
def refusing_value(name: str, before: str = "") -> Iterator[None]:
    """Turn errors of a block about an option's value into a `SpecError`, perhaps with a text before it."""
    try:
        yield
    except ValueError as error:
        raise SpecError(name, f"{before}{error}") from None


@dataclass(frozen=True)
class Ask:
    """Description of an option: of a field of a specification, or of a parameter of a question.

    Parameters
    ----------
    help : str
        Meaning and unit; ``{default}`` stands for the default.
    metavar : str or None
        Placeholder of the value in help texts.
    flag : str
        Name on the command line, if it differs from ``--`` with the name.
    short : str
        A second, short name there, such as ``-o``.
    low, high : int or None
        Range of a whole number.
    choices : tuple of str
        Allowed values, if there are few.
    parse : callable or None
        Parser of the text; raises ValueError.
    form : callable or None
        Parser of a text that is kept as it is; raises ValueError if it does not have the form.
    repeated : bool
        Whether the option may be given several times.
    count : str or None
        Number of values of a use, as argparse has it: ``?``, ``*`` or ``+``.
    switch : bool or None
        For truth values: the value that the flag sets.
    reads : str
        For files that are read: what messages call one, such as ``the graph``.
    writes : Content or None
        For files that are written: their content.
    """

    help: str
    metavar: str | None = None
    _: KW_ONLY
    flag: str = ""
    short: str = ""
    low: int | None = None
    high: int = LARGEST
    choices: tuple[str, ...] = ()
    parse: Callable[[str], Any] | None = None
    form: Callable[[str], Any] | None = None
    repeated: bool = False
    count: str | None = None
    switch: bool | None = None
    reads: str = ""
    writes: Content | None = None

    def read(self, text: str) -> Any:
        """Parse the text of a value.

        Raises
        ------
        ValueError
            The text is not a valid value. One line, without the name.
        """
        if self.low is not None:
            return whole_number(text, low=self.low, high=self.high)
        if self.form is not None:
            self.form(text)
        return text if self.parse is None else self.parse(text)

    def checked(self, name: str, value: Any) -> Any:
        """Validate a value that is not None; parse it if it is the text of a number.

        Raises
        ------
        ValueError
            The value is invalid. One line, which begins with the name.
        """
        value = plain(value)
        if self.choices and value not in self.choices:
            raise ValueError(f"{name} must be {' or '.join(self.choices)}, not {value!r}")
        if self.switch is not None and not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, not {value!r}")
        if self.low is not None:
            return checked_number(name, value, low=self.low, high=self.high)
        if self.form is not None and isinstance(value, str):
            self.form(value)
        return value


_Kind = TypeVar("_Kind", bound=Ask)

_CONSTANT = re.compile(r"\{([A-Z]\w*)\}")
"""A constant of a module in a help text."""


def _described(about: Mapping[str, Any], names: Mapping[str, Any], kind: type[_Kind]) -> _Kind:
    """Return an option as a file describes it, by the fields of `Ask`.

    Parsers, forms and choices may be names of the module, whose constants may stand in the help in braces; ``like`` is
    an option of a run, ``part`` the part of a place whose form it has.
    """
    found = dict(about)
    found |= {field: names[found[field]] for field in ("parse", "form") if field in found}
    if "part" in found:
        found["form"] = partial(check_part, found.pop("part"))
    if "choices" in found:
        choices = found["choices"]
        found["choices"] = tuple(names[choices] if isinstance(choices, str) else choices)
    if "writes" in found:
        found["writes"] = Content[found["writes"]]
    if "help" in found:
        found["help"] = _CONSTANT.sub(lambda word: str(names[word[1]]), found["help"])
    return replace(names["option_of"](found.pop("like")), **found) if "like" in found else kind(**found)


def described(names: Mapping[str, Any], section: str, kind: type[_Kind]) -> "tuple[dict[str, _Kind], tuple[Rule, ...]]":
    """Return the options and rules of a section of the file beside a module, given the module's names; none without."""
    path = Path(names["__file__"]).with_suffix(".toml") if "__file__" in names else None
    if path is None or not path.exists():
        return {}, ()
    about = tomllib.loads(path.read_text(encoding="utf-8")).get(section, {})
    rules: list[dict[str, Any]] = about.pop("rules", [])
    for rule in rules:
        rule.update({name: tuple(each) for name, each in rule.items() if name != "why"})
    return {name: _described(each, names, kind) for name, each in about.items()}, tuple(Rule(**rule) for rule in rules)


class Rule(NamedTuple):
    """Options that need or exclude others.

    Each is the name of a parameter, or one with a value, as ``on=accelerator``.

    Parameters
    ----------
    names : tuple of str
        Options that the rule is about.
    needs : tuple of str
        Of these, at least one must be given with each of them.
    excludes : tuple of str
        None of these may be given with any of them.
    beside : tuple of str
        Options without which the rule does not apply: all must be given.
    why : str
        The reason, which follows the message.
    """

    names: tuple[str, ...]
    needs: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    why: str = ""

    def check(self, told: Callable[[str], bool], flag: Callable[[str], str]) -> None:
        """Refuse options that lack another one, or exclude one.

        Parameters
        ----------
        told : callable
            Returns whether an option is given.
        flag : callable
            Returns an option as the command line has it.

        Raises
        ------
        SpecError
            One line that begins with an option.
        """
        why = self.why and f": {self.why}"
        for name in filter(told, self.names if all(map(told, self.beside)) else ()):
            given = " with ".join(map(flag, (name, *self.beside)))
            if self.needs and not any(map(told, self.needs)):
                raise SpecError(name.partition("=")[0], f"{given} needs {' or '.join(map(flag, self.needs))}{why}")
            for other in filter(told, self.excludes):
                raise SpecError(name.partition("=")[0], f"{given} and {flag(other)} exclude each other{why}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Question:
    """A public function that is a command, too.

    Parameters
    ----------
    function : callable
        The function.
    options : mapping of str to Ask
        Options that the function takes as further keywords, if no typed dictionary describes them.
    charts : tuple of str
        Names of charts that its answer can have, of which the command draws the first.
    own_rules : tuple of Rule
        Rules on which options need or exclude others, besides those of the file.
    examples : str
        Text below the help, after the notes and examples of the docstring: what Python must say, such as a list.
    own : tuple of str
        Options that every command has but this one, which has one of its own with that name, or none.
    """

    function: "Callable[..., Answer]"
    options: Mapping[str, Ask]
    charts: tuple[str, ...]
    own_rules: tuple[Rule, ...]
    examples: str
    own: tuple[str, ...]

    @cached_property
    def _noted(self) -> tuple[dict[str, Ask], tuple[Rule, ...]]:
        """The options and rules in the files: its own, and what the questions beside it share."""
        names = self.function.__globals__
        shared = sys.modules.get(f"{names['__name__'].rpartition('.')[0]}.notes")
        common = {} if shared is None else vars(shared)
        asks, rules = described({**common, **names}, self.function.__name__, Ask)
        return described(common, "shared", Ask)[0] | asks, rules

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules on which options need or exclude others."""
        return (*self._noted[1], *self.own_rules)

    @cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature; made when it is asked for, as what follows: the commands' list does without."""
        return inspect.signature(self.function)

    @cached_property
    def further(self) -> str:
        """The parameter that takes further keywords; empty if there is none."""
        return next((name for name, each in self.signature.parameters.items() if each.kind == each.VAR_KEYWORD), "")

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """All parameters, further keywords among them."""
        found = dict(self.signature.parameters)
        if self.further:
            unpacked = get_args(found.pop(self.further).annotation)
            kinds = {**dict.fromkeys(self.options), **(unpacked[0].__annotations__ if unpacked else {})}
            for name, kind in kinds.items():
                found[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        return found

    @cached_property
    def asks(self) -> Mapping[str, Ask]:
        """The parameters that the command line has, in their order."""
        asks, _ = self._noted
        every = {name: _note(each.annotation) or asks.get(name) for name, each in self.parameters.items()}
        every |= self.options
        return {name: _completed(ask, self.parameters[name]) for name, ask in every.items() if ask is not None}

    def flag(self, name: str) -> str:
        """Return a parameter as the command line has it."""
        if self.parameters[name].kind != inspect.Parameter.KEYWORD_ONLY and not self.asks[name].flag:
            return self.asks[name].metavar or name.upper()
        no = "no-" if self.asks[name].switch is False else ""
        return self.asks[name].flag or f"--{no}{name.replace('_', '-')}"

    def ask(self, given: Mapping[str, Any]) -> "Answer":
        """Return the answer with these values of parameters, after they are validated; those of defaults are missing.

        Raises
        ------
        SpecError
            One is invalid, lacks another one, or excludes one.
        """
        values = self._checked(given)
        arguments = OrderedDict((name, values.pop(name)) for name in self.signature.parameters if name in values)
        if values:
            arguments[self.further] = values
        bound = inspect.BoundArguments(self.signature, arguments)
        return self.function(*bound.args, **bound.kwargs)

    def _checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        values = dict(given)
        for name, ask in self.asks.items():
            several = ask.repeated or ask.count in ("*", "+")
            if (value := values.get(name)) is not None and not several:
                with refusing_value(name):
                    # Who calls the function gives the text, as on a command line.
                    text = isinstance(value, str) and ask.parse is not None
                    values[name] = ask.checked(name, ask.read(value) if text else value)
        for rule in self.rules:
            rule.check(partial(self._is_told, values=values), self._told)
        for name, ask in self.asks.items():
            if ask.writes is not None and isinstance(path := values.get(name), str | PathLike):
                check_output(fspath(path), self.file_flag(name), ask.writes)
        return values

    def file_flag(self, name: str) -> str:
        """Return the option that names a file, as messages on the file have it: its short name, if it has one."""
        return self.asks[name].short or self.flag(name)

    def _told(self, option: str) -> str:
        name, _, value = option.partition("=")
        return f"{self.flag(name)} {value}".rstrip()

    def _is_told(self, option: str, values: Mapping[str, Any]) -> bool:
        """Return whether an option has the value of a rule, or else any that is not the default, and not empty."""
        name, equals, wanted = option.partition("=")
        default = self.parameters[name].default
        value = values.get(name, default)
        if equals:
            return value in (wanted, (wanted,))
        if value is None or value is False or (isinstance(value, tuple | list | str) and not value):
            return False
        return value != default if isinstance(value, str | int) else value is not default


def _completed(ask: Ask, parameter: inspect.Parameter) -> Ask:
    """Return an option with what its parameter says of it: a truth value is a switch, arguments may be several."""
    if isinstance(parameter.default, bool) and ask.switch is None:
        return replace(ask, switch=not parameter.default)
    if parameter.kind == parameter.VAR_POSITIONAL:
        return replace(ask, count=ask.count or "*")
    if not ask.flag and parameter.kind != parameter.KEYWORD_ONLY and parameter.default is not parameter.empty:
        return replace(ask, count=ask.count or "?")
    return ask


def question(
    *,
    charts: tuple[str, ...] = (),
    rules: tuple[Rule, ...] = (),
    examples: str = "",
    own: tuple[str, ...] = (),
    options: Mapping[str, Ask] | None = None,
) -> Callable[[Callable[_Given, _Answer]], Callable[_Given, _Answer]]:
    """Make a function a question: its arguments are validated, and a command can be made of it.

    Parameters
    ----------
    charts, rules, examples, own, options
        See `Question`.
    """

    def made(function: Callable[_Given, _Answer]) -> Callable[_Given, _Answer]:
        about = Question(
            function=function, options=options or {}, charts=charts, own_rules=rules, examples=examples, own=own
        )

        @wraps(function)
        def asked(*args: _Given.args, **keywords: _Given.kwargs) -> _Answer:
            given = dict(about.signature.bind(*args, **keywords).arguments)
            given |= given.pop(about.further, {})
            for name in given:
                if name not in about.parameters:
                    known = ", ".join(about.parameters)
                    raise TypeError(f"{function.__name__}() has no argument {name!r}: there are {known}")
            return about.ask(given)  # type: ignore[return-value]  # it is the function's answer

        asked.question = about  # type: ignore[attr-defined]  # a function can have attributes
        return asked

    return made


def _note(annotation: Any) -> Ask | None:
    """Return the note of a parameter's type, if it has one."""
    return next((note for note in get_args(annotation)[1:] if isinstance(note, Ask)), None)
