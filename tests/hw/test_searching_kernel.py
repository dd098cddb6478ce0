"""BFS kernel of the machine that only searches: levels in the graph words, entries for vertices with neighbours."""

from typing import Any

import pytest

from cyscc.hw.bfs.kernel import Kernel
from cyscc.hw.registers import Counter, Register
from tests.hw.kernels import KernelRing, finish, launch
from tests.hw.levels import (
    CURRENT,
    DISTANCE,
    NEIGHBOURS,
    NEXT,
    SIZE,
    WORDS,
    SearchLevel,
    machine,
    pauses,
    run,
)
from tests.hw.port_memory import PortMemory
from tests.hw.streams import simulate


def entries_and_marks(memory: PortMemory) -> tuple[list[int], list[int]]:
    """Return the cycles of the writes into the queue, and of those into the graph words."""
    entries = [cycle for cycle, address in memory.writes if address >= NEXT]
    marks = [cycle for cycle, address in memory.writes if address < NEIGHBOURS]
    assert len(entries) + len(marks) == len(memory.writes)
    return entries, marks


@pytest.mark.parametrize("blocking", [False, True])
def test_leaves_are_marked_and_take_no_slot(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=6)
    level = SearchLevel([[1, 2, 3, 4], [], [], [], [], []], [0], memory)
    assert run(machine(SearchLevel, bfs_kernels=1, blocking_reservation=blocking), level)[Counter.PUSHED] == 0
    assert level.expected == {1, 2, 3, 4}


@pytest.mark.parametrize("blocking", [False, True])
def test_marks_do_not_wait_for_the_token_and_vertices_that_do_are_not_forgotten(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=8, stall=0.0)
    level = SearchLevel([[1, 2, 3], [0], [], [3]], [0], memory)
    run(machine(SearchLevel, bfs_kernels=1, blocking_reservation=blocking), level, token_after=300)
    entries, marks = entries_and_marks(memory)
    assert (len(entries), len(marks)) == (2, 3)
    assert max(marks) < 300 < min(entries)


@pytest.mark.parametrize("blocking", [False, True])
def test_the_published_kernel_holds_everything_when_a_vertex_waits_at_the_last_slot(*, blocking: bool) -> None:
    memory = PortMemory(SIZE, seed=5, stall=0.0, latency=(3, 3))
    neighbours = 150
    sizes = dict.fromkeys(("neighbour_depth", "word_depth", "visit_depth"), 256) | {"ring_stages": 64, "bfs_kernels": 1}
    config = machine(SearchLevel, issue_interval=2, blocking_reservation=blocking, **sizes)
    run(config, SearchLevel([list(range(1, neighbours + 1)), *([0] for _ in range(neighbours))], [0], memory))
    entries, marks = entries_and_marks(memory)
    held = pauses(entries, marks + [cycle for cycle, _ in memory.reads])
    assert len(held) > 0 if blocking else held == []


def test_runs_follow_each_other_each_with_its_level() -> None:
    memory = PortMemory(SIZE, seed=10)
    chain = SearchLevel([[1], [2], [3], []], [0], memory)
    ring = KernelRing(Kernel, machine(SearchLevel, bfs_kernels=2), kernels=2)

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
    simulate(ring, bench, background=servers)
