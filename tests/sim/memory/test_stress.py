"""The stress profile: ranges, repeatability, stalls."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.memory import FLUSH, WRITE, Memory
from tests.sim.memory.stepper import Stepper, machine, write
from tests.sim.memory.traffic import play, requests


@cache
def sparse(seed: str) -> tuple[Memory, NDArray[np.int64]]:
    """Return the latencies of reads so far apart that none waits for another."""
    memory = machine(seed, engines=3, ports=6)
    plan = requests(engines=3, ports=6, count=200, after=1200 * np.arange(200))
    played = play(memory, plan, cycles=1200 * 201)
    assert memory.error() is None
    return memory, played.seen - played.accepted


def test_read_latencies_are_in_their_ranges_and_shares() -> None:
    _, latency = sparse("stress:1")
    short = (latency >= 70) & (latency <= 200)
    assert np.all(short | ((latency >= 700) & (latency <= 1000)))
    assert 0.72 < short.mean() < 0.78
    assert latency.min() < 75
    assert latency[short].max() > 195
    assert latency.max() > 990
    assert 130 < latency[short].mean() < 140


def test_same_seed_repeats_and_another_differs() -> None:
    (first, one), (again, two), (_, three) = sparse("stress:1"), sparse.__wrapped__("stress:1"), sparse("stress:2")
    assert np.array_equal(one, two)
    assert first.statistics() == again.statistics()
    assert np.mean(one == three) < 0.1


def test_ports_and_engines_differ() -> None:
    _, latency = sparse("stress:2")
    rows = latency.reshape(18, -1)
    assert len({row.tobytes() for row in rows}) == 18


def test_a_flush_follows_50_to_250_cycles_after_a_write() -> None:
    delays = []
    for seed in range(30):
        played = play(machine(f"stress:{seed}"), requests(count=2, kind=[WRITE, FLUSH]), cycles=400)
        assert played.accepted[0, 0, 1] == played.accepted[0, 0, 0] + 1
        delays.append(int(played.flushed[0, 0, 0] - played.accepted[0, 0, 0]))
    assert min(delays) >= 50
    assert max(delays) <= 250
    assert len(set(delays)) > 20


def test_channels_stall_about_a_fifth_of_the_time_and_apart() -> None:
    memory = machine("stress:4", ports=16)
    bench = Stepper(memory)
    views = [bench.step() for _ in range(3000)]
    bits = np.arange(16)
    reads = np.array([view.reads_ready for view in views])[:, None] >> bits & 1 == 0
    writes = np.array([view.writes_ready for view in views])[:, None] >> bits & 1 == 0
    for stalls in (reads, writes):
        assert 0.15 < stalls.mean() < 0.22
        assert np.all((stalls.mean(axis=0) > 0.1) & (stalls.mean(axis=0) < 0.3))
    assert abs(np.corrcoef(reads.ravel(), writes.ravel())[0, 1]) < 0.03
    longest = max(len(run) for run in "".join("01"[int(stall)] for stall in reads[:, 0]).split("0"))
    assert longest >= 8
    stalls_counted = memory.statistics()["stall_cycles"]
    assert stalls_counted == {"read": [reads.sum(axis=0).tolist()], "write": [writes.sum(axis=0).tolist()]}


def test_a_write_is_not_held_up_by_a_stalled_read_channel() -> None:
    bench = Stepper(machine("stress:4"))
    while (view := bench.step()).reads_ready or not view.writes_ready:
        assert bench.cycle < 1000
    cycle = bench.cycle - 1
    again = Stepper(machine("stress:4"))
    again.run(cycle)
    again.step([write(0, 4096, 3)])
    assert again.memory.error() is None
    assert again.memory.read(4096, np.uint64, 1).tolist() == [3]
