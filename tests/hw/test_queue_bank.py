"""Bank of queues: entries leave each queue in order, and a writer that looks at `room` never overflows one."""

import random
from collections import deque
from typing import Any

import pytest

from cyscc.hw.queue_bank import QueueBank
from tests.hw.streams import simulate


@pytest.mark.parametrize(("queues", "depth"), [(1, 4), (3, 8), (9, 16)])
def test_entries_leave_in_order(queues: int, depth: int) -> None:
    dut = QueueBank(12, queues=queues, depth=depth)
    fills: set[int] = set()
    shows: list[int | None] = []

    async def bench(ctx: Any) -> None:
        chance = random.Random(depth)
        held: list[deque[int]] = [deque() for _ in range(queues)]  # those being read included
        pulling: int | None = None
        shown = 0
        room = [True] * queues
        for cycle in range(1500):
            phase = cycle // 150 % 3
            greed, thirst, flow = ((0.9, 0.9, 0.2), (0.2, 0.9, 0.9), (0.5, 0.5, 0.6))[phase]
            waiting = [len(entries) - (n == pulling) for n, entries in enumerate(held)]
            assert ctx.get(dut.available) == sum(1 << n for n in range(queues) if waiting[n])
            assert ctx.get(dut.pulling) == (0 if pulling is None else 1 << pulling)
            assert ctx.get(dut.shown) == shown
            assert ctx.get(dut.room) == sum(1 << n for n in range(queues) if room[n])
            assert ctx.get(dut.busy) == any(held)
            room = [len(entries) < dut.capacity - QueueBank.SLACK for entries in held]
            fills.update(map(len, held))

            ready = [n for n in range(queues) if waiting[n]]
            pull = chance.choice(ready) if ready and chance.random() < thirst else None
            advance = chance.random() < flow
            pushed = [n for n in range(queues) if len(held[n]) < dut.capacity and chance.random() < greed]
            values = [chance.getrandbits(12) for _ in range(queues)]
            ctx.set(dut.pull, 0 if pull is None else 1 << pull)
            ctx.set(dut.advance, advance)
            ctx.set(dut.push, sum(1 << n for n in pushed))
            for n, value in enumerate(values):
                ctx.set(getattr(dut, f"entry{n}"), value)
            if advance:
                shown = 0 if pulling is None else held[pulling].popleft()
                shows.append(pulling)
                pulling = pull
            for n in pushed:
                held[n].append(values[n])
            await ctx.tick()

    simulate(dut, bench)
    assert fills == set(range(dut.capacity + 1))
    assert set(shows) == {None, *range(queues)}


@pytest.mark.parametrize("depth", [4, 8])
def test_a_writer_that_looks_at_room_does_not_overflow_its_queue(depth: int) -> None:
    dut = QueueBank(8, queues=1, depth=depth)

    async def bench(ctx: Any) -> None:
        chance = random.Random(depth)
        held = 0
        on_its_way = False
        most = 0
        for cycle in range(600):
            pull = ctx.get(dut.available) and chance.random() < (0.1 if cycle // 100 % 2 else 0.9)
            sends = ctx.get(dut.room) and chance.random() < 0.9
            ctx.set(dut.push, on_its_way)
            ctx.set(dut.pull, pull)
            ctx.set(dut.advance, 1)
            held += on_its_way - ctx.get(dut.pulling)
            most = max(most, held)
            assert held <= dut.capacity
            on_its_way = sends
            await ctx.tick()
        assert most == dut.capacity

    simulate(dut, bench)


def test_capacity() -> None:
    assert QueueBank(8, queues=1, depth=16).capacity == 31


@pytest.mark.parametrize("depth", [0, 2, 12, 128])
def test_depth_is_a_power_of_two(depth: int) -> None:
    with pytest.raises(ValueError, match=f"^depth must be a power of two from 4 to 64, not {depth}$"):
        QueueBank(8, queues=2, depth=depth)


def test_there_is_a_queue() -> None:
    with pytest.raises(ValueError, match=r"^queues must be at least 1, not 0$"):
        QueueBank(8, queues=0, depth=4)
