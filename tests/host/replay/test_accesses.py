"""The log of memory accesses of a replay, against what the record of the same run counts."""

from pathlib import Path

import pandas as pd
import pytest

from cyscc.host.command_line.main import main
from cyscc.host.output.progress import Progress
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher
from cyscc.host.replay.replaying import Replay
from cyscc.host.replay.watching import watch_run
from cyscc.host.runs.rerun import Rerun

GRAPH = "".join(f"{v} {(v * 5 + step) % 40}\n" for v in range(40) for step in (1, 2, 7)) * 8

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


def test_accesses_are_those_that_the_record_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(GRAPH + "1 41\n41 42\n42 41\n")
    options = ("--config", "test", "--queue-slack", "0", "--record-interval", "64", "--quiet")
    assert main(["scc", "g.txt", *options, "--record", "seen"]) == 0
    record = Record(tmp_path / "seen")
    assert record.attempts["attempt"].max() > 0, "its queues overflow"
    replay = Replay(Rerun(record.document, record.folder, Progress(quiet=True), threads=2))
    every, some = AccessWatcher(), AccessWatcher(window=(700, 900))
    assert watch_run(replay, [every], aim="") == record.cycles
    watch_run(replay, [some], last=900, aim="")
    found = every.frame()

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

    part = found[found["cycle"].between(700, 900)][some.frame().columns].reset_index(drop=True)
    assert len(part) > 50
    assert some.frame().equals(part)
