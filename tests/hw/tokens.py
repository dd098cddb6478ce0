"""Tokens for the links between AEs: one after the other round a loop."""

from random import Random
from typing import Any

from cyscc.hw.interfaces import LinkToken
from tests.hw.streams import Bench, pulse, wait


def random_tokens(chance: Random) -> list[Any]:
    """Return some tokens of any content."""
    return [LinkToken.from_bits(chance.getrandbits(LinkToken.size)) for _ in range(20)]


def send_round(dut: Any, tokens: list[Any], arrived: list[Any], chance: Random) -> Bench:
    """Return a bench that sends each token when the last one has arrived, and notes what arrives, each once."""

    async def bench(ctx: Any) -> None:
        for token in tokens:
            ctx.set(dut.link_out.payload, token)
            await pulse(ctx, dut.link_out.valid)
            payload = await ctx.tick().sample(dut.link_in.payload).until(dut.link_in.valid)
            arrived.append(payload[0])
            await wait(ctx, chance.randrange(3))
            assert not ctx.get(dut.link_in.valid)

    return bench
