"""A profile from outside the package, in `outside.py`: named by a file, in whole machines, cached by its source."""

from dataclasses import replace
from pathlib import Path

import pytest

from cyscc.host.driver.search import breadth_first_search
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.sim.configuration import PRESETS
from cyscc.sim.machine import create_machine
from cyscc.sim.memory import Profile, parse_profile
from cyscc.sim.trust import GivenText
from tests.sim.memory.stepper import Request, Stepper, flush, machine, read, write
from tests.system.graphs import messy_graph

RULES = Path(__file__).with_name("outside.py")


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    (tmp_path / "rules.py").write_text(RULES.read_text())
    return parse_profile(GivenText(f"{tmp_path}/rules.py:9"))


def test_rules_hold(profile: Profile) -> None:
    assert str(profile) == "channel:9"
    bench = Stepper(machine(profile, engines=2, ports=2))
    bench.step([read(0, 4096), read(1, 4096 + 64)])
    bench.run(20)
    bench.step([read(0, 4096 + 72)])
    assert [(cycle, list(view.responses)) for cycle, view in bench.run(20)] == [(23, [0])]
    histogram = bench.memory.statistics()["read_latency"]["histogram"]
    assert histogram == [[2, 1], [9, 1], [10, 1]]


@pytest.mark.parametrize(
    ("values", "request_", "rule", "answer"),
    [
        ({"latency": 2**62}, read(0, 4096), "serve", f"cycle {2**62}, which is not from 2 to 1000000000"),
        ({"latency": 1}, read(0, 4096), "serve", "cycle 1, which is not from 2 to 1000000000"),
        ({"latency": -9}, read(0, 4096), "serve", "-9"),
        ({"latency": 2**62}, write(0, 4096, 0), "serve", f"cycle {2**62}, which is not from 0 to 1000000000"),
        ({"flush": 2**62}, flush(0), "flushed", f"cycle {2**62}, which is not from 2 to 1000000000"),
        ({"flush": -9}, flush(0), "flushed", "cycle -9, which is not from 2 to 1000000000"),
    ],
)
def test_answer_out_of_range(
    profile: Profile, values: dict[str, int], request_: Request, rule: str, answer: str
) -> None:
    memory = machine(replace(profile, **values))
    Stepper(memory).step([request_])
    kind = ("read", "write", "flush")[request_[0]]
    assert memory.settle(0) != 0
    error = str(memory.error())
    assert error.startswith(f"memory: {kind} (engine 0 port 0 cycle 0): ")
    assert error.endswith(f"/rules.py: {rule}: answered {answer}")


def test_executors_agree(profile: Profile) -> None:
    graph = messy_graph(60, 300, seed=1)
    found = []
    for executor in ("compiled", "amaranth"):
        machine = create_machine(PRESETS["test"], profile, executor=executor, cycle_limit=100_000)
        run = breadth_first_search(machine, PlacedGraph.place(machine, graph), 0)
        found.append((run.cycles, run.levels.tolist(), machine.statistics()["memory"]))
        machine.close()
    assert found[0] == found[1]
    assert found[0][0] > 0


def test_other_source_is_another_profile(profile: Profile, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(RULES.read_text().replace("return now + 2\n        shared", "return now + 3\n        shared"))
    changed = parse_profile(GivenText(f"{other}:9"))
    assert changed.describe() | {"source": ""} == profile.describe() | {"source": ""}
    assert changed.describe()["source"] != profile.describe()["source"]
    bench = Stepper(machine(changed, ports=2))
    bench.step([read(0, 4096)])
    bench.step([read(1, 4096)])
    assert [(cycle, list(view.responses)) for cycle, view in bench.run(20)] == [(4, [1]), (9, [0])]
