"""A profile from outside the package, in `outside.py`: named by a file, in whole machines, cached by its source."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.driver.search import breadth_first_search
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.sim.configuration import PRESETS
from cyscc.sim.errors import SimulationError
from cyscc.sim.machine import create_machine
from cyscc.sim.memory import Profile, parse_profile
from cyscc.sim.trust import GivenText
from tests.sim.memory.stepper import Request, Stepper, flush, machine, read, write
from tests.sim.memory.traffic import play, requests
from tests.system.graphs import messy_graph

RULES = Path(__file__).with_name("outside.py")


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    # Of equal contents it would be the file that was loaded first.
    (tmp_path / "rules.py").write_text(f"# In {tmp_path}.\n{RULES.read_text()}")
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


EXTENDED = """
from dataclasses import dataclass
from typing import Any, ClassVar

from cyscc.sim.memory import Hc2
from cyscc.sim.memory.profiles.profile import parameter, rule


@dataclass(frozen=True, kw_only=True)
class Refreshed(Hc2):
    name: ClassVar[str] = "refreshed"
    own: ClassVar[dict[str, int]] = {"seen": 1, "late": 32}
    shared: ClassVar[dict[str, int]] = {"served": 1}

    every: int = parameter(7, low=1, high=1000)
    statistics = lambda self, state, **all: Hc2.statistics(self, state, **all) | {"late": state.own["late"].tolist()}
    MORE
"""
IN_PYTHON = """
    @rule
    def serve(self, shared: Any, is_read: int, inherited: int) -> int:
        shared.served += 1
        return inherited + 5 * (shared.served % self.every == 0)

    @rule
    def read_back(self, own: Any, ae: int, port: int, time: int, inherited: int) -> int:
        own.late[port] += inherited - time + ae
        return inherited + (own.late[port] & 1)

    @rule
    def answered(self, own: Any, shown: int) -> None:
        own.seen += shown

    @rule
    def stalled(self, own: Any, cycle: int, inherited: tuple[int, int]) -> tuple[int, int]:
        reads, writes = inherited
        return reads | (cycle % 50 == 0), writes | (own.seen & 2)

    @rule
    def restless(self) -> bool:
        return True
"""
IN_CPP = """
namespace cyscc::memory {

template <class Self>
struct Refreshed : Hc2<Self> {
    using Base = Hc2<Self>;
    static int64_t serve(const Parameters& p, Shared& shared, int64_t ae, int64_t address, int64_t is_read,
                         int64_t entered, int64_t now) {
        ++shared.served;
        return Base::serve(p, shared, ae, address, is_read, entered, now) + 5 * (shared.served % p.every == 0);
    }
    static int64_t read_back(const Parameters& p, Side& side, int64_t port, const Request& request) {
        side.own.late[port] += side.number;
        return Base::read_back(p, side, port, request) + (side.own.late[port] & 1);
    }
    static void answered(const Parameters& p, Side& side, int64_t shown) {
        Base::answered(p, side, shown);
        side.own.seen += shown;
    }
    static Stalled stalled(const Parameters& p, Side& side, int64_t cycle) {
        Stalled masks = Base::stalled(p, side, cycle);
        masks.reads |= cycle % 50 == 0;
        masks.writes |= side.own.seen & 2;
        return masks;
    }
    static bool restless(const Parameters&, const Side&, int64_t) { return true; }
};

}  // namespace cyscc::memory
"""


def test_rules_that_extend_a_profile_are_the_same_in_python_and_as_a_header(tmp_path: Path) -> None:
    (tmp_path / "python.py").write_text(EXTENDED.replace("    MORE", IN_PYTHON))
    (tmp_path / "refreshed.h").write_text(IN_CPP)
    (tmp_path / "header.py").write_text(EXTENDED.replace("MORE", 'header: ClassVar[str] = "refreshed.h"'))
    plan = requests(engines=3, ports=6, count=200, kind=np.arange(200) % 5 == 4)
    plan["address"] += 8 * np.random.default_rng(1).integers(0, 4000, plan.shape)
    played = []
    for text in ("hc2", f"{tmp_path}/python.py", f"{tmp_path}/header.py"):
        memory = machine(parse_profile(GivenText(text)), engines=3, ports=6)
        found = play(memory, plan, cycles=3000)
        played.append((found.accepted.tolist(), found.seen.tolist(), memory.statistics() | {"profile": ""}))
        assert memory.error() is None
    assert played[1] == played[2]
    assert played[0] != played[1]


def test_header_that_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "refreshed.h").write_text(IN_CPP.replace("++shared.served", "++shared.nothing"))
    (tmp_path / "header.py").write_text(EXTENDED.replace("MORE", 'header: ClassVar[str] = "refreshed.h"'))
    with pytest.raises(SimulationError) as caught:
        machine(parse_profile(GivenText(f"{tmp_path}/header.py")))
    assert str(caught.value).startswith(f"{tmp_path}/refreshed.h: cannot be compiled: line 9: error: ")
    assert "nothing" in str(caught.value)
