"""BFS kernel of the machine that only searches: levels in the graph words, entries for vertices with neighbours."""

from itertools import pairwise
from typing import Any

import pytest

from hw.bfs.kernel import Kernel
from hw.config import AcceleratorConfig
from hw.registers import Counter, Register
from tests.hw.kernels import KernelRing, finish, launch, one_engine, twins_agree
from tests.hw.levels import (
    CURRENT,
    DISTANCE,
    NEIGHBOURS,
    NEXT,
    SIZE,
    WORDS,
    SearchLevel,
    random_level,
    run,
    run_beyond_capacity,
)
from tests.hw.port_memory import PortMemory
from tests.hw.streams import cycles_of, simulate


def searching(**changes: Any) -> AcceleratorConfig:
    """Return the small machine with one AE that only searches, and with changes."""
    return one_engine(bfs_only=True, **changes)


def entries_and_marks(memory: PortMemory) -> tuple[list[int], list[int]]:
    """Return the cycles of the writes into the queue, and of those into the graph words."""
    entries = [cycle for cycle, address in memory.writes if address >= NEXT]
    marks = [cycle for cycle, address in memory.writes if address < NEIGHBOURS]
    assert len(entries) + len(marks) == len(memory.writes)
    return entries, marks


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.parametrize(
    ("seed", "kernels", "stall", "latency"),
    [(1, 1, 0.0, (3, 3)), (2, 2, 0.5, (2, 60)), (3, 1, 0.8, (20, 20)), (4, 2, 0.1, (1, 100))],
)
def test_a_level_under_random_latencies(
    *, blocking: bool, interval: int, seed: int, kernels: int, stall: float, latency: tuple[int, int]
) -> None:
    memory = PortMemory(SIZE, seed=seed, stall=stall, latency=latency)
    config = searching(issue_interval=interval, blocking_reservation=blocking, bfs_kernels=kernels)
    level = random_level(seed, memory, kind=SearchLevel)
    assert isinstance(level, SearchLevel)
    assert 0 < len(level.queued) < len(level.expected)
    run(config, level, kernels=kernels)


def test_latency_far_beyond_the_depths_does_not_deadlock() -> None:
    memory = PortMemory(SIZE, seed=4, stall=0.1, latency=(150, 200))
    run(searching(bfs_kernels=1), random_level(5, memory, kind=SearchLevel), cycles=20_000, resting=0.2)
    assert memory.in_flight <= 4 + 8 + 8


@pytest.mark.parametrize("blocking", [False, True])
def test_leaves_are_marked_and_take_no_slot(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=6)
    level = SearchLevel([[1, 2, 3, 4], [], [], [], [], []], [0], memory)
    assert run(searching(bfs_kernels=1, blocking_reservation=blocking), level)[Counter.PUSHED] == 0
    assert level.expected == {1, 2, 3, 4}


@pytest.mark.parametrize("frontier", [[], [0]])
def test_a_level_that_finds_nothing_ends(frontier: list[int]) -> None:
    memory = PortMemory(SIZE, seed=7)
    assert run(searching(bfs_kernels=1), SearchLevel([[], [0]], frontier, memory))[Counter.PUSHED] == 0


@pytest.mark.parametrize("blocking", [False, True])
def test_marks_do_not_wait_for_the_token_and_vertices_that_do_are_not_forgotten(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=8, stall=0.0)
    level = SearchLevel([[1, 2, 3], [0], [], [3]], [0], memory)
    run(searching(bfs_kernels=1, blocking_reservation=blocking), level, token_after=300)
    entries, marks = entries_and_marks(memory)
    assert (len(entries), len(marks)) == (2, 3)
    assert max(marks) < 300 < min(entries)


