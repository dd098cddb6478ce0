"""Where points are, against what pandas finds in the tables of a record."""

from typing import Any

import pandas as pd
import pytest

from cyscc.host.output.errors import InputError
from cyscc.host.replay.point import CAUSE_EVENTS, Point, Span, find
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.record.plain import Plain
from tests.record.synthetic import Shape
from tests.refusals import refused

SHAPES = pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
WHERE = ("level", "iteration", "phase", "module")
WHO = ("module", "engine", "kernel")
RESTRICTED = ["", ",level=1", ",level=2,engine=1", ",engine=0,kernel=1", ",phase=forward,kernel=0", ",module=bfs"]
OF_COMPONENTS = [*RESTRICTED, ",phase=backward,iteration=2", ",module=intersection", ",phase=intersection,engine=1"]


def restricted(rows: pd.DataFrame, point: Point, names: tuple[str, ...]) -> pd.DataFrame:
    for name in names:
        if (value := getattr(point, name)) is not None:
            rows = rows[rows[name] == value]
    return rows


def instructions_of(plain: Plain, point: Point) -> pd.DataFrame:
    rows = plain.instructions.assign(end=plain.instructions["start"] + plain.instructions["cycles"])
    return restricted(rows, point, WHERE)


def spans(plain: Plain, rows: pd.DataFrame, cycles: Any) -> list[Span]:
    """Return the parts of instructions that are in intervals, given by their first cycles."""
    interval = plain.document["interval"]
    return [
        Span(module=row.module, start=row.start, first=max(cycle, row.start), end=min(cycle + interval, row.end))
        for row in rows.itertuples()
        for cycle in sorted(set(cycles))
        if cycle < row.end and row.start < cycle + interval
    ]


def whole(row: Any) -> list[Span]:
    return [Span(module=row["module"], start=row["start"], first=row["start"], end=row["end"])]


@SHAPES
@pytest.mark.parametrize("event", ["slot", "issue_2"])
def test_causes(shape: Shape, event: str) -> None:
    record, plain = record_of(shape), plain_of(shape)
    assert event in CAUSE_EVENTS
    for where in OF_COMPONENTS if shape.iterations else RESTRICTED:
        point = Point.parse(event + where)
        kernels = restricted(plain.of("instruction_kernels"), point, WHO)
        own = instructions_of(plain, point)
        own = own[own["instruction"].isin(kernels[kernels[event] > 0]["instruction"])]
        if own.empty:
            with pytest.raises(InputError, match=r"in the run: (it happens in|\w+ never happens)"):
                find(point, record)
            continue
        intervals = restricted(plain.of("kernels"), point, WHO)
        expected = spans(plain, own.head(1), intervals[intervals[event] > 0]["cycle"])
        assert find(point, record) == expected, where


