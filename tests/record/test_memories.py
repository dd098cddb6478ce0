"""What a run with `hc2` can be asked for, with other memories: record, replay, resuming, explanation, a trial."""

from pathlib import Path

import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.host.graph.generators import random_graph
from cyscc.host.record.reader import Record
from tests.host.command_line.test_checkpointing import interrupt
from tests.record.checks import check_record, frames


@pytest.mark.parametrize("memory", ["ddr4", pytest.param("hbm2", marks=pytest.mark.long)])
def test_a_run_is_recorded_resumed_replayed_explained_and_tried(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cyscc.write_graph(random_graph(1 << 9, 6, seed=4), "graph.npz")
    run = ["scc", "graph.npz", "--config", "test", "--memory", memory]
    assert main([*run, "--record", "whole", "--quiet"]) == 0
    whole = check_record("whole")
    interrupt(*run, "--record", "parts", "--checkpoint", "kept", "--checkpoint-every", "2kcycles")
    assert not Path("parts", "record.json").exists()
    assert main(["scc", "--resume", "kept", "--quiet"]) == 0
    parts = check_record("parts")
    theirs = frames(parts)
    assert all(rows.equals(theirs[name]) for name, rows in frames(whole).items())

    detail = cyscc.replay("whole", record_detail="level=2", output="again").record
    assert isinstance(detail, Record)
    assert detail.frame("banks")["accesses"].sum() > 0

    assert len(cyscc.explain("whole", banks=True).document()["banks"]) > 0
    (tried,) = cyscc.what_if("whole", {"memory.t_rcd": 100}, folder="tried").document()["changes"]
    assert tried["change"] > 0.1
