"""Copy filter: each id once per run, compared with a model of the sets; no id lost, none left from earlier runs."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.hdl import C
from amaranth.lib.wiring import Component
from amaranth.sim import Simulator

from cyscc.hw.bfs.copy_filter import CopyFilter
from tests.hw.streams import collect, cycles_of, pulse, simulate, stream_get, stream_put, wait


def places_of(depth: int, vertices: Sequence[int]) -> list[int]:
    """Return the places of ids, as numbers of the places of a filter."""
    dut = CopyFilter(depth=depth)
    seen: list[int] = []

    async def bench(ctx: Any) -> None:
        seen.extend(ctx.get(dut.place(C(vertex, 32))) for vertex in vertices)

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def expected(depth: int, ids: Sequence[int]) -> list[int]:
    """Return the ids that a filter passes on: each set has the ids that it passed on last."""
    remembered: dict[int, list[int]] = {}
    fresh = []
    for vertex, place in zip(ids, places_of(depth, ids), strict=True):
        here = remembered.setdefault(place, [])
        if vertex not in here:
            fresh.append(vertex)
            here.append(vertex)
            del here[: -CopyFilter.WAYS]
    return fresh


def check(depth: int, runs: Sequence[Sequence[int]], *, seed: int, stalls: tuple[float, float]) -> None:
    """Send runs of ids through a filter, which must be empty at the start of each."""
    dut = CopyFilter(depth=depth)
    taken: list[int] = []
    wanted = [vertex for ids in runs for vertex in expected(depth, ids)]
    assert 0 < len(wanted) < sum(map(len, runs))

    async def put(ctx: Any) -> None:
        for number, ids in enumerate(runs):
            await pulse(ctx, dut.start)
            await stream_put(ctx, dut.ids, ids, seed=seed + number, stall=stalls[0])
            await ctx.tick()
            while not ctx.get(dut.idle):
                await ctx.tick()

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.fresh, len(wanted), seed=seed + 100, stall=stalls[1]) == wanted

    async def end(ctx: Any) -> None:
        while len(taken) < len(wanted):
            await ctx.tick()
        await wait(ctx, 10)
        assert ctx.get(dut.idle)
        assert taken == wanted

    simulate(dut, put, get, end, background=[collect(dut.fresh, taken)], steady=[dut.fresh])


@pytest.mark.parametrize("stalls", [(0.0, 0.0), (0.0, 0.7), (0.7, 0.0), (0.5, 0.5)])
@pytest.mark.parametrize("depth", [8, 32])
def test_each_id_once_of_those_that_are_remembered(depth: int, stalls: tuple[float, float]) -> None:
    chance = random.Random(depth)
    # Many to a place, so that some are forgotten; some far apart, whose high bits alone differ.
    crowd = [chance.choice([1, 2, 3, 2**31, 2**32 - 1, *range(60, 60 + 2 * depth)]) for _ in range(300)]
    again = [chance.randrange(4) for _ in range(40)]
    check(depth, [crowd, again, crowd[:50]], seed=depth, stalls=stalls)


def test_ids_below_the_depth_are_never_forgotten() -> None:
    for depth in (8, 64, 256):
        assert sorted(places_of(depth, range(depth))) == sorted([*range(depth // CopyFilter.WAYS)] * CopyFilter.WAYS)


def test_ids_that_differ_in_one_bit_never_meet() -> None:
    for vertex in (0, 0x1234_5678):
        (place, *others) = places_of(64, [vertex, *(vertex ^ 1 << bit for bit in range(32))])
        assert place not in others


@pytest.mark.parametrize("ids", [[5] * 40, [1, 2] * 20, list(range(32))], ids=["copies", "in turn", "all new"])
def test_an_id_a_cycle(ids: list[int]) -> None:
    dut = CopyFilter(depth=32)
    cycles: list[int] = []

    async def put(ctx: Any) -> None:
        ctx.set(dut.fresh.ready, 1)
        await stream_put(ctx, dut.ids, ids, seed=1, stall=0)
        await wait(ctx, CopyFilter.LATENCY)

    simulate(dut, put, background=[cycles_of(dut.ids.valid & dut.ids.ready, cycles)])
    assert cycles == list(range(len(ids)))


def test_latency() -> None:
    dut = CopyFilter(depth=8)

    async def bench(ctx: Any) -> None:
        await stream_put(ctx, dut.ids, [7], seed=1, stall=0)
        await wait(ctx, CopyFilter.LATENCY - 1)
        assert ctx.get(dut.fresh.valid)

    simulate(dut, bench, background=[never_early(dut)])


def never_early(dut: Component) -> Any:
    """Return a bench that sees that the first id does not come before its time."""

    async def bench(ctx: Any) -> None:
        for _ in range(CopyFilter.LATENCY):
            assert not ctx.get(dut.fresh.valid)
            await ctx.tick()

    return bench


def test_it_takes_nothing_while_it_forgets_and_a_new_run_begins_that_anew() -> None:
    dut = CopyFilter(depth=32)
    closed: list[int] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.fresh.ready, 1)
        await stream_put(ctx, dut.ids, [3], seed=1, stall=0)
        await wait(ctx, 4)
        for pause in (3, 0, 20):
            await pulse(ctx, dut.start)
            assert not ctx.get(dut.ids.ready)
            assert ctx.get(dut.idle)
            await wait(ctx, pause)
        assert ctx.get(dut.ids.ready)
        assert not ctx.get(dut.moving)
        assert len(closed) == 4 + 1 + 8
        await stream_put(ctx, dut.ids, [3], seed=1, stall=0)
        await wait(ctx, 1)
        assert ctx.get(dut.fresh.valid)

    simulate(dut, bench, background=[cycles_of(~dut.ids.ready, closed)])


@pytest.mark.parametrize("depth", [0, 4, 12, -8])
def test_depth_is_a_power_of_two(depth: int) -> None:
    with pytest.raises(ValueError, match=f"^depth must be a power of two from 8 on, not {depth}$"):
        CopyFilter(depth=depth)
