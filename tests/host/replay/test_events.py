"""Events that are found by a replay, against the record and the accesses of the run."""

import json
from pathlib import Path

import pytest

from cyscc.host.analysis.event_kinds import EventQuery
from cyscc.host.analysis.events import FoundEvents
from cyscc.host.command_line.main import main
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.replay.events import events_of
from cyscc.host.specification.place import Place
from tests.host.replay.conftest import GRAPH, Recorded, setting_of


@pytest.fixture(scope="module", params=[(), ("--set", "lean_visits=true"), ("--set", "pair_reads=true")], ids="".join)
def record(request: pytest.FixtureRequest, recorded: Recorded) -> Record:
    """Return the record of a run that restarts."""
    return recorded("--queue-slack", "0", "--record-interval", "64", *request.param, graph=GRAPH * 8)


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


def test_nothing_that_long(record: Record) -> None:
    events = found(record, "cause=slot,longer=10000,level=1")
    assert events.frame.empty
    text, command = events.nearest["wait"]
    assert text.startswith("no wait there is longer than 10,000 cycles; the longest: slot of engine")
    assert " --at " in command


def test_the_command(record: Record, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(record.folder.parent)
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
    assert main(["events", "seen", "--bank", "3"]) == 2
    assert "must be a controller and its bank, as in 3.17, not '3'" in capfd.readouterr().err
    assert main(["events", "seen", "--kind", "bank", "--longer", "3"]) == 2
    assert capfd.readouterr().err == "cyscc events: longer is about waits, and not about bank\n"


def test_another_version_is_refused(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(record.document, "program", "other")
    with pytest.raises(InputError, match="the run was made by another version of this program"):
        found(record, longer=20)
