"""Arbitrated queues: no entry is lost or repeated, each writer's order is kept, and all writers have their turn."""

import random
from typing import Any

import pytest

from cyscc.hw.arbitrated_queues import ArbitratedQueues
from tests.hw.streams import cycles_of, simulate, wait


def writer(dut: ArbitratedQueues, number: int, values: list[int], *, stall: float) -> Any:
    """Return a bench that sends values a cycle after there was room, as a kernel slice does."""

    async def bench(ctx: Any) -> None:
        chance = random.Random(number)
        left = list(values)
        while left:
            sends = ctx.get(dut.room) >> number & 1 and chance.random() >= stall
            await ctx.tick()
            ctx.set(dut.push[number], sends)
            if sends:
                ctx.set(getattr(dut, f"entry{number}"), left.pop(0))
        await ctx.tick()
        ctx.set(dut.push[number], 0)

    return bench


@pytest.mark.parametrize(("queues", "depth", "stall"), [(1, 4, 0.3), (3, 4, 0.7), (8, 8, 0.0), (16, 8, 0.9)])
def test_each_writers_order_is_kept(queues: int, depth: int, stall: float) -> None:
    dut = ArbitratedQueues(16, queues=queues, depth=depth)
    chance = random.Random(queues)
    count = 60
    values = [[chance.getrandbits(16) for _ in range(count)] for _ in range(queues)]
    got: list[list[int]] = [[] for _ in range(queues)]

    async def reader(ctx: Any) -> None:
        for cycle in range(20_000):
            ctx.set(dut.output.ready, chance.random() < (0.3 if cycle // 100 % 2 else 1.0))
            _, _, valid, ready, value, source = await ctx.tick().sample(
                dut.output.valid, dut.output.ready, dut.output.payload, dut.source
            )
            if valid and ready:
                got[source].append(value)
            if sum(map(len, got)) == queues * count:
                break
        assert not ctx.get(dut.busy)

    writers = [writer(dut, number, mine, stall=stall) for number, mine in enumerate(values)]
    simulate(dut, *writers, reader, steady=[dut.output], cycles=20_000)
    assert got == values


def test_writers_take_turns_and_the_output_never_rests() -> None:
    queues = 4
    dut = ArbitratedQueues(8, queues=queues, depth=8)
    order: list[int] = []
    filled: list[int] = []

    async def reader(ctx: Any) -> None:
        ctx.set(dut.output.ready, 1)
        while len(order) < 40 * queues:
            _, _, valid, source = await ctx.tick().sample(dut.output.valid, dut.source)
            order.extend([source] * valid)

    writers = [writer(dut, number, [number] * 40, stall=0.0) for number in range(queues)]
    simulate(dut, *writers, reader, background=[cycles_of(dut.output.valid, filled)])
    assert order == list(range(queues)) * 40
    assert filled == list(range(filled[0], filled[0] + 40 * queues))


def test_latency() -> None:
    dut = ArbitratedQueues(8, queues=2, depth=4)
    pushed: list[int] = []
    came: list[int] = []

    async def push(ctx: Any) -> None:
        await wait(ctx, 3)
        ctx.set(dut.push, 0b10)
        await ctx.tick()
        ctx.set(dut.push, 0)
        await wait(ctx, 6)

    simulate(dut, push, background=[cycles_of(dut.push.any(), pushed), cycles_of(dut.output.valid, came)])
    assert came[0] - pushed[0] == ArbitratedQueues.LATENCY
