"""Memory port as AXI4 master: order, narrow transfers, limits, flush, errors."""

import random
from collections import deque
from typing import Any

import pytest

from cyscc.hw.axi import AxiLimits
from cyscc.hw.axi.memory_port import AxiMemoryPort
from cyscc.hw.axi.signatures import Resp
from cyscc.hw.config import ConfigError
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from tests.hw.streams import Bench, pulse, simulate, stream_put, wait

LIMITS = AxiLimits(outstanding_reads=4, outstanding_writes=8)


def word(address: int) -> int:
    """Return what a memory holds at the word of an address: different in both halves."""
    return (address & ~7) << 32 | 0xABCD_0000 | (address & 0xFFF8) >> 3


def reader(dut: AxiMemoryPort, *, seed: int, addresses: list[tuple[int, int]], errors: set[int]) -> Bench:
    """Return a bench that answers reads in order, late, with pauses."""

    async def bench(ctx: Any) -> None:
        chance = random.Random(seed)
        waiting: deque[int] = deque()
        axi = dut.axi
        answered = 0
        while True:
            ctx.set(axi.arready, chance.random() < 0.5)
            offered = bool(waiting) and chance.random() < 0.4
            ctx.set(axi.rvalid, offered)
            if offered:
                ctx.set(axi.rdata, word(waiting[0]))
                ctx.set(axi.rresp, Resp.DECERR if answered in errors else Resp.OKAY)
                ready = False
                while not ready:
                    _, _, taken, address, size, ready = await ctx.tick().sample(
                        axi.arvalid & axi.arready, axi.araddr, axi.arsize, axi.rready
                    )
                    if taken:
                        waiting.append(address)
                        addresses.append((address, size))
                    ctx.set(axi.arready, chance.random() < 0.5)
                waiting.popleft()
                answered += 1
            else:
                _, _, taken, address, size = await ctx.tick().sample(axi.arvalid & axi.arready, axi.araddr, axi.arsize)
                if taken:
                    waiting.append(address)
                    addresses.append((address, size))
            assert len(waiting) <= LIMITS.outstanding_reads

    return bench


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reads_are_answered_in_order_from_the_half_that_the_address_names(seed: int) -> None:
    dut = AxiMemoryPort(LIMITS)
    chance = random.Random(seed)
    requests = []
    for _ in range(80):
        size = chance.choice((SIZE_4, SIZE_8))
        requests.append(
            {"address": chance.randrange(1000) * (8 if size else 4), "size": size, "tag": chance.randrange(4)}
        )
    errors = {7, 8, 30}
    addresses: list[tuple[int, int]] = []
    responses: list[tuple[int, int]] = []
    failures: list[int] = []

    async def collect_responses(ctx: Any) -> None:
        async for _, _, valid, payload, failed in ctx.tick().sample(
            dut.port.response.valid, dut.port.response.payload, dut.read_failed
        ):
            assert valid or not failed
            if valid:
                if failed:
                    failures.append(len(responses))
                responses.append((payload.data, payload.tag))

    async def finish(ctx: Any) -> None:
        while len(responses) < len(requests):
            await ctx.tick()

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.port.read, requests, seed=seed, stall=0.1)

    simulate(
        dut, put, finish, background=[collect_responses, reader(dut, seed=seed, addresses=addresses, errors=errors)]
    )
    assert addresses == [(request["address"], 3 if request["size"] else 2) for request in requests]
    expected = []
    for number, request in enumerate(requests):
        whole = word(request["address"])
        half = whole >> (8 * (request["address"] & 4)) & 0xFFFF_FFFF
        data = 0 if number in errors else whole if request["size"] else half
        expected.append((data, request["tag"]))
    assert responses == expected
    assert failures == sorted(errors)


