"""AXI4-Lite slave: its own registers, and errors of the memory. How it passes on those of the AE is proven."""

from typing import Any

import pytest

from cyscc.hw.axi.control import AxiControl
from cyscc.hw.axi.registers import IDENTITY, AxiStatus, ControlRegister
from cyscc.hw.axi.signatures import Resp
from cyscc.hw.config import PRESETS
from tests.hw.streams import simulate, wait

CONFIG = PRESETS["test"]


async def put(ctx: Any, dut: AxiControl, address: int, value: int) -> Resp:
    """Write a register."""
    axi = dut.axi
    ctx.set(axi.awaddr, address)
    ctx.set(axi.wdata, value)
    ctx.set(axi.wstrb, 0xF)
    for valid in (axi.awvalid, axi.wvalid):
        ctx.set(valid, 1)
    await ctx.tick().until(axi.awready & axi.wready)
    for valid in (axi.awvalid, axi.wvalid):
        ctx.set(valid, 0)
    ctx.set(axi.bready, 1)
    (response,) = await ctx.tick().sample(axi.bresp).until(axi.bvalid)
    ctx.set(axi.bready, 0)
    return Resp(response)


async def get(ctx: Any, dut: AxiControl, address: int) -> tuple[Resp, int]:
    """Read a register."""
    axi = dut.axi
    ctx.set(axi.araddr, address)
    ctx.set(axi.arvalid, 1)
    await ctx.tick().until(axi.arready)
    ctx.set(axi.arvalid, 0)
    ctx.set(axi.rready, 1)
    response, value = await ctx.tick().sample(axi.rresp, axi.rdata).until(axi.rvalid)
    ctx.set(axi.rready, 0)
    return Resp(response), value


def test_the_slaves_own_registers() -> None:
    dut = AxiControl(CONFIG)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.idle, 1)
        assert IDENTITY.to_bytes(4, "little") == b"CSYC"
        assert await get(ctx, dut, ControlRegister.IDENTITY) == (Resp.OKAY, IDENTITY)
        assert await get(ctx, dut, ControlRegister.SHAPE) == (Resp.OKAY, 2 | 1 << 8 | 2 << 16)
        assert await put(ctx, dut, ControlRegister.ENGINE, 1) == Resp.OKAY
        assert await put(ctx, dut, ControlRegister.ENGINE, 2) == Resp.SLVERR
        assert await get(ctx, dut, ControlRegister.ENGINE) == (Resp.OKAY, 1)
        assert ctx.get(dut.engine) == 1
        assert await get(ctx, dut, ControlRegister.STATUS) == (Resp.OKAY, AxiStatus.IDLE)
        ctx.set(dut.idle, 0)
        ctx.set(dut.exception, 1)
        assert await get(ctx, dut, ControlRegister.STATUS) == (Resp.OKAY, AxiStatus.EXCEPTION)

    simulate(dut, bench)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_errors_stay_until_they_are_cleared(kind: str) -> None:
    dut = AxiControl(CONFIG)
    failed = dut.read_failed if kind == "read" else dut.write_failed
    register = ControlRegister.READ_ERRORS if kind == "read" else ControlRegister.WRITE_ERRORS
    flag = AxiStatus.READ_ERROR if kind == "read" else AxiStatus.WRITE_ERROR

    async def bench(ctx: Any) -> None:
        ctx.set(dut.idle, 1)
        for port in (1, 0):
            ctx.set(failed, 1 << port)
            await ctx.tick()
            ctx.set(failed, 0)
            await wait(ctx, 5)
        assert await get(ctx, dut, register) == (Resp.OKAY, 3)
        assert await get(ctx, dut, ControlRegister.STATUS) == (Resp.OKAY, AxiStatus.IDLE | flag)
        assert await put(ctx, dut, register, 1) == Resp.OKAY
        assert await get(ctx, dut, register) == (Resp.OKAY, 2)
        # An error in the cycle of the clearing is not lost.
        ctx.set(failed, 2)
        assert await put(ctx, dut, register, 2) == Resp.OKAY
        ctx.set(failed, 0)
        assert await get(ctx, dut, register) == (Resp.OKAY, 2)

    simulate(dut, bench)
