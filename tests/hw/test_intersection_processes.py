"""Processes of the intersection kernel, each alone."""

from typing import Any

import pytest

from cyscc.hw.interfaces import SIZE_4, SIZE_8
from cyscc.hw.intersection.classifier import Classifier
from cyscc.hw.intersection.colour_reader import ColourReader
from cyscc.hw.intersection.reach_reader import ReachReader
from cyscc.hw.intersection.start_finder import StartFinder
from cyscc.hw.intersection.tags import Direction, Tag
from cyscc.hw.intersection.unvisit_writer import UnvisitWriter
from cyscc.hw.registers import NO_START
from tests.hw.port_memory import answer_commands
from tests.hw.streams import pulse, simulate, simulated, stream_get, stream_put, wait

FORWARD, BACKWARD, COLOURS, WORDS, TRANSPOSED = 0x1000, 0x2_0000, 0x30_0000, 0x400_0000, 0x5000_0000


@pytest.mark.parametrize(("forward", "backward"), [(0, 0), (1, 0), (0, 1), (2, 2), (17, 30), (30, 1)])
@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize("seed", [1, 2])
def test_reach_reader_reads_both_shares_forward_first(forward: int, backward: int, first: int, seed: int) -> None:
    dut = ReachReader(depth=4, stride=3)
    share = [(FORWARD, index) for index in range(first, forward, 3)]
    share += [(BACKWARD, index) for index in range(first, backward, 3)]
    taken: list[Any] = []

    async def bench(ctx: Any) -> None:
        assert ctx.get(dut.idle)
        ctx.set(dut.forward_queue, FORWARD)
        ctx.set(dut.backward_queue, BACKWARD)
        ctx.set(dut.forward_count, forward)
        ctx.set(dut.backward_count, backward)
        await ctx.tick()
        ctx.set(dut.first, first)
        await pulse(ctx, dut.start)
        assert ctx.get(dut.idle) == (not share)
        entries = await stream_get(ctx, dut.entries, len(share), seed=seed)
        assert entries == [
            {"vertex": base + index, "direction": Direction.FORWARD if base == FORWARD else Direction.BACKWARD}
            for base, index in share
        ]
        await wait(ctx, 2)
        assert ctx.get(dut.idle)
        assert ctx.get(dut.credits) == 4

    server = answer_commands(dut.command, {0: dut.response}, place_of, seed=seed, taken=taken)
    simulate(dut, bench, background=[server], steady=[dut.entries, dut.command])
    assert taken == [{"base": base, "index": n, "size": SIZE_4, "tag": Tag.REACH_ENTRY} for base, n in share]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_colour_reader_joins_colour_and_other_word(seed: int, stall: float) -> None:
    dut = ColourReader(depth=4)
    # The vertex's low bits say what its answers are: bit 0 coloured, bit 1 met by the other search.
    entries: list[dict[str, Any]] = [{"vertex": n, "direction": Direction(n // 4 % 2)} for n in range(24)]
    taken: list[Any] = []

    def contents(read: Any) -> int:
        vertex = int(read.index)
        return 0x8000_0000 * (vertex & 1) if int(read.base) == COLOURS else 0xABCD_0000 | vertex >> 1 & 1

    async def put(ctx: Any) -> None:
        for name, address in (("colours", COLOURS), ("words", WORDS), ("transposed_words", TRANSPOSED)):
            ctx.set(getattr(dut, name), address)
        await stream_put(ctx, dut.entries, entries, seed=seed, stall=stall)

    async def get(ctx: Any) -> None:
        candidates = await stream_get(ctx, dut.candidates, len(entries), seed=seed + 1, stall=stall)
        assert candidates == [entry | {"coloured": n & 1, "met": n >> 1 & 1} for n, entry in enumerate(entries)]
        await ctx.tick()
        assert ctx.get(dut.idle)
        assert ctx.get(dut.credits) == 4

    responses = {1: dut.colour_response, 2: dut.word_response}
    server = answer_commands(dut.command, responses, contents, seed=seed, taken=taken, stall=stall)
    simulate(dut, put, get, background=[server], steady=[dut.candidates, dut.command])
    expected = []
    for entry in entries:
        other = TRANSPOSED if entry["direction"] == Direction.FORWARD else WORDS
        expected.append({"base": COLOURS, "index": entry["vertex"], "size": SIZE_4, "tag": Tag.COLOUR})
        expected.append({"base": other, "index": entry["vertex"], "size": SIZE_8, "tag": Tag.OTHER_WORD})
    assert taken == expected


def test_colour_reader_requests_no_more_than_it_has_places_for() -> None:
    dut = ColourReader(depth=4)
    taken: list[Any] = []

    async def put(ctx: Any) -> None:
        entries = [{"vertex": n} for n in range(12)]
        await stream_put(ctx, dut.entries, entries, seed=1, stall=0)

    async def get(ctx: Any) -> None:
        await wait(ctx, 80)
        assert len(taken) == 8
        assert not ctx.get(dut.credits)
        candidates = await stream_get(ctx, dut.candidates, 12, seed=2)
        assert [candidate.vertex for candidate in candidates] == list(range(12))

    responses = {1: dut.colour_response, 2: dut.word_response}
    simulate(dut, put, get, background=[answer_commands(dut.command, responses, zero, seed=1, taken=taken, stall=0)])


def zero(_: Any) -> int:
    return 0


def place_of(read: Any) -> int:
    return int(read.base) + int(read.index)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_classifier_skips_colours_or_asks(seed: int, stall: float) -> None:
    dut = Classifier(depth=4)
    candidates: list[dict[str, Any]] = [
        {"vertex": n, "direction": Direction(n // 4 % 2), "coloured": n & 1, "met": n >> 1 & 1} for n in range(32)
    ]
    members = [n for n in range(32) if n & 3 == 2]
    outsiders = [candidate for candidate in candidates if not candidate["coloured"] and not candidate["met"]]
    taken: list[Any] = []
    rejected: list[int] = []
    painted: list[int] = []

    def base(candidate: dict[str, Any]) -> int:
        return WORDS if candidate["direction"] == Direction.FORWARD else TRANSPOSED

    async def put(ctx: Any) -> None:
        for name, address in (("colours", COLOURS), ("words", WORDS), ("transposed_words", TRANSPOSED)):
            ctx.set(getattr(dut, name), address)
        ctx.set(dut.colour, 0xFEED)
        await stream_put(ctx, dut.candidates, candidates, seed=seed, stall=stall)

    async def paint(ctx: Any) -> None:
        made = await stream_get(ctx, dut.paint, len(members), seed=seed + 1, stall=stall)
        assert made == [{"base": COLOURS, "index": n, "size": SIZE_4, "data": 0xFEED, "last": 1} for n in members]

    async def get(ctx: Any) -> None:
        made = await stream_get(ctx, dut.outsiders, len(outsiders), seed=seed + 2, stall=stall)
        assert made == [
            {"vertex": c["vertex"], "direction": c["direction"], "word": base(c) + c["vertex"]} for c in outsiders
        ]
        await ctx.tick()
        assert ctx.get(dut.idle)
        assert ctx.get(dut.credits) == 4

    async def watch(ctx: Any) -> None:
        signals = dut.rejected, dut.rejected_vertex, dut.painted, dut.candidates.payload.vertex
        async for _, _, reject, vertex, write, candidate in ctx.tick().sample(*signals):
            if reject:
                rejected.append(vertex)
            if write:
                painted.append(candidate)

    server = answer_commands(dut.command, {3: dut.response}, place_of, seed=seed, taken=taken, stall=stall)
    steady = [dut.paint, dut.command, dut.outsiders]
    simulate(dut, put, paint, get, background=[server, watch], steady=steady)
    assert taken == [{"base": base(c), "index": c["vertex"], "size": SIZE_8, "tag": Tag.OWN_WORD} for c in outsiders]
    assert rejected == [candidate["vertex"] for candidate in outsiders]
    assert painted == members


@pytest.mark.parametrize("direction", list(Direction))
def test_unvisit_writer_clears_the_flag_alone(direction: Direction) -> None:
    dut = UnvisitWriter()
    given = [{"vertex": n, "direction": direction, "word": word} for n, word in enumerate([0, 1, 2**64 - 1, 2**63])]

    async def put(ctx: Any) -> None:
        ctx.set(dut.words, WORDS)
        ctx.set(dut.transposed_words, TRANSPOSED)
        await stream_put(ctx, dut.outsiders, given, seed=1)

    async def get(ctx: Any) -> None:
        made = await stream_get(ctx, dut.command, len(given), seed=2)
        base = WORDS if direction == Direction.FORWARD else TRANSPOSED
        assert made == [
            {"base": base, "index": n, "size": SIZE_8, "data": word, "last": 1}
            for n, word in enumerate([0, 0, 2**64 - 2, 2**63])
        ]

    simulate(dut, put, get, steady=[dut.command])


async def turn(ctx: Any, dut: StartFinder, *, value: int = NO_START, epoch: int = 0, done: int = 1) -> Any:
    """Pass the token through the start finder; return how it left, one cycle later."""
    ctx.set(dut.token_in.payload, {"value": value, "done": done, "epoch": epoch})
    await pulse(ctx, dut.token_in.valid)
    assert ctx.get(dut.token_out.valid)
    token = ctx.get(dut.token_out.payload)
    await ctx.tick()
    assert not ctx.get(dut.token_out.valid)
    return token


async def reject(ctx: Any, dut: StartFinder, vertex: int) -> None:
    ctx.set(dut.rejected, 1)
    ctx.set(dut.rejected_vertex, vertex)
    await ctx.tick()
    ctx.set(dut.rejected, 0)


@simulated(StartFinder)
async def test_start_finder_offers_its_first_find_unless_another_kernel_has(ctx: Any, dut: StartFinder) -> None:
    assert (await turn(ctx, dut)).value == NO_START
    await reject(ctx, dut, 0)
    await reject(ctx, dut, 8)
    assert (await turn(ctx, dut)).value == 0
    assert (await turn(ctx, dut, value=3)).value == 3
    assert (await turn(ctx, dut, epoch=1)).value == NO_START


@simulated(StartFinder)
async def test_start_finder_forgets_with_the_next_run(ctx: Any, dut: StartFinder) -> None:
    await reject(ctx, dut, 7)
    await pulse(ctx, dut.start)
    assert (await turn(ctx, dut)).value == NO_START
    await reject(ctx, dut, 9)
    assert (await turn(ctx, dut)).value == 9


@pytest.mark.parametrize("done", [0, 1])
@pytest.mark.parametrize("epoch", [0, 1])
@pytest.mark.parametrize("token_done", [0, 1])
@simulated(StartFinder)
async def test_start_finder_lets_done_stay_only_for_its_own_finished_run(
    ctx: Any, dut: StartFinder, done: int, epoch: int, token_done: int
) -> None:
    ctx.set(dut.done, done)
    ctx.set(dut.epoch, 1)
    token = await turn(ctx, dut, epoch=epoch, done=token_done)
    assert token == {"value": NO_START, "done": int(done and token_done and epoch == 1), "epoch": epoch}
