"""What replays find: waits, events, detectors."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from cyscc.host.analysis.event_kinds import EventQuery
from cyscc.host.analysis.events import FoundEvents
from cyscc.host.command_line.main import main
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.replay.events import events_of
from cyscc.host.replay.finding import Located, MissingPointError, Search, find
from cyscc.host.specification.place import CAUSE_EVENTS, Place
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.host.replay.conftest import GRAPH, Recorded, setting_of
from tests.record.checks import Plain
from tests.record.synthetic import Shape
from tests.refusals import refused
from tests.system.covering import COVERING, settings_of

SHAPES = pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
WHERE = ("level", "iteration", "phase", "module")
WHO = ("module", "engine", "kernel")
RESTRICTED = ["", ",level=1-2", ",level=2,engine=1", ",engine=0,kernel=1", ",phase=forward,kernel=0", ",module=bfs"]
OF_COMPONENTS = [*RESTRICTED, ",phase=backward,iteration=2", ",module=intersection", ",phase=intersection,engine=1"]


def restricted(rows: pd.DataFrame, point: Place, names: tuple[str, ...]) -> pd.DataFrame:
    for name in names:
        if (value := getattr(point, name)) is not None:
            first, last = value if isinstance(value, tuple) else (value, value)
            rows = rows[(rows[name] >= first) & (rows[name] <= last)]
    return rows


def instructions_of(plain: Plain, point: Place) -> pd.DataFrame:
    rows = plain.instructions.assign(end=plain.instructions["start"] + plain.instructions["cycles"])
    return restricted(rows, point, WHERE)


def whole(rows: pd.DataFrame) -> list[tuple[int, int]]:
    return [(row.start, row.end) for row in rows.itertuples()]


def spans_of(point: Place, record: Record) -> Sequence[tuple[int, int]]:
    found = find(point, record)
    assert isinstance(found, Search)
    assert found.nth == 1
    return found.spans


@SHAPES
@pytest.mark.parametrize("event", ["slot", "issue_2", "wait=slot,longer=20", "wait=any,longer=40"])
def test_causes(shape: Shape, event: str) -> None:
    record, plain = record_of(shape), plain_of(shape)
    causes = ["response", "credit", "slot", "refused", "resting"] if "any" in event else [event[5:9].strip(",")]
    if event in CAUSE_EVENTS:
        causes = [event]
    for where in OF_COMPONENTS if shape.iterations else RESTRICTED:
        point = Place.parse(event + where)
        kernels = restricted(plain.of("instruction_kernels"), point, WHO)
        least = kernels[causes].max(axis=1) > (point.longer or 0)
        own = instructions_of(plain, point)
        own = own[own["instruction"].isin(kernels[least]["instruction"])]
        if own.empty:
            why = r"elsewhere it happens in \d+ instructions?, first in engine|\w+ never happens|no kernel there has it"
            with pytest.raises(MissingPointError, match=f"in the run: ({why})"):
                find(point, record)
        else:
            assert spans_of(point, record) == whole(own), where


@SHAPES
def test_fifos(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    depths = {(module, each["name"]): each["depth"] for module, its in plain.machine["fifos"].items() for each in its}
    fifos = plain.of("fifos")
    fifos = fifos.assign(depth=[depths[key] for key in zip(fifos["module"], fifos["fifo"], strict=True)])
    bounds = plain.of("instruction_fifos")
    interval = plain.document["interval"]
    for name in ("full", "full:words", "full:visits", "fifo=words,above=3", "fifo=visits,above=2"):
        for where in ("", ",level=0", ",engine=0,kernel=1", ",iteration=2" if shape.iterations else ",level=4"):
            point = Place.parse(name + where)
            expected = []
            for row in instructions_of(plain, point).itertuples():
                its = restricted(fifos[fifos["module"] == row.module], point, WHO)
                its = its[(its["cycle"] < row.end) & (its["cycle"] + interval > row.start)]
                its = its.merge(bounds[bounds["instruction"] == row.instruction], on="fifo", suffixes=("", "_there"))
                if point.fifo is not None:
                    its = its[its["fifo"] == point.fifo]
                limit = its["depth"] - 1 if point.above is None else point.above
                if ((its["most"] > limit) & (its["most_there"] > limit)).any():
                    expected.append((row.start, row.end))
            if expected:
                assert spans_of(point, record) == expected, point
            else:
                why = "in the run: (no FIFO is full there|it holds .* at most)$"
                with pytest.raises(MissingPointError, match=why):
                    find(point, record)


@SHAPES
def test_starts_and_idle_kernels(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    for where in OF_COMPONENTS if shape.iterations else RESTRICTED:
        idle = Place.parse(f"idle{where}")
        own = instructions_of(plain, idle)
        if "engine" not in where and "kernel" not in where:
            start = Place.parse(f"start{where}")
            assert find(start, record) == Located(cycle=own["start"].iloc[0])
        kernels = restricted(plain.of("instruction_kernels"), idle, WHO)
        kernels = kernels[kernels["no_work"] > 0].merge(own[["instruction", "start"]], on="instruction")
        idle_cycles = sorted(kernels["start"] + kernels["done"])
        for nth in (1, len(idle_cycles)):
            found = find(replace(idle, nth=nth), record)
            assert isinstance(found, Located)
            assert found.cycle == idle_cycles[nth - 1], where


@SHAPES
def test_duplicates(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    twice = plain.instructions[plain.instructions["duplicates"] > 0]
    for where in ("", ",level=1", ",level=2", ",level=4" if shape is BFS else ",level=0"):
        point = Place.parse(f"duplicate{where}")
        own = instructions_of(plain, point)
        own = own[own["duplicates"] > 0]
        if len(own):
            assert spans_of(point, record) == whole(own.head(1))
            last = find(replace(point, nth=own["duplicates"].sum()), record)
            assert last == Search(spans=whole(own.tail(1)), nth=own["duplicates"].iloc[-1])
            continue
        why = f"elsewhere it happens in {len(twice)} instructions, first in "
        with pytest.raises(InputError, match=f"there is no {point} in the run: {why}"):
            find(point, record)
    assert 0 < len(twice) < len(plain.instructions)


def test_overflows_are_in_the_last_instructions_of_attempts_that_were_given_up() -> None:
    record, plain = record_of(SCC), plain_of(SCC)
    every = plain.tables["instructions"]
    last = every[every["attempt"] == 0].iloc[-1]
    span = (last["start"], last["start"] + last["cycles"])
    for where in ("", f",level={last['level']}", ",module=bfs", f",iteration={last['iteration']}"):
        assert spans_of(Place.parse(f"overflow{where}"), record) == [span]
    for where, why in (
        (",level=0", "no queue overflows there"),
        (",iteration=3", "there are iterations 1 to 2"),
        (",module=intersection,iteration=2", "there are bfs"),
    ):
        point = Place.parse(f"overflow{where}")
        with refused(InputError, f"{record.folder}: there is no {point} in the run: {why}"):
            find(point, record)


def test_cycles() -> None:
    record = record_of(BFS)
    last = record.cycles - 1
    for cycle in (0, last):
        assert find(Place.of(cycle), record) == Located(cycle=cycle)
    with refused(InputError, f"{record.folder}: the run has {last + 1:,} cycles, and no cycle {last + 1:,}"):
        find(Place.of(last + 1), record)


def restarted(recorded: Recorded, *options: str) -> Record:
    """Return the record of a run that restarts."""
    return recorded("--queue-slack", "0", "--record-interval", "64", *options, graph=GRAPH * 8)


# The second has lean visits, the last one reads pairs.
@pytest.fixture(scope="module", params=["test", "3", pytest.param("4", marks=pytest.mark.long)])
def record(request: pytest.FixtureRequest, recorded: Recorded) -> Record:
    return restarted(recorded, *settings_of(COVERING[request.param]))


@pytest.fixture(scope="module")
def events(record: Record) -> FoundEvents:
    return found(record, replay=True, longer=20, top=10_000)


def found(record: Record, place: str = "start", **asked: object) -> FoundEvents:
    query = EventQuery(place=Place.parse(place), **asked)  # type: ignore[arg-type]
    return events_of(record, query, setting_of(record))


def test_waits(events: FoundEvents, record: Record) -> None:
    waits = events.of("wait")
    assert len(waits) == events.found["wait"] > 10
    assert (waits["cycles"] > 20).all()
    assert set(waits["cause"]) <= {"response", "credit", "slot", "refused", "resting"}
    # All of them together are no longer than the record's sums, each in its own instruction.
    sums = record.frame("instruction_kernels").set_index(["instruction", "engine", "module", "kernel"])
    for key, its in waits.groupby(["instruction", "engine", "module", "kernel", "cause"]):
        assert its["cycles"].sum() <= sums.loc[key[:-1], key[-1]]
    slots = events.kernels[events.kernels["kind"] == "wait"]
    assert slots["found"].sum() == len(waits)
    assert slots["first"].min() == waits["cycle"].min()
    assert slots["longest"].max() == waits["cycles"].max()
    first = waits.iloc[0]
    assert first["command"].endswith(f"seen --at {first['cycle']} --before 50 --cycles {first['cycles'] + 100}")


def test_vertices_of_duplicates_and_overflows(events: FoundEvents, record: Record) -> None:
    rows = record.instructions[record.instructions["duplicates"] > 0]
    again = events.of("duplicate").groupby("instruction").size()
    assert again.to_dict() == rows["duplicates"].to_dict()
    assert set(events.of("duplicate")["vertex"]) <= set(range(40))
    dropped = events.of("overflow")
    last = record.attempts.groupby("attempt").tail(1)
    assert set(dropped["instruction"]) == set(last.index[last["attempt"] < record.attempt])
    assert events.found["overflow"] == len(dropped) > 0


def test_what_the_hottest_bank_was_accessed_for(events: FoundEvents, record: Record) -> None:
    bank = events.of("bank").iloc[0]
    assert events.hottest is not None
    assert events.hottest["accesses"].sum() == bank["amount"]
    assert events.hottest["accesses"].is_monotonic_decreasing
    words = events.hottest[events.hottest["array"] == "words"]
    assert set(words["vertex"]) <= set(range(40))


def test_nothing_that_long(recorded: Recorded) -> None:
    events = found(restarted(recorded), "cause=slot,longer=10000,level=1")
    assert events.frame.empty
    text, command = events.nearest["wait"]
    assert text.startswith("no wait there is longer than 10,000 cycles; the longest: slot of engine")
    assert " --at " in command


def test_the_command(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(restarted(recorded).folder.parent)
    assert main(["events", "seen", "--longer", "20", "--sort", "time", "--top", "3", "--json", "out.json"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert "\nwaits, the first of " in out
    document = json.loads(Path("out.json").read_text())
    assert document["replayed"]
    assert len(document["events"]) == 3
    cycles = [row["cycle"] for row in document["events"]]
    assert cycles == sorted(cycles)
    window = f"{cycles[0] + 1}:{cycles[-1]}"
    assert main(["events", "seen", "--at", f"{window},cause=any,longer=20", "--sort", "time", "--json", "-"]) == 0
    inside = [row["cycle"] for row in json.loads(capfd.readouterr().out)["wait"]]
    assert inside[-1] == cycles[-1]
    assert min(inside) > cycles[0]


def test_another_version_is_refused(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    record = restarted(recorded)
    monkeypatch.setitem(record.document, "program", "other")
    with pytest.raises(InputError, match="the run was made by another version of this program"):
        found(record, longer=20)
