"""The AEs run ahead of each other until the next message can arrive."""

import ctypes

import numpy as np
import pytest

from cyscc.hw.config import PRESETS
from cyscc.hw.shell import Shell
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory import Memory, MemoryModel
from cyscc.sim.memory.library import PROTOTYPES
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.system.runs import made

TEST = PRESETS["test"]


@pytest.fixture
def sync_points(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which machines that are made from now on add their sync points."""
    points = [0]
    kept: list[MemoryModel] = []

    def model(memory: Memory) -> MemoryModel:
        plain = original(memory)
        seal = PROTOTYPES["seal"](ctypes.cast(plain.seal, ctypes.c_void_p).value or 0)

        def count(context: int, cycle: int) -> int:
            points.append(cycle + 1)
            return seal(context, cycle)

        counting = MemoryModel.from_buffer_copy(plain)
        counting.seal = PROTOTYPES["seal"](count)
        kept.append(counting)  # machines have its address
        return counting

    original = vars(Memory)["model"].fget
    monkeypatch.setattr(Memory, "model", property(model))
    return points


def test_machine_meets_only_where_a_message_can_arrive(sync_points: list[int]) -> None:
    # Links have 8 cycles, and the memory answers after 60, so a round has 30 at most.
    with made("hc2", "hc2") as machine:
        outcome(machine, TANGLE)
    rounds = np.diff(sync_points)
    assert rounds[0] == 8, "the host is not done with its commands"
    assert 24 < rounds.max() <= 30
    assert {4, 9, 17} <= set(rounds), "the token arrives between multiples of 8"
    assert sync_points[-1] % 8 == 0, "the host sees the machine at multiples of 8"


@pytest.mark.long
@pytest.mark.parametrize(
    "sizes",
    [
        {"engines": 3, "bfs_kernels": 1, "link_cycles": 1, "ring_stages": 1},
        {"engines": 4, "bfs_kernels": 3, "intersection_kernels": 2, "link_cycles": 40, "ring_stages": 5},
        {"engines": 2, "bfs_kernels": 5, "link_cycles": 5},
    ],
    ids=lambda sizes: "-".join(map(str, sizes.values())),
)
@pytest.mark.parametrize("memory", ["hc2", "hbm2", "stress:2", "fixed:75"])
def test_other_rings_on_both_executors(sizes: dict[str, int], memory: str) -> None:
    found = []
    for executor in ("amaranth", "compiled"):
        with made(TEST.replace(**sizes), memory, executor=executor, threads=2) as machine:
            found.append([outcome(machine, TANGLE), outcome(machine, TANGLE, source=0)])
    for slow, fast in zip(*found, strict=True):
        assert_equal(slow, fast)


@pytest.mark.long
def test_message_before_the_declared_latency_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shell, "LINK_LATENCY", 12)
    early = pytest.raises(SimulationError, match=r"AE \d sends in cycle \d+ what arrives before the sync point \d+$")
    with made(TEST.replace(link_cycles=8), "hc2") as machine, early:
        outcome(machine, TANGLE)
