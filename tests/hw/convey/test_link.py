"""Token ring on the AE-to-AE signals: two words a token, under stalls, both ends together."""

import random
from typing import Any

from cyscc.hw.convey.link import ConveyLink
from tests.hw.streams import simulate
from tests.hw.tokens import random_tokens, send_round


def test_tokens_go_round() -> None:
    dut = ConveyLink()
    chance = random.Random(4)
    tokens = random_tokens(chance)
    arrived: list[Any] = []
    words: list[int] = []
    slack = [0]

    async def wire(ctx: Any) -> None:
        """Lead what leaves back in; stall now and then."""
        stalled = 0
        while True:
            stall = chance.random() < 0.6
            ctx.set(dut.ae.nxtae_tx_stall, stall)
            _, _, valid, word = await ctx.tick().sample(dut.ae.nxtae_tx_vld, dut.ae.nxtae_tx_data)
            stalled = stalled + 1 if stall else 0
            if valid:
                words.append(word)
                slack.append(stalled)
            ctx.set(dut.ae.prvae_rx_vld, valid)
            ctx.set(dut.ae.prvae_rx_data, word)
            assert not ctx.get(dut.ae.prvae_rx_stall)

    simulate(dut, send_round(dut, tokens, arrived, chance), background=[wire])
    assert arrived == tokens
    assert words[1::2] == [token.token.value for token in tokens]
    # Registers on both sides: what is on its way leaves in the first two cycles of a stall.
    assert max(slack) == 2


def test_an_unstalled_token_takes_four_cycles() -> None:
    dut = ConveyLink()
    cycles: list[int] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.link_out.valid, 1)
        for cycle in range(8):
            _, _, valid, word, arrived = await ctx.tick().sample(
                dut.ae.nxtae_tx_vld, dut.ae.nxtae_tx_data, dut.link_in.valid
            )
            ctx.set(dut.link_out.valid, 0)
            # No link at all between the two ends: what leaves arrives in the cycle after, as if it had been there.
            ctx.set(dut.ae.prvae_rx_vld, valid)
            ctx.set(dut.ae.prvae_rx_data, word)
            if arrived:
                cycles.append(cycle)

    simulate(dut, bench)
    # One cycle of these is the test's own.
    assert cycles == [5]
