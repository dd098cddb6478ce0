"""When lone requests come back, and back-pressure at its limits."""

import numpy as np
import pytest

from cyscc.sim.memory import READ, WRITE, Hc2, Memory
from tests.sim.memory.stepper import Stepper, flush, machine, read, write
from tests.sim.memory.traffic import play, requests


def fresh(profile: str, *, engines: int = 1, ports: int = 2) -> Memory:
    memory = machine(profile, engines=engines, ports=ports)
    memory.write(4096, np.arange(1 << 13, dtype=np.uint64))
    return memory


def first_event(bench: Stepper, limit: int) -> int:
    events = bench.run(limit)
    return events[0][0] if events else -1


def test_unloaded_read_takes_75_cycles_on_every_port_and_engine() -> None:
    memory = fresh("hc2", engines=4, ports=16)
    plan = requests(engines=4, ports=16, count=1, after=200 * np.arange(64).reshape(4, 16, 1))
    played = play(memory, plan, cycles=200 * 64)
    assert np.array_equal(played.accepted, plan["after"])
    assert np.all(played.seen - played.accepted == 75)


def test_unloaded_read_follows_the_parameters() -> None:
    bench = Stepper(machine(Hc2(request_travel=1, bank_busy=2, response_travel=4)))
    bench.step([read(0, 4096)])
    assert first_event(bench, 20) == 7


@pytest.mark.parametrize("latency", [1, 2, 4, 5, 75, 400, 100_000])
def test_fixed_latency_is_exact_under_full_load(latency: int) -> None:
    memory = fresh(f"fixed:{latency}", ports=4)
    played = play(memory, requests(ports=4, count=3000), cycles=latency + 3000)
    assert memory.error() is None
    assert np.array_equal(played.accepted[0, 3], np.arange(3000))
    assert np.all(played.seen - played.accepted == latency)


def test_tag_and_data_return_and_4_bytes_are_extended_with_zeros() -> None:
    memory = fresh("hc2")
    memory.write(4096, np.array([0xFEDC_BA98_8765_4321], np.uint64))
    bench = Stepper(memory)
    bench.step([read(0, 4096, size=4, tag=1), read(1, 4100, size=4, tag=2)])
    bench.step([read(0, 4096, tag=0x7FFF)])
    answers = {view.responses[port] for _, view in bench.run(200) for port in view.responses}
    assert answers == {(1, 0x8765_4321), (2, 0xFEDC_BA98), (0x7FFF, 0xFEDC_BA98_8765_4321)}


def test_write_of_4_bytes_leaves_its_neighbour() -> None:
    memory = fresh("fixed:1")
    memory.write(4096, np.array([1, 2, 3, 4], np.uint32))
    bench = Stepper(memory)
    bench.step([write(0, 4100, 0x1_2345_6789, size=4), write(1, 4104, -1)])
    assert memory.read(4096, np.uint32, 4).tolist() == [1, 0x2345_6789, 2**32 - 1, 2**32 - 1]


def test_read_sees_writes_accepted_before_it_and_not_those_after() -> None:
    memory = fresh("hc2")
    bench = Stepper(memory)
    bench.step([write(0, 4096, 7)])
    bench.step([read(0, 4096)])
    bench.step([write(0, 4096, 8)])
    assert [view.responses[0] for _, view in bench.run(200)] == [(0, 7)]


def test_read_comes_before_a_write_of_the_same_port_and_cycle() -> None:
    memory = fresh("hc2")
    memory.write(4096, np.array([5], np.uint64))
    bench = Stepper(memory)
    bench.step([write(1, 4096, 6), read(1, 4096)])
    assert [view.responses[1] for _, view in bench.run(200)] == [(0, 5)]


@pytest.mark.parametrize(("cycle", "winner"), [(0, 2), (1, 0), (2, 1), (3, 2)])
def test_ports_take_turns_to_be_first(cycle: int, winner: int) -> None:
    memory = fresh("fixed:1", ports=3)
    bench = Stepper(memory)
    bench.run(cycle)
    bench.step([write(port, 4096, port) for port in (1, 2, 0)])
    assert memory.read(4096, np.uint64, 1).tolist() == [winner]


@pytest.mark.parametrize(
    ("profile", "expected"), [("hc2", 60), ("fixed:1", 4), ("fixed:75", 4), ("fixed:400", 4), ("stress", 4)]
)
def test_flush_of_nothing(profile: str, expected: int) -> None:
    bench = Stepper(fresh(profile))
    bench.step([flush(1)])
    events = bench.run(100)
    assert [(cycle, view.flushed) for cycle, view in events] == [(expected, 0b10)]


def test_flush_waits_for_the_writes_of_its_port_only() -> None:
    memory = fresh("hc2", ports=2)
    plan = requests(ports=2, count=21, kind=1)
    plan["kind"][0, :, 20] = 2
    plan["kind"][0, 1, :20] = 0
    played = play(memory, plan, cycles=2000)
    # Ports take turns at the bank: 20 reads and 20 writes of 15 cycles each.
    bank_done = 30 + 40 * 15
    assert played.flushed[0, 0, 0] - 30 in (bank_done, bank_done - 15)
    assert played.flushed[0, 1, 0] == played.accepted[0, 1, 20] + 60


def test_flush_in_the_cycle_of_a_write_covers_it() -> None:
    memory = fresh("hc2")
    bench = Stepper(memory)
    bench.step([flush(0), write(0, 4096, 1)])
    assert first_event(bench, 200) == 75


def test_each_flush_is_answered_once() -> None:
    bench = Stepper(fresh("fixed:75"))
    for _ in range(10):
        bench.step([flush(0)])
    events = bench.run(100)
    shown_before = 10 - len(events)
    assert shown_before == 10 - 4
    assert [cycle for cycle, _ in events] == [10, 11, 12, 13]


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
