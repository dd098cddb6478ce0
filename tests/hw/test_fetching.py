"""Parts that take from FIFOs as the published kernel does: order, pace, and when a slot is shown."""

from itertools import pairwise
from typing import Any

from cyscc.hw.bfs.neighbour_fetcher import NeighbourFetcher
from cyscc.hw.bfs.slot_gate import SlotGate
from cyscc.hw.queue import Queue
from cyscc.hw.request_queue import RequestQueue
from tests.hw.streams import cycles_of, simulate, stream_get, stream_put, wait


def test_reads_keep_their_order_and_wait_as_long_as_in_a_queue() -> None:
    dut = RequestQueue(depth=4)
    asked: list[int] = []
    shown: list[int] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.command.payload, {"base": 64, "size": 1, "tag": 2})
        ctx.set(dut.command.payload.index, 7)
        ctx.set(dut.command.valid, 1)
        await ctx.tick()
        ctx.set(dut.command.valid, 0)
        await wait(ctx, Queue.LATENCY)
        request = dut.request.payload
        assert [ctx.get(part) for part in (request.base, request.index, request.size, request.tag)] == [64, 7, 1, 2]
        assert not ctx.get(dut.idle)
        ctx.set(dut.request.ready, 1)
        await ctx.tick()
        assert ctx.get(dut.idle)

    simulate(dut, bench, background=[cycles_of(dut.command.valid, asked), cycles_of(dut.request.valid, shown)])
    assert shown[0] - asked[0] == Queue.LATENCY


def test_neighbours_are_taken_every_second_cycle_and_the_end_is_seen_late() -> None:
    dut = NeighbourFetcher()
    taken: list[int] = []
    idle: list[int] = []
    vertices = [{"word": 2 * vertex, "vertex": vertex} for vertex in range(6)]

    async def put(ctx: Any) -> None:
        await stream_put(ctx, dut.neighbours, vertices, seed=1, stall=0.0)
        await wait(ctx, 10)

    async def get(ctx: Any) -> None:
        found = await stream_get(ctx, dut.fetched, len(vertices), seed=2, stall=0.0)
        assert [entry.vertex for entry in found] == list(range(6))

    passed = dut.neighbours.valid & dut.neighbours.ready
    simulate(dut, put, get, background=[cycles_of(passed, taken), cycles_of(dut.idle, idle)])
    assert [later - first for first, later in pairwise(taken)] == [2] * 5
    # The last one is shown a cycle after it is taken.
    assert next(cycle for cycle in idle if cycle > taken[0]) == taken[-1] + 1 + NeighbourFetcher.SETTLING + 1


def test_the_first_slot_is_shown_after_two_cycles_but_to_a_held_vertex_at_once() -> None:
    dut = SlotGate()
    shown: list[int] = []

    async def bench(ctx: Any) -> None:
        for held in (0, 1):
            ctx.set(dut.reserved.valid, 1)
            ctx.set(dut.held, held)
            await ctx.tick()
            ctx.set(dut.held, 0)
            await wait(ctx, 3)
            ctx.set(dut.reserved.valid, 0)
            await wait(ctx, 1)

    simulate(dut, bench, background=[cycles_of(dut.slot.valid, shown)])
    assert [cycle - shown[0] for cycle in shown] == [0, 1, 3, 4, 5, 6]
