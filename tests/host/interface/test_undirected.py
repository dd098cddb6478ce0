"""`--undirected` wherever a graph is read: runs, what is made of their records, comparisons, sweeps, and in Python."""

import json
from pathlib import Path
from typing import Any

import pytest

import cyscc
from cyscc.host.command_line.main import main

MACHINE = ("--config", "test", "--memory", "fixed:9", "--quiet")
PYTHON: dict[str, Any] = {"config": "test", "memory": "fixed:9"}
SAID = (
    "cyscc: g.txt: read as directed, although line 1 says '# Undirected graph': "
    "--undirected reads each edge both ways\n"
)
TWICE = "cyscc: g.txt: has both directions of 1 edge, which are parallel edges, each read both ways\n"


@pytest.fixture(autouse=True)
def graphs(folder: Path) -> None:
    """Write a graph that says that it is undirected, and one with the edges that it stands for."""
    # A path whose ends are trimmed if it is directed, a self-loop, and an edge in both directions.
    Path("g.txt").write_text("# Undirected graph\n1 2\n2 3\n2 9\n3 3\n3 4\n5 6\n6 5\n")
    cyscc.write_graph(cyscc.read_graph("g.txt", undirected=True), "both.txt")


def done(*words: str) -> dict[str, Any]:
    """Run a command, and return its JSON."""
    assert main([*words, "--json", "json"]) == 0
    return dict(json.loads(Path("json").read_text()))


def told(document: dict[str, Any]) -> dict[str, Any]:
    """Return what equal runs have in common."""
    return {name: document[name] for name in ("cycles", "edges_traversed", "statistics")}


def test_components(capfd: pytest.CaptureFixture[str]) -> None:
    directed = done("scc", "g.txt", *MACHINE)
    assert (directed["components"]["count"], directed["trimmed"]) == (6, 3)
    assert directed["options"]["undirected"] is False
    capfd.readouterr()
    found = done("scc", "g.txt", *MACHINE, "--undirected", "--labels", "labels")
    assert capfd.readouterr().err == TWICE
    assert found["options"]["undirected"] is True
    assert (found["graph"]["edges"], found["trimmed"]) == (13, 0)
    assert Path("labels").read_text() == "1 1\n2 1\n3 1\n4 1\n5 5\n6 5\n9 1\n"
    assert told(found) == told(done("scc", "both.txt", *MACHINE))
    unchecked = done("scc", "g.txt", *MACHINE, "--undirected", "--simplify", "--no-verify")
    assert (unchecked["graph"]["dropped_edges"], unchecked["components"]) == (3, found["components"])
    by_name = cyscc.scc(Path("g.txt"), undirected=True, name="g", **PYTHON)
    given = cyscc.scc(cyscc.read_graph("both.txt"), **PYTHON)
    assert by_name.cycles == given.cycles == found["cycles"]["total"]


def test_a_recorded_search_is_made_again(capfd: pytest.CaptureFixture[str]) -> None:
    found = done("bfs", "g.txt", "--source", "4", *MACHINE, "--undirected", "--record", "seen", "--levels", "levels")
    assert Path("levels").read_text() == "1 3\n2 2\n3 1\n4 0\n9 3\n"
    assert told(found) == told(done("bfs", "both.txt", "--source", "4", *MACHINE))
    assert main(["replay", "seen", "--at", "level=1", "-o", "w.vcd", "--quiet"]) == 0
    # A graph in Python is read both ways as well, and that of a result is as it was read.
    capfd.readouterr()
    graph = cyscc.read_graph("g.txt")
    assert capfd.readouterr().err == SAID
    search = cyscc.bfs(graph, 4, undirected=True, record="again", **PYTHON)
    assert capfd.readouterr().err == TWICE.replace("g.txt", "graph")
    assert search.cycles == found["cycles"]["total"]
    assert cyscc.replay(search, "level=1", "v.vcd").cycle == search.level_records["start"][1]
    assert cyscc.replay("again", "level=1", "v.vcd", graph=graph).cycle == search.level_records["start"][1]
    tried = cyscc.what_if(search, {"memory": "fixed:20"}, folder="runs")
    assert tried.cycles == search.cycles
    assert capfd.readouterr().err == ""


def test_records_from_before_are_directed() -> None:
    graph = cyscc.read_graph("g.txt")
    search = cyscc.bfs(graph, 1, record="seen", **PYTHON)
    assert search.record is not None
    del search.record.document["run"]["options"]["undirected"]
    assert cyscc.replay(search.record, "level=1", "w.vcd", graph="g.txt").cycle == search.level_records["start"][1]


def test_sweeps(capfd: pytest.CaptureFixture[str]) -> None:
    words = ("--algorithm", "scc", "--config", "test", "--memory", "fixed:9", "--jobs", "1", "--quiet")
    rows = done("sweep", "g.txt", "random:16:2", "--set", "undirected=false,true", *words)["points"]
    assert capfd.readouterr().err == SAID
    assert [row["undirected"] for row in rows] == [False, True] * 2
    assert rows[1]["cycles"] == cyscc.scc("both.txt", **PYTHON).cycles
    generated = cyscc.generate("random", 16, 2).graph
    capfd.readouterr()
    assert rows[3]["cycles"] == cyscc.scc(generated, undirected=True, **PYTHON).cycles
    assert capfd.readouterr().err == TWICE.replace("g.txt", "graph")
    again = done("sweep", "g.txt", "random:16:2", "--undirected", *words)["points"]
    assert [row["point"] for row in again] == [row["point"] for row in rows[1::2]]
    assert capfd.readouterr().err == TWICE


def test_comparisons(capfd: pytest.CaptureFixture[str]) -> None:
    document = done("software", "tarjan", "g.txt", "--undirected", "--quiet")
    assert (document["undirected"], document["graph"]["edges"]) == (True, 13)
    assert document["components"] == {"count": 2, "largest": 5}
    words = ("--algorithms", "tarjan", "--configs", "test", "--memory", "fixed:9", "--runs", "1", "--quiet")
    compared = done("compare", "g.txt", "--undirected", *words)
    assert capfd.readouterr().err == TWICE * 2
    first = compared["graphs"][0]
    assert (compared["undirected"], first["components"], first["largest"]) == (True, 2, 5)
    assert compared["machines"][0]["cycles"] == cyscc.scc("both.txt", **PYTHON).cycles
