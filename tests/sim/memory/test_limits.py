"""Back-pressure at its limits."""

import numpy as np
import pytest

from cyscc.sim.memory import READ, WRITE, Hc2
from tests.sim.memory.stepper import Stepper, machine, read, write
from tests.sim.memory.traffic import play, requests


def bench(parameters: Hc2, *, ports: int = 1) -> Stepper:
    return Stepper(machine(parameters, ports=ports))


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_reads_in_flight(limit: int) -> None:
    drive = bench(Hc2(reads_in_flight=limit))
    for index in range(limit):
        assert drive.step([read(0, 4096 + 8 * index)]).reads_ready == 1
    view = drive.step([write(0, 4096, 1)])
    assert (view.reads_ready, view.writes_ready) == (0, 1)
    assert drive.memory.outstanding() == [(0, 0, limit)]
    while not (view := drive.step()).responses:
        assert (view.reads_ready, view.writes_ready) == (0, 1)
    assert drive.cycle - 1 == 75
    assert view.reads_ready == 1
    assert drive.memory.error() is None


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_writes_in_flight(limit: int) -> None:
    drive = bench(Hc2(writes_in_flight=limit))
    for index in range(limit):
        assert drive.step([write(0, 4096 + 8 * index, 1)]).writes_ready == 1
    view = drive.step([read(0, 4096)])
    assert (view.reads_ready, view.writes_ready) == (1, 0)
    while not (view := drive.step()).writes_ready:
        assert view.reads_ready == 1
    assert drive.cycle - 1 == 75
    assert drive.memory.error() is None


def test_ports_are_limited_apart() -> None:
    drive = bench(Hc2(reads_in_flight=1), ports=2)
    drive.step([read(1, 4096)])
    assert drive.step().reads_ready == 0b01


@pytest.mark.parametrize("queue", [1, 2, 5])
def test_port_queue(queue: int) -> None:
    # A read and a write each cycle, of which one enters a link: after cycle c the latest entry is 2c + 1.
    drive = bench(Hc2(port_queue=queue))
    for _ in range(queue + 1):
        view = drive.step([read(0, 4096), write(0, 4104, 1)])
        assert (view.reads_ready, view.writes_ready) == (1, 1)
    view = drive.step()
    assert (view.reads_ready, view.writes_ready) == (0, 0)
    view = drive.step()
    assert (view.reads_ready, view.writes_ready) == (1, 1)
    assert drive.memory.statistics()["stall_cycles"] == {"read": [[1]], "write": [[1]]}


@pytest.mark.parametrize("kind", [READ, WRITE])
def test_a_limit_of_one_below_the_latency_is_felt_and_the_latency_is_not(kind: int) -> None:
    taken = []
    for limit in (74, 75, 76):
        parameters = Hc2(reads_in_flight=limit, writes_in_flight=limit)
        plan = requests(count=3000, kind=kind, address=4096 + 8 * np.arange(3000))
        taken.append(np.count_nonzero(play(machine(parameters), plan, cycles=3000).accepted >= 0))
    assert taken == [3000 * 74 // 75, 3000, 3000]
