"""Dispatch, kernel control and AXI4-Lite slave, as the host and the control chain see them.

How runs begin and end, and what the slave passes on, is proven; whole runs look at status, cycles and parameters.
"""

from typing import Any

import pytest

from cyscc.hw.axi.control import AxiControl
from cyscc.hw.axi.registers import IDENTITY, AxiStatus, ControlRegister
from cyscc.hw.axi.signatures import Resp
from cyscc.hw.causes import Cause
from cyscc.hw.config import PRESETS
from cyscc.hw.dispatch import Dispatch
from cyscc.hw.interfaces import ChainOp
from cyscc.hw.kernel_control import KernelControl
from cyscc.hw.registers import KERNEL_WINDOW, Instruction, KernelWord, Register, Status, kernel_register
from tests.hw.streams import cycles_of, pulse, simulate, simulated, wait

WRITABLE = [register for register in Register if register < Register.STATUS]


async def write(ctx: Any, dut: Dispatch, index: int, value: int) -> None:
    ctx.set(dut.write.payload, {"index": index, "value": value})
    ctx.set(dut.write.valid, 1)
    await ctx.tick().until(dut.write.ready)
    ctx.set(dut.write.valid, 0)


async def read(ctx: Any, dut: Dispatch, index: int) -> int:
    ctx.set(dut.read.payload, index)
    ctx.set(dut.read.valid, 1)
    await ctx.tick().until(dut.read.ready)
    ctx.set(dut.read.valid, 0)
    (value,) = await ctx.tick().sample(dut.data.payload).until(dut.data.valid)
    return int(value)


async def instruct(ctx: Any, dut: Dispatch, code: int) -> None:
    ctx.set(dut.instruction.payload, code)
    await pulse(ctx, dut.instruction.valid)


async def complete(ctx: Any, dut: Dispatch) -> None:
    """Complete a run, as a master does: `complete` stays until the next run."""
    ctx.set(dut.complete, 1)
    await ctx.tick().until(dut.idle)
    ctx.set(dut.complete, 0)


@simulated(lambda: Dispatch(bfs_kernels=2, intersection_kernels=1))
async def test_registers_keep_what_is_written_and_others_are_read_only(ctx: Any, dut: Dispatch) -> None:
    for register in WRITABLE:
        await write(ctx, dut, register, (register + 1) << 56 | register)
    others = (Register.STATUS, Register.CYCLES, 18, 255, KERNEL_WINDOW - 1, 0xFFFF)
    for index in (*others, KERNEL_WINDOW):
        await write(ctx, dut, index, 2**64 - 1)
    for register in reversed(WRITABLE):
        assert await read(ctx, dut, register) == (register + 1) << 56 | register
        ctx.set(dut.parameter, register)
        await ctx.tick()
        assert ctx.get(dut.value) == (register + 1) << 56 | register
    for index in (*others, kernel_register(3, 0), kernel_register(512, 0)):
        assert await read(ctx, dut, index) == 0


@pytest.mark.parametrize("second", list(Instruction))
def test_a_dispatch_to_a_busy_engine_is_refused(second: Instruction) -> None:
    dut = Dispatch(bfs_kernels=2, intersection_kernels=1)
    begins: list[int] = []

    async def bench(ctx: Any) -> None:
        await instruct(ctx, dut, Instruction.INTERSECTION)
        await wait(ctx, 5)
        assert not ctx.get(dut.exception)
        await instruct(ctx, dut, second)
        assert ctx.get(dut.exception)
        assert ctx.get(dut.intersection)
        assert await read(ctx, dut, Register.STATUS) == Status.BAD_INSTRUCTION | Status.BUSY
        await complete(ctx, dut)
        await wait(ctx, 10)
        assert ctx.get(dut.idle)

    simulate(dut, bench, background=[cycles_of(dut.begin_bfs | dut.begin_intersection, begins)])
    assert len(begins) == 1


@simulated(lambda: Dispatch(bfs_kernels=2, intersection_kernels=1))
async def test_writes_wait_while_an_instruction_runs(ctx: Any, dut: Dispatch) -> None:
    await write(ctx, dut, Register.WORDS, 1)
    await instruct(ctx, dut, Instruction.BFS_LEVEL)
    ctx.set(dut.write.payload, {"index": Register.WORDS, "value": 2})
    ctx.set(dut.write.valid, 1)
    for _ in range(10):
        assert not ctx.get(dut.write.ready)
        await ctx.tick()
    assert await read(ctx, dut, Register.WORDS) == 1
    await complete(ctx, dut)
    assert ctx.get(dut.write.ready)
    await ctx.tick()
    ctx.set(dut.write.valid, 0)
    assert await read(ctx, dut, Register.WORDS) == 2


def control(*, instrument: bool = False) -> KernelControl:
    return KernelControl(parameters=(), words={}, instrument=instrument)


async def send(ctx: Any, dut: KernelControl, **message: Any) -> Any:
    """Pass a message through the station; return how it left, one cycle later."""
    ctx.set(dut.chain_in.payload, message)
    await pulse(ctx, dut.chain_in.valid)
    assert ctx.get(dut.chain_out.valid)
    return ctx.get(dut.chain_out.payload)


@simulated(control)
async def test_read_is_answered_by_the_kernel_it_reaches_with_no_hops_left(ctx: Any, dut: KernelControl) -> None:
    for word, signal in enumerate((dut.state, dut.credits, dut.reservation)):
        ctx.set(signal, 0xA000_0000_0000 + word)
    for hops in (1, 5, 15):
        passed = await send(ctx, dut, op=ChainOp.READ, index=KernelWord.CREDITS.value, hops=hops)
        assert passed == {"op": ChainOp.READ, "index": KernelWord.CREDITS.value, "hops": hops - 1}
    for word in range(3):
        answer = await send(ctx, dut, op=ChainOp.READ, index=word)
        assert answer.op == ChainOp.DATA
        assert answer.value == 0xA000_0000_0000 + word
    assert (await send(ctx, dut, op=ChainOp.READ, index=3)).value == 0


@simulated(lambda: control(instrument=True))
async def test_last_cause_that_applies_counts(ctx: Any, dut: KernelControl) -> None:
    async def cause() -> Cause:
        await ctx.tick()
        return Cause(ctx.get(dut.cause))

    assert await cause() == Cause.IDLE
    await send(ctx, dut, op=ChainOp.START, value=0)
    await wait(ctx, 2)
    assert await cause() == Cause.RESPONSE
    ctx.set(dut.idle, 1)
    await ctx.tick()
    assert await cause() == Cause.FLUSH
    for expected in Cause:
        ctx.set(dut.reasons[expected], 1)
        assert await cause() == max(expected, Cause.FLUSH)


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
