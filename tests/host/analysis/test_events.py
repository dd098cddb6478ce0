"""Events of a record: compared with its tables, read by pandas alone."""

import numpy as np
import pandas as pd
import pytest

import cyscc
from cyscc.host.analysis.event_kinds import KINDS, EventQuery
from cyscc.host.analysis.events import FoundEvents, RecordEvents
from cyscc.host.record.reader import Record
from cyscc.host.specification.place import Place
from tests.host.analysis.report.pages import plain_of, record_of
from tests.record.checks import NAMES, Plain
from tests.record.synthetic import Shape

WIDTH = 32
SHAPE = Shape(levels=(60, 300, 90), iterations=2, interval=WIDTH, restarted=True)


@pytest.fixture(scope="module")
def record() -> Record:
    return record_of(SHAPE)


@pytest.fixture(scope="module")
def plain() -> Plain:
    return plain_of(SHAPE)


@pytest.fixture(scope="module")
def events(record: Record) -> FoundEvents:
    return found(record, top=10_000)


def found(record: Record, *kinds: str, top: int = 100, order: str = "size", **scope: object) -> FoundEvents:
    query = EventQuery(kinds=kinds, place=Place.of(**scope).taken("events"), top=top, order=order)
    return RecordEvents(record, query).events()


def mains(plain: Plain) -> dict[int, int]:
    """Return the instruction with most cycles of each interval, cycle by cycle; none of the last attempt is -1."""
    rows = plain.tables["instructions"]
    owner = np.full(plain.total, -1)
    for row in rows.to_dict("records"):
        owner[row["start"] : row["start"] + row["cycles"]] = row["instruction"]
    of_attempt = dict(zip(rows["instruction"], rows["attempt"], strict=True))
    last, chosen = rows["attempt"].max(), {}
    for begin in range(0, plain.total, WIDTH):
        own = owner[begin : begin + WIDTH]
        counts = pd.Series(own[own >= 0]).value_counts()
        if counts.empty:
            chosen[begin] = -1
        elif of_attempt[int(counts.index[0])] == last or (counts == counts.iloc[0]).sum() > 1:
            chosen[begin] = int(counts.index[0])
    return chosen


def test_intervals_are_those_of_the_last_attempt_and_of_the_host(events: FoundEvents, plain: Plain) -> None:
    expected = mains(plain)
    for kind in ("bank", "controller", "link", "latency"):
        rows = events.of(kind)
        assert rows["cycle"].is_unique
        same = [
            expected.get(cycle, -2) == number for cycle, number in zip(rows["cycle"], rows["instruction"], strict=True)
        ]
        # Where two instructions have equally many cycles, any of them may be named.
        assert np.mean(same) > 0.9
    lengths = np.minimum(plain.total - events.of("bank")["cycle"].to_numpy(np.int64), WIDTH)
    assert events.of("bank")["cycles"].tolist() == lengths.tolist()


def test_memory(events: FoundEvents, plain: Plain) -> None:
    banks, links, memory = plain.of("banks"), plain.of("links"), plain.machine["memory"]
    controllers = banks.groupby(["cycle", "controller"])[["accesses", "waiting"]].sum().reset_index()
    for kind, rows, column, keys, busy in (
        ("bank", banks, "accesses", ["controller", "bank"], memory["bank_busy"]),
        ("controller", controllers, "accesses", ["controller"], memory["bank_busy"] / memory["banks"]),
        ("link", links, "requests", ["engine", "link"], 1),
    ):
        for row in events.of(kind).head(12).to_dict("records"):
            its = rows[rows["cycle"] == row["cycle"]]
            assert row["amount"] == its[column].max(), kind
            own = its[(its[keys] == [row[key] for key in keys]).all(axis=1)].iloc[0]
            assert own[column] == row["amount"]
            assert row["waiting"] == pytest.approx(own["waiting"] / own[column])
            assert row["use"] == pytest.approx(own[column] * busy / row["cycles"])
            assert row["unit"] == column
    sizes = events.of("bank")["amount"].to_numpy()
    assert (np.diff(sizes) <= 0).all()
    for row in events.of("bank").head(12).to_dict("records"):
        if row["instruction"] >= 0:
            its = plain.of("instruction_banks", **{key: row[key] for key in ("instruction", "controller", "bank")})
            if its.empty:  # its accesses are of another instruction in the interval
                assert row["about"] == ""
                continue
            shares = its.groupby("array")["accesses"].sum() / its["accesses"].sum()
            assert row["about"].count("%") == (shares >= 0.2).sum()
            assert row["array"] == shares.idxmax() or (shares == shares.max()).sum() > 1


