"""Process 4 that writes two ids at once: all that the plain one writes, in fewer writes, and none left behind."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from cyscc.hw.bfs.lean_visitor import LeanVisitor
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from tests.hw.streams import Bench, collect, cycles_of, simulate, simulated, stream_get, stream_put, wait
from tests.words import graph_word

NEXT, WORDS, REACH = 0x400_0000, 0x30_0000, 0x5000_0000


def visit(vertex: int, slot: int) -> list[tuple[int, int, int]]:
    """Return the first two writes of a visit, as (base, index, data)."""
    word = graph_word(3 * vertex, vertex)
    return [(NEXT, slot, word), (WORDS, vertex, word | 1)]


def written(commands: Sequence[Any], reach: int) -> list[tuple[int, int, int]]:
    """Return what was written, each id by itself: (base, index, data), with the index in the reach queue at `reach`."""
    found = []
    for each in commands:
        if each.base >= REACH and each.size == SIZE_8:
            assert not each.base % 8
            place = (each.base + 8 * each.index - reach) // 4
            found += [(REACH, place, each.data & 0xFFFF_FFFF), (REACH, place + 1, each.data >> 32)]
        elif each.base >= REACH:
            assert each.base == reach
            found.append((REACH, each.index, each.data))
        else:
            assert each.size == SIZE_8
            found.append((each.base, each.index, each.data))
    return found


def run(
    blocks: Sequence[range],
    *,
    capacity: int = 1000,
    seed: int = 1,
    stall: float = 0.0,
    pause: int = 12,
    reach: int = REACH,
) -> list[Any]:
    """Visit a vertex for each slot of some reservations, with pauses between these; return the commands."""
    dut = LeanVisitor(depth=16)
    vertices = [100 + slot for block in blocks for slot in block]
    commands: list[Any] = []
    demands: list[int] = []
    pushed: list[int] = []
    dropped: list[int] = []
    fitting = [slot for block in blocks for slot in block if slot < capacity]

    async def addresses(ctx: Any) -> None:
        ctx.set(dut.next_queue, NEXT)
        ctx.set(dut.words, WORDS)
        ctx.set(dut.reach_queue, reach)

    async def put(ctx: Any) -> None:
        neighbours = [{"vertex": v, "word": graph_word(3 * v, v)} for v in vertices]
        await stream_put(ctx, dut.neighbours, neighbours, seed=seed, stall=stall)

    async def allot(ctx: Any) -> None:
        for block in blocks:
            slots = [{"number": slot, "fits": slot < capacity} for slot in block]
            await stream_put(ctx, dut.slot, slots, seed=seed + block.start, stall=stall)
            await wait(ctx, pause)

    async def take(ctx: Any) -> None:
        chance = random.Random(seed)
        while len(pushed) + len(dropped) < len(vertices) or not ctx.get(dut.idle):
            ctx.set(dut.command.ready, chance.random() >= stall)
            await ctx.tick()
        ctx.set(dut.command.ready, 1)
        await ctx.tick()
        before = len(commands)
        await wait(ctx, 10)
        assert len(commands) == before
        assert ctx.get(dut.idle)

    watched: list[Bench] = [collect(dut.command, commands), cycles_of(dut.demand, demands)]
    watched += [cycles_of(dut.pushed, pushed), cycles_of(dut.overflow, dropped)]
    simulate(dut, addresses, put, allot, take, background=watched, steady=[dut.command])
    assert len(demands) == len(vertices)
    assert len(pushed) == len(fitting)
    assert len(dropped) == len(vertices) - len(fitting)
    expected = [write for slot in fitting for write in (*visit(100 + slot, slot), (REACH, slot, 100 + slot))]
    assert sorted(written(commands, reach)) == sorted(expected)
    words = [write for write in written(commands, reach) if write[0] != REACH]
    assert words == [write for slot in fitting for write in visit(100 + slot, slot)]
    return commands


def lengths(commands: Sequence[Any]) -> list[int]:
    """Return the lengths of the groups of writes that are granted back to back."""
    found, length = [], 0
    for each in commands:
        length += 1
        if each.last:
            found.append(length)
            length = 0
    assert length == 0, "the last group has an end"
    return found


@pytest.mark.parametrize(
    ("blocks", "groups"),
    [
        ([range(1)], [2, 1]),
        ([range(1, 2)], [3]),
        ([range(2)], [2, 3]),
        ([range(1, 3)], [3, 2, 1]),
        ([range(6)], [2, 3] * 3),
        ([range(1, 6)], [3, 2, 3, 2, 3]),
        ([range(1), range(7, 8)], [2, 1, 3]),
        ([range(1), range(8, 9)], [2, 1, 2, 1]),
    ],
)
def test_two_ids_of_an_even_slot_and_the_next_take_one_write(blocks: list[range], groups: list[int]) -> None:
    assert lengths(run(blocks)) == groups


@pytest.mark.parametrize(
    ("blocks", "groups"),
    [
        # An id is kept until the next visit's turn to write its own.
        ([range(1), range(7, 8)], [2, 4]),
        ([range(1), range(8, 9)], [2, 3, 1]),
        ([range(1), range(8, 10)], [2, 3, 3]),
        ([range(1), range(1, 2)], [2, 3]),
    ],
)
def test_reservations_without_a_pause(blocks: list[range], groups: list[int]) -> None:
    assert lengths(run(blocks, pause=0)) == groups


def test_a_reach_queue_in_the_middle_of_8_bytes() -> None:
    assert lengths(run([range(1, 3)], reach=REACH + 4)) == [2, 3]
    assert lengths(run([range(5)], reach=REACH + 4)) == [3, 2, 3, 2, 3]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("stall", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("capacity", [0, 5, 6, 12, 1000])
def test_random_reservations(seed: int, stall: float, capacity: int) -> None:
    chance = random.Random(seed)
    blocks, first = [], 0
    for _ in range(5):
        first += chance.choice([0, 0, 1, 2, 5])
        blocks.append(range(first, first + chance.randrange(1, 6)))
        first = blocks[-1].stop
    reach = REACH + chance.choice([0, 4])
    run(blocks, capacity=capacity, seed=seed, stall=stall, pause=chance.choice([0, 1, 2, 9]), reach=reach)


@pytest.mark.parametrize("capacity", [1, 3])
def test_an_id_is_not_forgotten_before_a_slot_that_does_not_fit(capacity: int) -> None:
    commands = run([range(4)], capacity=capacity)
    assert [each.size for each in commands if each.base >= REACH][-1] == SIZE_4


@simulated(lambda: LeanVisitor(depth=4))
async def test_an_id_that_is_kept_is_not_idle(ctx: Any, dut: LeanVisitor) -> None:
    await stream_put(ctx, dut.neighbours, [{"vertex": 1, "word": 0}], seed=1, stall=0)
    await stream_put(ctx, dut.slot, [], seed=1, stall=0)
    ctx.set(dut.slot.payload, {"number": 4, "fits": 1})
    ctx.set(dut.slot.valid, 1)
    await stream_get(ctx, dut.command, 2, seed=1, stall=0)
    ctx.set(dut.slot.valid, 0)
    for _ in range(20):
        assert not ctx.get(dut.idle)
        assert not ctx.get(dut.level)
        await ctx.tick()
    (last,) = await stream_get(ctx, dut.command, 1, seed=1, stall=0)
    assert last == {"base": 0, "index": 4, "size": SIZE_4, "data": 1, "last": 1}
    assert ctx.get(dut.idle)
