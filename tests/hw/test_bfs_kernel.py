"""A BFS kernel alone: timing that the published one has, the cost model, and the places of the filter of copies.

What it writes is proven, and compared with the definition in whole runs on all kinds of machines.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest
from amaranth.hdl import C, Elaboratable, Module
from amaranth.lib.wiring import connect
from amaranth.sim import Simulator

from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.bfs.kernel import Kernel
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.interfaces import ChainMessage, ChainOp
from cyscc.hw.registers import Register
from cyscc.hw.ring_master import RingMaster
from tests.hw.streams import PortMemory, Simulation, cycles_of, pulse, wait
from tests.words import graph_word

WORDS, NEIGHBOURS, CURRENT, NEXT, REACH, SIZE = 0x0, 0x1000, 0x2000, 0x3000, 0x4000, 0x5000


class KernelRing(Elaboratable):
    """A BFS kernel and its ring master. The tests play the chain's master and the memory.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self.kernel: Any = Kernel(config)
        self.master: Any = RingMaster(stages=config.ring_stages, initial=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules += [self.kernel, self.master]
        connect(m, self.master.ring_out, self.kernel.token_in)
        connect(m, self.kernel.token_out, self.master.ring_in)
        m.d.comb += self.master.lead.eq(1)
        return m


@lru_cache(maxsize=16)
def simulated_ring(config: AcceleratorConfig) -> tuple[KernelRing, Simulation]:
    """Return a kernel in its ring, and their simulation, which tests of the same hardware share."""
    ring = KernelRing(config)
    return ring, Simulation(ring)


def alone(**changes: Any) -> AcceleratorConfig:
    """Return the small configuration with one kernel, and with changes."""
    return PRESETS["test"].replace(engines=1, bfs_kernels=1, **changes)


def run(
    config: AcceleratorConfig, adjacency: list[list[int]], frontier: list[int], memory: PortMemory, *, token: int = 0
) -> list[int]:
    """Run a level of a graph, whose token starts so many cycles later; return the cycles in which the port is used."""
    start, known = 0, set(frontier)
    words = []
    for vertex, neighbours in enumerate(adjacency):
        words.append(graph_word(start, len(neighbours)))
        memory.store(WORDS + 8 * vertex, 8, words[-1] | (vertex in known))
        memory.store(NEIGHBOURS + 4 * start, 4, *neighbours)
        start += len(neighbours)
    memory.store(CURRENT, 8, *(words[vertex] for vertex in frontier))
    parameters = {
        Register.WORDS: WORDS,
        Register.NEIGHBOURS: NEIGHBOURS,
        Register.CURRENT_QUEUE: CURRENT,
        Register.NEXT_QUEUE: NEXT,
        Register.REACH_QUEUE: REACH,
        Register.CURRENT_COUNT: len(frontier),
        Register.CAPACITY: 400,
    }
    ring, simulation = simulated_ring(config)
    kernel = ring.kernel
    used: list[int] = []

    async def send(ctx: Any, **message: Any) -> None:
        ctx.set(kernel.chain_in.payload, ChainMessage.const(message))
        await pulse(ctx, kernel.chain_in.valid)

    async def bench(ctx: Any) -> None:
        for register, value in parameters.items():
            await send(ctx, op=ChainOp.WRITE, index=register.value, value=value)
        await send(ctx, op=ChainOp.START, value=0)
        await wait(ctx, token)
        assert not ctx.get(kernel.done)
        await pulse(ctx, ring.master.start)
        while ctx.get(ring.master.running) or not ctx.get(kernel.done):
            await ctx.tick()
        new = {neighbour for vertex in frontier for neighbour in adjacency[vertex]} - known
        queued = {vertex for vertex in new if adjacency[vertex] or not config.bfs_only}
        entries = memory.load(NEXT, 8, ctx.get(ring.master.result))
        assert set(entries) == {words[vertex] for vertex in queued}

    port = kernel.port
    traffic = (port.read.valid & port.read.ready) | (port.write.valid & port.write.ready)
    simulation.run(bench, background=[memory.serve(port), cycles_of(traffic, used)], cycles=6000)
    return used


def test_a_kernel_that_takes_from_fifos_as_the_published_one_asks_as_many_cycles_after_its_answers() -> None:
    memory = PortMemory(SIZE, seed=16, stall=0.0, latency=(20, 20))
    run(alone(issue_interval=2, blocking_reservation=True, queued_requests=4), [[1], []], [0], memory)
    entry, edge, word = (cycle for cycle, _ in memory.reads)
    # Simulated published hardware asks 10 cycles after a word of its queue has come, and 5 after an id.
    assert (edge - entry, word - edge) == (30, 25)


def star(neighbours: int, *, blocking: bool, bfs_only: bool = False, token: int = 0) -> PortMemory:
    """Run a kernel with long queues on a slow ring, for a vertex with many new neighbours; return the memory."""
    memory = PortMemory(SIZE, seed=5, stall=0.0, latency=(3, 3))
    adjacency = [list(range(1, neighbours + 1)), *([0] * bfs_only for _ in range(neighbours))]
    depths = dict.fromkeys(("neighbour_depth", "word_depth", "visit_depth"), 256)
    options = {"issue_interval": 2, "blocking_reservation": blocking, "ring_stages": 64, "bfs_only": bfs_only}
    run(alone(**options, **depths), adjacency, [0], memory, token=token)
    return memory


def test_the_published_kernel_reads_on_while_it_has_had_no_slot_yet() -> None:
    memory = star(12, blocking=True, token=300)
    assert max(cycle for cycle, _ in memory.reads) < min(cycle for cycle, _ in memory.writes)


@pytest.mark.parametrize("bfs_only", [False, True])
@pytest.mark.parametrize("blocking", [False, True])
def test_the_published_kernel_holds_a_vertex_that_waits_at_the_last_slot(*, bfs_only: bool, blocking: bool) -> None:
    memory = star(150, blocking=blocking, bfs_only=bfs_only)
    entries = [cycle for cycle, address in memory.writes if address >= NEXT]
    others = [cycle for cycle, address in memory.writes if address < NEXT] + [cycle for cycle, _ in memory.reads]
    # Pauses in which nothing else is issued either, though much is still to come; what is on its way may still leave.
    held = [
        last
        for last, first in pairwise(entries)
        if first - last > 10 and max(others) > first and not any(last + 3 < cycle < first for cycle in others)
    ]
    assert bool(held) == blocking


@pytest.mark.parametrize(
    ("bfs_only", "leaves", "interval", "edge"),
    [
        (False, True, 1, 5),
        (False, True, 2, 8),
        (True, True, 1, 3),
        (True, True, 2, 6),
        (True, False, 1, 4),
        (True, False, 2, 8),
    ],
)
def test_the_multiplexer_bounds_the_throughput(*, bfs_only: bool, leaves: bool, interval: int, edge: int) -> None:
    """Cycles from the first to the last request of a level with new neighbours only, against the cost model.

    An entry costs an interval, an edge its two reads and what is written of a new vertex: three writes that rest once,
    or in a machine that only searches the mark and the entry, each of which rests by itself.
    """
    depths = {"frontier_depth": 64, "visit_depth": 64, "neighbour_depth": 128, "word_depth": 128}
    width, degree = 8, 16
    children = [[width + degree * parent + n for n in range(degree)] for parent in range(width)]
    grandchildren: list[list[int]] = [[] if leaves else [0] for _ in range(width * degree)]
    memory = PortMemory(SIZE, seed=11, stall=0.0, latency=(1, 1))
    config = alone(bfs_only=bfs_only, issue_interval=interval, **depths)
    used = run(config, children + grandchildren, list(range(width)), memory)
    cost = interval * width + edge * width * degree
    assert cost <= used[-1] - used[0] + interval <= 1.06 * cost


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
