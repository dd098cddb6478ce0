"""Order of answers, however often engines synchronise, and whether a round is settled or moves requests by a step."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyscc.sim.memory import FLUSH, Hbm2, Hc2, Memory, Profile, parse_profile
from tests.sim.memory.stepper import hand_over, machine, read, shown, write
from tests.sim.memory.traffic import Rounds, assert_same, mixed, play, requests, run

PIPELINED = [rounds for rounds in get_args(Rounds) if rounds != "settled"]

PROFILES: dict[str, Profile] = {
    "hc2": Hc2(),
    "hbm2": Hbm2(),
    "hc2 with slow banks": Hc2(
        request_travel=7, bank_busy=40, response_travel=3, flush_travel=9, port_queue=3, reads_in_flight=20
    ),
    "hc2 with few in flight": Hc2(port_queue=1, reads_in_flight=3, writes_in_flight=2),
    "fixed:2": parse_profile("fixed:2"),
    "fixed:700": parse_profile("fixed:700"),
    "stress:9": parse_profile("stress:9"),
}


@pytest.mark.parametrize("rounds", PIPELINED)
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("words", [8, 1 << 14])
def test_pipelined_rounds_give_the_same(name: str, rounds: Rounds, words: int) -> None:
    profile, plan = PROFILES[name], mixed(23, engines=3, ports=6, words=words)
    for quantum in {1, profile.quantum // 2}:
        settled = run(profile, plan, cycles=1200, quantum=quantum)
        assert_same(*settled, *run(profile, plan, cycles=1200, quantum=quantum, rounds=rounds))


def test_a_backlog_beyond_the_near_cycles_comes_in_order() -> None:
    # All reads fall on one bank, so that the last is seen 15 cycles times their number later.
    plan = requests(engines=3, ports=6, count=50)
    _, played = run("hc2", plan, cycles=15 * 900 + 200, rounds="served last")
    assert np.array_equal(np.sort(played.seen.ravel()), 75 + 15 * np.arange(900))
    assert np.all(np.diff(played.seen, axis=-1) > 0)


@pytest.mark.parametrize("profile", ["hc2", "hbm2", "fixed:75", "stress:5"])
@pytest.mark.parametrize("words", [4, 1 << 15])
def test_responses_are_in_order_one_a_cycle(profile: str, words: int) -> None:
    plan = mixed(3, engines=3, ports=6, words=words)
    _, played = run(profile, plan)
    for ae in range(3):
        for port in range(6):
            reads = np.flatnonzero((plan["kind"][ae, port] == 0) & (played.accepted[ae, port] >= 0))
            answers = np.count_nonzero(played.seen[ae, port] >= 0)
            assert 0 < answers <= reads.size
            assert np.array_equal(played.tag[ae, port, :answers], reads[:answers])
            assert np.all(np.diff(played.seen[ae, port, :answers]) >= 1)


@pytest.mark.parametrize("profile", ["hc2", "hbm2", "fixed:1", "fixed:3", "fixed:400", "stress:5"])
@settings(max_examples=5)
@given(seed=st.integers(0, 1000), words=st.sampled_from([2, 64, 4096]), data=st.data())
def test_any_quantum_gives_the_same(profile: str, seed: int, words: int, data: st.DataObject) -> None:
    plan = mixed(seed, engines=3, ports=6, words=words)
    most, reference = run(profile, plan)
    quantum = data.draw(st.integers(1, most.quantum))
    other, played = run(profile, plan, quantum=quantum)
    assert_same(most, reference, other, played)


@pytest.mark.parametrize(("latency", "quantum", "cycle", "rounds"), [(3, 4, 4, "settled"), (4, 3, 6, "served last")])
def test_too_long_a_round_is_an_error(latency: int, quantum: int, cycle: int, rounds: Rounds) -> None:
    memory = machine(f"fixed:{latency}")
    play(memory, requests(count=3), cycles=20, quantum=quantum, rounds=rounds)
    assert memory.error() == (
        f"memory: read (engine 0 port 0 cycle {cycle}): due in cycle {latency} but shown later; "
        f"settle every {latency} cycles and leave out no event"
    )


def drive(memory: Memory, cycle: int, requests: dict[int, list[tuple[int, int, int, int]]]) -> None:
    for ae in range(memory.engines):
        memory.prepare(ae, cycle)
        hand_over(memory.mailboxes[ae], requests.get(ae, []))
        memory.accept(ae, cycle)


def test_a_step_left_out_is_made_up_for() -> None:
    memory = machine()
    memory.write(4096, np.array([7], np.uint64))
    for cycle in range(76):
        drive(memory, cycle, {0: [read(0, 4096, tag=3)]} if cycle == 0 else {})
        assert memory.seal(cycle) == 0
    box = memory.mailboxes[0]
    assert (box["responses"], box["tags"][0], box["data"][0]) == (1, 3, 7)


def test_serving_and_delivering_again_does_nothing() -> None:
    memory = machine()
    drive(memory, 0, {0: [read(0, 4096), write(0, 4096, 1)]})
    for cycle in range(3):
        memory.seal(cycle)
        for _ in range(2):
            for part in range(memory.parts):
                memory.serve(part)
            memory.deliver(0)
    before = memory.statistics()
    memory.settle(2)
    assert memory.statistics() == before
    assert (before["reads"]["total"], before["writes"]["total"], sum(before["banks"])) == (1, 1, 2)


@pytest.mark.parametrize("rounds", [1, 5])
def test_an_error_of_serving_comes_before_a_later_one_of_an_engine(rounds: int) -> None:
    memory = machine(Hc2(reads_in_flight=1), engines=3, ports=6, size=8)
    codes = []
    for cycle in range(10):
        drive(memory, cycle, {0: [read(0, 8192)]} if cycle == 0 else {1: [read(0, 4096)]})
        if cycle % rounds == rounds - 1:
            codes.append(memory.seal(cycle))
            for part in range(memory.parts):
                memory.serve(part)
    text = "read of 8 bytes at address 0x2000 (engine 0 port 0 cycle 0): outside the allocated range 4096 to 4104"
    assert memory.error() == f"memory: {text}"
    assert codes[-1] != 0


def test_next_event_sees_near_and_far_responses_and_flushes() -> None:
    memory = machine("fixed:1000", ports=2)
    drive(memory, 0, {0: [read(1, 4096)]})
    memory.settle(0)
    assert memory.next_event(0, 1) == 1000
    drive(memory, 1, {0: [(FLUSH, 0, 0, 0)]})
    memory.settle(1)
    assert memory.next_event(0, 2) == 5
    drive(memory, 5, {})
    assert memory.next_event(0, 6) == 1000
    drive(memory, 1000, {})
    assert memory.mailboxes[0]["responses"] == 0b10
    assert memory.next_event(0, 1001) == 2**62
    assert memory.error() is None


@pytest.mark.parametrize("name", PROFILES)
def test_cycles_before_the_next_event_may_be_left_out(name: str) -> None:
    random = np.random.default_rng(5)
    every, leaving = (machine(PROFILES[name], engines=3, ports=6) for _ in range(2))
    left_out = 0
    for cycle in range(3000):
        # Bursts, with pauses in which all of a burst is answered.
        burst = cycle % 1500 < 200
        every.prepare(0, cycle)
        seen = shown(every.mailboxes[0])
        wanted = [
            write(port, 4096 + 8 * int(word), cycle) if kind else read(port, 4096 + 8 * int(word))
            for port, (kind, word) in enumerate(random.integers(0, (2, 4096), (6, 2)))
            if burst and every.mailboxes[0][("read_ready", "write_ready")[int(kind)]] >> np.uint64(port) & np.uint64(1)
        ]
        if wanted and random.random() < 0.1:
            wanted.append((FLUSH, 0, 0, 0))
        hand_over(every.mailboxes[0], wanted)
        every.accept(0, cycle)
        assert every.settle(cycle) == 0

        if wanted or leaving.next_event(0, cycle) == cycle:
            leaving.prepare(0, cycle)
            assert shown(leaving.mailboxes[0]) == seen, f"cycle {cycle}"
            hand_over(leaving.mailboxes[0], wanted)
            leaving.accept(0, cycle)
        else:
            left_out += 1
        assert leaving.settle(cycle) == 0
    assert leaving.statistics() == every.statistics()
    assert left_out == 0 if name.startswith("stress") else left_out > 300
