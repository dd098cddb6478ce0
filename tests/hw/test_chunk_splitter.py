"""Vertices in chunks: the splitter, alone and with process 4, against their definition under random stalls."""

import random
from typing import Any

import pytest

from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from tests.hw.streams import Bench, cycles_of, simulate, stream_get, stream_put
from tests.words import graph_word

CHUNK = 8
NEXT, WORDS, REACH = 0x400_0000, 0x30_0000, 0x5000_0000
DEGREES = [0, 1, 7, 8, 9, 16, 17, 100, 64, 3]


def neighbours_of(seed: int, count: int = 40) -> list[dict[str, int]]:
    """Return vertices of which about a third is visited."""
    chance = random.Random(seed)
    return [
        {
            "vertex": 100 + number,
            "word": graph_word(chance.randrange(1 << 31), chance.choice(DEGREES), visited=chance.random() < 0.3),
        }
        for number in range(count)
    ]


def pieces_of(neighbour: dict[str, int]) -> list[dict[str, int]]:
    """Return the pieces of a vertex."""
    word, vertex = neighbour["word"], neighbour["vertex"]
    visited, degree, start = word & 1, word >> 1 & 0x7FFF_FFFF, word >> 32
    if visited:
        return [{"word": word, "vertex": vertex, "more": 0, "further": 0}]
    return [
        {
            "word": graph_word(start + at, degree - at),
            "vertex": vertex,
            "more": int(at + CHUNK < degree),
            "further": int(at > 0),
        }
        for at in range(0, max(degree, 1), CHUNK)
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_pieces(seed: int, stall: float) -> None:
    dut = ChunkSplitter(chunk=CHUNK)
    neighbours = neighbours_of(seed)
    expected = [piece for neighbour in neighbours for piece in pieces_of(neighbour)]
    idle: list[int] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.neighbours, neighbours, seed=seed, stall=stall)

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.pieces, len(expected), seed=seed + 1, stall=stall) == expected
        idle.append(ctx.get(dut.idle))

    taken: list[int] = []
    passes = cycles_of(dut.pieces.valid & dut.pieces.ready, taken)
    simulate(dut, put, get, background=[passes], steady=[dut.pieces])
    assert idle == [1]
    if not stall:
        assert taken[-1] - taken[0] == len(expected) - 1, "not a piece a cycle"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("capacity", [0, 1, 30, 10_000])
def test_visits(seed: int, stall: float, capacity: int) -> None:
    dut = Visitor(depth=4, chunk=CHUNK)
    neighbours = neighbours_of(seed, 20)
    pieces = [piece for neighbour in neighbours for piece in pieces_of(neighbour)]
    new = [piece for piece in pieces if not piece["word"] & 1]
    slots = [{"number": 7 * number, "fits": number < capacity} for number in range(len(new))]
    expected = []
    for slot, piece in zip(slots[:capacity], new, strict=False):
        start, degree, vertex = piece["word"] >> 32, piece["word"] >> 1 & 0x7FFF_FFFF, piece["vertex"]
        entry = graph_word(start, min(degree, CHUNK))
        expected.append({"base": NEXT, "index": slot["number"], "size": SIZE_8, "data": entry, "last": 0})
        if not piece["further"]:
            mark = piece["word"] | 1
            expected.append({"base": WORDS, "index": vertex, "size": SIZE_8, "data": mark, "last": 0})
        expected.append({"base": REACH, "index": slot["number"], "size": SIZE_4, "data": vertex, "last": 1})
    demands: list[int] = []
    dropped: list[int] = []
    pushed: list[int] = []

    async def put(ctx: Any) -> None:
        ctx.set(dut.next_queue, NEXT)
        ctx.set(dut.words, WORDS)
        ctx.set(dut.reach_queue, REACH)
        await stream_put(ctx, dut.neighbours, pieces, seed=seed, stall=stall)

    async def allot(ctx: Any) -> None:
        await stream_put(ctx, dut.slot, slots, seed=seed + 1, stall=stall)

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.command, len(expected), seed=seed + 2, stall=stall) == expected

    async def end(ctx: Any) -> None:
        while len(pushed) + len(dropped) < len(new):
            await ctx.tick()
        await ctx.tick()
        assert ctx.get(dut.idle)

    background: list[Bench] = [cycles_of(dut.demand, demands), cycles_of(dut.overflow, dropped)]
    background.append(cycles_of(dut.pushed, pushed))
    simulate(dut, put, allot, get, end, background=background, steady=[dut.command])
    assert (len(demands), len(pushed)) == (len(new), min(capacity, len(new)))


def test_a_chunk_has_edges() -> None:
    with pytest.raises(ValueError, match="chunk must be at least 1, not 0"):
        ChunkSplitter(chunk=0)
