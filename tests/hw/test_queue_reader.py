"""Queue reader: exactly the indices first, first + stride, ... below the count."""

from typing import Any

import pytest

from cyscc.hw.queue_reader import QueueReader
from tests.hw.streams import pulse, simulate, simulated, stream_get

LAST = 2**32 - 1


def read_all(stride: int, runs: list[tuple[int, int]], *, stall: float = 0.4) -> list[list[int]]:
    """Return the indices of each run, given as (count, first), of one reader."""
    dut = QueueReader(stride=stride)
    indices: list[list[int]] = []

    async def bench(ctx: Any) -> None:
        assert ctx.get(dut.finished)
        for number, (count, first) in enumerate(runs):
            ctx.set(dut.count, count)
            await ctx.tick()
            ctx.set(dut.first, first)
            await pulse(ctx, dut.start)
            ctx.set(dut.first, 0)
            expected = len(range(first, count, stride))
            assert ctx.get(dut.finished) == (expected == 0)
            indices.append(await stream_get(ctx, dut.index, expected, seed=number, stall=stall))
            ctx.set(dut.index.ready, 1)
            for _ in range(4):
                assert ctx.get(dut.finished)
                assert not ctx.get(dut.index.valid)
                await ctx.tick()
            ctx.set(dut.index.ready, 0)

    simulate(dut, bench, steady=[dut.index])
    return indices


@pytest.mark.parametrize("stride", [1, 2, 4, 64])
def test_every_first_and_every_count_around_the_stride(stride: int) -> None:
    counts = sorted({0, 1, stride - 1, stride, stride + 1, 2 * stride, 2 * stride + 1})
    runs = [(count, first) for count in counts for first in sorted({0, stride // 2, stride - 1})]
    assert read_all(stride, runs) == [list(range(first, count, stride)) for count, first in runs]


def test_kernels_share_the_queue_without_rest() -> None:
    shares = read_all(5, [(37, first) for first in range(5)])
    assert sorted(index for share in shares for index in share) == list(range(37))


@pytest.mark.parametrize("stride", [1, 3, 64])
def test_the_greatest_count(stride: int) -> None:
    runs = [(LAST, LAST - 2 * stride), (LAST, LAST - 1), (LAST, LAST), (LAST - 1, LAST), (0, LAST), (0, 0)]
    assert read_all(stride, runs) == [list(range(first, count, stride)) for count, first in runs]


@simulated(lambda: QueueReader(stride=2))
async def test_one_index_a_cycle(ctx: Any, dut: QueueReader) -> None:
    ctx.set(dut.count, 20)
    await ctx.tick()
    ctx.set(dut.start, 1)
    ctx.set(dut.index.ready, 1)
    await ctx.tick()
    ctx.set(dut.start, 0)
    for index in range(0, 20, 2):
        assert ctx.get(dut.index.valid)
        assert ctx.get(dut.index.payload) == index
        await ctx.tick()
    assert ctx.get(dut.finished)


@pytest.mark.parametrize("stride", [0, -1])
def test_stride_is_positive(stride: int) -> None:
    with pytest.raises(ValueError, match=f"^stride must be at least 1, not {stride}$"):
        QueueReader(stride=stride)
