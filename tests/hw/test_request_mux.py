"""Request multiplexer: priority, both cadences, and channels that do not stop each other."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from cyscc.hw.interfaces import SIZE_8
from cyscc.hw.request_mux import READ, WRITE, RequestMux
from tests.hw.streams import Bench, collect, cycles_of, pulse, simulate, simulated, stream_get, stream_put, wait

SOURCES = (READ, READ, READ, WRITE, WRITE)


def command(source: int, number: int, *, last: int = 1) -> dict[str, int]:
    """Return a command whose address identifies its source and its number."""
    place = {"base": source << 20, "index": number, "size": SIZE_8}
    if SOURCES[source] == READ:
        return place | {"tag": source}
    return place | {"data": 1000 * source + number, "last": last}


def request(source: int, number: int) -> dict[str, int]:
    place = {"address": (source << 20) + 8 * number, "size": SIZE_8}
    return place | ({"tag": source} if SOURCES[source] == READ else {"data": 1000 * source + number})


def put(dut: RequestMux, source: int, commands: Sequence[dict[str, int]], *, stall: float = 0.0) -> Bench:
    async def bench(ctx: Any) -> None:
        await stream_put(ctx, getattr(dut, f"source{source}"), commands, seed=source, stall=stall)

    return bench


def get(channel: Any, count: int, into: list[Any], *, stall: float = 0.0, seed: int = 8) -> Bench:
    async def bench(ctx: Any) -> None:
        into.extend(await stream_get(ctx, channel, count, seed=seed, stall=stall))

    return bench


def source_of(made: Any) -> int:
    return int(made.address) >> 20


@pytest.mark.parametrize("interval", [1, 2])
def test_the_latest_process_comes_first(interval: int) -> None:
    dut = RequestMux(sources=SOURCES, issue_interval=interval)
    granted: list[int] = []
    reads: list[Any] = []
    writes: list[Any] = []

    async def watch(ctx: Any) -> None:
        sources = [getattr(dut, f"source{number}") for number in range(len(SOURCES))]
        transfers = [source.valid & source.ready for source in sources]
        async for _, _, *taken in ctx.tick().sample(*transfers):
            granted.extend(number for number, transfer in enumerate(taken) if transfer)
            assert sum(taken) <= 1

    benches = [put(dut, number, [command(number, n) for n in range(3)]) for number in range(len(SOURCES))]
    simulate(dut, *benches, get(dut.read, 9, reads), get(dut.write, 6, writes), background=[watch])
    assert granted == [4, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0]
    assert [source_of(made) for made in reads] == [2, 2, 2, 1, 1, 1, 0, 0, 0]
    assert [source_of(made) for made in writes] == [4, 4, 4, 3, 3, 3]


@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.parametrize("sources", [(0,), (4,), (0, 3), (0, 1, 2, 3, 4)])
def test_a_request_every_interval(interval: int, sources: tuple[int, ...]) -> None:
    dut = RequestMux(sources=SOURCES, issue_interval=interval)
    count = 12
    granted: list[int] = []
    benches = [put(dut, number, [command(number, n) for n in range(count)]) for number in sources]
    reads = sum(count for number in sources if SOURCES[number] == READ)
    writes = sum(count for number in sources if SOURCES[number] == WRITE)
    benches += [get(dut.read, reads, []), get(dut.write, writes, [])]
    simulate(dut, *benches, background=[cycles_of(dut.granted, granted)])
    assert granted == list(range(granted[0], granted[0] + interval * count * len(sources), interval))


@pytest.mark.parametrize(("interval", "period"), [(1, 3), (2, 4)])
def test_the_writes_of_a_visit_go_back_to_back(interval: int, period: int) -> None:
    dut = RequestMux(sources=SOURCES, issue_interval=interval)
    visits = 5
    granted: list[int] = []
    resting: list[int] = []
    commands = [command(4, n, last=n % 3 == 2) for n in range(3 * visits)]
    background = [cycles_of(dut.granted, granted), cycles_of(dut.resting, resting)]
    simulate(dut, put(dut, 4, commands), get(dut.write, 3 * visits, []), background=background)
    start = granted[0]
    assert granted == [start + period * visit + step for visit in range(visits) for step in range(3)]
    assert resting == ([start + 4 * visit + 3 for visit in range(visits)] if interval == 2 else [])


@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_stalls_neither_drop_nor_repeat(interval: int, seed: int) -> None:
    dut = RequestMux(sources=SOURCES, issue_interval=interval)
    count = 40
    chance = random.Random(seed)
    reads: list[Any] = []
    writes: list[Any] = []
    granted: list[int] = []
    benches = [
        put(dut, number, [command(number, n) for n in range(count)], stall=chance.choice([0.0, 0.5, 0.8]))
        for number in range(len(SOURCES))
    ]
    benches += [
        get(dut.read, 3 * count, reads, stall=chance.random() * 0.8, seed=seed),
        get(dut.write, 2 * count, writes, stall=chance.random() * 0.8, seed=seed + 10),
    ]
    simulate(dut, *benches, background=[cycles_of(dut.granted, granted)], steady=[dut.read, dut.write])
    for source, kind in enumerate(SOURCES):
        mine = [made for made in (reads if kind == READ else writes) if source_of(made) == source]
        assert mine == [request(source, number) for number in range(count)]
    assert len(granted) == count * len(SOURCES)
    assert all(later - earlier >= interval for earlier, later in pairwise(granted))


@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.parametrize("stalled", [READ, WRITE])
def test_a_stalled_channel_does_not_stop_the_other(interval: int, stalled: str) -> None:
    dut = RequestMux(sources=SOURCES, issue_interval=interval)
    stopped, free = (dut.read, dut.write) if stalled == READ else (dut.write, dut.read)
    flows = WRITE if stalled == READ else READ
    count = 20
    made: list[Any] = []
    escaped: list[Any] = []
    blocked: list[int] = []

    async def offer(ctx: Any) -> None:
        for number, kind in enumerate(SOURCES):
            if kind == stalled:
                source = getattr(dut, f"source{number}")
                ctx.set(source.valid, 1)
                ctx.set(source.payload, command(number, 0))

    async def flow(ctx: Any) -> None:
        await wait(ctx, filling)
        for number, kind in enumerate(SOURCES):
            if kind == flows:
                commands = [command(number, n) for n in range(count)]
                await stream_put(ctx, getattr(dut, f"source{number}"), commands, seed=number, stall=0)

    filling = 10
    total = count * SOURCES.count(flows)
    background = [collect(stopped, escaped), cycles_of(dut.blocked, blocked)]
    limit = filling + interval * total + 5
    simulate(dut, offer, flow, get(free, total, made), background=background, cycles=limit)
    assert len(made) == total
    assert escaped == []
    assert len(blocked) >= total


@simulated(lambda: RequestMux(sources=SOURCES, issue_interval=1))
async def test_hold_grants_nothing(ctx: Any, dut: RequestMux) -> None:
    ctx.set(dut.read.ready, 1)
    ctx.set(dut.write.ready, 1)
    for number in range(len(SOURCES)):
        ctx.set(getattr(dut, f"source{number}").valid, 1)
    ctx.set(dut.hold, 1)
    for _ in range(10):
        assert not ctx.get(dut.granted)
        assert not any(ctx.get(getattr(dut, f"source{number}").ready) for number in range(len(SOURCES)))
        await ctx.tick()
    assert not ctx.get(dut.busy)
    ctx.set(dut.hold, 0)
    assert ctx.get(dut.granted)


@simulated(lambda: RequestMux(sources=[READ, WRITE], issue_interval=1))
async def test_busy_until_the_port_took_the_request(ctx: Any, dut: RequestMux) -> None:
    for source, channel in ((dut.source0, dut.read), (dut.source1, dut.write)):
        await pulse(ctx, source.valid)
        for _ in range(5):
            assert ctx.get(dut.busy)
            await ctx.tick()
        assert not ctx.get(dut.moving)
        ctx.set(channel.ready, 1)
        assert ctx.get(dut.moving)
        await ctx.tick()
        assert not ctx.get(dut.busy)


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^a source is 'read' or 'write', not 'flush'$"):
        RequestMux(sources=[READ, "flush"], issue_interval=1)
    with pytest.raises(ValueError, match=r"^issue_interval must be 1 or 2, not 3$"):
        RequestMux(sources=[READ], issue_interval=3)
