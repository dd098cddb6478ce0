"""Intersection kernel: an intersection, whole, against its definition."""

import random
from typing import Any

import pytest
from amaranth.lib import data

from cyscc.hw.intersection.kernel import IntersectionCredits, IntersectionState, Kernel
from cyscc.hw.registers import NO_START, Counter, KernelWord, Register
from tests.hw.levels import ask, counters, finish, launch, one_engine, simulated_ring
from tests.hw.streams import PortMemory, wait
from tests.words import graph_word

WORDS, TRANSPOSED, COLOURS, FORWARD, BACKWARD, SIZE = 0x0, 0x1000, 0x2000, 0x3000, 0x4000, 0x5000
COLOUR = 0x77


class Intersection:
    """An intersection in memory, and the expected results.

    Parameters
    ----------
    vertices : int
        Vertices of the graph.
    forward, backward : list of int
        The reach queues.
    coloured : set of int
        Vertices that have a colour, and are visited in both graphs.
    memory : PortMemory
        Where to put it.
    """

    def __init__(
        self, vertices: int, forward: list[int], backward: list[int], coloured: set[int], memory: PortMemory
    ) -> None:
        self._memory = memory
        self.entries = len(forward) + len(backward)
        both = set(forward) & set(backward)
        self.outsiders = (set(forward) | set(backward)) - both - coloured
        for vertex in range(vertices):
            for base, reached in ((WORDS, forward), (TRANSPOSED, backward)):
                flag = vertex in reached or vertex in coloured
                memory.store(base + 8 * vertex, 8, self._word(base, vertex) | flag)
            memory.store(COLOURS + 4 * vertex, 4, 5 if vertex in coloured else 0)
        memory.store(FORWARD, 4, *forward)
        memory.store(BACKWARD, 4, *backward)
        self._expected = bytearray(memory.data)
        for vertex in range(vertices):
            flag = vertex in both or vertex in coloured
            for base in (WORDS, TRANSPOSED):
                place = base + 8 * vertex
                self._expected[place : place + 8] = (self._word(base, vertex) | flag).to_bytes(8, "little")
            if vertex in both - coloured:
                self._expected[COLOURS + 4 * vertex] = COLOUR
        self.parameters = {
            Register.WORDS: WORDS,
            Register.TRANSPOSED_WORDS: TRANSPOSED,
            Register.COLOURS: COLOURS,
            Register.FORWARD_QUEUE: FORWARD,
            Register.FORWARD_COUNT: len(forward),
            Register.BACKWARD_QUEUE: BACKWARD,
            Register.BACKWARD_COUNT: len(backward),
            Register.COLOUR: COLOUR,
        }

    @staticmethod
    def _word(base: int, vertex: int) -> int:
        return graph_word(vertex + base, vertex)

    def check(self, start: int) -> None:
        """Check the memory and the next start."""
        assert self._memory.data == self._expected
        if self.outsiders:
            assert start in self.outsiders
        else:
            assert start == NO_START


def random_intersection(seed: int, memory: PortMemory, *, vertices: int = 40) -> Intersection:
    chance = random.Random(seed)
    both = chance.sample(range(vertices), 10)
    forward = both + chance.sample(range(vertices), 10)
    backward = both + chance.sample(range(vertices), 10)
    # Two kernels of a search may both push a vertex.
    forward += forward[:3]
    chance.shuffle(forward)
    chance.shuffle(backward)
    coloured = set(chance.sample(range(vertices), 6))
    return Intersection(vertices, forward, backward, coloured, memory)


def run(
    problem: Intersection,
    memory: PortMemory,
    *,
    interval: int = 1,
    kernels: int = 1,
    cycles: int = 6000,
) -> None:
    """Run an intersection, and check its results."""
    config = one_engine(issue_interval=interval, bfs_kernels=kernels, intersection_kernels=kernels)
    ring, simulation = simulated_ring(Kernel, config, initial=NO_START)

    async def bench(ctx: Any) -> None:
        await launch(ctx, ring, problem.parameters)
        problem.check(await finish(ctx, ring))
        writes = len(memory.writes)
        await wait(ctx, 60)
        assert len(memory.writes) == writes, "a write came after the end"
        counts = await counters(ctx, ring)
        assert counts[Counter.ENTRIES] == problem.entries
        assert counts[Counter.ITEMS] >= len(problem.outsiders)
        assert counts[Counter.ITEMS] + counts[Counter.PUSHED] == writes
        assert counts[Counter.REQUESTS] == len(memory.reads) + writes
        assert len(memory.reads) == 3 * problem.entries + counts[Counter.ITEMS]
        for kernel in range(kernels):
            state = data.Const(IntersectionState, await ask(ctx, ring, kernel=kernel, word=KernelWord.STATE))
            idle = ("entries_idle", "colours_idle", "classifier_idle", "requests_idle")
            assert state == dict.fromkeys(("done", *idle), 1)
            free = data.Const(IntersectionCredits, await ask(ctx, ring, kernel=kernel, word=KernelWord.CREDITS))
            assert free == {"entries": 4, "colours": 8, "unvisits": 4}

    servers = [memory.serve(kernel.port) for kernel in ring.kernels]
    simulation.run(bench, background=servers, cycles=cycles)
    assert len(memory.flushes) == kernels


@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.parametrize(
    ("seed", "kernels", "stall", "latency"),
    [(1, 1, 0.0, (3, 3)), (2, 2, 0.5, (2, 60)), (3, 1, 0.8, (20, 20)), (4, 2, 0.1, (1, 100))],
)
def test_an_intersection_under_random_latencies(
    interval: int, seed: int, kernels: int, stall: float, latency: tuple[int, int]
) -> None:
    memory = PortMemory(SIZE, seed=seed, stall=stall, latency=latency)
    run(random_intersection(seed, memory), memory, interval=interval, kernels=kernels)


def test_latency_far_beyond_the_depths_does_not_deadlock() -> None:
    memory = PortMemory(SIZE, seed=4, stall=0.1, latency=(150, 200))
    run(random_intersection(5, memory), memory, cycles=20_000)
    assert memory.in_flight <= 4 + 2 * 8 + 4


@pytest.mark.parametrize(
    ("forward", "backward", "coloured"),
    [([], [], set()), ([3], [3], set()), ([3], [], set()), ([], [3], set()), ([1, 2], [2, 1], {1, 2})],
)
def test_small_intersections(forward: list[int], backward: list[int], coloured: set[int]) -> None:
    memory = PortMemory(SIZE, seed=6)
    run(Intersection(5, forward, backward, coloured, memory), memory)


def test_a_next_start_does_not_survive_its_run() -> None:
    memory = PortMemory(SIZE, seed=7)
    problem = Intersection(5, [4], [], set(), memory)
    config = one_engine(bfs_kernels=2, intersection_kernels=2)
    ring, simulation = simulated_ring(Kernel, config, initial=NO_START)

    async def bench(ctx: Any) -> None:
        await launch(ctx, ring, problem.parameters)
        assert await finish(ctx, ring) == 4
        for _ in range(2):
            await launch(ctx, ring, problem.parameters | {Register.FORWARD_COUNT: 0})
            assert await finish(ctx, ring) == NO_START

    servers = [memory.serve(kernel.port) for kernel in ring.kernels]
    simulation.run(bench, background=servers)
