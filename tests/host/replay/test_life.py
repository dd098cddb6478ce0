"""The life of queue entries in the window of a replay, and that of a vertex in a run."""

import json
import re
from pathlib import Path

import pytest

import cyscc
from cyscc.host.command_line.main import main

GRAPH = "".join(f"{100 + 3 * v} {100 + 3 * ((v * 5 + step) % 40)}\n" for v in range(40) for step in (1, 2, 7))
"""Vertices are named 100, 103, 106 and so on."""


def test_lives_are_those_of_the_waveforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(GRAPH)
    assert main(["bfs", "g.txt", "--source", "100", "--config", "test", "--record", "seen", "--quiet"]) == 0
    window = ("--at", "level=1", "--cycles", "200", "-o", "level.vcd", "--quiet")
    assert main(["replay", "seen", *window, "--life", "all.kanata"]) == 0
    assert main(["replay", "seen", *window, "--life", "one.kanata", "--life-of", "engine0.bfs1"]) == 0
    assert main(["life", "level.vcd", "-o", "own.kanata", "--quiet", "--graph", "g.txt"]) == 0
    text = Path("all.kanata").read_text()
    assert text == Path("own.kanata").read_text()
    assert text.startswith("Kanata\t0004\n")
    assert 0 < len(Path("one.kanata").read_text()) < len(text)
    assert main(["replay", "seen", *window, "--life", "vertex.kanata", "--life-of", "103"]) == 0
    assert " vertex 103:" in Path("vertex.kanata").read_text()
    named = re.findall(r" vertex (\d+): ", text)
    assert len(named) == text.count("\nI\t"), "every vertex is known"
    assert {int(name) % 3 for name in named} == {1}
    assert main(["replay", "seen", *window, "--life", "-", "--life-of", "1"]) == 2
    assert capfd.readouterr().err == (
        "cyscc replay: level.vcd: nothing of vertex 1 begins in the window (--life-of); "
        "without --at, its whole life is found\n"
    )
    assert not Path("level.vcd").exists()


def test_whole_life_of_a_vertex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(GRAPH + "101 103\n")
    assert main(["bfs", "g.txt", "--source", "100", "--config", "test", "--record", "seen", "--quiet"]) == 0
    life = cyscc.life("seen", 103)
    text = str(life)
    events, first = life.events, life.first_visit
    assert first is not None
    visit = events.loc[first]
    kernel = f"engine{visit['engine']}.bfs{visit['kernel']}"
    assert text.startswith("vertex 103: 3 edges out, 6 in\n")
    assert life.facts["first visited"] == f"in cycle {visit['cycle']:,} (level 0) by {kernel}, as a neighbour of 100"
    assert f"{kernel}  queue[0] > C[0]     103  pushed to slot" in text
    assert "expanded, 3 neighbours" in text
    document = json.loads(json.dumps(life.document()))
    assert [event["cycle"] for event in document["events"]] == events["cycle"].tolist()
    assert document["first_visit"] == document["vertices"][0]["first_visit"] == first
    assert [stage["cycle"] for stage in document["stages"]] == life.stages["cycle"].tolist()

    assert cyscc.replay("seen", "vertex=103,nth=1", "id.vcd", cycles=10).cycle == events["cycle"].iloc[0]
    visited = ("--at", "vertex=103", "--before", "300", "--cycles", "301", "-o", "w.vcd")
    assert main(["replay", "seen", *visited, "--life-of", "103"]) == 0
    printed = capfd.readouterr().out
    assert printed.startswith(
        f"vertex=103 is at cycle {visit['cycle']:,}: {kernel}, marked as visited (neighbour of 100)\n"
    )
    assert "queue[0] > C[0]" in printed
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
    assert main(["replay", "seen", "--life-of", "engine0"]) == 2
    line = "--life-of: 'engine0' is no vertex, a number; kernels are of waveforms"
    assert capfd.readouterr().err == f"cyscc replay: {line}\n"


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--config", "fast-test"], "kernels that hand ids to others (visited_filter)"),
        (["--config", "test", "--set", "pair_reads=true"], "kernels that read neighbour ids in pairs (pair_reads)"),
        (["--config", "test", "--set", "edge_chunk=4"], "kernels that queue vertices in chunks (edge_chunk)"),
        (
            ["--config", "test", "--set", "short_ring=true"],
            "kernels with a common station on the ring (short_ring)",
        ),
    ],
    ids=["fast-test", "pairs", "chunks", "short ring"],
)
def test_life_of_a_vertex_whose_stages_are_not_told(
    options: list[str], parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(GRAPH + "101 103\n")
    assert main(["scc", "g.txt", *options, "--record", "seen", "--quiet"]) == 0
    life = cyscc.life("seen", 103)
    assert life.first_visit is not None
    assert life.said == [f"stages in BFS kernels are missing: lives are not told of {parts}"]
    assert life.document()["untold"] == f"lives are not told of {parts}"
    # What an intersection kernel does is told on every machine.
    assert [window["about"] for window in life.windows] == ["colouring"]
    assert {stage.rstrip("0123456789") for stage in life.stages["kernel"]} <= {
        "engine0.intersection",
        "engine1.intersection",
    }
