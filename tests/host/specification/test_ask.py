"""Questions: functions whose annotated parameters are the options of a command."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest

from cyscc.host.answer.answer import Answer, Chart
from cyscc.host.command_line.commands import add_question, answer_question, texts
from cyscc.host.command_line.parser import Parser, UsageError
from cyscc.host.output.errors import InputError
from cyscc.host.specification.ask import Ask, Rule, SpecError, question
from tests.refusals import refused

Level = Annotated[int | None, Ask("only this level, from {default}", low=0, high=9)]
Sides = Annotated[str, Ask("sides", choices=("left", "right"))]


@question(
    examples="examples:\n  x\n",
    rules=(
        Rule(("family",), needs=("area",)),
        Rule(("level",), excludes=("area",), why="areas have none"),
        Rule(("side=right",), needs=("level",)),
    ),
)
def asked(
    first: Annotated[str, Ask("the first", "DIR")],
    *others: Annotated[str, Ask("more", "DIR2")],
    level: Level = None,
    side: Sides = "left",
    area: Annotated[bool, Ask("the area, too")] = False,
    verify: Annotated[bool, Ask("no check")] = True,
    family: Annotated[Sequence[str], Ask("families", repeated=True)] = (),
    unit: str = "cycles",
) -> Answer:
    """Ask something.

    It takes
    two lines.

    Raises
    ------
    ValueError
    """
    return Answer(title=" ".join([first, *others]), fields={"given": [level, side, area, verify, *family, unit]})


def on_the_line(*words: str) -> Any:
    parser = Parser()
    add_question(parser, asked.question)  # type: ignore[attr-defined]  # set by the decorator
    arguments = parser.parse_args(words)
    arguments.words = list(words)
    return arguments


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    answer_question(asked, on_the_line(*words))
    return capsys.readouterr().out


def test_the_command_asks_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "a") == "a\n"
    assert shown(capsys, "a", "b", "c") == "a b c\n"
    words = ("--level", "2^3", "--side", "right", "--no-verify", "--markdown", "-")
    assert shown(capsys, "a", *words) == "# a\n"
    assert '"given": [\n    8,\n    "right",\n    false,\n    false,\n' in shown(
        capsys, "a", *words[:-2], "--json", "-"
    )
    assert shown(capsys, "a", "--quiet") == ""
    assert shown(capsys, "a", "--area", "--family", "x", "--family", "y") == "a\n"


@question(charts=("cycles", "area"))
def drawn() -> Answer:
    """Draw something."""
    from cyscc.host.answer.charts import new_figure

    # A chart is told by its width in points, of which 72 are 100 pixels.
    sizes = (("cycles", 400), ("area", 600))
    charts = {name: Chart(name, partial(new_figure, height=300, width=size)) for name, size in sizes}
    return Answer(title="drawn", charts=charts)


@pytest.mark.parametrize(("path", "width"), [("a.svg", 288), ("cycles:a.svg", 288), ("area:a.svg", 432)])
def test_of_several_charts_one_is_named(
    path: str, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = Parser()
    add_question(parser, drawn.question)  # type: ignore[attr-defined]  # set by the decorator
    arguments = parser.parse_args(["--plot", path])
    arguments.words = []
    answer_question(drawn, arguments)
    assert capsys.readouterr().out == "drawn\n"
    assert f'width="{width}pt"' in Path("a.svg").read_text()


def test_help_is_the_docstring(capsys: pytest.CaptureFixture[str]) -> None:
    about = texts(asked.question)  # type: ignore[attr-defined]  # set by the decorator
    assert about == {
        "help": "ask something",
        "description": "Ask something.\n\nIt takes\ntwo lines.",
        "epilog": "examples:\n  x\n",
    }
    with pytest.raises(SystemExit):
        on_the_line("--help")
    assert "only this level, from None" in capsys.readouterr().out


def test_what_is_wrong_is_said_alike() -> None:
    for words, message in (
        (("a", "--level", "10"), "argument --level: must be at most 9, not 10"),
        (("a", "--side", "top"), "argument --side: invalid choice: 'top' (choose from 'left', 'right')"),
        (("a", "--plot", "x.svg"), "unrecognized arguments: --plot; did you mean --help?"),
        ((), "the following arguments are required: DIR"),
        (("a", "--family", "x"), "--family needs --area"),
        (("a", "--side", "right", "--no-verify"), "--side right needs --level"),
        (("a", "--area", "--level", "1"), "--level and --area exclude each other: areas have none"),
        (("a", "--json", "-", "--page", "-"), "--page and --json are the same file: -"),
    ):
        with pytest.raises((UsageError, InputError)) as caught:
            answer_question(asked, on_the_line(*words))
        assert str(caught.value).startswith(message.partition("; did")[0])
    with refused(SpecError, "level: must be at most 9, not 10"):
        asked("a", level=10)
    with refused(SpecError, "side must be left or right, not 'top'"):
        asked("a", side="top")
    with refused(SpecError, "area must be true or false, not 1"):
        asked("a", area=1)  # type: ignore[arg-type]  # this is what is wrong
    with refused(SpecError, "--family needs --area"):
        asked("a", family=["x"])
    with refused(TypeError, "got an unexpected keyword argument 'x'"):
        asked("a", x=1)  # type: ignore[call-arg]  # this is what is wrong


def test_a_namespace_has_what_is_given_and_nothing_else() -> None:
    assert vars(on_the_line("a")) == {"first": "a", "others": [], "words": ["a"]}
    assert isinstance(on_the_line("a"), argparse.Namespace)
