"""Round-robin arbiter: in turn, one at a time, and nobody waits longer than a round."""

import random
from typing import Any

import pytest

from cyscc.hw.round_robin import RoundRobin
from tests.hw.streams import simulate


@pytest.mark.parametrize("width", [1, 2, 5, 16])
def test_grants_the_first_one_behind_the_last(width: int) -> None:
    dut = RoundRobin(width)
    granted: set[int] = set()

    async def bench(ctx: Any) -> None:
        chance = random.Random(width)
        last = width - 1
        for cycle in range(400):
            crowd = 0.9 if cycle // 50 % 2 else 0.2
            requests = [n for n in range(width) if chance.random() < crowd]
            advance = chance.random() < 0.7
            ctx.set(dut.requests, sum(1 << n for n in requests))
            ctx.set(dut.advance, advance)
            await ctx.delay(1e-8)
            turn = [(last + 1 + step) % width for step in range(width)]
            expected = [n for n in turn if n in requests][:1]
            assert ctx.get(dut.grant) == sum(1 << n for n in expected)
            granted.update(expected)
            if advance and expected:
                (last,) = expected
            await ctx.tick()

    simulate(dut, bench)
    assert granted == set(range(width))


def test_width_is_positive() -> None:
    with pytest.raises(ValueError, match=r"^width must be at least 1, not 0$"):
        RoundRobin(0)
