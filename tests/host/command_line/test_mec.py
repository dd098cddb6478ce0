"""`cyscc mec`: the table, the JSON, the file, and the accelerator (a fake)."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import Dropped
from cyscc.host.command_line.main import main
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor

pytestmark = pytest.mark.usefixtures("wide")

LEAK = "3 5 7\n0 0 0 1\n0 1 1 0.5\n0 1 2 0.5\n1 0 1 1\n1 1 0 0.5\n1 1 2 0.5\n2 0 2 1\n"
"""Two states, each with a choice to itself and one half to the other, half to a third."""


@pytest.fixture(autouse=True)
def model(folder: Path) -> None:
    (folder / "leak.tra").write_text(LEAK)
    # One state leads to a pair that cannot be left.
    (folder / "pair.tra").write_text("3 3 4\n0 0 0 0.5\n0 0 1 0.5\n1 0 2 1\n2 0 1 1\n")


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
    way: list[str], workshop: Workshop, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "robot.tra").write_text(ROBOT)
    before = os.dup(0)
    try:
        with (folder / "robot.tra").open() as file:
            os.dup2(file.fileno(), 0)
        assert main(["mec", "-", "--choices", "-", *way]) == 0
    finally:
        os.dup2(before, 0)
        os.close(before)
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


def test_a_wrong_result_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cyscc.host.baselines.mec.basic.drop_choices", nothing_is_lost)
    assert main(["mec", "leak.tra", "-o", "mecs.txt", "--json", "out.json"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err == (
        "cyscc mec: wrong result: state 1 is not strongly connected with state 0 by choices that stay in their MEC\n"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["g.txt", "leak.tra", "pair.tra"]


def nothing_is_lost(mdp: Mdp, _: np.ndarray) -> Dropped:
    return Dropped(np.zeros(mdp.choice_count, np.bool_), 0, np.diff(mdp.choices))
