"""The commands, made of questions: their table, their parser, and what they do with the answer."""

import argparse
import re
import resource
import shlex
import sys
import tomllib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from inspect import Parameter, getdoc
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, NoReturn

from cyscc.host.command_line.parser import Parser, UsageError, add_ask
from cyscc.host.output import files
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, Question, SpecError, described
from cyscc.sim.errors import SimulationError

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer

_EPILOG = """examples:
  cyscc generate rmat --vertices 2^14 --degree 8 -o rmat.gr
  cyscc scc rmat.gr
  cyscc bfs rmat.gr --source 1

exit status: 0 done and verified, 2 bad input or usage, 3 the simulation failed, 130 interrupted,
             141 standard output closed by its reader
"""

# What the file beside this one says.
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COMMANDS: dict[str, str] = TABLE["commands"]
"""The commands, and the modules of their functions, which have the same names."""

_LEAST = 1 << 30
"""Least address space in bytes: the libraries cannot be loaded in less."""

_LIMITS = (("address space (ulimit -v)", resource.RLIMIT_AS), ("data (ulimit -d)", resource.RLIMIT_DATA))

_SECTION = re.compile(r"\n+([A-Z][a-z]+)\n-+\n")
"""Head of a section of a docstring."""


class _ShowVersion(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        files.show(f"cyscc {files.version()}\n")
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
        removed=TABLE["gone"],
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name in {name: COMMANDS[name] for name in argv[:1] if name in COMMANDS} or COMMANDS:
        if name not in argv:
            commands.add_parser(name, help=_summary_of(name))
            continue
        function = getattr(import_module(f"cyscc.host.{COMMANDS[name]}"), name)
        command = commands.add_parser(name, removed=TABLE["gone_options"].get(name), **texts(function.question))
        add_question(command, function.question)
        command.set_defaults(run=partial(answer_question, function))
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


def _summary_of(name: str) -> str:
    """Return what the list of commands says of one: the first sentence of its function's docstring.

    It is read from the source, since the modules of all commands take longer to import than the list to print.
    """
    source = Path(__file__).parents[1].joinpath(*COMMANDS[name].split(".")).with_suffix(".py").read_text("utf-8")
    docstring = re.search(rf'^def {name}\(.*?"""(.*?)(?:\n\n|""")', source, re.DOTALL | re.MULTILINE)
    return _in_list(docstring[1]) if docstring else ""


def _in_list(summary: str) -> str:
    """Return a sentence of a docstring as the list of commands has it: a line that begins small, without its stop."""
    line = " ".join(summary.split())
    return line[:1].lower() + line[1:].rstrip(".")


def texts(question: Question) -> dict[str, Any]:
    """Return the help of a command, as `argparse` takes it: the docstring's text, and below it notes and examples."""
    intro, *rest = _SECTION.split(getdoc(question.function) or "")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    summary, *more = intro.split("\n\n", 1)
    summary = " ".join(summary.split())
    examples = indent(sections.get("Examples", ""), "  ")
    below = (examples and f"examples:\n{examples}\n", sections.get("Notes", "") + "\n", question.examples)
    return {
        "help": _in_list(summary),
        "description": "\n\n".join([summary, *more]),
        "epilog": "\n".join(each for each in below if each.strip()),
    }


def add_question(parser: argparse.ArgumentParser, question: Question) -> None:
    """Add the options of a question, and those of every command."""
    for name, ask in question.asks.items():
        parameter = question.parameters[name]
        required = parameter.kind == Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty
        add_ask(parser, name, ask, question.flag(name), parameter.default, required=required)
    for name, ask in _outputs(question).items():
        add_ask(parser, name, ask, f"--{name}")


def _outputs(question: Question) -> dict[str, Ask]:
    """Return the options of the answer: its files, and ``quiet``."""
    own = question.own if question.charts else (*question.own, "plot")
    return {name: ask for name, ask in described(globals(), "outputs", Ask)[0].items() if name not in own}


def answer_question(function: "Callable[..., Answer]", arguments: argparse.Namespace) -> None:
    """Ask a question with the options of a command line; write and print the answer.

    Raises
    ------
    UsageError, InputError
        Bad usage or input; an output that cannot be written.
    SimulationError
        The answer describes a failure.
    """
    question: Question = function.question  # type: ignore[attr-defined]  # a function can have attributes
    outputs = {name: getattr(arguments, name) for name in _outputs(question) if hasattr(arguments, name)}
    quiet = outputs.pop("quiet", False)
    chart = _take_chart(question, outputs)
    own, further = _check_files(question, arguments, outputs)
    quiet |= files.STANDARD_OUTPUT in (*own.values(), *further.values())
    progress = Progress(quiet=quiet)
    progress.command, progress.outputs = shlex.join(arguments.words), {path: option for option, path in further.items()}
    arguments.kept = lambda: "" if progress.kept is None else progress.kept()
    progress.on_part = partial(_keep, outputs.get("json"))
    with ExitStack() as progress.written:
        given = {name: getattr(arguments, name, None) for name in question.asks}
        given["progress"] = progress if "progress" in question.parameters else None
        try:
            answer = question.ask({name: value for name, value in given.items() if value is not None})
        except SpecError as error:
            text, flag = str(error), question.flag(error.field) if error.field in question.asks else ""
            raise UsageError(text if text.startswith("--") or not flag else f"{flag}: {text}") from None
        _write(answer, outputs, chart)
        if not quiet:
            from cyscc.host.answer.text import shown

            files.show(shown(answer))
    if answer.failure:
        raise SimulationError(answer.failure)


def _check_files(
    question: Question, arguments: argparse.Namespace, outputs: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files that the function writes, and those that the command writes, by option.

    Raises
    ------
    InputError
        One cannot be written, or two files of the command are the same.
    """
    given: dict[str, Any] = {name: getattr(arguments, name, None) for name in question.asks}
    every = {f"--{name}": path for name, path in outputs.items()}
    own = {question.file_flag(name): given[name] for name, ask in question.asks.items() if ask.writes and given[name]}
    read: dict[str, str] = {}
    for name, ask in question.asks.items():
        if ask.reads and isinstance(given[name], list):
            read |= {f"{ask.reads} {path}": path for path in given[name]}
        elif ask.reads and given[name] is not None:
            read[ask.reads] = given[name]
    files.check_distinct({**own, **every}, read=read)
    for name, path in every.items():
        files.check_output(path, name)
    return own, every


def _keep(path: str | None, answer: "Answer") -> None:
    """Write an answer that is not complete, if its file is replaced by the complete one."""
    if path is not None and files.is_replaced(path):
        files.write_json(path, answer.document())


def _take_chart(question: Question, outputs: dict[str, str]) -> str | None:
    """Return the chart that is named before its file, whose path is left in the outputs; None means the first one."""
    name, colon, path = outputs.get("plot", "").partition(":")
    if not colon or name not in question.charts:
        return None
    outputs["plot"] = path
    return name


def _write(answer: "Answer", outputs: dict[str, str], chart: str | None) -> None:
    if "json" in outputs:
        files.write_json(outputs["json"], answer.document())
    if "markdown" in outputs:
        files.write_text(outputs["markdown"], answer.markdown())
    if "page" in outputs:
        files.write_text(outputs["page"], answer.page())
    if "plot" in outputs:
        answer.plot(outputs["plot"], chart)