@SHAPES
def test_full_fifos(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    depths = {(module, each["name"]): each["depth"] for module, its in plain.machine["fifos"].items() for each in its}
    fifos = plain.of("fifos")
    full = fifos[fifos["most"] >= [depths[key] for key in zip(fifos["module"], fifos["fifo"], strict=True)]]
    for name in ("full", "full:word", "full:visit"):
        for where in ("", ",level=0", ",engine=0,kernel=1", ",iteration=2" if shape.iterations else ",level=4"):
            point = Point.parse(name + where)
            rows = restricted(full, point, WHO)
            if point.fifo is not None:
                rows = rows[rows["fifo"] == point.fifo]
            own = instructions_of(plain, point)
            expected = [
                span
                for module, its in rows.groupby("module")
                for span in spans(plain, own[own["module"] == module], its["cycle"])
            ]
            if expected:
                found = find(point, record)
                assert found == sorted(expected, key=lambda span: span.first), point
                continue
            why = "no FIFO is full there" if rows.empty else "it is full at other times"
            with refused(InputError, f"{record.folder}: there is no {point} in the run: {why}"):
                find(point, record)


@SHAPES
def test_starts_and_idle_kernels(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    for where in OF_COMPONENTS if shape.iterations else RESTRICTED:
        idle = Point.parse(f"idle{where}")
        own = instructions_of(plain, idle)
        if "engine" not in where and "kernel" not in where:
            start = Point.parse(f"start{where}")
            assert find(start, record) == own["start"].iloc[0]
        kernels = restricted(plain.of("instruction_kernels"), idle, WHO)
        kernels = kernels[kernels["no_work"] > 0].merge(own[["instruction", "start"]], on="instruction")
        assert find(idle, record) == (kernels["start"] + kernels["done"]).min(), where


@SHAPES
def test_duplicates(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    twice = plain.instructions[plain.instructions["duplicates"] > 0]
    for where in ("", ",level=1", ",level=2", ",level=4" if shape is BFS else ",level=0"):
        point = Point.parse(f"duplicate{where}")
        own = instructions_of(plain, point)
        own = own[own["duplicates"] > 0]
        if len(own):
            assert find(point, record) == whole(own.iloc[0])
            continue
        every = plain.tables["instructions"]
        every = every[every["duplicates"] > 0]
        first = every.iloc[0]
        iteration = f" of iteration {first['iteration']}" if shape.iterations else ""
        why = f"it happens in {len(every)} instructions, first in {first['phase']}, level {first['level']}{iteration}"
        with refused(InputError, f"{record.folder}: there is no {point} in the run: {why}"):
            find(point, record)
    assert 0 < len(twice) < len(plain.instructions)


def test_overflows_are_in_the_last_instructions_of_attempts_that_were_given_up() -> None:
    record, plain = record_of(SCC), plain_of(SCC)
    every = plain.tables["instructions"]
    last = every[every["attempt"] == 0].iloc[-1]
    row = {**last, "module": "bfs", "end": last["start"] + last["cycles"]}
    for where in ("", f",level={last['level']}", ",module=bfs", f",iteration={last['iteration']}"):
        assert find(Point.parse(f"overflow{where}"), record) == whole(row)
    for where, why in (
        (",level=0", "no queue overflows there"),
        (",iteration=3", "there are iterations 1 to 2"),
        (",module=intersection,iteration=2", "there are bfs"),
    ):
        point = Point.parse(f"overflow{where}")
        with refused(InputError, f"{record.folder}: there is no {point} in the run: {why}"):
            find(point, record)


@pytest.mark.parametrize(
    ("shape", "at", "why"),
    [
        (BFS, "level=5", "there is no level=5 in the run: there are levels 0 to 4"),
        (BFS, "phase=backward", "there is no phase=backward in the run: there are forward"),
        (SCC, "iteration=4", "there is no iteration=4 in the run: there are iterations 1 to 3"),
        (SCC, "level=0,phase=intersection", "there is no level=0,phase=intersection in the run: there are none"),
        (BFS, "slot,engine=2", "there is no engine 2: there are 0 to 1"),
        (BFS, "slot,kernel=2", "there is no kernel 2: there are 0 to 1"),
        (SCC, "slot,module=intersection,kernel=1", "there is no kernel 1: there are 0 to 0"),
        (SCC, "full:visit,module=intersection", "there is no FIFO visit: there are reach, colour, word, unvisit"),
        (BFS, "resting", "there is no resting in the run: resting never happens"),
        (BFS, "hang", "there is no hang in the run: the run did not fail"),
    ],
)
def test_what_is_not_there(shape: Shape, at: str, why: str) -> None:
    record = record_of(shape)
    with refused(InputError, f"{record.folder}: {why}"):
        find(Point.parse(at), record)


def test_cycles() -> None:
    record = record_of(BFS)
    last = record.cycles - 1
    assert find(Point(cycle=last), record) == last
    assert find(Point(cycle=0), record) == 0
    with refused(InputError, f"{record.folder}: the run has {last + 1:,} cycles, and no cycle {last + 1:,}"):
        find(Point(cycle=last + 1), record)
