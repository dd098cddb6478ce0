"""Bank of credits: a FIFO whose places are promised never gets more than it has."""

import random
from typing import Any

import pytest

from cyscc.hw.switch.credit_bank import CreditBank
from tests.hw.streams import simulate


@pytest.mark.parametrize(("fifos", "depth"), [(1, 2), (3, 5), (16, 31)])
def test_available_follows_takes_and_gives(fifos: int, depth: int) -> None:
    dut = CreditBank(fifos=fifos, depth=depth)
    seen: set[int] = set()

    async def bench(ctx: Any) -> None:
        chance = random.Random(depth)
        used = [0] * fifos
        shown = [True] * fifos
        for cycle in range(1500):
            greed = 0.1 if cycle // 100 % 2 else 0.9
            assert ctx.get(dut.available) == sum(1 << n for n in range(fifos) if shown[n])
            seen.update(used)
            shown = [count < depth - 1 for count in used]
            free = ctx.get(dut.available)
            take = [bool(free >> n & 1 and chance.random() < greed) for n in range(fifos)]
            give = [count > 0 and chance.random() < 0.5 for count in used]
            ctx.set(dut.take, sum(each << n for n, each in enumerate(take)))
            ctx.set(dut.give, sum(each << n for n, each in enumerate(give)))
            used = [count + took - gave for count, took, gave in zip(used, take, give, strict=True)]
            await ctx.tick()

    simulate(dut, bench)
    assert seen == set(range(depth + 1))


def test_sizes_are_positive() -> None:
    with pytest.raises(ValueError, match=r"^fifos must be at least 1, not 0$"):
        CreditBank(fifos=0, depth=4)
    with pytest.raises(ValueError, match=r"^depth must be at least 2, not 1$"):
        CreditBank(fifos=1, depth=1)
