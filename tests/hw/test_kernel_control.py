"""Kernel control: chain, parameters, phases, flush, counters."""

from typing import Any

import pytest

from cyscc.hw.causes import Cause
from cyscc.hw.interfaces import ChainOp
from cyscc.hw.kernel_control import KernelControl
from cyscc.hw.registers import Counter, KernelWord, Register
from tests.hw.streams import collect, cycles_of, pulse, simulate, simulated, wait

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


def test_start_numbers_the_kernels() -> None:
    dut = control()
    starts: list[int] = []

    async def bench(ctx: Any) -> None:
        for number in (0, 7, 63):
            passed = await send(ctx, dut, op=ChainOp.START, value=number)
            assert passed == {"op": ChainOp.START, "value": number + 1}
            assert ctx.get(dut.start)
            assert ctx.get(dut.number) == number
            await wait(ctx, 3)

    simulate(dut, bench, background=[cycles_of(dut.start, starts)])
    assert len(starts) == 3


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


@simulated(control)
async def test_answers_of_others_pass(ctx: Any, dut: KernelControl) -> None:
    message = {"op": ChainOp.DATA, "index": 2, "hops": 15, "value": 2**48 - 1}
    assert await send(ctx, dut, **message) == message


@simulated(control)
async def test_counters_count_their_events(ctx: Any, dut: KernelControl) -> None:
    for counter in Counter:
        ctx.set(dut.events, 1 << counter)
        await ctx.tick().repeat(10 + counter)
    ctx.set(dut.events, 0)
    for counter in Counter:
        assert (await send(ctx, dut, op=ChainOp.READ, index=KernelWord.COUNTER_0 + counter)).value == 10 + counter


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


@simulated(lambda: control(instrument=True))
async def test_quiescent_unless_something_moves(ctx: Any, dut: KernelControl) -> None:
    async def quiescent() -> int:
        await ctx.tick()
        return int(ctx.get(dut.quiescent))

    assert await quiescent()
    for signal in (dut.moving, dut.flushed, dut.chain_in.valid):
        ctx.set(signal, 1)
        assert not await quiescent()
        ctx.set(signal, 0)
        assert await quiescent()
    await start(ctx, dut)
    assert [await quiescent() for _ in range(4)] == [0, 0, 1, 1]
    ctx.set(dut.idle, 1)
    assert [await quiescent() for _ in range(4)] == [0, 0, 1, 1]


def test_messages_do_not_get_lost_back_to_back() -> None:
    dut = control()
    left: list[Any] = []
    given = [{"op": ChainOp.WRITE, "index": n % 15, "value": n} for n in range(20)]

    async def bench(ctx: Any) -> None:
        ctx.set(dut.chain_in.valid, 1)
        for message in given:
            ctx.set(dut.chain_in.payload, message)
            await ctx.tick()
        ctx.set(dut.chain_in.valid, 0)
        await wait(ctx, 3)

    simulate(dut, bench, background=[collect(dut.chain_out, left)])
    assert left == given
