"""`cyscc compare`: tables, JSON, plot, and refusals."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import cyscc
from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.baselines.peers import installed_peers
from cyscc.host.command_line.main import main
from cyscc.host.experiments.plan.plan import Plan
from cyscc.sim.configuration import AcceleratorConfig


@pytest.fixture(autouse=True)
def graph(folder: Path) -> None:
    (folder / "g.txt").write_text("1 2\n2 3\n3 1\n3 4\n")
    (folder / "h.txt").write_text("1 2\n2 1\n")


def test_everything_on_two_graphs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "g.txt", "h.txt", "--configs", "test", "--threads", "1", "--runs", "1"]
    assert main([*command, "--json", "out.json", "--plot", "out.svg"]) == 0
    out, err = capfd.readouterr()
    names = [*installed_peers(), *KINDS, "test"]
    told = [line.rpartition(": ")[0] for line in err.splitlines()]
    assert told == [f"cyscc: {graph}: {name}" for graph in ("g.txt", "h.txt") for name in names]
    assert out.startswith("2 graphs\n\ngraphs\n  graph  vertices  edges  components  largest  reference\n")
    assert "\nsoftware, real time in ms\n" in out
    document = json.loads((folder / "out.json").read_text())
    first = {"graph": "g.txt", "vertices": 4, "edges": 4, "components": 2, "largest": 3, "reference": "scipy"}
    assert document["graphs"][0] == first
    software, machines = document["software"], document["machines"]
    assert [entry["name"] for entry in software] == 2 * names[:-1]
    assert document["versions"] == {name: version(name) for name in installed_peers()}
    machine = machines[0]
    assert machine["milliseconds"] == pytest.approx(machine["cycles"] / 150e3)
    assert main(["scc", "g.txt", "--config", "test", "--threads", "1", "--json", "alone.json", "--quiet"]) == 0
    alone = json.loads((folder / "alone.json").read_text())
    assert (machine["cycles"], machine["edges"]) == (alone["cycles"]["total"], alone["edges_traversed"])
    levels = alone["forward"]["levels"] + alone["backward"]["levels"]
    assert machine["passes"] == levels + alone["intersection"]["runs"]
    assert machine["counts"] == {name: alone[name] for name in ("iterations", "trimmed")}
    assert machine["where"] == "150 MHz, memory hc2"
    assert document["verified"] is document["complete"] is True
    picture = (folder / "out.svg").read_text()
    assert "machine: simulated time, cycles by its clock" in picture


def test_an_interrupted_comparison_leaves_what_it_has_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cyscc.host.runs.execution.Session.execute", interrupt)
    command = ["compare", "g.txt", "--algorithms", "scipy,tarjan", "--configs", "test", "--json", "out.json"]
    assert main(command) == 130
    out, err = capfd.readouterr()
    assert (out, err.splitlines()[-1]) == ("", "cyscc compare: interrupted")
    document = json.loads((folder / "out.json").read_text())
    assert document["complete"] is False
    assert [entry["name"] for entry in document["software"]] == ["scipy", "tarjan"]


def test_areas_of_the_machines(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, ...]] = []

    def areas(plan: Plan, configs: list[AcceleratorConfig], **_: object) -> dict[Any, Any]:
        asked.append(plan.families)
        return {config: {"luts": 1000 * config.engines} for config in configs}

    monkeypatch.setattr("cyscc.host.experiments.fpga.area.areas", areas)
    command = ["compare", "g.txt", "--algorithms", "tarjan", "--configs", "test", "--area", "--family", "xc6v"]
    assert main([*command, "--json", "-"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["machines"][0]["luts"] == 2000
    assert "luts" not in document["software"][0]
    assert asked == [("xc6v",)]


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("cyscc.host.baselines.peers.find_spec", lambda name: None)
    assert main(["compare", "g.txt", "--algorithms", "tarjan,igraph"]) == 2
    error = "cyscc compare: --algorithms: igraph is not installed: pip install 'cyscc[peers]'\n"
    assert capfd.readouterr() == ("", error)


def test_the_function_is_the_command() -> None:
    graph = cyscc.graph_from_edges(4, [0, 1, 2, 2], [1, 2, 0, 3])
    answer = cyscc.compare(graph, algorithms="scipy,tarjan", configs=(), runs=1)
    assert answer.software["name"].tolist() == ["scipy", "tarjan"]
    assert answer.machines.empty
    assert answer.graphs.loc[0, ["graph", "components", "largest"]].tolist() == ["graph", 2, 3]
    assert "<svg" in answer.page()
