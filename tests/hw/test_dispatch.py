"""Dispatch: register map, instructions, status, cycles, kernel window."""

from typing import Any

import pytest

from cyscc.hw.dispatch import Dispatch
from cyscc.hw.registers import KERNEL_WINDOW, KERNEL_WORD_BITS, Instruction, Register, Status, kernel_register
from tests.hw.streams import Bench, cycles_of, pulse, simulate, simulated, wait

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


async def complete(ctx: Any, dut: Dispatch, *, failed: bool = False) -> None:
    """Complete a run, as a master does: `complete` stays until the next run."""
    ctx.set(dut.failed, failed)
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


@pytest.mark.parametrize("instruction", list(Instruction))
@pytest.mark.parametrize("lead", [False, True])
def test_an_instruction_starts_its_module_and_returns_its_result(instruction: Instruction, *, lead: bool) -> None:
    dut = Dispatch(bfs_kernels=2, intersection_kernels=1)
    begins: dict[Instruction, list[int]] = {known: [] for known in Instruction}
    result_register = {Instruction.BFS_LEVEL: Register.CURRENT_COUNT, Instruction.INTERSECTION: Register.NEXT_START}

    async def bench(ctx: Any) -> None:
        for register in WRITABLE:
            await write(ctx, dut, register, 50 + register)
        ctx.set(dut.result, 0xFFFF_FFFF)
        ctx.set(dut.result_valid, lead)
        assert ctx.get(dut.idle)
        await instruct(ctx, dut, instruction)
        assert not ctx.get(dut.idle)
        await wait(ctx, 30)
        assert await read(ctx, dut, Register.STATUS) == Status.BUSY
        assert ctx.get(dut.intersection) == (instruction == Instruction.INTERSECTION)
        await complete(ctx, dut)
        assert ctx.get(dut.intersection) == (instruction == Instruction.INTERSECTION)
        assert await read(ctx, dut, Register.STATUS) == 0
        for register in WRITABLE:
            returned = lead and register == result_register[instruction]
            assert await read(ctx, dut, register) == (0xFFFF_FFFF if returned else 50 + register)
        assert not ctx.get(dut.exception)

    background = [
        cycles_of(dut.begin_bfs, begins[Instruction.BFS_LEVEL]),
        cycles_of(dut.begin_intersection, begins[Instruction.INTERSECTION]),
    ]
    simulate(dut, bench, background=background)
    assert {known: len(cycles) for known, cycles in begins.items()} == {
        known: int(known == instruction) for known in Instruction
    }


@simulated(lambda: Dispatch(bfs_kernels=2, intersection_kernels=1))
async def test_complete_of_the_run_before_does_not_end_a_run(ctx: Any, dut: Dispatch) -> None:
    ctx.set(dut.complete, 1)
    await instruct(ctx, dut, Instruction.BFS_LEVEL)
    # The master takes it back as it sees the pulse.
    await ctx.tick()
    ctx.set(dut.complete, 0)
    await wait(ctx, 10)
    assert not ctx.get(dut.idle)


@pytest.mark.parametrize("length", [0, 1, 100])
def test_cycles_are_those_from_dispatch_to_completion(length: int) -> None:
    dut = Dispatch(bfs_kernels=2, intersection_kernels=1)
    busy: list[int] = []

    async def bench(ctx: Any) -> None:
        for _ in range(2):
            busy.clear()
            await instruct(ctx, dut, Instruction.BFS_LEVEL)
            await wait(ctx, length)
            await complete(ctx, dut)
            await wait(ctx, 9)
            assert await read(ctx, dut, Register.CYCLES) == len(busy)
            assert length < len(busy) <= length + 4

    simulate(dut, bench, background=[cycles_of(~dut.idle, busy)])


@pytest.mark.parametrize("code", [2, 31])
def test_an_unknown_instruction_is_an_exception(code: int) -> None:
    dut = Dispatch(bfs_kernels=2, intersection_kernels=1)
    begins: list[int] = []

    async def bench(ctx: Any) -> None:
        assert not ctx.get(dut.exception)
        await instruct(ctx, dut, code)
        assert ctx.get(dut.exception)
        assert ctx.get(dut.idle)
        assert await read(ctx, dut, Register.STATUS) == Status.BAD_INSTRUCTION
        await wait(ctx, 5)
        # Sticky, but no hindrance.
        await instruct(ctx, dut, Instruction.BFS_LEVEL)
        await wait(ctx, 3)
        assert await read(ctx, dut, Register.STATUS) == Status.BAD_INSTRUCTION | Status.BUSY
        await complete(ctx, dut)
        assert ctx.get(dut.exception)

    simulate(dut, bench, background=[cycles_of(dut.begin_bfs | dut.begin_intersection, begins)])
    assert len(begins) == 1


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


@simulated(lambda: Dispatch(bfs_kernels=2, intersection_kernels=1))
async def test_an_overflow_is_told_until_the_next_dispatch(ctx: Any, dut: Dispatch) -> None:
    await instruct(ctx, dut, Instruction.BFS_LEVEL)
    await wait(ctx, 5)
    await complete(ctx, dut, failed=True)
    ctx.set(dut.failed, 0)
    for _ in range(3):
        assert await read(ctx, dut, Register.STATUS) == Status.OVERFLOW
    await instruct(ctx, dut, Instruction.BFS_LEVEL)
    assert await read(ctx, dut, Register.STATUS) == Status.BUSY
    await complete(ctx, dut)
    assert await read(ctx, dut, Register.STATUS) == 0


@pytest.mark.parametrize("kernel", [0, 1, 2, 17])
@pytest.mark.parametrize("word", [0, 7])
@pytest.mark.parametrize("running", [False, True])
def test_the_kernel_window_asks_the_kernels(kernel: int, word: int, *, running: bool) -> None:
    """BFS kernels 0 and 1 come first; what follows are intersection kernels from 0."""
    dut = Dispatch(bfs_kernels=2, intersection_kernels=16)
    questions: list[tuple[str, int, int]] = []

    def kernels(name: str) -> Bench:
        async def bench(ctx: Any) -> None:
            question, answer = getattr(dut, f"{name}_question"), getattr(dut, f"{name}_answer")
            while True:
                await wait(ctx, 9)
                ctx.set(question.ready, 1)
                asked = False
                while not asked:
                    _, _, asked, payload = await ctx.tick().sample(question.valid, question.payload)
                ctx.set(question.ready, 0)
                questions.append((name, *divmod(payload, 1 << KERNEL_WORD_BITS)))
                await wait(ctx, 9)
                ctx.set(answer.payload, 2**47 + payload)
                await pulse(ctx, answer.valid)

        return bench

    expected = ("bfs", kernel, word) if kernel < 2 else ("intersection", kernel - 2, word)

    async def bench(ctx: Any) -> None:
        if running:
            await instruct(ctx, dut, Instruction.BFS_LEVEL)
        for _ in range(2):
            assert (
                await read(ctx, dut, kernel_register(kernel, word)) == 2**47 + (expected[1] << KERNEL_WORD_BITS) + word
            )
        assert await read(ctx, dut, Register.STATUS) == (Status.BUSY if running else 0)

    simulate(dut, bench, background=[kernels("bfs"), kernels("intersection")])
    assert questions == [expected, expected]
