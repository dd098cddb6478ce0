"""The life of a vertex in a recorded run."""

import json
import re
from pathlib import Path

import pytest

import cyscc
from cyscc.host.command_line.main import main

GRAPH = "".join(f"{100 + 3 * v} {100 + 3 * ((v * 5 + step) % 40)}\n" for v in range(40) for step in (1, 2, 7))
"""Vertices are named 100, 103, 106 and so on."""


def test_whole_life_of_a_vertex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(GRAPH + "101 103\n")
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
        ("vertex=103,nth=99", r".*; nearest: .*: cyscc replay seen --at vertex=103,nth=\d+"),
    ):
        assert main(["replay", "seen", "--at", at]) == 2
        assert re.fullmatch(rf"cyscc replay: seen: there is no {at}{missing}\n", capfd.readouterr().err)
