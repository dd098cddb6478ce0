"""Memory port on a memory controller's signals: loads, stores, stalls, answers, flush."""

import random
from typing import Any

import pytest

from cyscc.hw.convey.memory_port import ConveyMemoryPort
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from tests.hw.streams import simulate, simulated, stream_put


@pytest.mark.parametrize("seed", [1, 2])
def test_requests_leave_in_order_of_their_kind_and_heed_the_stalls(seed: int) -> None:
    dut = ConveyMemoryPort()
    chance = random.Random(seed)
    reads = [
        {"address": 8 * chance.randrange(1 << 40), "size": chance.choice((SIZE_4, SIZE_8)), "tag": chance.randrange(4)}
        for _ in range(50)
    ]
    writes = [
        {
            "address": 8 * chance.randrange(1 << 40),
            "size": chance.choice((SIZE_4, SIZE_8)),
            "data": chance.getrandbits(64),
        }
        for _ in range(50)
    ]
    loads: list[tuple[int, int, int]] = []
    stores: list[tuple[int, int, int]] = []
    slack = {"ld": 0, "st": 0}

    async def controller(ctx: Any) -> None:
        pace = random.Random(seed + 7)
        stalled = {"ld": 0, "st": 0}
        mc = dut.mc
        while True:
            for kind, signal in (("ld", mc.rd_rq_stall), ("st", mc.wr_rq_stall)):
                stall = pace.random() < 0.5
                ctx.set(signal, stall)
                stalled[kind] = stalled[kind] + 1 if stall else 0
            _, _, load, store, address, size, content, response = await ctx.tick().sample(
                mc.req_ld, mc.req_st, mc.req_vadr, mc.req_size, mc.req_wrd_rdctl, mc.rsp_stall
            )
            assert not (load and store)
            assert not response
            for kind, requested, requests in (("ld", load, loads), ("st", store, stores)):
                if requested:
                    requests.append((address, size, content))
                    slack[kind] = max(slack[kind], stalled[kind])

    async def put_reads(ctx: Any) -> None:
        await stream_put(ctx, dut.port.read, reads, seed=seed, stall=0.2)

    async def put_writes(ctx: Any) -> None:
        await stream_put(ctx, dut.port.write, writes, seed=seed + 1, stall=0.2)

    async def finish(ctx: Any) -> None:
        while len(loads) + len(stores) < 100:
            await ctx.tick()

    simulate(dut, put_reads, put_writes, finish, background=[controller])
    assert loads == [(read["address"], 3 if read["size"] else 2, read["tag"]) for read in reads]
    assert stores == [
        (
            write["address"],
            3 if write["size"] else 2,
            write["data"] if write["size"] else (write["data"] & 0xFFFF_FFFF) * 0x1_0000_0001,
        )
        for write in writes
    ]
    assert slack == {"ld": 2, "st": 2}


@pytest.mark.parametrize("stalled", ["rd_rq_stall", "wr_rq_stall"])
@simulated(ConveyMemoryPort)
async def test_a_stall_of_one_kind_does_not_stop_the_other(ctx: Any, dut: ConveyMemoryPort, stalled: str) -> None:
    ctx.set(getattr(dut.mc, stalled), 1)
    await ctx.tick().repeat(3)
    ctx.set(dut.port.read.valid, 1)
    ctx.set(dut.port.write.valid, 1)
    await ctx.tick().repeat(2)
    for _ in range(10):
        _, _, load, store = await ctx.tick().sample(dut.mc.req_ld, dut.mc.req_st)
        assert (load, store) == ((0, 1) if stalled == "rd_rq_stall" else (1, 0))


@simulated(ConveyMemoryPort)
async def test_answers_and_flushes_pass_through_a_register(ctx: Any, dut: ConveyMemoryPort) -> None:
    ctx.set(dut.mc.rsp_push, 1)
    ctx.set(dut.mc.rsp_data, 2**64 - 3)
    ctx.set(dut.mc.rsp_rdctl, 2)
    ctx.set(dut.mc.rsp_flush_cmplt, 1)
    ctx.set(dut.port.flush, 1)
    assert not ctx.get(dut.port.response.valid | dut.port.flushed | dut.mc.req_flush)
    await ctx.tick()
    assert ctx.get(dut.port.response.valid & dut.port.flushed & dut.mc.req_flush)
    assert ctx.get(dut.port.response.payload) == {"data": 2**64 - 3, "tag": 2}
    for signal in (dut.mc.rsp_push, dut.mc.rsp_flush_cmplt, dut.port.flush):
        ctx.set(signal, 0)
    await ctx.tick()
    assert not ctx.get(dut.port.response.valid | dut.port.flushed | dut.mc.req_flush)
