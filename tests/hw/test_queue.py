"""Queue: order, capacity, latency, throughput."""

import random
from typing import Any

import pytest
from amaranth.lib import data

from cyscc.hw.queue import Queue
from tests.hw.streams import cycles_of, simulate, stream_get, stream_put


@pytest.mark.parametrize("depth", [1, 4, 8])
@pytest.mark.parametrize(("put_stall", "get_stall"), [(0.0, 0.7), (0.7, 0.0), (0.5, 0.5), (0.0, 0.0)])
def test_what_goes_in_comes_out_in_order(depth: int, put_stall: float, get_stall: float) -> None:
    dut = Queue(16, depth)
    values = [random.Random(depth).randrange(1 << 16) for _ in range(120)]
    taken: list[int] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.input, values, seed=1, stall=put_stall)

    async def get(ctx: Any) -> None:
        taken.extend(await stream_get(ctx, dut.output, len(values), seed=2, stall=get_stall))

    simulate(dut, put, get, steady=[dut.output])
    assert taken == values


def test_entries_of_a_structure_keep_their_fields() -> None:
    layout = data.StructLayout({"low": 3, "high": 5})
    dut = Queue(layout, 2)
    values = [{"low": 5, "high": 17}, {"low": 0, "high": 31}]
    taken: list[Any] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.input, values, seed=1)

    async def get(ctx: Any) -> None:
        taken.extend(await stream_get(ctx, dut.output, 2, seed=2))

    simulate(dut, put, get)
    assert taken == values


@pytest.mark.parametrize("depth", [2, 4, 16])
def test_holds_its_depth_and_its_registers(depth: int) -> None:
    dut = Queue(8, depth)
    full = depth + Queue.REGISTERS

    async def bench(ctx: Any) -> None:
        ctx.set(dut.input.valid, 1)
        for level in range(full):
            assert ctx.get(dut.level) == level
            assert ctx.get(dut.input.ready), f"full at {level}"
            await ctx.tick()
        assert ctx.get(dut.level) == full
        assert not ctx.get(dut.input.ready)
        await ctx.tick().repeat(3)
        assert ctx.get(dut.level) == full
        ctx.set(dut.input.valid, 0)
        ctx.set(dut.output.ready, 1)
        await ctx.tick()
        assert ctx.get(dut.input.ready)
        assert ctx.get(dut.level) == full - 1

    simulate(dut, bench)


def test_latency_and_throughput_of_one_a_cycle() -> None:
    dut = Queue(8, 4)
    goes_in: list[int] = []
    comes_out: list[int] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.input, range(20), seed=1, stall=0)

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.output, 20, seed=2, stall=0) == list(range(20))

    background = [cycles_of(dut.input.valid, goes_in), cycles_of(dut.output.valid, comes_out)]
    simulate(dut, put, get, background=background)
    assert goes_in == list(range(goes_in[0], goes_in[0] + 20))
    assert comes_out == [cycle + Queue.LATENCY for cycle in goes_in]


def test_without_push_pop_and_moving_nothing_changes() -> None:
    dut = Queue(8, 4)
    quiet = 0

    async def bench(ctx: Any) -> None:
        nonlocal quiet
        chance = random.Random(5)
        outputs = dut.output.valid, dut.output.payload, dut.level, dut.input.ready
        for _ in range(300):
            ctx.set(dut.input.valid, chance.random() < 0.3)
            ctx.set(dut.output.ready, chance.random() < 0.3)
            before = [ctx.get(signal) for signal in outputs]
            still = not (
                ctx.get(dut.moving)
                or (ctx.get(dut.input.valid) and before[3])
                or (ctx.get(dut.output.ready) and before[0])
            )
            await ctx.tick()
            if still:
                quiet += 1
                assert [ctx.get(signal) for signal in outputs] == before

    simulate(dut, bench)
    assert quiet > 50
