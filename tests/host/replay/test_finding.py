"""Where points are, against what pandas finds in the tables of a record."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest

from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.replay.finding import Located, MissingPointError, Search, find
from cyscc.host.specification.place import CAUSE_EVENTS, Place
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.record.plain import Plain
from tests.record.synthetic import Shape
from tests.refusals import refused

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
            with pytest.raises(MissingPointError, match=r"in the run: (it happens in|\w+ never happens|no wait is)"):
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
    for name in ("full", "full:word", "full:visit", "fifo=word,above=3", "fifo=visit,above=2"):
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
        why = f"it happens in {len(twice)} other instructions"
        with refused(InputError, f"{record.folder}: there is no {point} in the run: {why}"):
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


@pytest.mark.parametrize(
    ("shape", "at", "why"),
    [
        (BFS, "level=5", "there is no level=5 in the run: there are levels 0 to 4"),
        (BFS, "phase=backward", "there is no phase=backward in the run: there are forward"),
        (SCC, "iteration=4", "there is no iteration=4 in the run: there are iterations 1 to 3"),
        (SCC, "level=0,phase=intersection", "there is no phase=intersection,level=0 in the run: there are no levels"),
        (BFS, "slot,engine=2", "there is no engine 2: there are 0 to 1"),
        (BFS, "slot,kernel=2", "there is no kernel 2: there are 0 to 1"),
        (SCC, "slot,module=intersection,kernel=1", "there is no kernel 1: there are 0 to 0"),
        (SCC, "full:visit,module=intersection", "there is no FIFO visit: there are reach, colour, word, unvisit"),
        (BFS, "resting", "there is no cause=resting in the run: resting never happens"),
        (BFS, "hang", "there is no hang in the run: the run did not fail"),
    ],
)
def test_what_is_not_there(shape: Shape, at: str, why: str) -> None:
    record = record_of(shape)
    with refused(InputError, f"{record.folder}: {why}"):
        find(Place.parse(at), record)


def test_cycles() -> None:
    record = record_of(BFS)
    last = record.cycles - 1
    for cycle in (0, last):
        assert find(Place.of(cycle), record) == Located(cycle=cycle)
    with refused(InputError, f"{record.folder}: the run has {last + 1:,} cycles, and no cycle {last + 1:,}"):
        find(Place.of(last + 1), record)


@pytest.mark.parametrize(
    ("shape", "at", "near"),
    [
        (BFS, "level=5", ["level=4", "level=3", "level=2"]),
        (SCC, "level=9,iteration=2", ["iteration=2,level=2", "iteration=2,level=1"]),
        (SCC, "iteration=4", ["iteration=3"]),
        (BFS, "iteration=2", ["start"]),
        (BFS, "idle,nth=1000", ["idle,nth=15"]),
        (BFS, "resting", []),
        (BFS, "wait=slot,longer=100000", None),
    ],
)
def test_what_is_nearest(shape: Shape, at: str, near: list[str] | None) -> None:
    record = record_of(shape)
    try:
        found = find(Place.parse(at), record)
    except MissingPointError as missing:
        points = missing.near
    else:
        assert isinstance(found, Search)
        points = found.near
    assert (None if points is None else [str(point) for point in points]) == near
