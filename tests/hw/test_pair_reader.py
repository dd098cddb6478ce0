"""Process 2 that reads pairs: all ids of all vertices, no id of another vertex, each pair once, at full speed."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from cyscc.hw.bfs.pair_reader import LanePairReader, PairReader
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.interfaces import SIZE_8
from tests.hw.port_memory import answer_commands
from tests.hw.streams import Bench, collect, cycles_of, simulate, stream_get, stream_put, wait
from tests.words import graph_word

NEIGHBOURS = 0x2_0000

WORDS = [
    [(4, 0)],
    [(5, 0)],
    [(4, 1)],
    [(5, 1)],
    [(4, 2)],
    [(5, 2)],
    [(0, 0), (0, 0), (3, 0), (3, 1), (4, 0), (4, 2), (6, 1)],
    [(9, 1), (100, 1), (101, 1), (102, 3), (105, 3), (108, 4), (112, 1), (113, 4), (117, 5)],
    [(4, 0), (4, 3), (7, 0), (7, 0), (7, 1), (8, 40), (49, 41)],
    [(2**32 - 3, 3), (2**32 - 4, 3), (0, 2)],
]
"""Vertices, given as (start, size)."""


def id_at(index: int) -> int:
    """Return an id of C, of which no two near each other are alike."""
    return 0x9E37_79B1 * (index + 1) & 0xFFFF_FFFF


def pair_at(read: Any) -> int:
    """Return the answer to a command."""
    return id_at(2 * int(read.index)) | id_at(2 * int(read.index) + 1) << 32


def indices(words: Sequence[tuple[int, int]]) -> list[int]:
    """Return the indices in C of all ids of some vertices."""
    return [start + offset for start, size in words for offset in range(size)]


def reads_of(words: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    """Return the commands of some vertices: each aligned pair with an id of the vertex."""
    pairs = [pair for start, size in words for pair in sorted({place // 2 for place in range(start, start + size)})]
    return [{"base": NEIGHBOURS, "index": pair, "size": SIZE_8, "tag": Tag.NEIGHBOUR_ID} for pair in pairs]


def expand(dut: Any, words: Sequence[tuple[int, int]], outputs: Sequence[Bench], *, seed: int, stall: float) -> None:
    """Have a reader expand words; check its commands, and that it rests in the end."""
    taken: list[Any] = []
    done: list[int] = []
    ids = [getattr(dut, name) for name in type(dut).RESULTS]
    expected = len(indices(words))

    async def put(ctx: Any) -> None:
        assert ctx.get(dut.idle)
        ctx.set(dut.neighbours, NEIGHBOURS)
        await stream_put(ctx, dut.words, [graph_word(*word, visited=True) for word in words], seed=seed, stall=stall)

    async def end(ctx: Any) -> None:
        while len(taken) < len(reads_of(words)) or len(done) < expected or not ctx.get(dut.idle):
            await ctx.tick()
        await wait(ctx, 10)
        assert ctx.get(dut.idle)
        assert ctx.get(dut.credits) == 4

    server = answer_commands(dut.command, {1: dut.response}, pair_at, seed=seed, taken=taken, stall=stall)
    watched = [collect(output, done) for output in ids]
    simulate(dut, put, end, *outputs, background=[server, *watched], steady=[dut.command, *ids])
    assert taken == reads_of(words)
    assert len(done) == expected


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("stall", [0.0, 0.4])
@pytest.mark.parametrize("words", WORDS)
def test_ids_come_in_order_and_each_pair_is_read_once(words: list[tuple[int, int]], stall: float, seed: int) -> None:
    dut = PairReader(depth=4)

    async def get(ctx: Any) -> None:
        expected = [id_at(index) for index in indices(words)]
        assert await stream_get(ctx, dut.ids, len(expected), seed=seed + 1, stall=stall) == expected

    expand(dut, words, [get], seed=seed, stall=stall)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("stalls", [(0.0, 0.0), (0.4, 0.4), (0.0, 0.8), (0.8, 0.0)])
@pytest.mark.parametrize("words", WORDS)
def test_either_lane_has_its_halves_in_order(
    words: list[tuple[int, int]], stalls: tuple[float, float], seed: int
) -> None:
    dut = LanePairReader(depth=4)

    def lane(half: int) -> Bench:
        output, stall = (dut.low, dut.high)[half], stalls[half]

        async def get(ctx: Any) -> None:
            expected = [id_at(index) for index in indices(words) if index % 2 == half]
            assert await stream_get(ctx, output, len(expected), seed=seed + half, stall=stall) == expected

        return get

    expand(dut, words, [lane(0), lane(1)], seed=seed, stall=0.3)


@pytest.mark.parametrize("kind", [PairReader, LanePairReader])
def test_random_vertices(kind: type[Any]) -> None:
    chance = random.Random(5)
    words = [(chance.randrange(1000), chance.choice([0, 1, 2, 3, 4, 5, 8, 17])) for _ in range(60)]
    dut = kind(depth=4)
    wanted = {0: [id_at(i) for i in indices(words) if i % 2 == 0], 1: [id_at(i) for i in indices(words) if i % 2]}

    async def get(ctx: Any) -> None:
        expected = [id_at(index) for index in indices(words)]
        assert await stream_get(ctx, dut.ids, len(expected), seed=3, stall=0.2) == expected

    def lane(half: int) -> Bench:
        async def bench(ctx: Any) -> None:
            output = (dut.low, dut.high)[half]
            assert await stream_get(ctx, output, len(wanted[half]), seed=half, stall=0.2) == wanted[half]

        return bench

    expand(dut, words, [get] if kind is PairReader else [lane(0), lane(1)], seed=9, stall=0.2)


@pytest.mark.parametrize("kind", [PairReader, LanePairReader])
def test_one_cycle_between_vertices_and_one_for_an_empty_one(kind: type[Any]) -> None:
    dut = kind(depth=64)
    words = [(0, 6), (10, 3), (20, 0), (31, 0), (41, 8)]
    granted: list[int] = []

    async def put(ctx: Any) -> None:
        ctx.set(dut.command.ready, 1)
        await stream_put(ctx, dut.words, [graph_word(*word, visited=True) for word in words], seed=1, stall=0)
        await wait(ctx, 20)

    simulate(dut, put, background=[cycles_of(dut.command.valid & dut.command.ready, granted)])
    start = granted[0]
    assert [cycle - start for cycle in granted] == [0, 1, 2, 4, 5, 9, 10, 11, 12, 13]


@pytest.mark.parametrize("word", [(6, 1), (7, 1), (6, 2), (7, 2)])
@pytest.mark.parametrize("kind", [PairReader, LanePairReader])
def test_not_idle_before_the_last_id_is_taken(kind: type[Any], word: tuple[int, int]) -> None:
    dut = kind(depth=4)
    outputs = [getattr(dut, name) for name in kind.RESULTS]

    async def bench(ctx: Any) -> None:
        await stream_put(ctx, dut.words, [graph_word(*word, visited=True)], seed=1, stall=0)
        left = word[1]
        while left:
            for _ in range(20):
                assert not ctx.get(dut.idle)
                await ctx.tick()
            offered = next(output for output in outputs if ctx.get(output.valid))
            await stream_get(ctx, offered, 1, seed=1, stall=0)
            left -= 1
        assert ctx.get(dut.idle)
        assert not any(ctx.get(output.valid) for output in outputs)

    simulate(dut, bench, background=[answer_commands(dut.command, {1: dut.response}, pair_at, seed=1, taken=[])])


@pytest.mark.parametrize(("kind", "cycles"), [(PairReader, 40), (LanePairReader, 21)])
def test_ids_a_cycle(kind: type[Any], cycles: int) -> None:
    dut = kind(depth=64)
    handed: list[int] = []
    outputs = [getattr(dut, name) for name in kind.RESULTS]

    async def put(ctx: Any) -> None:
        for output in outputs:
            ctx.set(output.ready, 1)
        await stream_put(ctx, dut.words, [graph_word(11, 40, visited=True)], seed=1, stall=0)
        await wait(ctx, 100)

    server = answer_commands(dut.command, {1: dut.response}, pair_at, seed=1, taken=[], stall=0, latency=(5, 5))
    simulate(dut, put, background=[server, *(cycles_of(each.valid & each.ready, handed) for each in outputs)])
    assert len(handed) == 40
    assert len(set(handed)) == max(handed) - min(handed) + 1 == cycles
