"""What options may say: questions, intervals, overrides and places."""

import argparse
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from cyscc.host.answer.answer import Answer, Chart
from cyscc.host.command_line.commands import add_question, answer_question, texts
from cyscc.host.command_line.parser import Parser, UsageError
from cyscc.host.output.errors import InputError
from cyscc.host.specification.ask import Ask, Rule, SpecError, question
from cyscc.host.specification.overrides import NO_OVERRIDES, Overrides
from cyscc.host.specification.place import KERNEL, TAKEN, Place
from cyscc.host.specification.run import Interval
from cyscc.hw.config import PRESETS
from cyscc.sim.memory import Fixed, Hc2, parse_profile
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2Mcycles", Interval(cycles=2_000_000)),
        ("1.5kcycles", Interval(cycles=1500)),
        ("7 cycles", Interval(cycles=7)),
        ("1e6cycles", Interval(cycles=1_000_000)),
        ("3Gcycles", Interval(cycles=3 * 10**9)),
        ("30s", Interval(seconds=30.0)),
        ("0.5s", Interval(seconds=0.5)),
        ("5min", Interval(seconds=300.0)),
        ("2h", Interval(seconds=7200.0)),
        ("1e15s", Interval(seconds=1e15)),
        ("1e15cycles", Interval(cycles=10**15)),
    ],
)
def test_intervals(text: str, expected: Interval) -> None:
    assert Interval.parse(text) == expected


@pytest.mark.parametrize("text", ["", "5", "5m", "min", "-5s", "5 hours", "1e999s", "2mcycles", "0x5s", "5s5s", "nans"])
def test_what_is_none(text: str) -> None:
    with refused(ValueError, f"{text!r} is not an interval such as 2Mcycles, 30s or 5min"):
        Interval.parse(text)


@pytest.mark.parametrize("text", ["0s", "0cycles", "0.5cycles", "1e99s", "1000000000000001cycles"])
def test_what_is_too_short_or_too_long(text: str) -> None:
    with refused(ValueError, f"{text!r} is no interval: it must be above 0, not above 10^15, and whole cycles"):
        Interval.parse(text)


def test_values_go_where_they_belong() -> None:
    texts = ["neighbour_depth = 64", "memory.bank_busy=20", "blocking_reservation=true", "clock_mhz=133.5"]
    changes = Overrides.parse(texts)
    expected = PRESETS["hc2"].replace(neighbour_depth=64, blocking_reservation=True, clock_mhz=133.5)
    assert changes.applied_to(PRESETS["hc2"]) == expected
    assert changes.applied_to_memory(Hc2()) == Hc2(bank_busy=20)
    assert Overrides.of(changes.values()) == changes
    assert changes.config_text("hc2") == "hc2 (neighbour_depth=64, blocking_reservation=true, clock_mhz=133.5)"
    assert changes.memory_text("hc2") == "hc2 (bank_busy=20)"


def test_values_are_applied_together() -> None:
    changes = Overrides.parse(["intersection_kernels=4", "bfs_kernels=4"])
    assert changes.applied_to(PRESETS["hc2"]) == PRESETS["hc2"].replace(intersection_kernels=4, bfs_kernels=4)


