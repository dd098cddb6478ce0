"""Commands made of questions: the parser of one, and what it does with the answer."""

import argparse
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from inspect import Parameter, getdoc
from typing import TYPE_CHECKING, Any

from cyscc.host.output.files import STANDARD_OUTPUT, check_distinct, check_output, show, write_json, write_text
from cyscc.host.specification.ask import Ask, Question, SpecError
from cyscc.host.specification.options import UsageError, add_ask

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer

__all__ = ["add_question", "answer_question", "texts"]

_OUTPUTS = {
    "json": Ask(help="write the answer as JSON ('-': standard output)", metavar="OUT"),
    "markdown": Ask(help="write the answer as Markdown ('-': standard output)", metavar="OUT"),
    "page": Ask(help="write the answer as a page, one HTML file ('-': standard output)", metavar="OUT"),
}
_QUIET = Ask(help="print nothing but errors", switch=True)
_PLOT = Ask(help="draw the answer's chart: SVG, PNG or PDF by the suffix ('-': SVG)", metavar="OUT", repeated=True)
_PLOTS = "draw a chart: {}; SVG, PNG or PDF by the suffix; may be repeated"


def texts(question: Question) -> dict[str, str]:
    """Return the help of a command, as `argparse` takes it: the docstring's first lines, and the examples."""
    summary, _, rest = (getdoc(question.function) or "").partition("\n\n")
    more = f"\n\n{rest}"
    for section in ("Parameters", "Returns", "Raises"):
        more = more.partition(f"\n\n{section}\n")[0]
    first = summary[:1].lower() + summary[1:].replace("\n", " ").rstrip(".")
    told = " ".join(summary.split()) + more.rstrip()
    return {"help": first, "description": told, "epilog": question.examples}


def add_question(parser: argparse.ArgumentParser, question: Question) -> None:
    """Add the options of a question, and those of every command."""
    for name, ask in question.asks.items():
        parameter = question.parameters[name]
        required = parameter.kind == Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty
        add_ask(parser, name, ask, question.flag(name), parameter.default, required=required)
    for name, ask in _outputs(question).items():
        add_ask(parser, name, ask, f"--{name}")
    if "quiet" not in question.own:
        add_ask(parser, "quiet", _QUIET, "--quiet")


def _outputs(question: Question) -> dict[str, Ask]:
    found = dict(_OUTPUTS)
    if len(question.charts) == 1:
        found["plot"] = _PLOT
    elif question.charts:
        names = ", ".join(f"{name}:OUT" for name in question.charts)
        found["plot"] = replace(_PLOT, help=_PLOTS.format(names), metavar="NAME:OUT")
    return {name: ask for name, ask in found.items() if name not in question.own}


def answer_question(function: "Callable[..., Answer]", arguments: argparse.Namespace) -> None:
    """Ask a question with the options of a command line; write and print the answer.

    Raises
    ------
    UsageError, InputError
        Bad usage or input; an output that cannot be written.
    SimulationError
        The answer describes a failure.
    """
    from cyscc.host.output.progress import Progress
    from cyscc.sim.errors import SimulationError

    question: Question = function.question  # type: ignore[attr-defined]  # a function can have attributes
    outputs = {name: getattr(arguments, name) for name in ("json", "markdown", "page") if hasattr(arguments, name)}
    plots = dict(_plot(question, text) for text in getattr(arguments, "plot", ()))
    own, files = _check_files(question, arguments, outputs, plots)
    quiet = getattr(arguments, "quiet", False) or STANDARD_OUTPUT in (*own.values(), *files.values())
    progress = Progress(quiet=quiet)
    progress.command, progress.outputs = shlex.join(arguments.words), {path: option for option, path in files.items()}
    arguments.kept = lambda: "" if progress.kept is None else progress.kept()
    progress.on_part = partial(_keep, outputs.get("json"))
    with ExitStack() as progress.written:
        try:
            answer = function(*_given(question, arguments), **_keywords(question, arguments, progress))
        except SpecError as error:
            text, flag = str(error), _flag(question, error.field)
            raise UsageError(text if text.startswith("--") or not flag else f"{flag}: {text}") from None
        _write(answer, outputs, plots)
        if not quiet:
            from cyscc.host.answer.text import shown

            show(shown(answer))
    if answer.failure:
        raise SimulationError(answer.failure)


def _check_files(
    question: Question, arguments: argparse.Namespace, outputs: dict[str, str], plots: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files that the function writes, and those that the command writes, by option.

    Raises
    ------
    InputError
        One cannot be written, or two files of the command are the same.
    """
    given: dict[str, Any] = {name: getattr(arguments, name, None) for name in question.asks}
    several = len(question.charts) > 1
    every = {f"--{name}": path for name, path in outputs.items()}
    every |= {f"--plot {name}" if several else "--plot": path for name, path in plots.items()}
    own = {
        ask.short or question.flag(name): given[name]
        for name, ask in question.asks.items()
        if ask.writes and given[name]
    }
    read: dict[str, str] = {}
    for name, ask in question.asks.items():
        if ask.reads and isinstance(given[name], list):
            read |= {f"{ask.reads} {path}": path for path in given[name]}
        elif ask.reads and given[name] is not None:
            read[ask.reads] = given[name]
    check_distinct({**own, **every}, read=read)
    for name, path in every.items():
        check_output(path, name.partition(" ")[0])
    return own, every


def _given(question: Question, arguments: argparse.Namespace) -> list[Any]:
    """Return the positional arguments."""
    given: list[Any] = []
    for name, parameter in question.parameters.items():
        if name in question.asks and getattr(arguments, name, None) is not None:
            if parameter.kind == Parameter.VAR_POSITIONAL:
                given += getattr(arguments, name)
            elif not question.is_option(name):
                given.append(getattr(arguments, name))
    return given


def _keywords(question: Question, arguments: argparse.Namespace, progress: Any) -> dict[str, Any]:
    """Return the keyword arguments, validated."""
    found = {
        name: getattr(arguments, name)
        for name in question.asks
        if question.is_option(name) and hasattr(arguments, name)
    }
    return {**found, **({"progress": progress} if "progress" in question.parameters else {})}


def _flag(question: Question, field: str) -> str:
    return question.flag(field) if field in question.asks else ""


def _plot(question: Question, text: str) -> tuple[str, str]:
    """Return name and file of a chart: ``OUT`` of the only one, or ``NAME:OUT``."""
    name, colon, path = text.partition(":")
    if colon and name in question.charts:
        return name, path
    if len(question.charts) == 1:
        return question.charts[0], text
    raise UsageError(f"--plot: {text!r} is not NAME:OUT, with one of the charts {', '.join(question.charts)}")


def _keep(path: str | None, answer: "Answer") -> None:
    """Write an answer that is not complete, if its file is replaced by the complete one."""
    from cyscc.host.output.files import is_replaced

    if path is not None and is_replaced(path):
        write_json(path, answer.document())


def _write(answer: "Answer", outputs: dict[str, str], plots: dict[str, str]) -> None:
    if "json" in outputs:
        write_json(outputs["json"], answer.document())
    if "markdown" in outputs:
        write_text(outputs["markdown"], answer.markdown())
    if "page" in outputs:
        write_text(outputs["page"], answer.page())
    for name, path in plots.items():
        answer.plot(path, name)
