"""Address generator: the address, and a pipeline that keeps order and pace."""

import random
from typing import Any

import pytest

from cyscc.hw.address_generator import AddressGenerator
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from tests.hw.streams import cycles_of, pulse, simulate, simulated, stream_get, stream_put


def commands(*, writes: bool, count: int) -> list[dict[str, int]]:
    chance = random.Random(11)
    extremes = [(0, 0), (0, 2**32 - 1), (2**47, 2**32 - 1), (8, 1)]
    places = extremes + [(chance.randrange(2**44), chance.randrange(2**32)) for _ in range(count - len(extremes))]
    payload: dict[str, int] = {"data": 64, "last": 1} if writes else {"tag": 2}
    return [
        {"base": base, "index": index, "size": chance.choice([SIZE_4, SIZE_8])}
        | {name: chance.randrange(2**width) for name, width in payload.items()}
        for base, index in places
    ]


def request(command: dict[str, int], *, writes: bool) -> dict[str, int]:
    kept = "data" if writes else "tag"
    width = 8 if command["size"] == SIZE_8 else 4
    return {
        "address": command["base"] + width * command["index"],
        "size": command["size"],
        kept: command[kept],
    }


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize(("put_stall", "get_stall"), [(0.5, 0.5), (0.0, 0.6), (0.6, 0.0)])
def test_requests_under_random_stalls(*, writes: bool, put_stall: float, get_stall: float) -> None:
    dut = AddressGenerator(writes=writes)
    given = commands(writes=writes, count=60)
    made: list[Any] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.command, given, seed=1, stall=put_stall)

    async def get(ctx: Any) -> None:
        made.extend(await stream_get(ctx, dut.request, len(given), seed=2, stall=get_stall))

    simulate(dut, put, get, steady=[dut.request])
    assert made == [request(command, writes=writes) for command in given]


def test_addresses_wrap_at_their_width() -> None:
    dut = AddressGenerator(writes=False)

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.command, [{"base": 2**48 - 8, "index": 2, "size": SIZE_8}], seed=1)

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.request, 1, seed=2) == [{"address": 8, "size": SIZE_8}]

    simulate(dut, put, get)


def test_latency_and_throughput_of_one_a_cycle() -> None:
    dut = AddressGenerator(writes=False)
    goes_in: list[int] = []
    comes_out: list[int] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.command, commands(writes=False, count=20), seed=1, stall=0)

    async def get(ctx: Any) -> None:
        await stream_get(ctx, dut.request, 20, seed=2, stall=0)

    simulate(dut, put, get, background=[cycles_of(dut.command.valid, goes_in), cycles_of(dut.request.valid, comes_out)])
    assert goes_in == list(range(goes_in[0], goes_in[0] + 20))
    assert comes_out == [cycle + AddressGenerator.LATENCY for cycle in goes_in]


@simulated(lambda: AddressGenerator(writes=True))
async def test_busy_and_moving_while_a_request_is_inside(ctx: Any, dut: AddressGenerator) -> None:
    assert not ctx.get(dut.busy)
    await pulse(ctx, dut.command.valid)
    assert (ctx.get(dut.busy), ctx.get(dut.moving)) == (1, 1)
    await ctx.tick()
    assert (ctx.get(dut.busy), ctx.get(dut.moving)) == (1, 0)
    await ctx.tick().repeat(3)
    assert (ctx.get(dut.busy), ctx.get(dut.moving)) == (1, 0)
    ctx.set(dut.request.ready, 1)
    assert ctx.get(dut.moving)
    await ctx.tick()
    assert (ctx.get(dut.busy), ctx.get(dut.moving)) == (0, 0)
