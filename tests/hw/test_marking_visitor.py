"""Process 4 of the machine that only searches: marks that wait for nothing, queue entries that wait for slots."""

from typing import Any

import pytest

from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.interfaces import SIZE_8
from tests.hw.streams import Bench, cycles_of, simulate, simulated, stream_get, stream_put, wait
from tests.words import graph_word

WORDS, NEXT = 0x30_0000, 0x400_0000
LEVEL = 0x5A5A_5A5A
VISITED, LEAF, NEW = range(3)
ROOM = 6
"""Capacity of a queue of depth 4: its memory and its two registers."""


def neighbours_of(kinds: list[int]) -> list[dict[str, int]]:
    """Return a neighbour of each kind; all are told apart."""
    return [
        {"vertex": 100 + number, "word": graph_word(3 * number, number + 1 if kind != LEAF else 0, not kind)}
        for number, kind in enumerate(kinds)
    ]


def mark_of(neighbour: dict[str, int]) -> dict[str, int]:
    """Return the write that marks a vertex."""
    return {"base": WORDS, "index": neighbour["vertex"], "size": SIZE_8, "data": LEVEL << 1 | 1, "last": 1}


def entry_of(neighbour: dict[str, int], slot: int) -> dict[str, int]:
    """Return the write that queues a vertex."""
    return {"base": NEXT, "index": slot, "size": SIZE_8, "data": neighbour["word"], "last": 1}


def prepare(ctx: Any, dut: MarkingVisitor) -> None:
    ctx.set(dut.next_queue, NEXT)
    ctx.set(dut.words, WORDS)
    ctx.set(dut.distance, LEVEL)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("capacity", [0, 1, 6, 7, 100])
def test_every_new_vertex_is_marked_and_queued_if_it_has_neighbours_and_its_slot_fits(
    seed: int, stall: float, capacity: int
) -> None:
    dut = MarkingVisitor(depth=4)
    kinds = [NEW, VISITED, LEAF, NEW, NEW, VISITED, VISITED, NEW, LEAF, LEAF, NEW, VISITED, NEW, LEAF, NEW, VISITED]
    neighbours = neighbours_of(kinds)
    marks = [mark_of(neighbour) for neighbour, kind in zip(neighbours, kinds, strict=True) if kind != VISITED]
    new = [neighbour for neighbour, kind in zip(neighbours, kinds, strict=True) if kind == NEW]
    assert (len(marks), len(new)) == (11, 7)
    slots = [{"number": 50 + number, "fits": number < capacity} for number in range(len(new))]
    entries = [entry_of(neighbour, 50 + number) for number, neighbour in enumerate(new[:capacity])]
    demands: list[int] = []
    dropped: list[int] = []
    pushed: list[int] = []

    async def put(ctx: Any) -> None:
        prepare(ctx, dut)
        await stream_put(ctx, dut.neighbours, neighbours, seed=seed, stall=stall)

    async def allot(ctx: Any) -> None:
        await stream_put(ctx, dut.slot, slots, seed=seed + 1, stall=stall)

    async def get_marks(ctx: Any) -> None:
        assert await stream_get(ctx, dut.mark, len(marks), seed=seed + 2, stall=stall) == marks

    async def get_entries(ctx: Any) -> None:
        assert await stream_get(ctx, dut.command, len(entries), seed=seed + 3, stall=stall) == entries

    async def end(ctx: Any) -> None:
        while len(pushed) + len(dropped) < len(new) or not ctx.get(dut.idle):
            await ctx.tick()
        await wait(ctx, 10)
        assert ctx.get(dut.idle)
        assert not ctx.get(dut.level)
        assert not ctx.get(dut.mark.valid)

    background: list[Bench] = [cycles_of(dut.demand, demands), cycles_of(dut.overflow, dropped)]
    background.append(cycles_of(dut.pushed, pushed))
    simulate(dut, put, allot, get_marks, get_entries, end, background=background, steady=[dut.command, dut.mark])
    assert len(demands) == len(new)
    assert len(pushed) == len(entries)
    assert len(dropped) == len(new) - len(entries)


def test_marks_wait_for_no_slot() -> None:
    dut = MarkingVisitor(depth=4)
    neighbours = neighbours_of([NEW] * ROOM)

    async def put(ctx: Any) -> None:
        prepare(ctx, dut)
        await stream_put(ctx, dut.neighbours, neighbours, seed=1, stall=0)

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.mark, ROOM, seed=2) == [mark_of(neighbour) for neighbour in neighbours]
        for _ in range(50):
            assert ctx.get(dut.waiting)
            assert not ctx.get(dut.marking)
            assert not ctx.get(dut.idle)
            assert not ctx.get(dut.command.valid)
            await ctx.tick()
        assert ctx.get(dut.level) == ROOM

    simulate(dut, put, get)


def test_entries_wait_for_no_mark() -> None:
    dut = MarkingVisitor(depth=4)
    neighbours = neighbours_of([NEW] * ROOM)

    async def put(ctx: Any) -> None:
        prepare(ctx, dut)
        await stream_put(ctx, dut.neighbours, neighbours, seed=1, stall=0)

    async def allot(ctx: Any) -> None:
        await stream_put(ctx, dut.slot, [{"number": n, "fits": 1} for n in range(ROOM)], seed=2)

    async def get(ctx: Any) -> None:
        expected = [entry_of(neighbour, number) for number, neighbour in enumerate(neighbours)]
        assert await stream_get(ctx, dut.command, ROOM, seed=3) == expected
        assert not ctx.get(dut.level)
        assert ctx.get(dut.marking)
        assert not ctx.get(dut.idle)

    simulate(dut, put, allot, get)


def test_leaves_and_visited_vertices_get_past_those_that_wait_for_slots() -> None:
    dut = MarkingVisitor(depth=4)
    neighbours = neighbours_of([NEW] * ROOM + [LEAF, VISITED, LEAF])
    marks = [mark_of(neighbour) for neighbour in neighbours if not neighbour["word"] & 1]

    async def put(ctx: Any) -> None:
        prepare(ctx, dut)
        await stream_put(ctx, dut.neighbours, neighbours, seed=1, stall=0)
        ctx.set(dut.neighbours.valid, 1)
        ctx.set(dut.neighbours.payload, neighbours_of([NEW])[0])
        for _ in range(20):
            assert not ctx.get(dut.neighbours.ready)
            assert not ctx.get(dut.demand)
            await ctx.tick()

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.mark, len(marks), seed=2, stall=0) == marks
        await wait(ctx, 30)
        assert not ctx.get(dut.mark.valid), "marked, but not queued"

    simulate(dut, put, get)


@pytest.mark.parametrize("kind", [LEAF, NEW])
@simulated(lambda: MarkingVisitor(depth=4))
async def test_with_all_marks_waiting_only_visited_vertices_pass(ctx: Any, dut: MarkingVisitor, kind: int) -> None:
    prepare(ctx, dut)
    await stream_put(ctx, dut.neighbours, neighbours_of([LEAF] * ROOM), seed=1, stall=0)
    ctx.set(dut.neighbours.valid, 1)
    ctx.set(dut.neighbours.payload, neighbours_of([VISITED])[0])
    assert ctx.get(dut.neighbours.ready)
    ctx.set(dut.neighbours.payload, neighbours_of([kind])[0])
    for _ in range(20):
        assert not ctx.get(dut.neighbours.ready)
        assert not ctx.get(dut.demand)
        await ctx.tick()
    assert not ctx.get(dut.level)
