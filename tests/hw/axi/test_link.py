"""Token ring on AXI4-Streams: each token arrives once, whenever the stream takes it."""

import random
from typing import Any

from hw.axi.link import AxiLink
from hw.interfaces import LinkToken
from tests.hw.streams import simulate, wait


def test_tokens_go_round() -> None:
    dut = AxiLink()
    chance = random.Random(4)
    tokens = [LinkToken.from_bits(chance.getrandbits(LinkToken.size)) for _ in range(20)]
    arrived: list[Any] = []

    async def stream(ctx: Any) -> None:
        """Lead what leaves back in, with stalls."""
        while True:
            ctx.set(dut.next_engine.tready, chance.random() < 0.3)
            _, _, valid, ready, token = await ctx.tick().sample(
                dut.next_engine.tvalid, dut.next_engine.tready, dut.next_engine.tdata
            )
            ctx.set(dut.previous_engine.tvalid, valid and ready)
            ctx.set(dut.previous_engine.tdata, token)
            assert ctx.get(dut.previous_engine.tready)

    async def send(ctx: Any) -> None:
        for token in tokens:
            ctx.set(dut.link_out.payload, token)
            ctx.set(dut.link_out.valid, 1)
            await ctx.tick()
            ctx.set(dut.link_out.valid, 0)
            payload = await ctx.tick().sample(dut.link_in.payload).until(dut.link_in.valid)
            arrived.append(payload[0])
            await wait(ctx, chance.randrange(3))
            assert not ctx.get(dut.link_in.valid)

    simulate(dut, send, background=[stream])
    assert arrived == tokens
