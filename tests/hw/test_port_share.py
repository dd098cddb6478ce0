"""Port sharing: the owner has the port, the other sees and moves nothing."""

import random
from typing import Any

import pytest

from cyscc.hw.interfaces import ReadRequest, Response, WriteRequest
from cyscc.hw.port_share import PortShare
from tests.hw.streams import simulate


@pytest.mark.parametrize("owner", ["bfs", "intersection"])
def test_the_owner_is_connected_and_the_other_is_cut_off(owner: str) -> None:
    dut = PortShare()
    mine, other = (dut.bfs, dut.intersection) if owner == "bfs" else (dut.intersection, dut.bfs)

    async def bench(ctx: Any) -> None:
        chance = random.Random(3)
        ctx.set(dut.intersection_owns, owner == "intersection")
        for _ in range(60):
            read, write, response = (
                layout.from_bits(chance.getrandbits(layout.size)) for layout in (ReadRequest, WriteRequest, Response)
            )
            bits = [chance.getrandbits(1) for _ in range(7)]
            for user, payloads in ((mine, (read, write)), (other, (ReadRequest.const({}), WriteRequest.const({})))):
                ctx.set(user.read.payload, payloads[0])
                ctx.set(user.write.payload, payloads[1])
            for signal, bit in zip(
                (
                    mine.read.valid,
                    mine.write.valid,
                    mine.flush,
                    dut.port.read.ready,
                    dut.port.write.ready,
                    dut.port.response.valid,
                    dut.port.flushed,
                ),
                bits,
                strict=True,
            ):
                ctx.set(signal, bit)
            for signal in (other.read.valid, other.write.valid, other.flush):
                ctx.set(signal, chance.getrandbits(1))
            ctx.set(dut.port.response.payload, response)
            await ctx.delay(1e-8)
            port = dut.port
            assert [ctx.get(s) for s in (port.read.valid, port.write.valid, port.flush)] == bits[:3]
            assert ctx.get(port.read.payload) == read
            assert ctx.get(port.write.payload) == write
            seen = mine.read.ready, mine.write.ready, mine.response.valid, mine.flushed
            assert [ctx.get(signal) for signal in seen] == bits[3:]
            assert ctx.get(mine.response.payload) == response
            unseen = other.read.ready, other.write.ready, other.response.valid, other.flushed
            assert [ctx.get(signal) for signal in unseen] == [0, 0, 0, 0]

    simulate(dut, bench)
