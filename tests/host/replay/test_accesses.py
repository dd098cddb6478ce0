"""Memory accesses that replays find, and the lives of vertices."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher
from cyscc.host.replay.pushes import PushWatcher
from cyscc.host.replay.vertices import vertex_history
from tests.host.replay.conftest import GRAPH, Recorded, replayed

ACCESSES = {
    ("bfs", "frontier_reader", "read", "queues", 8),
    ("bfs", "neighbour_reader", "read", "neighbours", 4),
    ("bfs", "word_reader", "read", "words", 8),
    ("bfs", "visitor", "write", "queues", 8),
    ("bfs", "visitor", "write", "words", 8),
    ("bfs", "visitor", "write", "queues", 4),
    ("intersection", "reach_reader", "read", "queues", 4),
    ("intersection", "colour_reader", "read", "colours", 4),
    ("intersection", "colour_reader", "read", "words", 8),
    ("intersection", "classifier", "write", "colours", 4),
    ("intersection", "classifier", "read", "words", 8),
    ("intersection", "unvisit_writer", "write", "words", 8),
}
"""Everything that a machine does with its memory: module, process, kind, array, bytes."""


@pytest.fixture(scope="module")
def restarted(recorded: Recorded) -> Record:
    """Return the record of a run that restarts."""
    graph = GRAPH * 8 + "1 41\n41 42\n42 41\n"
    record = recorded("--queue-slack", "0", "--record-interval", "64", graph=graph)
    assert record.attempt > 0, "its queues overflow"
    return record


def test_accesses_are_those_that_the_record_counts(restarted: Record) -> None:
    record, replay = restarted, replayed(restarted)
    every, some = AccessWatcher(), AccessWatcher(window=(700, 900))
    assert replay.watch([every], aim="") == record.cycles
    replay.watch([some], last=900, aim="")
    found = every.frame(record)

    found["interval"] = found["cycle"] // 64 * 64
    found["latency"] = (found["answered"] - found["cycle"]).where(found["kind"] == "read", 0)
    keys = ["interval", "engine", "array"]
    counted = found.assign(reads=found["kind"] == "read", writes=found["kind"] == "write").groupby(keys, observed=True)
    expected = record.frame("arrays").rename(columns={"cycle": "interval"}).set_index(keys)
    expected = expected[(expected[["reads", "writes"]] > 0).any(axis=1)].sort_index()
    sums = counted[["reads", "writes", "latency"]].sum()
    assert (
        sums.astype("int64")
        .reset_index()
        .astype(str)
        .equals(expected[["reads", "writes", "latency"]].astype("int64").reset_index().astype(str))
    )
    banks = record.frame("banks").groupby(["controller", "bank"])["accesses"].sum()
    assert found.groupby(["controller", "bank"]).size().to_dict() == banks[banks > 0].to_dict()
    assert set(found.groupby(["module", "process", "kind", "array", "size"], observed=True).groups) == ACCESSES
    spans = record.attempts
    for module, of in found.groupby("module", observed=True):
        own = spans[spans["module"] == module]
        within = pd.IntervalIndex.from_arrays(own["start"], own["end"], closed="left")
        assert (within.get_indexer(of["cycle"]) >= 0).all(), "an access is of the instruction that runs"

    part = found[found["cycle"].between(700, 900)][some.frame(record).columns].reset_index(drop=True)
    assert len(part) > 50
    assert some.frame(record).equals(part)


def test_pushes_are_those_that_the_record_counts(restarted: Record) -> None:
    record, replay = restarted, replayed(restarted)
    watcher = PushWatcher(record)
    replay.watch([watcher], aim="")
    pushes = watcher.duplicates().groupby("instruction")["vertex"]
    instructions = record.instructions
    expected = instructions[instructions["duplicates"] > 0]["duplicates"]
    assert (pushes.size() - pushes.nunique()).to_dict() == expected.to_dict()
    dropped = watcher.overflows()
    assert set(dropped["attempt"]) == set(range(record.attempt))
    assert set(dropped["vertex"]) <= set(range(43))


def test_history_of_a_vertex(recorded: Recorded) -> None:
    record = recorded(graph=GRAPH + "1 41\n41 42\n42 41\n2 12\n2 41\n")
    replay = replayed(record)
    history = vertex_history(replay, 12)
    assert history.in_degree == (replay.graph.targets == replay.graph.index(12)).sum()
    events = history.events
    assert events["cycle"].is_monotonic_increasing
    assert history.visit is not None
    visit = events.loc[history.visit]
    assert visit["event"] == "visited"
    assert 100 < history.lead < 1000
    early = vertex_history(replay, 12, first_visit=True)
    assert early.events.loc[history.visit].drop("answered").equals(visit.drop("answered"))
    with pytest.raises(InputError, match=r"g.txt: the graph has no vertex 40$"):
        vertex_history(replay, 40)
    absent = vertex_history(replay, 0)
    assert absent.visit is None
    assert absent.absent == "it is trimmed"


LIVED = "".join(f"{100 + 3 * v} {100 + 3 * ((v * 5 + step) % 40)}\n" for v in range(40) for step in (1, 2, 7))

"""Vertices are named 100, 103, 106 and so on."""


def test_whole_life_of_a_vertex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(LIVED + "101 103\n")
    assert main(["bfs", "g.txt", "--source", "100", "--config", "test", "--record", "seen", "--quiet"]) == 0
    life = cyscc.replay("seen", life_of=103)
    text = str(life)
    events, first = life.events, life.first_visit
    assert first is not None
    visit = events.loc[first]
    kernel = f"engine{visit['engine']}.bfs{visit['kernel']}"
    assert text.startswith("vertex 103: 3 edges out, 6 in\n")
    assert life.facts["first visited"] == f"in cycle {visit['cycle']:,} (level 0) by {kernel}, as a neighbour of 100"
    assert "ids of its 3 neighbours read" in text
    document = json.loads(json.dumps(life.document()))
    assert [event["cycle"] for event in document["events"]] == events["cycle"].tolist()
    assert document["first_visit"] == document["vertices"][0]["first_visit"] == first

    assert cyscc.replay("seen", "vertex=103,nth=1", "id.vcd", cycles=10).cycle == events["cycle"].iloc[0]
    assert main(["replay", "seen", "--life-of", "103", "--cycles", "301", "-o", "w.vcd"]) == 0
    printed = capfd.readouterr().out
    assert f"\nvertex=103 is at cycle {visit['cycle']:,}: {kernel}, marked as visited (neighbour of 100)\n" in printed
    read = events[(events["event"] == "id_read") & (events["kernel"] == visit["kernel"])]["cycle"].iloc[0]
    assert f"\nw.vcd: cycles {max(read - 100, 0):,} to " in printed, "the read of its id is shown"
    assert main(["replay", "seen", "--life-of", "101", "--json", "life.json"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines == ["vertex 101: 1 edge out, 0 in", "never visited  it is not reached from 100"]
    assert json.loads(Path("life.json").read_text())["vertices"][0]["first_visit"] is None
    for at, missing in (
        ("vertex=101", " in the run: it is not reached from 100"),
        ("vertex=103,nth=99", r" in the run: it happens \d+ times"),
    ):
        assert main(["replay", "seen", "--at", at]) == 2
        assert re.fullmatch(rf"cyscc replay: seen: there is no {at}{missing}\n", capfd.readouterr().err)