def test_latencies_and_ports(events: FoundEvents, plain: Plain) -> None:
    arrays, engines = plain.of("arrays"), plain.of("engines")
    for row in events.of("latency").head(12).to_dict("records"):
        its = arrays[arrays["cycle"] == row["cycle"]].groupby("array")[["latency", "reads"]].sum()
        assert row["amount"] == pytest.approx(its["latency"].sum() / its["reads"].sum())
        means = its["latency"] / its["reads"]
        assert row["about"] == f"{row['array']} {means.max():,.0f}"
        assert means[row["array"]] == means.max()
    ports = plain.kernels("bfs")
    for row in events.of("port").head(12).to_dict("records"):
        its = engines[engines["cycle"] == row["cycle"]]
        stalls = {"no read": its["read_stalls"].sum(), "no write": its["write_stalls"].sum()}
        assert stalls[row["about"]] == max(stalls.values())
        assert row["amount"] == pytest.approx(max(stalls.values()) / ports / row["cycles"])


def test_limits(events: FoundEvents, plain: Plain, record: Record) -> None:
    limits = ["response", "credit", "slot", "refused", "resting"]
    for row in events.of("cause").head(24).to_dict("records"):
        its = plain.of("kernels", cycle=row["cycle"], module=row["module"])
        assert row["amount"] == pytest.approx(its[limits].sum().max() / len(its) / row["cycles"])
        own = its[(its["engine"] == row["engine"]) & (its["kernel"] == row["kernel"])][row["cause"]].iloc[0]
        assert own == its[row["cause"]].max()
        assert row["use"] == pytest.approx(own / row["cycles"])
    one = found(record, cause="slot", engine=1, kernel=0)
    assert set(one.frame["kind"]) == {"cause"}
    assert set(one.frame["cause"]) == {"slot"}
    assert set(zip(one.frame["engine"], one.frame["kernel"], strict=True)) == {(1, 0)}


def test_full_fifos_are_joined_over_time(events: FoundEvents, plain: Plain) -> None:
    depths = {
        (module, fifo["name"]): fifo["depth"] for module, fifos in plain.machine["fifos"].items() for fifo in fifos
    }
    rows = plain.of("fifos")
    full = rows[[row.most >= depths[row.module, row.fifo] for row in rows.itertuples()]]
    full = full[full["cycle"].isin(list(mains(plain)))]
    covered = {
        (row["engine"], row["module"], row["kernel"], row["fifo"], cycle)
        for row in events.of("fifo").to_dict("records")
        for cycle in range(row["cycle"], row["cycle"] + row["cycles"], WIDTH)
    }
    assert covered == set(zip(*(full[name] for name in ("engine", "module", "kernel", "fifo", "cycle")), strict=True))
    assert (events.of("fifo")["amount"] == events.of("fifo")["cycles"].astype(float)).all()


