"""Saturated banks, links and machine against closed forms."""

import numpy as np
import pytest

from cyscc.sim.memory import READ, WRITE, Hc2, Memory
from tests.sim.memory.stepper import machine
from tests.sim.memory.traffic import Played, play, requests

BANK_BUSY = 15


def large(profile: str | Hc2 = "hc2", *, engines: int = 4, ports: int = 16) -> Memory:
    return machine(profile, engines=engines, ports=ports, size=(1 << 24) - 4096, capacity=1 << 24)


def rate(played: Played, *, first: int, last: int) -> float:
    """Return the responses a cycle in a window."""
    return np.count_nonzero((played.seen >= first) & (played.seen < last)) / (last - first)


@pytest.mark.parametrize(("engines", "ports"), [(1, 1), (1, 16), (4, 16)])
def test_one_bank_serves_an_access_every_15_cycles(engines: int, ports: int) -> None:
    plan = requests(engines=engines, ports=ports, count=2000, address=8192)
    played = play(large(engines=engines, ports=ports), plan, cycles=20_000)
    assert rate(played, first=2000, last=20_000) == pytest.approx(1 / BANK_BUSY, rel=0.02)


@pytest.mark.parametrize("ports", [2, 16])
def test_one_link_carries_a_request_a_cycle(ports: int) -> None:
    memory = large(engines=1, ports=ports)
    count = 20_000
    # All 64 banks behind controller 0, even side; each port starts elsewhere.
    index = np.arange(count) + 5 * np.arange(ports)[:, None]
    plan = requests(ports=ports, count=count, address=8192 + (index // 4 % 16) * 512 + (index % 4) * 16)
    played = play(memory, plan, cycles=10_000)
    assert rate(played, first=2000, last=10_000) == pytest.approx(1, rel=0.02)
    statistics = memory.statistics()
    assert statistics["controllers"][1:] == [0] * 7
    assert np.count_nonzero(statistics["banks"]) == 64


def test_a_port_takes_a_request_a_cycle() -> None:
    plan = requests(count=20_000, address=8192 + 8 * np.arange(20_000))
    played = play(large(engines=1, ports=1), plan, cycles=10_000)
    assert rate(played, first=1000, last=10_000) == pytest.approx(1, rel=0.02)
    assert np.all(played.seen[played.seen >= 0] - played.accepted[played.seen >= 0] == 75)


@pytest.mark.parametrize(("bank_busy", "bound"), [(15, 64.0), (20, 1024 / 20), (32, 1024 / 32)])
def test_machine_reaches_the_lesser_of_ports_and_banks(bank_busy: int, bound: float) -> None:
    count = 4000
    # Each port walks over all banks, and no two ports of an engine are on the same link.
    word = np.arange(count) + 64 * np.arange(4)[:, None, None] * 4 + np.arange(16)[:, None]
    link = word % 16
    row = (word // 16) % 64
    address = 8192 + (link >> 1) * 64 + (link & 1) * 8 + (row & 3) * 16 + (row >> 2) * 512
    plan = requests(engines=4, ports=16, count=count, address=address)
    played = play(large(Hc2(bank_busy=bank_busy)), plan, cycles=4000)
    assert rate(played, first=1500, last=3900) == pytest.approx(bound, rel=0.02)


def test_random_addresses_stay_below_the_bound_and_above_half_of_it() -> None:
    memory = large()
    address = 8192 + 8 * np.random.default_rng(1).integers(0, 1 << 20, (4, 16, 4000))
    plan = requests(engines=4, ports=16, count=4000, address=address)
    played = play(memory, plan, cycles=4000)
    # A full queue at the input of a crossbar of random traffic passes about 0.6 a port and cycle.
    assert 32 < rate(played, first=500, last=3900) < 45
    assert memory.error() is None


@pytest.mark.parametrize("kind", [READ, WRITE])
def test_backlog_of_one_bank_stays_within_its_bounds(kind: int) -> None:
    memory = large()
    plan = requests(engines=4, ports=16, count=1000, address=8192, kind=kind)
    play(memory, plan, cycles=40_000)
    assert memory.error() is None
    accesses = sum(memory.statistics()["banks"])
    assert accesses <= 64 * 512 + 40_000 / BANK_BUSY
