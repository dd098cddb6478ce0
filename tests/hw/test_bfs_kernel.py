"""BFS kernels: all, those that only search, and the filter of copies."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from amaranth.hdl import C
from amaranth.lib import data
from amaranth.sim import Simulator

from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.bfs.kernel import BfsCredits, BfsReservation, BfsState, Kernel
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.registers import Counter, KernelWord, Register
from tests.hw.levels import (
    CHUNK,
    CURRENT,
    DISTANCE,
    NEIGHBOURS,
    NEXT,
    SIZE,
    WORDS,
    ChunkLevel,
    Level,
    SearchLevel,
    ask,
    finish,
    launch,
    machine,
    one_engine,
    pauses,
    random_level,
    run,
    run_beyond_capacity,
    simulated_ring,
)
from tests.hw.streams import PortMemory, cycles_of, wait

on_both_machines = pytest.mark.parametrize("kind", [Level, SearchLevel])
on_all_machines = pytest.mark.parametrize(("kind", "lean"), [(Level, False), (SearchLevel, False), (Level, True)])
published = pytest.mark.parametrize("blocking", [False, True])

_PUBLISHED: Mapping[str, int] = {"issue_interval": 2, "blocking_reservation": True}


def hubs(seed: int, memory: PortMemory, *, capacity: int = 400) -> ChunkLevel:
    """Return a level that leads to vertices with all numbers of chunks, and whole multiples of a chunk."""
    chance = random.Random(seed)
    degrees = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 7 * CHUNK, 15 * CHUNK + 2, 0, 2, 3]
    targets = [*range(12), *range(6)]
    chance.shuffle(targets)
    adjacency = [[chance.randrange(16) for _ in range(degree)] for degree in degrees]
    adjacency += [targets[:6], targets[6:12], targets[12:], [15]]
    return ChunkLevel(adjacency, [12, 13, 14, 15], memory, visited=frozenset({2}), capacity=capacity)


_PLAIN: tuple[Mapping[str, int], ...] = ({}, _PUBLISHED, {"pair_reads": True})
_RANDOM: tuple[tuple[type[Level], Mapping[str, int]], ...] = (
    *((Level, options) for options in _PLAIN),
    *((SearchLevel, options) for options in _PLAIN),
    (Level, {"lean_visits": True}),
    (Level, {"short_ring": True, "pair_reads": True}),
    (Level, {**_PUBLISHED, "queued_requests": 4}),
    (SearchLevel, {"pair_reads": True, "remembered_ids": 64}),
    (ChunkLevel, {"pair_reads": True}),
    (ChunkLevel, {"remembered_ids": 64}),
    (ChunkLevel, {"lean_visits": True, "short_ring": True}),
)
"""Kinds of levels, and options of the machine; `tests.system.test_machines` has all pairs of options."""


@pytest.mark.parametrize(
    ("seed", "kernels", "stall", "latency"), [(1, 1, 0.8, (20, 20)), (2, 2, 0.5, (2, 60)), (3, 3, 0.0, (1, 3))]
)
@pytest.mark.parametrize(("kind", "options"), _RANDOM)
def test_random_levels(
    kind: type[Level], options: Mapping[str, int], seed: int, kernels: int, stall: float, latency: tuple[int, int]
) -> None:
    memory = PortMemory(SIZE, seed=seed, stall=stall, latency=latency)
    config = machine(kind, bfs_kernels=kernels, **options)
    level = hubs(seed, memory) if kind is ChunkLevel else random_level(seed, memory, kind=kind)
    assert (0 < len(level.queued) < len(level.expected)) == kind.bfs_only
    assert level.pairs < 0.8 * level.edges
    if isinstance(level, ChunkLevel):
        # One vertex has more chunks than a kernel can reserve slots for at a time.
        assert max(map(len, level.chunks)) > 2 * config.visit_depth + 5
    run(config, level)


@on_all_machines
def test_kernels_that_remember_ids_look_at_a_neighbour_once(kind: type[Level], lean: bool) -> None:
    memory = PortMemory(SIZE, seed=15, stall=0.0, latency=(30, 30))
    copies = kind([[1, 2, 3] * 30, [0], [2] * 20, [0], []], [0, 2], memory)
    assert copies.expected == {1, 3}
    run(machine(kind, bfs_kernels=2, remembered_ids=64, lean_visits=lean), copies)


def test_lean_vertices_that_wait_for_the_token_take_five_writes_for_two() -> None:
    memory = PortMemory(SIZE, seed=8, stall=0.0)
    level = Level([[1, 2, 3, 4], [], [], [], []], [0], memory)
    run(one_engine(bfs_kernels=1, lean_visits=True), level, token_after=300)
    assert len(memory.writes) == 10


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("missing", [1, 30])
def test_chunks_beyond_the_capacity_are_dropped(*, missing: int, lean: bool) -> None:
    # Each vertex once: a kernel by itself, that remembers ids, pushes no copies.
    demanded = hubs(5, PortMemory(SIZE, seed=9)).pushes
    level = hubs(5, PortMemory(SIZE, seed=9), capacity=demanded - missing)
    config = one_engine(bfs_kernels=1, edge_chunk=CHUNK, remembered_ids=64, lean_visits=lean)
    run_beyond_capacity(config, level, demanded=demanded, capacity=demanded - missing)


def test_a_kernel_that_takes_from_fifos_as_the_published_one_asks_as_many_cycles_after_its_answers() -> None:
    memory = PortMemory(SIZE, seed=16, stall=0.0, latency=(20, 20))
    level = Level([[1], []], [0], memory)
    run(one_engine(bfs_kernels=1, issue_interval=2, blocking_reservation=True, queued_requests=4), level)
    entry, edge, word = (cycle for cycle, _ in memory.reads)
    # Simulated published hardware asks 10 cycles after a word of its queue has come, and 5 after an id.
    assert (edge - entry, word - edge) == (30, 25)


@on_all_machines
def test_latency_far_beyond_the_depths_does_not_deadlock(kind: type[Level], lean: bool) -> None:
    memory = PortMemory(SIZE, seed=4, stall=0.1, latency=(150, 200))
    run(machine(kind, bfs_kernels=1, lean_visits=lean), random_level(5, memory, kind=kind), cycles=20_000)
    assert memory.in_flight <= 4 + 8 + 8


@published
def test_neighbours_without_out_edges_keep_the_queues_in_step(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=6)
    level = Level([[1, 2, 3, 4], [], [], [5], []] + [[]] * 3, [0, 1, 2, 3, 4], memory)
    run(one_engine(bfs_kernels=1, blocking_reservation=blocking), level)
    assert level.expected == {5}


@on_both_machines
@pytest.mark.parametrize("frontier", [[], [0]])
def test_a_level_that_finds_nothing_ends(kind: type[Level], frontier: list[int]) -> None:
    memory = PortMemory(SIZE, seed=7)
    assert run(machine(kind, bfs_kernels=1), kind([[], [0]], frontier, memory))[Counter.PUSHED] == 0


@pytest.mark.parametrize("option", [{}, {"blocking_reservation": True}, {"short_ring": True}], ids=str)
def test_vertices_that_wait_for_the_token_are_not_forgotten(option: dict[str, bool]) -> None:
    memory = PortMemory(SIZE, seed=8, stall=0.0)
    level = Level([[1], [], []], [0], memory)
    run(one_engine(bfs_kernels=1, **option), level, token_after=300)


def star(kind: type[Level], neighbours: int, *, blocking: bool) -> tuple[AcceleratorConfig, Level, PortMemory]:
    """Return a kernel with long queues on a slow ring, and a vertex with many new neighbours."""
    memory = PortMemory(SIZE, seed=5, stall=0.0, latency=(3, 3))
    adjacency = [list(range(1, neighbours + 1)), *([0] * kind.bfs_only for _ in range(neighbours))]
    depths = dict.fromkeys(("neighbour_depth", "word_depth", "visit_depth"), 256)
    config = machine(kind, bfs_kernels=1, issue_interval=2, blocking_reservation=blocking, ring_stages=64, **depths)
    return config, kind(adjacency, [0], memory), memory


def test_the_published_kernel_reads_on_while_it_has_had_no_slot_yet() -> None:
    config, level, memory = star(Level, 12, blocking=True)
    run(config, level, token_after=300)
    assert max(cycle for cycle, _ in memory.reads) < min(cycle for cycle, _ in memory.writes)


def entries_and_marks(memory: PortMemory) -> tuple[list[int], list[int]]:
    """Return the cycles of the writes into the queues, and of those into the graph words."""
    entries = [cycle for cycle, address in memory.writes if address >= NEXT]
    marks = [cycle for cycle, address in memory.writes if address < NEIGHBOURS]
    assert len(entries) + len(marks) == len(memory.writes)
    return entries, marks


@on_both_machines
@published
def test_the_published_kernel_holds_a_vertex_that_waits_at_the_last_slot(kind: type[Level], *, blocking: bool) -> None:
    config, level, memory = star(kind, 150, blocking=blocking)
    run(config, level)
    entries, marks = entries_and_marks(memory)
    held = pauses(entries, marks + [cycle for cycle, _ in memory.reads])
    assert len(held) > 0 if blocking else held == []


def crowd(kind: type[Level], *, missing: int) -> tuple[Level, int, int]:
    """Return a level with nine new vertices and three leaves, for too few slots; how many it demands, and has."""
    demanded = 9 if kind.bfs_only else 12
    adjacency = [list(range(1, 13)), *([0] for _ in range(9)), [], [], []]
    capacity = demanded - missing
    return kind(adjacency, [0], PortMemory(SIZE, seed=9), capacity=capacity), demanded, capacity


@on_all_machines
@pytest.mark.parametrize("missing", [1, 4])
def test_beyond_the_capacity_vertices_are_dropped_and_the_error_lasts_one_run(
    kind: type[Level], lean: bool, missing: int
) -> None:
    level, demanded, capacity = crowd(kind, missing=missing)
    config = machine(kind, bfs_kernels=1, lean_visits=lean)
    run_beyond_capacity(config, level, demanded=demanded, capacity=capacity)


@on_both_machines
def test_a_full_queue_is_no_overflow_and_leaves_that_are_not_queued_need_no_place(kind: type[Level]) -> None:
    level, demanded, _ = crowd(kind, missing=0)
    assert run(machine(kind, bfs_kernels=1), level)[Counter.PUSHED] == demanded


@on_both_machines
def test_runs_follow_each_other_each_with_its_level(kind: type[Level]) -> None:
    memory = PortMemory(SIZE, seed=10)
    chain = kind([[1], [2], [3], []], [0], memory)
    ring, simulation = simulated_ring(Kernel, machine(kind, bfs_kernels=2))

    async def bench(ctx: Any) -> None:
        current, following = CURRENT, NEXT
        for vertex in (1, 2, 3):
            changes = {Register.CURRENT_QUEUE: current, Register.NEXT_QUEUE: following}
            if kind.bfs_only:
                changes[Register.REACH_QUEUE] = DISTANCE + vertex
            await launch(ctx, ring, chain.parameters | changes)
            assert await finish(ctx, ring) == (vertex < 3 or not kind.bfs_only)
            mark = (DISTANCE + vertex) << 1 if kind.bfs_only else chain.words[vertex]
            assert memory.load(WORDS + 8 * vertex, 8) == [mark | 1]
            current, following = following, current

    servers = [memory.serve(kernel.port) for kernel in ring.kernels]
    simulation.run(bench, background=servers)


@pytest.mark.parametrize(
    ("kind", "leaves", "interval", "edge"),
    [
        (Level, True, 1, 5),
        (Level, True, 2, 8),
        (SearchLevel, True, 1, 3),
        (SearchLevel, True, 2, 6),
        (SearchLevel, False, 1, 4),
        (SearchLevel, False, 2, 8),
    ],
)
def test_the_multiplexer_bounds_the_throughput(*, kind: type[Level], leaves: bool, interval: int, edge: int) -> None:
    """Cycles from the first to the last request of a level with new neighbours only, against the cost model.

    An entry costs an interval, an edge its two reads and what is written of a new vertex: three writes that rest once,
    or in a machine that only searches the mark and the entry, each of which rests by itself.
    """
    depths = dict.fromkeys(("frontier_depth", "visit_depth"), 64) | dict.fromkeys(
        ("neighbour_depth", "word_depth"), 128
    )
    config = machine(kind, bfs_kernels=1, issue_interval=interval, **depths)
    width, degree = 8, 16
    children = [[width + degree * parent + n for n in range(degree)] for parent in range(width)]
    grandchildren: list[list[int]] = [[] if leaves else [0] for _ in range(width * degree)]
    memory = PortMemory(SIZE, seed=11, stall=0.0, latency=(1, 1))
    level = kind(children + grandchildren, list(range(width)), memory)
    ring, simulation = simulated_ring(Kernel, config)
    granted: list[int] = []

    async def bench(ctx: Any) -> None:
        await launch(ctx, ring, level.parameters)
        assert await finish(ctx, ring) == len(level.queued)

    takes = ring.kernels[0].port
    traffic = (takes.read.valid & takes.read.ready) | (takes.write.valid & takes.write.ready)
    simulation.run(bench, background=[memory.serve(takes), cycles_of(traffic, granted)])
    cost = interval * width + edge * width * degree
    assert cost <= granted[-1] - granted[0] + interval <= 1.06 * cost


def test_a_stuck_kernel_tells_its_state() -> None:
    """Without responses, the kernel requests as much as it has places for, and reports it."""
    config = one_engine(bfs_kernels=1)
    memory = PortMemory(SIZE, seed=12)
    level = random_level(1, memory)
    ring, simulation = simulated_ring(Kernel, config)

    async def bench(ctx: Any) -> None:
        ctx.set(ring.kernels[0].port.read.ready, 1)
        await launch(ctx, ring, level.parameters)
        await wait(ctx, 30)
        state = data.Const(BfsState, await ask(ctx, ring, kernel=0, word=KernelWord.STATE))
        others = ("neighbours_idle", "words_idle", "visitor_idle", "slots_idle", "requests_idle", "started")
        assert state == dict.fromkeys(others, 1)
        free = data.Const(BfsCredits, await ask(ctx, ring, kernel=0, word=KernelWord.CREDITS))
        assert free == {"frontier": 0, "neighbours": config.neighbour_depth, "words": config.word_depth}
        reserved = data.Const(BfsReservation, await ask(ctx, ring, kernel=0, word=KernelWord.RESERVATION))
        assert reserved == {"demanded": 0, "reserved": 0}
        assert await ask(ctx, ring, kernel=0, word=KernelWord.COUNTER_0 + Counter.ENTRIES) == config.frontier_depth

    simulation.run(bench)


@published
def test_leaves_are_marked_and_take_no_slot(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=6)
    level = SearchLevel([[1, 2, 3, 4], [], [], [], [], []], [0], memory)
    assert run(machine(SearchLevel, bfs_kernels=1, blocking_reservation=blocking), level)[Counter.PUSHED] == 0
    assert level.expected == {1, 2, 3, 4}


@published
def test_marks_do_not_wait_for_the_token_and_vertices_that_do_are_not_forgotten(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=8, stall=0.0)
    level = SearchLevel([[1, 2, 3], [0], [], [3]], [0], memory)
    run(machine(SearchLevel, bfs_kernels=1, blocking_reservation=blocking), level, token_after=300)
    entries, marks = entries_and_marks(memory)
    assert (len(entries), len(marks)) == (2, 3)
    assert max(marks) < 300 < min(entries)


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
