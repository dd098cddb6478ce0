"""Commands of software, `software`, `compare` and `mec`: tables, JSON, limits, interrupts, the accelerator (a fake)."""

import gzip
import json
import multiprocessing
import os
import signal
import threading
from importlib.metadata import version
from pathlib import Path
from signal import setitimer
from typing import Any

import numpy as np
import pytest

import cyscc
from cyscc.host.baselines.algorithms import KINDS, Kind
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import Dropped
from cyscc.host.baselines.peers import installed_peers
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareRun
from cyscc.host.command_line.main import main
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.graph.csr import Graph
from cyscc.sim.configuration import AcceleratorConfig
from tests.conftest import standard_input
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor

pytestmark = pytest.mark.usefixtures("wide")

LEAK = "3 5 7\n0 0 0 1\n0 1 1 0.5\n0 1 2 0.5\n1 0 1 1\n1 1 0 0.5\n1 1 2 0.5\n2 0 2 1\n"
"""Two states, each with a choice to itself and one half to the other, half to a third."""


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "g.txt").write_text("1 2\n2 3\n3 1\n3 4\n")
    (folder / "h.txt").write_text("1 2\n2 1\n")
    (folder / "leak.tra").write_text(LEAK)
    # One state leads to a pair that cannot be left.
    (folder / "pair.tra").write_text("3 3 4\n0 0 0 0.5\n0 0 1 0.5\n1 0 2 1\n2 0 1 1\n")


def test_compiled_code_does_not_delay_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    over = threading.Event()

    def work(*_: object) -> Decomposition:
        if not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)
        # As compiled code, it does not notice the interrupt.
        over.wait(60)
        return Decomposition(labels=np.zeros(4, np.int64))

    monkeypatch.setattr(Kind, "load", lambda self: work)
    # A shell has its background jobs ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["software", "hong", "g.txt", "--threads", "2"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert not over.is_set()
    over.set()
    assert capfd.readouterr() == ("", "cyscc software: interrupted\n")


def test_a_time_limit(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["software", "hong", "g.txt", "--limit", "60", "--threads", "2"]) == 0
    assert "\nverified    yes\n" in capfd.readouterr().out

    def endless(graph: Graph, *_: object) -> Decomposition:
        while graph.vertices == 4:  # the warm-up is over
            pass
        return Decomposition(labels=np.zeros(graph.vertices, np.int64))

    monkeypatch.setattr(Kind, "load", lambda self: endless)
    monkeypatch.setattr("signal.setitimer", lambda which, limit: setitimer(which, limit / 1000))
    before = multiprocessing.active_children()
    assert main(["software", "hong", "g.txt", "--limit", "60", "--json", "-"]) == 3
    assert capfd.readouterr() == ("", "cyscc software: hong: given up after 60 s\n")
    assert set(multiprocessing.active_children()) <= set(before)


