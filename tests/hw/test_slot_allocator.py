"""Slot allocator: on a ring of stations no slot is given twice and none is lost."""

import random
from typing import Any

import pytest
from amaranth.hdl import Elaboratable, Module
from amaranth.lib.wiring import connect

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.ring_master import RingMaster
from tests.hw.streams import Bench, pulse, simulate


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
