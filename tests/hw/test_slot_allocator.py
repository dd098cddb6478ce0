"""Slot allocator: on a ring of stations no slot is given twice and none is lost."""

import random
from typing import Any

import pytest
from amaranth.hdl import Elaboratable, Module
from amaranth.lib.wiring import connect

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.ring_master import RingMaster
from tests.hw.streams import Bench, cycles_of, pulse, simulate, simulated


class Ring(Elaboratable):
    """Stations and their ring master.

    Parameters
    ----------
    stations : int
        How many.
    depth : int
        Vertices that can wait at a station.
    blocking : bool
        The published behaviour.
    """

    def __init__(self, *, stations: int, depth: int, blocking: bool) -> None:
        self.stations = [SlotAllocator(depth=depth, blocking=blocking) for _ in range(stations)]
        self.master = RingMaster(stages=2, initial=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.master = self.master
        last = self.master.ring_out
        for number, station in enumerate(self.stations):
            m.submodules[f"station{number}"] = station
            connect(m, last, station.token_in)
            last = station.token_out
        connect(m, last, self.master.ring_in)
        m.d.comb += self.master.lead.eq(1)
        return m


def use_station(station: SlotAllocator, *, total: int, depth: int, epoch: int, seed: int, slots: list[int]) -> Bench:
    """Return a bench that demands slots, takes them with stalls, and ends as a kernel does."""

    async def bench(ctx: Any) -> None:
        chance = random.Random(seed)
        pace = chance.choice([0.05, 0.3, 0.9])
        demanded = taken = 0
        ctx.set(station.epoch, epoch)
        ctx.set(station.done, 0)
        ctx.set(station.capacity, 2**32 - 1)
        while taken < total:
            # A kernel has `depth` vertices waiting, one in the output register of its queue.
            demand = demanded < total and demanded - taken < depth + 1 and chance.random() < pace
            ready = demanded > taken and chance.random() < 0.6
            ctx.set(station.demand, demand)
            ctx.set(station.slot.ready, ready)
            _, _, valid, slot = await ctx.tick().sample(station.slot.valid, station.slot.payload)
            demanded += demand
            if valid and ready:
                slots.append(slot.number)
                taken += 1
        ctx.set(station.demand, 0)
        ctx.set(station.slot.ready, 0)
        assert ctx.get(station.idle)
        ctx.set(station.done, 1)

    return bench


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize(("stations", "depth"), [(1, 4), (3, 4), (5, 8)])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_slot_is_given_twice_and_none_is_lost(*, blocking: bool, stations: int, depth: int, seed: int) -> None:
    ring = Ring(stations=stations, depth=depth, blocking=blocking)
    chance = random.Random(seed)
    totals = [chance.choice([0, 1, 17, 60]) for _ in ring.stations]
    given: list[list[int]] = [[] for _ in ring.stations]
    holders: list[int] = []

    async def master(ctx: Any) -> None:
        await pulse(ctx, ring.master.start)
        await ctx.tick().until(~ring.master.running)
        assert ctx.get(ring.master.result) == sum(totals)

    async def count_tokens(ctx: Any) -> None:
        places = [ring.master.ring_out.valid, *(station.token_out.valid for station in ring.stations)]
        async for _, _, *valid in ctx.tick().sample(*places):
            holders.append(sum(valid))

    users = [
        use_station(station, total=total, depth=depth, epoch=1, seed=seed + number, slots=given[number])
        for number, (station, total) in enumerate(zip(ring.stations, totals, strict=True))
    ]
    simulate(ring, master, *users, background=[count_tokens])
    assert [len(slots) for slots in given] == totals
    assert sorted(slot for slots in given for slot in slots) == list(range(sum(totals)))
    assert all(slots == sorted(slots) for slots in given)
    assert max(holders) == 1


@pytest.mark.parametrize("blocking", [False, True])
def test_the_token_is_passed_on_in_one_cycle_whatever_the_station_does(*, blocking: bool) -> None:
    dut = SlotAllocator(depth=4, blocking=blocking)
    arrivals: list[int] = []
    departures: list[int] = []

    async def bench(ctx: Any) -> None:
        chance = random.Random(9)
        demanded = taken = value = 0
        for cycle in range(400):
            ready = chance.random() < 0.2
            demand = demanded - taken < 5 and chance.random() < 0.3 and cycle < 300
            arrives = chance.random() < 0.3
            ctx.set(dut.done, chance.random() < 0.5)
            ctx.set(dut.epoch, chance.random() < 0.5)
            ctx.set(dut.demand, demand)
            ctx.set(dut.slot.ready, ready)
            ctx.set(dut.token_in.valid, arrives)
            ctx.set(dut.token_in.payload, {"value": value, "done": 1, "epoch": 1})
            finished = ctx.get(dut.done) and ctx.get(dut.epoch)
            before = ctx.get(dut.demanded)
            _, _, valid = await ctx.tick().sample(dut.slot.valid)
            demanded += demand
            taken += valid and ready
            assert ctx.get(dut.token_out.valid) == arrives
            if arrives:
                token = ctx.get(dut.token_out.payload)
                assert token.done == finished
                assert token.epoch == 1
                assert token.value - value in (0, before)
                value = token.value

    simulate(
        dut, bench, background=[cycles_of(dut.token_in.valid, arrivals), cycles_of(dut.token_out.valid, departures)]
    )
    assert len(arrivals) > 50
    assert departures == [cycle + SlotAllocator.LATENCY for cycle in arrivals][: len(departures)]


@pytest.mark.parametrize(
    ("token_done", "station_done", "token_epoch", "station_epoch", "expected"),
    [(1, 1, 0, 0, 1), (1, 1, 1, 1, 1), (1, 1, 1, 0, 0), (1, 1, 0, 1, 0), (0, 1, 1, 1, 0), (1, 0, 1, 1, 0)],
)
@simulated(lambda: SlotAllocator(depth=4, blocking=False))
async def test_done_stays_only_if_the_station_finished_this_very_run(
    ctx: Any,
    dut: SlotAllocator,
    token_done: int,
    station_done: int,
    token_epoch: int,
    station_epoch: int,
    expected: int,
) -> None:
    ctx.set(dut.done, station_done)
    ctx.set(dut.epoch, station_epoch)
    token = await turn(ctx, dut, value=8, done=token_done, epoch=token_epoch)
    assert token == {"value": 8, "done": expected, "epoch": token_epoch}


async def turn(ctx: Any, dut: SlotAllocator, *, value: int, done: int = 1, epoch: int = 0) -> Any:
    """Pass the token through the station; return how it left."""
    ctx.set(dut.token_in.payload, {"value": value, "done": done, "epoch": epoch})
    await pulse(ctx, dut.token_in.valid)
    return ctx.get(dut.token_out.payload)


async def demand(ctx: Any, dut: SlotAllocator, count: int) -> None:
    ctx.set(dut.demand, 1)
    await ctx.tick().repeat(count)
    ctx.set(dut.demand, 0)


async def take(ctx: Any, dut: SlotAllocator, count: int) -> list[int]:
    numbers: list[int] = []
    ctx.set(dut.slot.ready, 1)
    while len(numbers) < count:
        _, _, valid, slot = await ctx.tick().sample(dut.slot.valid, dut.slot.payload)
        if valid:
            numbers.append(slot.number)
    ctx.set(dut.slot.ready, 0)
    return numbers


@simulated(lambda: SlotAllocator(depth=4, blocking=True))
async def test_blocking_reserves_only_when_the_last_reservation_is_used_up(ctx: Any, dut: SlotAllocator) -> None:
    await demand(ctx, dut, 2)
    assert (await turn(ctx, dut, value=10)).value == 12
    await demand(ctx, dut, 1)
    assert (await turn(ctx, dut, value=20)).value == 20
    assert await take(ctx, dut, 1) == [10]
    assert (await turn(ctx, dut, value=30)).value == 30
    assert await take(ctx, dut, 1) == [11]
    assert (await turn(ctx, dut, value=40)).value == 41
    assert await take(ctx, dut, 1) == [40]
    assert ctx.get(dut.idle)


@simulated(lambda: SlotAllocator(depth=4, blocking=False))
async def test_otherwise_one_reservation_more_is_made_ahead(ctx: Any, dut: SlotAllocator) -> None:
    await demand(ctx, dut, 2)
    assert (await turn(ctx, dut, value=10)).value == 12
    await demand(ctx, dut, 1)
    assert (await turn(ctx, dut, value=20)).value == 21
    await demand(ctx, dut, 1)
    assert (await turn(ctx, dut, value=30)).value == 30
    assert await take(ctx, dut, 3) == [10, 11, 20]
    assert (await turn(ctx, dut, value=40)).value == 41
    assert await take(ctx, dut, 1) == [40]
    assert ctx.get(dut.idle)


@pytest.mark.parametrize("blocking", [False, True])
def test_with_nothing_left_the_first_slot_is_there_a_cycle_after_the_token_and_one_more_each_cycle(
    *, blocking: bool
) -> None:
    dut = SlotAllocator(depth=4, blocking=blocking)

    async def bench(ctx: Any) -> None:
        await demand(ctx, dut, 3)
        await ctx.tick().repeat(5)
        assert not ctx.get(dut.slot.valid)
        await turn(ctx, dut, value=10)
        for number in (10, 11, 12):
            assert ctx.get(dut.slot.valid)
            assert ctx.get(dut.slot.payload).number == number
            assert ctx.get(dut.reserved) == 12 - number
            assert await take(ctx, dut, 1) == [number]
        assert ctx.get(dut.idle)

    simulate(dut, bench)


@pytest.mark.parametrize(("blocking", "value"), [(False, 21), (True, 20)])
def test_as_the_last_slot_is_taken_a_token_is_used_only_to_reserve_ahead(*, blocking: bool, value: int) -> None:
    dut = SlotAllocator(depth=4, blocking=blocking)

    async def bench(ctx: Any) -> None:
        await demand(ctx, dut, 1)
        await turn(ctx, dut, value=10)
        await demand(ctx, dut, 1)
        assert ctx.get(dut.slot.payload).number == 10
        ctx.set(dut.slot.ready, 1)
        assert (await turn(ctx, dut, value=20)).value == value
        ctx.set(dut.slot.ready, 0)
        offered = []
        for _ in range(3):
            offered.append(ctx.get(dut.slot.valid))
            await ctx.tick()
        assert offered == ([0, 0, 0] if blocking else [0, 0, 1])
        if blocking:
            assert (await turn(ctx, dut, value=30)).value == 31
        assert await take(ctx, dut, 1) == [30 if blocking else 20]
        assert ctx.get(dut.idle)

    simulate(dut, bench)


@simulated(lambda: SlotAllocator(depth=4, blocking=False))
async def test_behind_a_slot_that_is_not_taken_the_next_reservation_waits(ctx: Any, dut: SlotAllocator) -> None:
    await demand(ctx, dut, 1)
    await turn(ctx, dut, value=10)
    await demand(ctx, dut, 2)
    assert (await turn(ctx, dut, value=20)).value == 22
    await ctx.tick().repeat(5)
    assert ctx.get(dut.slot.payload).number == 10
    assert await take(ctx, dut, 3) == [10, 20, 21]
    assert ctx.get(dut.idle)


@simulated(lambda: SlotAllocator(depth=4, blocking=False))
async def test_a_demand_in_the_cycle_of_the_token_waits_for_the_next_turn(ctx: Any, dut: SlotAllocator) -> None:
    await demand(ctx, dut, 1)
    ctx.set(dut.demand, 1)
    token = await turn(ctx, dut, value=5)
    ctx.set(dut.demand, 0)
    assert token.value == 6
    assert ctx.get(dut.demanded) == 1
    await ctx.tick().repeat(3)
    assert (await turn(ctx, dut, value=6)).value == 7
    assert await take(ctx, dut, 2) == [5, 6]


@pytest.mark.parametrize("capacity", [0, 1, 6, 2**32 - 1])
def test_slots_below_the_capacity_fit(capacity: int) -> None:
    dut = SlotAllocator(depth=4, blocking=False)
    first = max(capacity - 2, 0)
    fits: list[tuple[int, int]] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.capacity, capacity)
        await demand(ctx, dut, 3)
        await turn(ctx, dut, value=first)
        ctx.set(dut.slot.ready, 1)
        while len(fits) < 3:
            _, _, valid, slot = await ctx.tick().sample(dut.slot.valid, dut.slot.payload)
            if valid:
                fits.append((slot.number, slot.fits))

    simulate(dut, bench)
    assert fits == [(number, int(number < capacity)) for number in range(first, first + 3)]


@pytest.mark.parametrize("depth", [0, 3])
def test_depth_is_checked(depth: int) -> None:
    with pytest.raises(ValueError, match=f"^depth must be a power of two, not {depth}$"):
        SlotAllocator(depth=depth, blocking=False)