def test_no_more_reads_are_outstanding_than_the_limit() -> None:
    dut = AxiMemoryPort(LIMITS)
    sent: list[int] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.axi.arready, 1)
        ctx.set(dut.port.read.valid, 1)
        for _ in range(30):
            _, _, valid = await ctx.tick().sample(dut.axi.arvalid)
            sent.append(valid)
        assert sum(sent) == LIMITS.outstanding_reads
        # One answer makes room for one read.
        ctx.set(dut.axi.rvalid, 1)
        await ctx.tick().until(dut.axi.rready)
        ctx.set(dut.axi.rvalid, 0)
        for _ in range(30):
            _, _, valid = await ctx.tick().sample(dut.axi.arvalid)
            sent.append(valid)
        assert sum(sent) == LIMITS.outstanding_reads + 1

    simulate(dut, bench)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_writes_have_their_data_and_strobes_and_a_flush_waits_for_every_answer(seed: int) -> None:
    dut = AxiMemoryPort(LIMITS)
    chance = random.Random(seed)
    requests = []
    for _ in range(40):
        size = chance.choice((SIZE_4, SIZE_8))
        requests.append(
            {
                "address": chance.randrange(1000) * (8 if size else 4),
                "size": size,
                "data": chance.getrandbits(64),
            }
        )
    axi = dut.axi
    addresses: list[tuple[int, int]] = []
    beats: list[tuple[int, int]] = []
    state = {"answered": 0, "flushed": 0, "failed": 0}
    errors = {3, 20}

    async def memory(ctx: Any) -> None:
        pace = random.Random(seed + 100)
        valid = False
        while True:
            ctx.set(axi.awready, pace.random() < 0.5)
            ctx.set(axi.wready, pace.random() < 0.5)
            complete = min(len(addresses), len(beats)) - state["answered"]
            valid = complete > 0 and pace.random() < 0.2
            ctx.set(axi.bvalid, valid)
            ctx.set(axi.bresp, Resp.SLVERR if state["answered"] in errors else Resp.OKAY)
            _, _, address, size, taken, data, strobe, beat, ready, failed = await ctx.tick().sample(
                axi.awaddr,
                axi.awsize,
                axi.awvalid & axi.awready,
                axi.wdata,
                axi.wstrb,
                axi.wvalid & axi.wready,
                axi.bready,
                dut.write_failed,
            )
            assert ready
            state["failed"] += failed
            state["answered"] += valid
            if taken:
                addresses.append((address, size))
            if beat:
                beats.append((data, strobe))
            assert max(len(addresses), len(beats)) - state["answered"] <= LIMITS.outstanding_writes

    async def put(ctx: Any) -> None:
        for first in range(0, len(requests), 10):
            await stream_put(ctx, dut.port.write, requests[first : first + 10], seed=seed, stall=0.1)
            await pulse(ctx, dut.port.flush)
            await ctx.tick().until(dut.port.flushed)
            assert state["answered"] == first + 10
            state["flushed"] += 1
            await wait(ctx, 20)
            assert not ctx.get(dut.port.flushed)

    simulate(dut, put, background=[memory])
    assert state == {"answered": 40, "flushed": 4, "failed": len(errors)}
    assert addresses == [(request["address"], 3 if request["size"] else 2) for request in requests]
    for request, (data, strobe) in zip(requests, beats, strict=True):
        if request["size"]:
            assert (data, strobe) == (request["data"], 0xFF)
        else:
            upper = request["address"] & 4
            assert strobe == (0xF0 if upper else 0x0F)
            assert data >> (8 * upper) & 0xFFFF_FFFF == request["data"] & 0xFFFF_FFFF


def test_a_flush_without_writes_is_answered_soon() -> None:
    dut = AxiMemoryPort(LIMITS)

    async def bench(ctx: Any) -> None:
        await pulse(ctx, dut.port.flush)
        await ctx.tick().until(dut.port.flushed)

    simulate(dut, bench, cycles=5)


@pytest.mark.parametrize("name", ["outstanding_reads", "outstanding_writes"])
@pytest.mark.parametrize("value", [0, 2, 5, 1024, True, 8.0])
def test_limits_are_checked(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"^{name} must be a power of two from 4 to 512, not {value!r}$"):
        AxiLimits(**{name: value})  # type: ignore[arg-type]  # that is the test
