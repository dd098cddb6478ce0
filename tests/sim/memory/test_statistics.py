"""Counts that agree with the played traffic."""

import json

import numpy as np
import pytest

from cyscc.sim.memory import READ, WRITE, Hbm2, Hc2
from tests.sim.memory.stepper import Stepper, machine, read
from tests.sim.memory.traffic import CYCLES, mixed, requests, run


@pytest.mark.parametrize("profile", ["hc2", "hbm2", "fixed:75", "stress:2"])
def test_sums_agree(profile: str) -> None:
    plan = mixed(11, engines=3, ports=6, words=5000)
    memory, played = run(profile, plan)
    statistics = json.loads(json.dumps(memory.statistics()))
    taken = plan[played.accepted >= 0]
    for kind, name in ((READ, "reads"), (WRITE, "writes")):
        small, large = (int(np.count_nonzero((taken["kind"] == kind) & (taken["size"] == size))) for size in (4, 8))
        assert statistics[name] == {"bytes4": small, "bytes8": large, "total": small + large}
    assert statistics["flushes"] == np.count_nonzero(taken["kind"] == 2)
    accesses = taken[taken["kind"] != 2]
    if profile == "hc2":
        banks = np.bincount([Hc2().bank_of(int(address)) for address in accesses["address"]], minlength=1024)
        assert statistics["banks"] == banks.tolist()
        assert statistics["controllers"] == banks.reshape(8, 128).sum(axis=1).tolist()
        assert statistics["bank_busy_cycles"] == 15 * accesses.size
        assert statistics["bank_utilisation"] == 15 * accesses.size / (1024 * CYCLES)
    elif profile == "hbm2":
        rows = statistics["rows"]
        banks = np.bincount([Hbm2().bank_of(int(address)) for address in accesses["address"]], minlength=512)
        assert statistics["banks"] == banks.tolist()
        assert statistics["controllers"] == banks.reshape(32, 16).sum(axis=1).tolist()
        assert rows["hits"] + rows["closed"] + rows["conflicts"] == accesses.size
        assert sum(rows["openings"]) == rows["closed"] + rows["conflicts"]
        assert np.all(np.array(rows["openings"]) <= banks)
        assert statistics["bank_busy_cycles"] == -(-(45 * sum(rows["openings"]) + 4 * rows["hits"]) // 6)
    else:
        assert not {"banks", "controllers", "bank_busy_cycles"} & set(statistics)
    assert statistics["cycles"] == CYCLES
    assert statistics["profile"] == profile


@pytest.mark.parametrize("profile", ["hc2", "hbm2", "stress:2"])
def test_latencies_agree(profile: str) -> None:
    addresses = 4096 + 8 * np.random.default_rng(5).integers(0, 1 << 10, (3, 6, 400))
    memory, played = run(profile, requests(engines=3, ports=6, count=400, address=addresses), cycles=4000)
    latency = np.sort((played.seen - played.accepted).ravel())
    statistics = memory.statistics()
    report = statistics["read_latency"]
    assert report["count"] == latency.size
    assert report["mean"] == pytest.approx(latency.mean())
    assert (report["minimum"], report["maximum"]) == (latency[0], latency[-1])
    assert report["p50"] == latency[latency.size // 2 - 1]
    assert report["p99"] == latency[-(-latency.size * 99 // 100) - 1]
    cycles, counts = np.unique(latency, return_counts=True)
    assert report["histogram"] == np.stack([cycles, counts], axis=1).tolist()
    waits = statistics["waiting_cycles"]
    if profile != "stress:2":
        assert sum(waits.values()) == latency.sum() - (75 if profile == "hc2" else 24) * latency.size
        assert min(waits.values()) > 0
    else:
        assert list(waits) == ["ordering"]
        assert waits["ordering"] > 0


def test_last_bin_is_open() -> None:
    bench = Stepper(machine("fixed:5000"))
    bench.step([read(0, 4096)])
    report = bench.memory.statistics()["read_latency"]
    assert report["histogram"] == [[2047, 1]]
    assert (report["minimum"], report["maximum"], report["mean"]) == (2047, 5000, 5000.0)


def test_nothing_counted_yet() -> None:
    statistics = machine(ports=2).statistics()
    assert statistics["cycles"] == 0
    assert statistics["bank_utilisation"] == 0
    figures = dict.fromkeys(("mean", "minimum", "maximum", "p50", "p99"))
    assert statistics["read_latency"] == {"count": 0, **figures, "histogram": []}


def test_reset_counts_from_the_next_cycle() -> None:
    memory = machine(ports=2)
    bench = Stepper(memory)
    bench.step([read(0, 4096)])
    memory.reset_statistics()
    assert memory.statistics()["reads"]["total"] == 0
    bench.run(99)
    assert memory.statistics()["cycles"] == 99
    bench.step([read(1, 4096)])
    assert memory.statistics()["read_latency"]["histogram"] == [[75, 1]]
    assert sum(memory.statistics()["banks"]) == 1