@pytest.mark.parametrize("blocking", [False, True])
def test_the_published_kernel_holds_everything_when_a_vertex_waits_at_the_last_slot(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=5, stall=0.0, latency=(3, 3))
    neighbours = 150
    depths = dict.fromkeys(("neighbour_depth", "word_depth", "visit_depth"), 256)
    config = searching(bfs_kernels=1, issue_interval=2, blocking_reservation=blocking, ring_stages=64, **depths)
    run(config, SearchLevel([list(range(1, neighbours + 1)), *([0] for _ in range(neighbours))], [0], memory))
    entries, marks = entries_and_marks(memory)
    others = marks + [cycle for cycle, _ in memory.reads]
    # Pauses between entries in which nothing else is issued either, though much is still to come. What is on its way to
    # the port when the pause begins may still leave.
    held = [
        (last, first)
        for last, first in pairwise(entries)
        if first - last > 10 and max(others) > first and not any(last + 3 < cycle < first for cycle in others)
    ]
    assert len(held) > 0 if blocking else held == []


@pytest.mark.parametrize("missing", [1, 4])
def test_beyond_the_capacity_entries_are_dropped_and_the_error_lasts_one_run(missing: int) -> None:
    capacity = 9 - missing
    memory = PortMemory(SIZE, seed=9)
    level = SearchLevel([list(range(1, 13)), *([0] for _ in range(9)), [], [], []], [0], memory, capacity=capacity)
    run_beyond_capacity(searching(bfs_kernels=1), level, demanded=9, capacity=capacity)


def test_a_full_queue_is_no_overflow_and_leaves_need_no_place() -> None:
    memory = PortMemory(SIZE, seed=9)
    level = SearchLevel([list(range(1, 13)), *([0] for _ in range(9)), [], [], []], [0], memory, capacity=9)
    assert run(searching(bfs_kernels=1), level)[Counter.PUSHED] == 9


def test_runs_follow_each_other_each_with_its_level() -> None:
    memory = PortMemory(SIZE, seed=10)
    chain = SearchLevel([[1], [2], [3], []], [0], memory)
    ring = KernelRing(Kernel, searching(bfs_kernels=2), kernels=2)

    async def bench(ctx: Any) -> None:
        current, following = CURRENT, NEXT
        for vertex in (1, 2, 3):
            changes = {
                Register.CURRENT_QUEUE: current,
                Register.NEXT_QUEUE: following,
                Register.REACH_QUEUE: DISTANCE + vertex,
            }
            await launch(ctx, ring, chain.parameters | changes)
            assert await finish(ctx, ring) == (vertex < 3)
            assert memory.load(WORDS + 8 * vertex, 8) == [(DISTANCE + vertex) << 1 | 1]
            current, following = following, current

    servers = [memory.serve(kernel.port) for kernel in ring.kernels]
    simulate(ring, bench, background=[*servers, twins_agree(ring, [])])


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("interval", [1, 2])
def test_the_multiplexer_bounds_the_throughput(*, interval: int, leaves: bool) -> None:
    """Cycles from the first to the last request of a level with new neighbours only: every write rests by itself."""
    depths = dict.fromkeys(("frontier_depth", "visit_depth"), 64) | dict.fromkeys(
        ("neighbour_depth", "word_depth"), 128
    )
    config = searching(bfs_kernels=1, issue_interval=interval, **depths)
    width, degree = 8, 16
    children = [[width + degree * parent + n for n in range(degree)] for parent in range(width)]
    grandchildren: list[list[int]] = [[] if leaves else [0] for _ in range(width * degree)]
    memory = PortMemory(SIZE, seed=11, stall=0.0, latency=(1, 1))
    level = SearchLevel(children + grandchildren, list(range(width)), memory)
    ring = KernelRing(Kernel, config, kernels=1)
    granted: list[int] = []

    async def bench(ctx: Any) -> None:
        await launch(ctx, ring, level.parameters)
        assert await finish(ctx, ring) == (0 if leaves else width * degree)

    takes = ring.kernels[0].port
    traffic = (takes.read.valid & takes.read.ready) | (takes.write.valid & takes.write.ready)
    simulate(ring, bench, background=[memory.serve(takes), cycles_of(traffic, granted)])
    cost = interval * (width + (3 if leaves else 4) * width * degree)
    assert cost <= granted[-1] - granted[0] + interval <= 1.06 * cost
