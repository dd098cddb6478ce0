"""Module master: parameters, start, end, and questions to the kernels."""

from collections import deque
from typing import Any

import pytest

from cyscc.hw.interfaces import ChainOp
from cyscc.hw.module_master import ModuleMaster
from cyscc.hw.registers import KERNEL_WORD_BITS, Register
from tests.hw.streams import Bench, collect, cycles_of, pulse, simulate, simulated, wait

PARAMETERS = (Register.CAPACITY, Register.WORDS, Register.COLOUR)


def registers(dut: ModuleMaster) -> Bench:
    """Stand for the register file: register n holds 2^40 + n, one cycle after its number."""

    async def bench(ctx: Any) -> None:
        async for _, _, number in ctx.tick().sample(dut.parameter):
            ctx.set(dut.value, 2**40 + number)

    return bench


def chain(dut: ModuleMaster, *, delay: int) -> Bench:
    """Stand for the kernels' registers on the chain; the kernel asked answers with 100 + the word's number."""

    async def bench(ctx: Any) -> None:
        line: deque[Any] = deque([None] * delay)
        async for _, _, valid, message in ctx.tick().sample(dut.chain_out.valid, dut.chain_out.payload):
            line.append(message if valid else None)
            last = line.popleft()
            ctx.set(dut.chain_in.valid, last is not None)
            if last is not None:
                answer = {"op": last.op, "index": last.index, "value": last.value}
                if last.op == ChainOp.READ:
                    answer = {"op": ChainOp.DATA, "value": 100 + last.index}
                ctx.set(dut.chain_in.payload, answer)

    return bench


async def begin(ctx: Any, dut: ModuleMaster) -> None:
    await pulse(ctx, dut.begin)


@pytest.mark.parametrize("engine", [0, 3])
@pytest.mark.parametrize("kernels", [1, 3])
def test_parameters_come_before_the_start(engine: int, kernels: int) -> None:
    dut = ModuleMaster(kernels=kernels, parameters=PARAMETERS)
    sent: list[Any] = []
    begins: list[int] = []
    launches: list[int] = []
    starts: list[int] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.engine, engine)
        for _ in range(2):
            await begin(ctx, dut)
            await wait(ctx, 20)
            ctx.set(dut.done, (1 << kernels) - 1)
            await wait(ctx, 2)
            assert ctx.get(dut.complete)
            ctx.set(dut.done, 0)

    starting = dut.chain_out.valid & (dut.chain_out.payload.op == ChainOp.START)
    background = [registers(dut), chain(dut, delay=kernels), collect(dut.chain_out, sent), cycles_of(dut.begin, begins)]
    simulate(dut, bench, background=[*background, cycles_of(dut.launch, launches), cycles_of(starting, starts)])
    run = [{"op": ChainOp.WRITE, "index": register.value, "value": 2**40 + register} for register in PARAMETERS]
    # What a message does not use keeps its value.
    assert [message.op for message in sent] == 2 * [*(ChainOp.WRITE for _ in PARAMETERS), ChainOp.START]
    assert sent[:3] == run
    assert sent[4:7] == run
    assert [message.value for message in sent if message.op == ChainOp.START] == [engine * kernels] * 2
    assert launches == starts == [cycle + ModuleMaster.launch_cycles(PARAMETERS) for cycle in begins]


@pytest.mark.parametrize("delay", [1, 16])
def test_done_of_the_last_run_is_not_believed(delay: int) -> None:
    dut = ModuleMaster(kernels=2, parameters=PARAMETERS)

    async def kernels(ctx: Any) -> None:
        """Take back `done` two cycles after the start left the last kernel, as kernels do."""
        ctx.set(dut.done, 0b11)
        while True:
            _, _, valid, message = await ctx.tick().sample(dut.chain_in.valid, dut.chain_in.payload)
            if valid and message.op == ChainOp.START:
                await ctx.tick()
                ctx.set(dut.done, 0)
                await wait(ctx, 30)
                ctx.set(dut.done, 0b01)
                await wait(ctx, 10)
                ctx.set(dut.done, 0b11)

    async def bench(ctx: Any) -> None:
        for _ in range(3):
            await begin(ctx, dut)
            cycles = 0
            while not ctx.get(dut.complete):
                await ctx.tick()
                cycles += 1
            assert cycles > delay + 40
            await wait(ctx, 5)
            assert ctx.get(dut.complete), "complete lasts until the next run"

    simulate(dut, bench, background=[registers(dut), chain(dut, delay=delay), kernels])


def test_questions_reach_the_kernels_between_runs_and_while_they_work() -> None:
    dut = ModuleMaster(kernels=3, parameters=PARAMETERS)
    asked: list[Any] = []
    answers: list[Any] = []

    async def ask(ctx: Any, *, kernel: int, word: int) -> None:
        ctx.set(dut.question.payload, kernel << KERNEL_WORD_BITS | word)
        ctx.set(dut.question.valid, 1)
        await ctx.tick().until(dut.question.ready)
        ctx.set(dut.question.valid, 0)

    async def bench(ctx: Any) -> None:
        await ask(ctx, kernel=2, word=5)
        await wait(ctx, 8)
        await begin(ctx, dut)
        await ask(ctx, kernel=1, word=7)
        await wait(ctx, 30)
        assert not ctx.get(dut.complete)
        ctx.set(dut.done, 0b111)
        await wait(ctx, 2)
        await ask(ctx, kernel=0, word=0)
        await wait(ctx, 8)

    simulate(
        dut,
        bench,
        background=[registers(dut), chain(dut, delay=3), collect(dut.chain_out, asked), collect(dut.answer, answers)],
    )
    reads = [(message.hops, message.index) for message in asked if message.op == ChainOp.READ]
    assert reads == [(2, 5), (1, 7), (0, 0)]
    assert answers == [105, 107, 100]
    order = [message.op for message in asked]
    # The question in the middle waited until the start had come round.
    assert order == [ChainOp.READ, *[ChainOp.WRITE] * 3, ChainOp.START, ChainOp.READ, ChainOp.READ]


@simulated(lambda: ModuleMaster(kernels=3, parameters=PARAMETERS))
async def test_failed_if_a_kernel_dropped_a_vertex(ctx: Any, dut: ModuleMaster) -> None:
    for error in range(8):
        ctx.set(dut.error, error)
        await ctx.tick()
        assert ctx.get(dut.failed) == (error != 0)
