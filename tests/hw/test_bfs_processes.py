"""Processes of the BFS kernel, each alone: their requests, in order, and their outputs."""

from collections.abc import Sequence
from typing import Any

import pytest

from cyscc.hw.bfs.frontier_reader import FrontierReader
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.bfs.word_reader import WordReader
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from tests.hw.port_memory import answer_commands
from tests.hw.streams import Bench, cycles_of, pulse, simulate, simulated, stream_get, stream_put, wait
from tests.words import graph_word

QUEUE, NEIGHBOURS, WORDS, NEXT, REACH = 0x1000, 0x2_0000, 0x30_0000, 0x400_0000, 0x5000_0000


async def begin(ctx: Any, dut: Any, *, count: int, first: int) -> None:
    ctx.set(dut.count, count)
    await ctx.tick()
    ctx.set(dut.first, first)
    await pulse(ctx, dut.start)


@pytest.mark.parametrize(("count", "first"), [(0, 0), (1, 0), (1, 2), (3, 2), (40, 1)])
@pytest.mark.parametrize("seed", [1, 2])
def test_frontier_reader_reads_its_share(count: int, first: int, seed: int) -> None:
    dut = FrontierReader(depth=4, stride=3)
    share = list(range(first, count, 3))
    taken: list[Any] = []

    async def bench(ctx: Any) -> None:
        assert ctx.get(dut.idle)
        ctx.set(dut.current_queue, QUEUE)
        await begin(ctx, dut, count=count, first=first)
        assert await stream_get(ctx, dut.words, len(share), seed=seed) == [index**3 for index in share]
        await wait(ctx, 3)
        assert ctx.get(dut.idle)
        assert ctx.get(dut.credits) == 4

    server = answer_commands(dut.command, {0: dut.response}, lambda read: int(read.index) ** 3, seed=seed, taken=taken)
    simulate(dut, bench, background=[server], steady=[dut.words, dut.command])
    assert taken == [{"base": QUEUE, "index": index, "size": SIZE_8, "tag": Tag.FRONTIER_WORD} for index in share]


@pytest.mark.parametrize("latency", [(1, 1), (60, 60)])
def test_readers_request_no_more_than_they_have_places_for(latency: tuple[int, int]) -> None:
    dut = FrontierReader(depth=4, stride=1)
    taken: list[Any] = []

    async def bench(ctx: Any) -> None:
        await begin(ctx, dut, count=30, first=0)
        await wait(ctx, 100)
        assert len(taken) == 4
        assert not ctx.get(dut.credits)
        assert not ctx.get(dut.idle)
        assert await stream_get(ctx, dut.words, 30, seed=1) == list(range(30))

    server = answer_commands(
        dut.command, {0: dut.response}, lambda read: int(read.index), seed=1, taken=taken, stall=0, latency=latency
    )
    simulate(dut, bench, background=[server])
    assert len(taken) == 30


def test_reader_is_starved_while_nothing_takes_what_it_holds() -> None:
    dut = FrontierReader(depth=4, stride=1, instrument=True)
    taken: list[Any] = []

    async def bench(ctx: Any) -> None:
        assert not ctx.get(dut.starved)
        await begin(ctx, dut, count=6, first=0)
        await wait(ctx, 3)
        assert not ctx.get(dut.starved), "there are places left"
        await wait(ctx, 10)
        assert (len(taken), ctx.get(dut.starved), ctx.get(dut.fill)) == (4, 1, 0), "answers are on their way"
        await wait(ctx, 50)
        assert (len(taken), ctx.get(dut.starved), ctx.get(dut.fill)) == (4, 1, 4)
        assert await stream_get(ctx, dut.words, 1, seed=1, stall=0) == [0]
        assert (ctx.get(dut.starved), ctx.get(dut.fill)) == (0, 3)
        assert await stream_get(ctx, dut.words, 5, seed=1) == [1, 2, 3, 4, 5]
        assert (len(taken), ctx.get(dut.starved), ctx.get(dut.fill)) == (6, 0, 0), "nothing is left to request"

    server = answer_commands(
        dut.command, {0: dut.response}, lambda read: int(read.index), seed=1, taken=taken, stall=0, latency=(40, 40)
    )
    simulate(dut, bench, background=[server])