def test_instructions(events: FoundEvents, plain: Plain) -> None:
    rows = plain.instructions[plain.instructions["duplicates"] > 0]
    own = events.of("duplicate").sort_values("cycle")
    assert own["amount"].tolist() == rows["duplicates"].tolist()
    assert own["cycle"].tolist() == rows["start"].tolist()
    first = own.iloc[0]
    assert first["at"] == f"duplicate,iteration={first['iteration']},phase={first['phase']},level={first['level']}"
    (overflow,) = events.of("overflow").to_dict("records")
    every = plain.tables["instructions"]
    assert overflow["instruction"] == every[every["attempt"] == 0]["instruction"].max()


def test_restrictions(record: Record, plain: Plain) -> None:
    some = found(record, phase="forward", iteration=1, level=1)
    assert set(some.frame["phase"]) == {"forward"}
    assert set(some.frame["level"]) == {1}
    (number,) = plain.instructions.query("iteration == 1 and phase == 'forward' and level == 1")["instruction"]
    assert set(some.frame["instruction"]) == {number}
    banks = plain.of("banks")
    place = tuple(banks[["controller", "bank"]].iloc[0].tolist())
    bank = found(record, bank=place).frame
    assert set(bank["kind"]) == {"bank"}
    its = plain.of("banks", controller=place[0], bank=place[1])
    assert bank["amount"].sum() == its[its["cycle"].isin(bank["cycle"])]["accesses"].sum()
    in_time = found(record, "bank", order="time", top=3).frame["cycle"]
    assert in_time.tolist() == sorted(found(record, "bank", top=10_000).frame["cycle"])[:3]
    first = found(record, "fifo", fifo="words", order="time", top=1).frame.iloc[0]
    assert first["at"].startswith("full,fifo=words,engine=")
    assert first["command"] == f"cyscc replay {record.folder} --at {first['at']} --cycles {max(first['cycles'], 100)}"


def test_cycles_are_widened_to_whole_intervals(record: Record, events: FoundEvents) -> None:
    first = int(record.instructions["start"].iloc[2]) // WIDTH * WIDTH
    some = found(record, at=f"{first + 1}:{first + WIDTH}", top=10_000).frame
    whole = events.frame[events.frame["kind"].isin(["cause", "bank", "port", "latency"])]
    assert set(some["cycle"][some["kind"] == "bank"]) == {first, first + WIDTH}
    for kind, its in whole.groupby("kind"):
        its = its[its["cycle"].between(first, first + 2 * WIDTH - 1)]
        assert some["cycle"][some["kind"] == kind].tolist() == its["cycle"].tolist()
    said = cyscc.events(record, at=f"{first + 1}:{first + WIDTH}").said
    wide = f"{first}:{first + 2 * WIDTH - 1}"
    assert said[0].endswith(f"cycles, so {first + 1}:{first + WIDTH} is shown as {wide}")


def test_answer(record: Record, events: FoundEvents) -> None:
    answer = cyscc.events(record)
    text = str(answer)
    for kind in events.found:
        assert f"\n{KINDS[kind].title}" in text
    # The hottest took 8 accesses in 32 cycles, more than it can serve.
    assert "  8  100%  " in text.split("\nhottest banks, the largest of ")[1].splitlines()[2]
    assert events.of("bank")["command"].iloc[0] in text.replace("\n  ", " ")
    document = cyscc.events(record, top=10_000).document()
    assert len(document["events"]) == len(events.frame) == sum(events.found.values())
    assert {name: each["found"] for name, each in document["kinds"].items()} == events.found
    assert all(row["fifo"] for row in document["events"] if row["kind"] == "fifo")
    assert [row["amount"] for row in document["bank"]] == events.of("bank")["amount"].tolist()
    assert set(NAMES) >= {row["cause"] for row in document["events"] if row["kind"] == "cause"}


def test_nothing_found_says_what_is_nearest() -> None:
    events = found(record_of(Shape(levels=(3,))), "fifo", "overflow")
    assert events.frame.empty
    assert events.nearest["overflow"].text == "no queue overflows"
    assert "nearest: " in events.nearest["fifo"].text
    assert events.nearest["fifo"].command.startswith("cyscc replay ")
