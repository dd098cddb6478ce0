"""Kernel control: chain, parameters, phases, flush. Its counters, numbers and rest are proven."""

from typing import Any

import pytest

from cyscc.hw.causes import Cause
from cyscc.hw.interfaces import ChainOp
from cyscc.hw.kernel_control import KernelControl
from cyscc.hw.registers import KernelWord, Register
from tests.hw.streams import cycles_of, pulse, simulate, simulated, wait

PARAMETERS = (Register.WORDS, Register.CURRENT_COUNT, Register.COLOUR)


def control(*, instrument: bool = False) -> KernelControl:
    return KernelControl(parameters=PARAMETERS, words={}, instrument=instrument)


async def send(ctx: Any, dut: KernelControl, **message: Any) -> Any:
    """Pass a message through the station; return how it left, one cycle later."""
    ctx.set(dut.chain_in.payload, message)
    await pulse(ctx, dut.chain_in.valid)
    assert ctx.get(dut.chain_out.valid)
    return ctx.get(dut.chain_out.payload)


def parameters_of(ctx: Any, dut: KernelControl) -> list[int]:
    return [ctx.get(getattr(dut, f"register_{register.name.lower()}")) for register in PARAMETERS]


@simulated(control)
async def test_parameters_are_kept_and_passed_on(ctx: Any, dut: KernelControl) -> None:
    for number, register in enumerate(Register):
        message = {"op": ChainOp.WRITE, "index": register.value & 15, "value": 2**47 + number}
        if register <= Register.NEXT_START:
            assert await send(ctx, dut, **message) == message
    assert parameters_of(ctx, dut) == [2**47 + list(Register).index(register) for register in PARAMETERS]
    await ctx.tick()
    assert not ctx.get(dut.chain_out.valid)


@simulated(control)
async def test_only_a_valid_message_counts(ctx: Any, dut: KernelControl) -> None:
    for op in (ChainOp.WRITE, ChainOp.START, ChainOp.READ, ChainOp.DATA):
        ctx.set(dut.chain_in.payload, {"op": op, "value": 99})
        await ctx.tick()
        assert not ctx.get(dut.chain_out.valid)
        assert not ctx.get(dut.start)
    assert parameters_of(ctx, dut) == [0, 0, 0]


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


async def start(ctx: Any, dut: KernelControl) -> None:
    await send(ctx, dut, op=ChainOp.START, value=0)


@pytest.mark.parametrize("work", [0, 1, 20])
@pytest.mark.parametrize("flush_latency", [1, 2, 30])
def test_a_run_flushes_once_when_idle_and_is_done_when_flushed(work: int, flush_latency: int) -> None:
    dut = control()
    flushes: list[int] = []

    async def bench(ctx: Any) -> None:
        for run in range(1, 4):
            ctx.set(dut.idle, 0)
            await start(ctx, dut)
            epoch = ctx.get(dut.epoch)
            await ctx.tick()
            assert not ctx.get(dut.done), "done is taken back with the start"
            assert ctx.get(dut.epoch) != epoch
            await wait(ctx, work + 1)
            assert ctx.get(dut.busy)
            assert len(flushes) == run - 1
            ctx.set(dut.idle, 1)
            await ctx.tick()
            assert ctx.get(dut.flush)
            await wait(ctx, flush_latency)
            assert ctx.get(dut.busy)
            assert not ctx.get(dut.done)
            await pulse(ctx, dut.flushed)
            for _ in range(5):
                assert ctx.get(dut.done)
                assert not ctx.get(dut.busy)
                await ctx.tick()
            assert len(flushes) == run

    simulate(dut, bench, background=[cycles_of(dut.flush, flushes)])


@simulated(control)
async def test_nothing_happens_before_the_first_start(ctx: Any, dut: KernelControl) -> None:
    ctx.set(dut.idle, 1)
    ctx.set(dut.flushed, 1)
    for _ in range(10):
        assert not any(ctx.get(signal) for signal in (dut.busy, dut.done, dut.flush, dut.start, dut.error))
        await ctx.tick()


@simulated(control)
async def test_the_error_is_sticky_until_the_next_run(ctx: Any, dut: KernelControl) -> None:
    await start(ctx, dut)
    await wait(ctx, 2)
    await pulse(ctx, dut.overflow)
    ctx.set(dut.idle, 1)
    ctx.set(dut.flushed, 1)
    await wait(ctx, 10)
    assert ctx.get(dut.done)
    assert ctx.get(dut.error)
    await start(ctx, dut)
    await ctx.tick()
    assert not ctx.get(dut.error)


def test_idle_is_believed_from_the_second_cycle_after_the_start() -> None:
    """Until then, the processes' signals belong to the previous run."""
    dut = control()
    flushes: list[int] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.idle, 1)
        await start(ctx, dut)
        await wait(ctx, 2)
        ctx.set(dut.idle, 0)
        await wait(ctx, 10)
        assert flushes == []

    simulate(dut, bench, background=[cycles_of(dut.flush, flushes)])


@simulated(lambda: control(instrument=True))
async def test_last_cause_that_applies_counts(ctx: Any, dut: KernelControl) -> None:
    async def cause() -> Cause:
        await ctx.tick()
        return Cause(ctx.get(dut.cause))

    assert await cause() == Cause.IDLE
    await start(ctx, dut)
    await wait(ctx, 2)
    assert await cause() == Cause.RESPONSE
    ctx.set(dut.idle, 1)
    await ctx.tick()
    assert await cause() == Cause.FLUSH
    for expected in Cause:
        ctx.set(dut.reasons[expected], 1)
        assert await cause() == max(expected, Cause.FLUSH)