@simulated(lambda: FrontierReader(depth=4, stride=1))
async def test_frontier_reader_takes_no_command_for_granted(ctx: Any, dut: FrontierReader) -> None:
    await begin(ctx, dut, count=1, first=0)
    for _ in range(20):
        assert ctx.get(dut.command.valid)
        assert not ctx.get(dut.idle)
        await ctx.tick()
    assert ctx.get(dut.credits) == 4


def expand(words: Sequence[tuple[int, int]], *, depth: int, seed: int, stall: float = 0.4) -> None:
    """Have a neighbour reader expand words, given as (start, size), and check all that it does."""
    dut = NeighbourReader(depth=depth)
    edges = [start + offset for start, size in words for offset in range(size)]
    taken: list[Any] = []

    async def put(ctx: Any) -> None:
        assert ctx.get(dut.idle)
        ctx.set(dut.neighbours, NEIGHBOURS)
        await stream_put(ctx, dut.words, [graph_word(*word, visited=True) for word in words], seed=seed, stall=stall)

    async def get(ctx: Any) -> None:
        ids = await stream_get(ctx, dut.ids, len(edges), seed=seed + 1, stall=stall)
        assert ids == [(7 * edge) & 0xFFFF_FFFF for edge in edges]

    async def end(ctx: Any) -> None:
        while len(taken) < len(edges) or not ctx.get(dut.idle):
            await ctx.tick()
        await wait(ctx, 10)
        assert ctx.get(dut.idle)
        assert ctx.get(dut.credits) == depth

    server = answer_commands(
        dut.command, {1: dut.response}, lambda read: 7 * int(read.index), seed=seed, taken=taken, stall=stall
    )
    simulate(dut, put, get, end, background=[server], steady=[dut.ids, dut.command])
    assert taken == [{"base": NEIGHBOURS, "index": e, "size": SIZE_4, "tag": Tag.NEIGHBOUR_ID} for e in edges]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "words",
    [
        [(5, 0)],
        [(5, 1)],
        [(0, 0), (0, 0), (3, 0)],
        [(9, 1), (100, 1), (101, 1)],
        [(4, 0), (4, 3), (7, 0), (7, 0), (7, 1), (8, 40), (48, 0)],
        [(2**32 - 3, 3), (0, 2)],
    ],
)
def test_neighbour_reader_expands_in_order(words: list[tuple[int, int]], seed: int) -> None:
    expand(words, depth=4, seed=seed)


def test_neighbour_reader_rests_one_cycle_between_vertices_and_takes_one_for_an_empty_one() -> None:
    dut = NeighbourReader(depth=64)
    words = [(0, 3), (10, 2), (20, 0), (30, 0), (40, 4)]
    granted: list[int] = []

    async def put(ctx: Any) -> None:
        ctx.set(dut.command.ready, 1)
        await stream_put(ctx, dut.words, [graph_word(*word, visited=True) for word in words], seed=1, stall=0)
        await wait(ctx, 20)

    simulate(dut, put, background=[cycles_of(dut.command.valid & dut.command.ready, granted)])
    start = granted[0]
    assert [cycle - start for cycle in granted] == [0, 1, 2, 4, 5, 9, 10, 11, 12]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_word_reader_joins_ids_and_words(seed: int, stall: float) -> None:
    dut = WordReader(depth=4)
    ids = [0, 0xFFFF_FFFF, 5, 5, *range(30)]
    taken: list[Any] = []

    async def put(ctx: Any) -> None:
        ctx.set(dut.words, WORDS)
        await stream_put(ctx, dut.ids, ids, seed=seed, stall=stall)

    async def get(ctx: Any) -> None:
        joined = await stream_get(ctx, dut.neighbours, len(ids), seed=seed + 1, stall=stall)
        assert joined == [{"word": vertex * 2**31 + 1, "vertex": vertex} for vertex in ids]
        await ctx.tick()
        assert ctx.get(dut.idle)
        assert ctx.get(dut.credits) == 4

    server = answer_commands(
        dut.command, {2: dut.response}, lambda read: int(read.index) * 2**31 + 1, seed=seed, taken=taken, stall=stall
    )
    simulate(dut, put, get, background=[server], steady=[dut.neighbours, dut.command])
    assert taken == [{"base": WORDS, "index": v, "size": SIZE_8, "tag": Tag.NEIGHBOUR_WORD} for v in ids]


