"""AXI4-Lite slave: the AE's registers in halves, the slave's own, and refused accesses."""

from collections.abc import Callable
from typing import Any

import pytest

from cyscc.hw.axi.control import AxiControl
from cyscc.hw.axi.registers import IDENTITY, AxiStatus, ControlRegister, engine_register
from cyscc.hw.axi.signatures import Resp
from cyscc.hw.config import PRESETS
from cyscc.hw.registers import KERNEL_WINDOW, Register, kernel_register
from tests.hw.streams import Bench, collect, pulse, simulate, wait

CONFIG = PRESETS["test"]
KERNELS = CONFIG.bfs_kernels + CONFIG.intersection_kernels


async def put(ctx: Any, dut: AxiControl, address: int, value: int, *, strobe: int = 0xF, lag: int = 0) -> Resp:
    """Write a register; the data come `lag` cycles after the address."""
    axi = dut.axi
    ctx.set(axi.awaddr, address)
    ctx.set(axi.awvalid, 1)
    await wait(ctx, lag)
    ctx.set(axi.wdata, value)
    ctx.set(axi.wstrb, strobe)
    ctx.set(axi.wvalid, 1)
    await ctx.tick().until(axi.awready & axi.wready)
    ctx.set(axi.awvalid, 0)
    ctx.set(axi.wvalid, 0)
    await ctx.tick().until(axi.bvalid)
    # The answer stays until it is taken.
    await wait(ctx, lag)
    ctx.set(axi.bready, 1)
    (response,) = await ctx.tick().sample(axi.bresp).until(axi.bvalid)
    ctx.set(axi.bready, 0)
    return Resp(response)


async def get(ctx: Any, dut: AxiControl, address: int, *, lag: int = 0) -> tuple[Resp, int]:
    """Read a register."""
    axi = dut.axi
    ctx.set(axi.araddr, address)
    ctx.set(axi.arvalid, 1)
    await ctx.tick().until(axi.arready)
    ctx.set(axi.arvalid, 0)
    await ctx.tick().until(axi.rvalid)
    await wait(ctx, lag)
    ctx.set(axi.rready, 1)
    response, value = await ctx.tick().sample(axi.rresp, axi.rdata).until(axi.rvalid)
    ctx.set(axi.rready, 0)
    return Resp(response), value


def engine(dut: AxiControl, answer: Callable[[int], int]) -> Bench:
    """Return a bench that answers register reads as an AE does, some cycles later."""

    async def bench(ctx: Any) -> None:
        ctx.set(dut.write.ready, 1)
        ctx.set(dut.instruction.ready, 1)
        ctx.set(dut.idle, 1)
        while True:
            await wait(ctx, 3)
            ctx.set(dut.read.ready, 1)
            asked = False
            while not asked:
                _, _, asked, number = await ctx.tick().sample(dut.read.valid, dut.read.payload)
            ctx.set(dut.read.ready, 0)
            await wait(ctx, 2)
            ctx.set(dut.data.payload, answer(number))
            await pulse(ctx, dut.data.valid)

    return bench


@pytest.mark.parametrize("lag", [0, 3])
def test_halves_are_written_and_read_together(lag: int) -> None:
    dut = AxiControl(CONFIG)
    written: list[Any] = []

    async def bench(ctx: Any) -> None:
        for register in (Register.WORDS, Register.COLOUR, 15):
            address = engine_register(register)
            assert await put(ctx, dut, address, 0x1000 + register, lag=lag) == Resp.OKAY
            assert await put(ctx, dut, address + 4, 0xFFFF_0000 + register, lag=lag) == Resp.OKAY
        for register in (Register.STATUS, Register.CYCLES, kernel_register(KERNELS - 1, 7)):
            address = engine_register(register)
            assert await get(ctx, dut, address, lag=lag) == (Resp.OKAY, register)
            assert await get(ctx, dut, address + 4, lag=lag) == (Resp.OKAY, 7 * register)

    simulate(
        dut, bench, background=[engine(dut, lambda number: number | 7 * number << 32), collect(dut.write, written)]
    )
    assert [(write.index, write.value) for write in written] == [
        (register, (0xFFFF_0000 + register) << 32 | 0x1000 + register) for register in (0, 13, 15)
    ]


def test_instructions_are_dispatched_to_an_idle_engine_only() -> None:
    dut = AxiControl(CONFIG)
    dispatched: list[int] = []

    async def bench(ctx: Any) -> None:
        await wait(ctx, 1)
        for instruction in (0, 1):
            assert await put(ctx, dut, ControlRegister.DISPATCH, instruction) == Resp.OKAY
        assert await put(ctx, dut, ControlRegister.DISPATCH, 2) == Resp.SLVERR
        assert await put(ctx, dut, ControlRegister.DISPATCH, 1 << 5) == Resp.SLVERR
        ctx.set(dut.idle, 0)
        assert await put(ctx, dut, ControlRegister.DISPATCH, 0) == Resp.SLVERR
        assert await put(ctx, dut, engine_register(Register.WORDS) + 4, 0) == Resp.SLVERR
        assert await put(ctx, dut, ControlRegister.ENGINE, 1) == Resp.SLVERR
        ctx.set(dut.idle, 1)

    simulate(dut, bench, background=[engine(dut, lambda _: 0), collect(dut.instruction, dispatched)])
    assert dispatched == [0, 1]


def test_the_slaves_own_registers() -> None:
    dut = AxiControl(CONFIG)

    async def bench(ctx: Any) -> None:
        await wait(ctx, 1)
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

    simulate(dut, bench, background=[engine(dut, lambda _: 0)])


@pytest.mark.parametrize("kind", ["read", "write"])
def test_errors_stay_until_they_are_cleared(kind: str) -> None:
    dut = AxiControl(CONFIG)
    failed = dut.read_failed if kind == "read" else dut.write_failed
    register = ControlRegister.READ_ERRORS if kind == "read" else ControlRegister.WRITE_ERRORS
    flag = AxiStatus.READ_ERROR if kind == "read" else AxiStatus.WRITE_ERROR

    async def bench(ctx: Any) -> None:
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

    simulate(dut, bench, background=[engine(dut, lambda _: 0)])


@pytest.mark.parametrize(
    "address",
    [
        engine_register(Register.STATUS),
        engine_register(Register.CYCLES) + 4,
        engine_register(KERNEL_WINDOW),
        ControlRegister.IDENTITY,
        ControlRegister.SHAPE,
        ControlRegister.STATUS,
        ControlRegister.WRITE_ERRORS + 4,
    ],
)
def test_what_cannot_be_written_is_refused(address: int) -> None:
    dut = AxiControl(CONFIG)
    written: list[Any] = []

    async def bench(ctx: Any) -> None:
        assert await put(ctx, dut, address, 3) == Resp.SLVERR

    simulate(dut, bench, background=[engine(dut, lambda _: 0), collect(dut.write, written)])
    assert written == []
