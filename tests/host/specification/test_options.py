"""Values of options in the notation of the command line: charts, intervals, overrides and places."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.answer.answer import Answer, Chart
from cyscc.host.command_line.commands import add_question, answer_question
from cyscc.host.command_line.parser import Parser
from cyscc.host.specification.ask import question
from cyscc.host.specification.overrides import NO_OVERRIDES, Overrides
from cyscc.host.specification.place import KERNEL, TAKEN, Place
from cyscc.host.specification.run import Interval
from cyscc.hw.config import PRESETS
from cyscc.sim.memory import Fixed, Hc2, parse_profile
from tests.refusals import refused


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
