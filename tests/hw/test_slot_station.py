"""Slot station: blocks follow each other without a gap, and every demand gets its slot."""

import random
from typing import Any

import pytest

from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.config import PRESETS, ConfigError
from tests.hw.streams import simulate

PLACES = 8
"""Vertices that can wait at a kernel: a depth of 4, and 4 more."""


@pytest.mark.parametrize("kernels", [1, 4, 5, 16])
@pytest.mark.parametrize("pace", [0.02, 0.3, 1.0])
def test_blocks_are_the_prefix_sums_of_the_demands(kernels: int, pace: float) -> None:
    dut: Any = SlotStation(kernels=kernels, depth=PLACES - 4)
    reserved = 0

    async def bench(ctx: Any) -> None:
        nonlocal reserved
        chance = random.Random(kernels)
        waiting, before, booked = [0] * kernels, [0] * kernels, [0] * kernels
        value, sent, expected = 0, None, 0
        blocks: list[tuple[int, int]] = []
        for cycle in range(1500):
            asks = [count < PLACES and cycle < 1300 and chance.random() < pace for count in waiting]
            arrives = sent is None and chance.random() < 0.2
            state = [chance.getrandbits(kernels) | -(chance.random() < 0.5) & ((1 << kernels) - 1) for _ in range(2)]
            epoch = chance.getrandbits(1)
            ctx.set(dut.asked, sum(asked << n for n, asked in enumerate(asks)))
            ctx.set(dut.room, sum((not count) << n for n, count in enumerate(booked)))
            ctx.set(dut.done, state[0])
            ctx.set(dut.epoch, state[1])
            ctx.set(dut.token_in.valid, arrives)
            ctx.set(dut.token_in.payload, {"value": value, "done": 1, "epoch": epoch})
            await ctx.tick()
            assert ctx.get(dut.token_out.valid) == arrives
            # A block that comes in a cycle takes the room from the next one on, until its slots are used.
            booked = [max(0, count - chance.randrange(2)) for count in booked]
            for n in range(kernels):
                block = getattr(dut, f"block{n}")
                if ctx.get(block.valid):
                    payload = ctx.get(block.payload)
                    assert arrives
                    assert before[n] == 0, "a block came without room"
                    assert 0 < payload.count <= waiting[n]
                    blocks.append((payload.first, payload.count))
                    waiting[n] -= payload.count
                    before[n] = payload.count
                elif before[n]:
                    booked[n], before[n] = before[n], 0
            waiting = [count + asked for count, asked in zip(waiting, asks, strict=True)]
            if arrives:
                token = ctx.get(dut.token_out.payload)
                for first, count in blocks:
                    assert first == expected
                    expected += count
                blocks.clear()
                assert token.value == expected
                assert token.epoch == epoch
                assert token.done == all(state[0] >> n & 1 and state[1] >> n & 1 == epoch for n in range(kernels))
                value = token.value
        assert waiting == [0] * kernels
        reserved = value

    simulate(dut, bench)
    assert reserved > 20


@pytest.mark.parametrize("options", [{"blocking_reservation": True}, {"queued_requests": 4}])
def test_excluded_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="short_ring and"):
        PRESETS["test"].replace(short_ring=True, **options)
