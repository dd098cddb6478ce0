"""Ring master: one token a run, taken off at its end."""

from typing import Any

import pytest

from cyscc.hw.interfaces import Token
from cyscc.hw.ring_master import RingMaster
from tests.hw.streams import collect, pulse, simulate, wait


async def pass_token(ctx: Any, dut: RingMaster, token: dict[str, int]) -> None:
    ctx.set(dut.ring_in.payload, token)
    await pulse(ctx, dut.ring_in.valid)


async def start(ctx: Any, dut: RingMaster) -> None:
    await pulse(ctx, dut.start)


@pytest.mark.parametrize("stages", [1, 2, 5])
def test_start_sends_one_token(stages: int) -> None:
    dut = RingMaster(stages=stages, initial=77)
    tokens: list[Any] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.lead, 1)
        assert not ctx.get(dut.running)
        await start(ctx, dut)
        assert ctx.get(dut.running)
        await wait(ctx, stages - 1)
        assert ctx.get(dut.ring_out.valid), "the token comes out after `stages` cycles"
        await ctx.tick().repeat(20)
        assert ctx.get(dut.running)

    simulate(dut, bench, background=[collect(dut.ring_out, tokens)])
    assert tokens == [{"value": 77, "done": 1, "epoch": 1}]


@pytest.mark.parametrize("stages", [1, 3])
def test_an_unfinished_token_goes_round_again_with_done_set(stages: int) -> None:
    dut = RingMaster(stages=stages, initial=0)
    tokens: list[Any] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.lead, 1)
        await start(ctx, dut)
        for turn in range(1, 4):
            await ctx.tick().repeat(stages + 2)
            await pass_token(ctx, dut, {"value": 10 * turn, "done": 0, "epoch": 1})
            assert ctx.get(dut.running)
        await ctx.tick().repeat(stages + 2)

    simulate(dut, bench, background=[collect(dut.ring_out, tokens)])
    assert tokens == [{"value": value, "done": 1, "epoch": 1} for value in (0, 10, 20, 30)]


@pytest.mark.parametrize("stages", [1, 3])
def test_a_finished_token_is_taken_off_and_the_next_run_is_another_epoch(stages: int) -> None:
    dut = RingMaster(stages=stages, initial=5)
    tokens: list[Any] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.lead, 1)
        for run in range(3):
            await start(ctx, dut)
            await ctx.tick().repeat(stages + 1)
            await pass_token(ctx, dut, {"value": 100 + run, "done": 1, "epoch": (run + 1) % 2})
            assert not ctx.get(dut.running)
            assert ctx.get(dut.result) == 100 + run
            await ctx.tick().repeat(3 * stages)
            assert len(tokens) == run + 1, "a token outlived its run"
            assert ctx.get(dut.result) == 100 + run

    simulate(dut, bench, background=[collect(dut.ring_out, tokens)])
    assert tokens == [{"value": 5, "done": 1, "epoch": epoch} for epoch in (1, 0, 1)]


@pytest.mark.parametrize("stages", [1, 4])
def test_elsewhere_the_token_only_passes(stages: int) -> None:
    dut = RingMaster(stages=stages, initial=5)
    tokens: list[Any] = []
    given = [{"value": value, "done": done, "epoch": epoch} for value in (3, 9) for done in (0, 1) for epoch in (0, 1)]

    async def bench(ctx: Any) -> None:
        await start(ctx, dut)
        for token in given:
            await pass_token(ctx, dut, token)
            await wait(ctx, stages - 1)
            assert ctx.get(dut.ring_out.valid), "the token comes out after `stages` cycles"
            assert ctx.get(dut.ring_out.payload) == Token.const(token)
            await ctx.tick().repeat(2)
            assert not ctx.get(dut.running)

    simulate(dut, bench, background=[collect(dut.ring_out, tokens)])
    assert tokens == given


@pytest.mark.parametrize("stages", [0, -2])
def test_stages_are_checked(stages: int) -> None:
    with pytest.raises(ValueError, match=f"^stages must be at least 1, not {stages}$"):
        RingMaster(stages=stages, initial=0)
