"""Order, and independence of how often and in which order the engines synchronize."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cyscc.sim.memory import Memory, Profile
from tests.sim.memory.stepper import machine
from tests.sim.memory.traffic import Played, Rounds, play, requests

CYCLES = 1500


def mixed(seed: int, *, engines: int, ports: int, words: int, count: int = 300) -> NDArray[np.void]:
    """Return random reads, writes and a few flushes of both sizes over `words` words."""
    rng = np.random.default_rng(seed)
    plan = requests(engines=engines, ports=ports, count=count)
    plan["kind"] = rng.choice(3, plan.shape, p=[0.7, 0.28, 0.02])
    plan["size"] = rng.choice([4, 8], plan.shape)
    plan["address"] = 4096 + 8 * rng.integers(0, words, plan.shape) + 4 * (plan["size"] == 4)
    plan["data"] = rng.integers(-(2**62), 2**62, plan.shape)
    plan["after"] = np.cumsum(rng.integers(0, 5, plan.shape), axis=-1)
    return plan


def run(
    profile: str | Profile,
    plan: NDArray[np.void],
    *,
    cycles: int = CYCLES,
    quantum: int = 0,
    threads: int = 1,
    rounds: Rounds = "settled",
) -> tuple[Memory, Played]:
    """Play requests without an error."""
    engines, ports, _ = plan.shape
    memory = machine(profile, engines=engines, ports=ports, size=1 << 19)
    played = play(memory, plan, cycles=cycles, quantum=quantum, threads=threads, rounds=rounds)
    assert memory.error() is None
    return memory, played


def assert_same(memory: Memory, played: Played, other: Memory, replayed: Played) -> None:
    for name in ("accepted", "seen", "tag", "data", "flushed"):
        assert np.array_equal(getattr(played, name), getattr(replayed, name)), name
    assert np.array_equal(memory.read(4096, np.uint64, 1 << 16), other.read(4096, np.uint64, 1 << 16))
    assert memory.statistics() == other.statistics()


def check_too_long_a_round(*, latency: int, quantum: int, cycle: int, rounds: Rounds) -> None:
    """Check the error for rounds longer than a fixed latency allows, and the read that it names."""
    memory = machine(f"fixed:{latency}")
    play(memory, requests(count=3), cycles=20, quantum=quantum, rounds=rounds)
    assert memory.error() == (
        f"memory: read (engine 0 port 0 cycle {cycle}): due in cycle {latency} but shown later; "
        f"settle every {latency} cycles and leave out no event"
    )


@pytest.mark.parametrize("profile", ["hc2", "hbm2", "fixed:75", "stress:5"])
@pytest.mark.parametrize("words", [4, 1 << 15])
def test_responses_are_in_order_one_a_cycle(profile: str, words: int) -> None:
    plan = mixed(3, engines=2, ports=4, words=words)
    _, played = run(profile, plan)
    for ae in range(2):
        for port in range(4):
            reads = np.flatnonzero((plan["kind"][ae, port] == 0) & (played.accepted[ae, port] >= 0))
            answers = np.count_nonzero(played.seen[ae, port] >= 0)
            assert 0 < answers <= reads.size
            assert np.array_equal(played.tag[ae, port, :answers], reads[:answers])
            assert np.all(np.diff(played.seen[ae, port, :answers]) >= 1)


@pytest.mark.parametrize("profile", ["hc2", "hbm2", "fixed:1", "fixed:3", "fixed:400", "stress:5"])
@settings(max_examples=5)
@given(seed=st.integers(0, 1000), words=st.sampled_from([2, 64, 4096]), data=st.data())
def test_any_quantum_gives_the_same(profile: str, seed: int, words: int, data: st.DataObject) -> None:
    plan = mixed(seed, engines=3, ports=5, words=words)
    most, reference = run(profile, plan)
    quantum = data.draw(st.integers(1, most.quantum))
    other, played = run(profile, plan, quantum=quantum)
    assert_same(most, reference, other, played)


@pytest.mark.parametrize("profile", ["hc2", "fixed:75", "stress:5"])
def test_threads_give_the_same(profile: str) -> None:
    plan = mixed(17, engines=4, ports=16, words=256)
    assert_same(*run(profile, plan), *run(profile, plan, threads=4))


def test_too_large_a_quantum_is_an_error() -> None:
    check_too_long_a_round(latency=3, quantum=4, cycle=4, rounds="settled")
