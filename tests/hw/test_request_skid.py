"""Request skid: requests leave in order, and the link of the one at the output is known."""

import random
from typing import Any

import pytest

from cyscc.hw.interfaces import ReadRequest
from cyscc.hw.switch.request_skid import RequestSkid
from tests.hw.streams import simulate, stream_put

LINK_BITS = (3, 7)


@pytest.mark.parametrize("stalls", [(0.0, 0.0), (0.5, 0.5), (0.1, 0.7), (0.7, 0.1)])
def test_requests_leave_in_order(stalls: tuple[float, float]) -> None:
    dut = RequestSkid(ReadRequest, LINK_BITS)
    chance = random.Random(3)
    count = 200
    requests = [{"address": 4 * chance.getrandbits(10), "size": 0, "tag": chance.getrandbits(2)} for _ in range(count)]
    got: list[Any] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.input, requests, seed=1, stall=stalls[0])

    async def get(ctx: Any) -> None:
        output = dut.output
        while len(got) < count:
            ctx.set(output.ready, chance.random() >= stalls[1])
            _, _, valid, ready, request, link = await ctx.tick().sample(
                output.valid, output.ready, output.payload, dut.link
            )
            if valid:
                assert link == (request.address >> 3 & 1 | (request.address >> 7 & 1) << 1)
            if valid and ready:
                got.append({"address": request.address, "size": request.size, "tag": request.tag})

    simulate(dut, put, get, steady=[dut.output])
    assert got == requests


def test_a_request_a_cycle() -> None:
    dut = RequestSkid(ReadRequest, LINK_BITS)
    cycles = 0

    async def put(ctx: Any) -> None:
        nonlocal cycles
        ctx.set(dut.output.ready, 1)
        await stream_put(ctx, dut.input, [{"address": 8, "size": 0, "tag": 0}] * 50, seed=1, stall=0.0)

    async def count(ctx: Any) -> None:
        nonlocal cycles
        async for _ in ctx.tick():
            cycles += 1

    simulate(dut, put, background=[count])
    assert cycles == 50
