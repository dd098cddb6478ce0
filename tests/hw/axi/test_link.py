"""Token ring on AXI4-Streams: each token arrives once, whenever the stream takes it."""

import random
from typing import Any

from cyscc.hw.axi.link import AxiLink
from tests.hw.streams import simulate
from tests.hw.tokens import random_tokens, send_round


def test_tokens_go_round() -> None:
    dut = AxiLink()
    chance = random.Random(4)
    tokens = random_tokens(chance)
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

    simulate(dut, send_round(dut, tokens, arrived, chance), background=[stream])
    assert arrived == tokens
