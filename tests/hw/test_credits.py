"""Credits: exact, and never beyond their bounds."""

import random
from typing import Any

import pytest

from cyscc.hw.credits import Credits
from tests.hw.streams import simulate, simulated


@pytest.mark.parametrize("depth", [1, 2, 8])
def test_count_follows_takes_and_gives(depth: int) -> None:
    dut = Credits(depth)
    seen: list[int] = []

    async def bench(ctx: Any) -> None:
        chance = random.Random(depth)
        count = depth
        for cycle in range(400):
            greed = 0.1 if cycle // 50 % 2 else 0.9
            assert ctx.get(dut.count) == count
            assert ctx.get(dut.available) == (count > 0)
            assert ctx.get(dut.home) == (count == depth)
            seen.append(count)
            take = ctx.get(dut.available) and chance.random() < greed
            give = count < depth and chance.random() < 0.5
            ctx.set(dut.take, take)
            ctx.set(dut.give, give)
            count += give - take
            await ctx.tick()

    simulate(dut, bench)
    assert set(seen) == set(range(depth + 1))


@simulated(lambda: Credits(4))
async def test_take_and_give_at_once_leave_the_count(ctx: Any, dut: Credits) -> None:
    ctx.set(dut.take, 1)
    await ctx.tick().repeat(2)
    ctx.set(dut.give, 1)
    await ctx.tick().repeat(3)
    assert ctx.get(dut.count) == 2


@pytest.mark.parametrize("depth", [0, -4, 3, 12])
def test_depth_is_a_power_of_two(depth: int) -> None:
    with pytest.raises(ValueError, match=f"^depth must be a power of two, not {depth}$"):
        Credits(depth)


def test_depth_property() -> None:
    assert Credits(16).depth == 16