def test_no_change_leaves_everything() -> None:
    assert Overrides.parse([]) == NO_OVERRIDES
    assert NO_OVERRIDES.applied_to(PRESETS["test"]) is PRESETS["test"]
    assert NO_OVERRIDES.config_text("test") == "test"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["=3"], "'=3' is not KEY=VALUE"),
        (["engines=1\nlinks=2"], "engines: '1\\nlinks=2' is no value of TOML"),
        (["engines=" + "[" * 9999], f"engines: '{'[' * 9999}' is no value of TOML"),
    ],
)
def test_what_is_no_change(texts: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Overrides.parse(texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory.bank=1", r"memory key 'bank' is not known for profile 'hc2': choose from .*; did you mean banks\?"),
        ("memory.bank_busy=0", "memory bank_busy must be an integer from 1 to 10000, not 0"),
        ("memory.bank_busy=2.0", "memory bank_busy must be an integer from 1 to 10000, not 2.0"),
    ],
)
def test_impossible_memories(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Overrides.parse([text]).applied_to_memory(Hc2())


def test_a_changed_memory_is_read_as_it_is_shown() -> None:
    changes = Overrides.parse(["memory.links=1", "memory.bank_busy=20"])
    assert parse_profile(changes.memory_text("hc2")) == Hc2(links=1, bank_busy=20)
    assert parse_profile("fixed:75 (latency=80)") == Fixed(latency=80)
    with pytest.raises(ValueError, match=r"^memory key 'links' is not known for profile 'fixed': choose from latency$"):
        parse_profile("fixed:75 (links=1)")


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("120000", Place(cycles=(120_000, 120_000)), None),
        ("12e4", Place(cycles=(120_000, 120_000)), "120000"),
        ("1000:2000", Place(cycles=(1000, 2000)), None),
        ("5:5,bank=3.17", Place(cycles=(5, 5), bank=(3, 17)), "5,bank=3.17"),
        ("level=3", Place(level=(3, 3)), None),
        ("level=2^3", Place(level=(8, 8)), "level=8"),
        (
            "level=3-5,iteration=2,phase=backward",
            Place(level=(3, 5), iteration=(2, 2), phase="backward"),
            "iteration=2,phase=backward,level=3-5",
        ),
        ("engine=0,kernel=3", Place(engine=0, kernel=3), None),
        (
            "slot,engine=0,kernel=3,level=3",
            Place(cause="slot", engine=0, kernel=3, level=(3, 3)),
            "cause=slot,level=3,engine=0,kernel=3",
        ),
        ("event=slot", Place(cause="slot"), "cause=slot"),
        ("wait=slot,longer=200,nth=3", Place(cause="slot", longer=200, nth=3), "cause=slot,longer=200,nth=3"),
        ("level=3,wait=any", Place(cause="any", level=(3, 3)), "cause=any,level=3"),
        ("full:words,module=bfs", Place(event="full", fifo="words", module="bfs"), "full,fifo=words,module=bfs"),
        ("fifo=words,above=60", Place(fifo="words", above=60), None),
        ("overflow", Place(event="overflow"), None),
        ("event=overflow,level=2", Place(event="overflow", level=(2, 2)), "overflow,level=2"),
        ("vertex=4711,nth=2", Place(vertex=4711, nth=2), None),
        ("start", Place(), None),
        ("start,nth=2", Place(nth=2), "nth=2"),
    ],
)
def test_places(text: str, place: Place, shown: str | None) -> None:
    assert Place.parse(text) == place
    assert str(place) == (text if shown is None else shown)
    assert Place.parse(str(place)) == place


def test_places_of_parts() -> None:
    assert Place.of(np.int64(7)) == Place(cycles=(7, 7))
    assert Place.of() == Place.of("start") == Place()
    together = Place(level=(3, 5), bank=(3, 17), phase="forward", engine=1)
    assert Place.of("level=3-5", bank=(3, 17), phase="forward", engine=np.int32(1)) == together
    assert Place.of(together, kernel=None) == together
    with pytest.raises(ValueError, match=r"^level is there twice: in level=3, and 4$"):
        Place.of("level=3", level=4)


def test_cycles_of_intervals() -> None:
    assert Place.parse("64:127").widened(64) == ((64, 127), "")
    said = "the record has intervals of 64 cycles, so 100,level=2 is shown as 64:127"
    assert Place.parse("100,level=2").widened(64) == ((64, 127), said)
    assert Place.parse("level=2").widened(64) == (None, "")


def test_takers_know_parts_only() -> None:
    known = {"cycles", *Place.__dataclass_fields__}
    assert all(set(parts) <= known for parts in TAKEN.values())
    assert Place.parse("engine=0,kernel=3").taken("events").given == KERNEL[::2]