def test_wrong_components_are_an_error(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    found = Decomposition(labels=np.arange(4, dtype=np.uint32))
    wrong = SoftwareRun(algorithm="tarjan", device="cpu", threads=1, found=found, seconds=1.0)
    monkeypatch.setattr("cyscc.host.baselines.software.decomposition.run_software", lambda *_, **__: wrong)
    assert main(["software", "tarjan", "g.txt"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("cyscc software: wrong result: ")


def test_software_in_python() -> None:
    graph = cyscc.graph_from_edges(4, [0, 1, 2, 2], [1, 2, 0, 3])
    answer = cyscc.software("quach", graph, threads=1, pivots="3")
    assert (answer.title, answer.components) == ("graph: 4 vertices, 4 edges", {"count": 2, "largest": 3})
    assert answer.options == {"pivots": 3}


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


def test_compare_in_python() -> None:
    graph = cyscc.graph_from_edges(4, [0, 1, 2, 2], [1, 2, 0, 3])
    answer = cyscc.compare(graph, algorithms="scipy,tarjan", configs=(), runs=1)
    assert answer.software["name"].tolist() == ["scipy", "tarjan"]
    assert answer.machines.empty
    assert answer.graphs.loc[0, ["graph", "components", "largest"]].tolist() == ["graph", 2, 3]
    assert "<svg" in answer.page()


def test_the_file_has_the_states_that_are_in_one(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mec", "pair.tra", "-o", "mecs.txt"]) == 0
    assert (folder / "mecs.txt").read_text() == "1 1\n2 1\n"
    capfd.readouterr()
    assert main(["mec", "pair.tra", "-o", "-"]) == 0
    assert capfd.readouterr() == ("1 1\n2 1\n", "")


ROBOT = "6 10 16\n0 .1:1 .8:3 .1:4 south\n0 .4:0 .6:1 east\n1 .5:2 .5:4 south\n1 1:2 east\n2 1:2 stuck\n3 1:3\n"
ROBOT += "4 .6:3 .4:4 west\n4 1:5 east\n5 .9:2 .1:5 north\n5 1:4 west\n"


def test_files_beside_a_model(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "robot.tra").write_text(ROBOT)
    (folder / "robot.sta").write_text("(s,on)\n" + "".join(f"{state}:({9 - state},true)\n" for state in range(6)))
    with gzip.open(folder / "robot.lab.gz", "wt") as file:
        file.write('0="init" 1="goal"\n0: 0\n2: 1\n5: 1\n')
    assert main(["mec", "robot.tra", "--json", "out.json"]) == 0
    assert capfd.readouterr().out.split("\n\n")[1].splitlines() == [
        "MECs",
        "  MEC  states  choices  smallest state  labels",
        "    4       2        2  s=5, on=true    goal (1)",
        "    2       1        1  s=7, on=true    goal (1)",
        "    3       1        1  s=6, on=true",
    ]
    components = json.loads((folder / "out.json").read_text())["components"]
    assert [(each["mec"], each["labels"]) for each in components] == [(2, {"goal": 1}), (3, {}), (4, {"goal": 1})]
    assert components[2]["choices"] == [
        {"state": 4, "name": "s=5, on=true", "choice": 1, "action": "east"},
        {"state": 5, "name": "s=4, on=true", "choice": 1, "action": "west"},
    ]


def test_a_long_table_of_components_is_cut(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cyscc.host.interface.software._SHOWN", 1)
    monkeypatch.setattr("cyscc.host.baselines.mec.listing.MOST_LISTED", 2)
    (folder / "leak.lab").write_text('0="end"\n2: 0\n')
    assert main(["mec", "leak.tra", "--json", "out.json"]) == 0
    lines = [
        "MECs, those with labels first, then the largest: 1 of 3",
        "  MEC  states  choices  labels",
        "    2       1        1  end (1)",
    ]
    assert capfd.readouterr().out.split("\n\n")[1].splitlines() == lines
    assert json.loads((folder / "out.json").read_text())["components"] is None


@pytest.mark.parametrize("way", [[], ["--algorithm", "parallel"], ["--on", "accelerator", "--config", "test"]])
def test_the_choices_that_stay_of_a_model_from_standard_input(
    way: list[str], workshop: Workshop, capfd: pytest.CaptureFixture[str]
) -> None:
    with standard_input(ROBOT.encode()):
        assert main(["mec", "-", "--choices", "-", *way]) == 0
    assert capfd.readouterr() == ("2 0 2 stuck\n3 0 3\n4 1 4 east\n5 1 4 west\n", "")


def test_on_the_accelerator(folder: Path, workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--on", "accelerator", "--config", "test", "--memory", "fixed:75", "--set", "word_depth=32"]
    assert main(["mec", "leak.tra", *options, "--threads", "2", "--json", "out.json"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert workshop.asked["config"].word_depth == 32
    assert workshop.asked["threads"] == 2
    document = json.loads((folder / "out.json").read_text())
    assert document["on"] == "accelerator"
    assert (document["config"], document["memory"], document["executor"]) == ("test", "fixed:75", "compiled")
    assert document["set"] == {"word_depth": 32}
    assert document["configuration"]["word_depth"] == 32
    assert document["mecs"] == {"count": 3, "states": 3, "largest": 1}
    cycles = [each["cycles"] for each in document["rounds"]]
    # In the second round two states have no edges left, which the host trims.
    assert cycles[0] > 0
    assert cycles[1:] == [0]
    # Choices to stay are self-loops.
    assert [each["edges"] for each in document["rounds"]] == [4, 0]
    assert document["cycles"] == {"total": sum(cycles)}
    assert document["seconds"] == sum(cycles) / document["clock_hz"]
    assert document["wall"].keys() == {"load", "simulate", "verify"}
    lines = [line.strip() for line in out.splitlines()]
    assert lines[1] == (
        "algorithm  basic, components on the accelerator, test (word_depth=32), memory fixed:75, executor compiled"
    )
    assert lines[-3].split() == [
        *("round", "states", "choices", "transitions", "edges", "components", "dropped", "removed", "MECs", "cycles")
    ]
    assert lines[-1].split() == ["2", "2", "2", "2", "0", "2", "0", "0", "2", f"{cycles[1]:,}"]


def test_a_machine_that_finds_what_is_none_is_an_error(workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> FakeCoprocessor:
        machine = FakeCoprocessor()
        machine.stray_writes = lambda: [64]  # type: ignore[method-assign]  # as if it had written beside its arrays
        return machine

    workshop.make = broken
    assert main(["mec", "leak.tra", "--on", "accelerator", "--config", "test"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert "address 0x40, which is in no array, was written to" in err


def test_wrong_end_components_are_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cyscc.host.baselines.mec.basic.drop_choices", nothing_is_lost)
    assert main(["mec", "leak.tra", "-o", "mecs.txt", "--json", "out.json"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err == (
        "cyscc mec: wrong result: state 1 is not strongly connected with state 0 by choices that stay in their MEC\n"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["g.txt", "h.txt", "leak.tra", "pair.tra"]


def nothing_is_lost(mdp: Mdp, _: np.ndarray) -> Dropped:
    return Dropped(np.zeros(mdp.choice_count, np.bool_), 0, np.diff(mdp.choices))
