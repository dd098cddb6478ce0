"""Places of ids in the copy filter, of which nothing else says that they are well chosen."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import C
from amaranth.sim import Simulator

from cyscc.hw.bfs.copy_filter import CopyFilter


def places_of(depth: int, vertices: Sequence[int]) -> list[int]:
    """Return the places of ids, as numbers of the places of a filter."""
    dut = CopyFilter(depth=depth)
    seen: list[int] = []

    async def bench(ctx: Any) -> None:
        seen.extend(ctx.get(dut.place(C(vertex, 32))) for vertex in vertices)

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def test_ids_below_the_depth_are_never_forgotten() -> None:
    for depth in (8, 64, 256):
        assert sorted(places_of(depth, range(depth))) == sorted([*range(depth // CopyFilter.WAYS)] * CopyFilter.WAYS)


def test_ids_that_differ_in_one_bit_never_meet() -> None:
    for vertex in (0, 0x1234_5678):
        (place, *others) = places_of(64, [vertex, *(vertex ^ 1 << bit for bit in range(32))])
        assert place not in others