def visits_of(vertex: int, word: int, slot: int) -> list[dict[str, int]]:
    """Return the three writes of a visit."""
    return [
        {"base": NEXT, "index": slot, "size": SIZE_8, "data": word, "last": 0},
        {"base": WORDS, "index": vertex, "size": SIZE_8, "data": word | 1, "last": 0},
        {"base": REACH, "index": slot, "size": SIZE_4, "data": vertex, "last": 1},
    ]


def visitor_with_addresses(dut: Visitor) -> Bench:
    async def bench(ctx: Any) -> None:
        ctx.set(dut.next_queue, NEXT)
        ctx.set(dut.words, WORDS)
        ctx.set(dut.reach_queue, REACH)

    return bench


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("capacity", [0, 1, 6, 7, 100])
def test_visitor_makes_three_writes_in_order_or_drops_the_vertex_as_a_whole(
    seed: int, stall: float, capacity: int
) -> None:
    dut = Visitor(depth=4)
    visited = [0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0]
    neighbours = [
        {"vertex": 100 + number, "word": graph_word(3 * number, number, visited=bool(flag))}
        for number, flag in enumerate(visited)
    ]
    new = [neighbour for neighbour, flag in zip(neighbours, visited, strict=True) if not flag]
    assert len(new) == 7
    slots = [{"number": number, "fits": number < capacity} for number in range(len(new))]
    expected = [write for slot, n in enumerate(new[:capacity]) for write in visits_of(n["vertex"], n["word"], slot)]
    demands: list[int] = []
    dropped: list[int] = []
    pushed: list[int] = []

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.neighbours, neighbours, seed=seed, stall=stall)

    async def allot(ctx: Any) -> None:
        await stream_put(ctx, dut.slot, slots, seed=seed + 1, stall=stall)

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.command, len(expected), seed=seed + 2, stall=stall) == expected

    async def watch_overflow(ctx: Any) -> None:
        async for _, _, valid, overflow, wait_slot in ctx.tick().sample(dut.slot.valid, dut.overflow, dut.waiting):
            assert not (overflow and not valid)
            assert not (wait_slot and valid)

    async def end(ctx: Any) -> None:
        while len(pushed) + len(dropped) < len(new):
            await ctx.tick()
        await ctx.tick()
        assert ctx.get(dut.idle)
        assert not ctx.get(dut.level)

    background: list[Bench] = [watch_overflow]
    background += [cycles_of(dut.demand, demands), cycles_of(dut.overflow, dropped), cycles_of(dut.pushed, pushed)]
    simulate(dut, visitor_with_addresses(dut), put, allot, get, end, background=background, steady=[dut.command])
    assert len(demands) == len(new)
    assert len(pushed) == min(capacity, len(new))
    assert len(dropped) == len(new) - len(pushed)


@simulated(lambda: Visitor(depth=4))
async def test_a_vertex_that_waits_for_its_slot_is_waiting_and_not_idle(ctx: Any, dut: Visitor) -> None:
    await stream_put(ctx, dut.neighbours, [{"vertex": 1, "word": 0}], seed=1, stall=0)
    assert not ctx.get(dut.idle)
    await ctx.tick().repeat(2)
    for _ in range(50):
        assert ctx.get(dut.waiting)
        assert not ctx.get(dut.idle)
        assert not ctx.get(dut.command.valid)
        await ctx.tick()


@simulated(lambda: Visitor(depth=4))
async def test_a_full_visitor_still_drops_visited_neighbours_and_takes_no_new_one(ctx: Any, dut: Visitor) -> None:
    # The queue's memory and its two registers: two more than the depth.
    await stream_put(ctx, dut.neighbours, [{"vertex": n, "word": 0} for n in range(6)], seed=1, stall=0)
    ctx.set(dut.neighbours.valid, 1)
    ctx.set(dut.neighbours.payload, {"vertex": 9, "word": 1})
    assert ctx.get(dut.neighbours.ready)
    assert not ctx.get(dut.demand)
    ctx.set(dut.neighbours.payload, {"vertex": 9, "word": 0})
    assert not ctx.get(dut.neighbours.ready)
    assert not ctx.get(dut.demand)
