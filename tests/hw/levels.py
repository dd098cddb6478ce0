"""Kernels and single levels, on a memory behind their ports."""

import random
from collections import Counter as Multiset
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Elaboratable, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect

from cyscc.hw.bfs.kernel import BfsState, Kernel
from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.interfaces import ChainMessage, ChainOp
from cyscc.hw.registers import Counter, KernelWord, Register
from cyscc.hw.ring_master import RingMaster
from cyscc.hw.shell import STATION_BITS
from tests.hw.streams import PortMemory, Simulation, pulse, wait
from tests.words import graph_word


def one_engine(**changes: Any) -> AcceleratorConfig:
    """Return the small configuration with one AE, and with changes."""
    return PRESETS["test"].replace(**({"engines": 1} | changes))


class KernelRing(Elaboratable):
    """The BFS kernels or the intersection kernels of an AE, and their ring master.

    The tests play the chain's master and the memory. With a short ring, the ring passes a station beside them.

    Parameters
    ----------
    kind : type
        Class of the kernels.
    config : AcceleratorConfig
        Sizes.
    initial : int
        The token's value at the start.

    Attributes
    ----------
    kernels : list
        The kernels; inputs of the first one's chain and of all ports are left to the tests.
    master : RingMaster
        It leads.
    """

    def __init__(self, kind: type[wiring.Component], config: AcceleratorConfig, *, initial: int = 0) -> None:
        self.kernels: list[Any] = [kind(config) for _ in range(config.bfs_kernels)]
        self._config = config
        self.master = RingMaster(stages=config.ring_stages, initial=initial)

    @property
    def chain(self) -> Any:
        """Where messages enter."""
        return self.kernels[0].chain_in

    @property
    def answers(self) -> Any:
        """Where messages leave."""
        return self.kernels[-1].chain_out

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.master = self.master
        token = self.master.ring_out
        for number, kernel in enumerate(self.kernels):
            m.submodules[f"kernel{number}"] = kernel
            if number:
                connect(m, self.kernels[number - 1].chain_out, kernel.chain_in)
            if not self._config.short_ring:
                connect(m, token, kernel.token_in)
                token = kernel.token_out
        if self._config.short_ring:
            m.submodules.station = station = SlotStation(kernels=len(self.kernels), depth=self._config.visit_depth)
            connect(m, token, station.token_in)
            token = station.token_out
            for number, kernel in enumerate(self.kernels):
                connect(m, getattr(station, f"block{number}"), kernel.block)
            m.d.comb += [
                getattr(station, name).eq(Cat(getattr(kernel, name) for kernel in self.kernels))
                for name in (*STATION_BITS, "done")
            ]
        connect(m, token, self.master.ring_in)
        m.d.comb += self.master.lead.eq(1)
        return m


@lru_cache(maxsize=16)
def simulated_ring(
    kind: type[wiring.Component], config: AcceleratorConfig, *, initial: int = 0
) -> tuple[KernelRing, Simulation]:
    """Return kernels in their ring, and their simulation, which tests of the same hardware share."""
    ring = KernelRing(kind, config, initial=initial)
    return ring, Simulation(ring)


async def send(ctx: Any, ring: KernelRing, **message: Any) -> None:
    """Send a message over the chain."""
    ctx.set(ring.chain.payload, ChainMessage.const(message))
    await pulse(ctx, ring.chain.valid)


async def launch(ctx: Any, ring: KernelRing, parameters: Mapping[Register, int], *, token: bool = True) -> None:
    """Send parameters and start; start the token too, or leave it to the test."""
    for register, value in parameters.items():
        await send(ctx, ring, op=ChainOp.WRITE, index=register.value, value=value)
    ctx.set(ring.master.start, token)
    await send(ctx, ring, op=ChainOp.START, value=0)
    ctx.set(ring.master.start, 0)
    for _ in range(len(ring.kernels) + 2):
        await ctx.tick()


async def finish(ctx: Any, ring: KernelRing) -> int:
    """Wait until kernels and token are done; return the token's value."""
    while ctx.get(ring.master.running) or not all(ctx.get(kernel.done) for kernel in ring.kernels):
        await ctx.tick()
    return int(ctx.get(ring.master.result))


async def ask(ctx: Any, ring: KernelRing, *, kernel: int, word: int) -> int:
    """Return a word of a kernel's state."""
    await send(ctx, ring, op=ChainOp.READ, hops=kernel, index=word)
    while not (ctx.get(ring.answers.valid) and ctx.get(ring.answers.payload).op == ChainOp.DATA):
        await ctx.tick()
    return int(ctx.get(ring.answers.payload).value)


async def counters(ctx: Any, ring: KernelRing) -> dict[Counter, int]:
    """Return the event counters, summed over the kernels."""
    totals = dict.fromkeys(Counter, 0)
    for kernel in range(len(ring.kernels)):
        for counter in Counter:
            totals[counter] += await ask(ctx, ring, kernel=kernel, word=KernelWord.COUNTER_0 + counter)
    return totals


WORDS, NEIGHBOURS, CURRENT, NEXT, REACH, SIZE = 0x0, 0x1000, 0x2000, 0x3000, 0x4000, 0x5000
DISTANCE = 0x5A5A_5A5A
"""The level that is passed to a machine that only searches."""
CHUNK = 4
"""Edges of a chunk."""


class Level:
    """A level of a search: the graph in memory, its frontier, and the expected results.

    Parameters
    ----------
    adjacency : list of lists
        Neighbours of each vertex.
    frontier : list of int
        Vertices of the current queue, all visited.
    visited : set of int
        Further visited vertices.
    capacity : int
        Slots.
    memory : PortMemory
        Where to put it.
    """

    bfs_only = False
    """Whether the machine only searches."""
    lean = False
    """Whether it writes ids to the reach queue by two."""

    def __init__(
        self,
        adjacency: list[list[int]],
        frontier: list[int],
        memory: PortMemory,
        *,
        visited: frozenset[int] = frozenset(),
        capacity: int = 400,
    ) -> None:
        self.memory = memory
        self.edges = sum(len(adjacency[vertex]) for vertex in frontier)
        self.targets = {neighbour for vertex in frontier for neighbour in adjacency[vertex]}
        known = set(frontier) | visited
        self.expected = self.targets - known
        self.queued = self.expected
        self.pairs = 0
        self.entries = len(frontier)
        self._known = known
        start = 0
        self.words: list[int] = []
        for vertex, neighbours in enumerate(adjacency):
            self.words.append(graph_word(start, len(neighbours)))
            memory.store(WORDS + 8 * vertex, 8, self.words[-1] | (vertex in known))
            memory.store(NEIGHBOURS + 4 * start, 4, *neighbours)
            pairs = {place // 2 for place in range(start, start + len(neighbours))}
            self.pairs += len(pairs) * frontier.count(vertex)
            start += len(neighbours)
        memory.store(CURRENT, 8, *(self.words[vertex] for vertex in frontier))
        self._before = bytes(memory.data)
        self.parameters = {
            Register.WORDS: WORDS,
            Register.NEIGHBOURS: NEIGHBOURS,
            Register.CURRENT_QUEUE: CURRENT,
            Register.NEXT_QUEUE: NEXT,
            Register.REACH_QUEUE: REACH,
            Register.CURRENT_COUNT: self.entries,
            Register.CAPACITY: capacity,
        }

    @property
    def pushes(self) -> int:
        """Entries of the next queue, each once."""
        return len(self.queued)

    def check_writes(self, pushed: int) -> None:
        """Check how many writes there were, when a number of vertices was pushed."""
        most = Kernel.WRITES_PER_VISIT * pushed
        assert (
            len(self.memory.writes) == most if not self.lean else most - pushed // 2 <= len(self.memory.writes) < most
        )

    def check(self, slots: int, *, capacity: int = 400) -> None:
        """Check the memory after the level."""
        written = min(slots, capacity)
        reached = self.memory.load(REACH, 4, written)
        if slots <= capacity:
            assert set(reached) == self.expected
        assert set(reached) <= self.expected
        assert self.memory.load(NEXT, 8, written) == [self.words[vertex] for vertex in reached]
        self.check_rest({vertex: self.words[vertex] | 1 for vertex in reached}, written)
        assert not any(self.memory.data[REACH + 4 * written :])

    def check_rest(self, marked: Mapping[int, int], written: int) -> None:
        """Check the graph words, of which some are marked, and that nothing else was written but so many entries."""
        for vertex, word in enumerate(self.words):
            after = marked.get(vertex, word | (vertex in self._known))
            assert self.memory.load(WORDS + 8 * vertex, 8) == [after]
        assert self.memory.data[NEIGHBOURS:NEXT] == self._before[NEIGHBOURS:NEXT]
        assert not any(self.memory.data[NEXT + 8 * written : REACH])


class ChunkLevel(Level):
    """The same in a machine that queues vertices in chunks of `CHUNK` edges."""

    def __init__(self, adjacency: list[list[int]], frontier: list[int], memory: PortMemory, **options: Any) -> None:
        super().__init__(adjacency, frontier, memory, **options)
        starts = [sum(map(len, adjacency[:vertex])) for vertex in range(len(adjacency))]
        self.chunks = [
            [graph_word(start + at, min(CHUNK, len(its) - at)) for at in range(0, max(len(its), 1), CHUNK)]
            for start, its in zip(starts, adjacency, strict=True)
        ]

    @property
    def pushes(self) -> int:
        return sum(len(self.chunks[vertex]) for vertex in self.expected)

    def check_writes(self, pushed: int) -> None:
        """Check that there were two writes for each entry, and a mark for each vertex, repeated only by a race."""
        places = [address for _, address in self.memory.writes]
        marks = [address // 8 for address in places if address < NEIGHBOURS]
        assert set(marks) == self.expected
        most, others = 2 * pushed, len(places) - len(marks)
        assert others == most if not self.lean else most - pushed // 2 <= others < most
        assert pushed == sum(len(self.chunks[vertex]) for vertex in marks)

    def check(self, slots: int, *, capacity: int = 400) -> None:
        """Check the memory after the level."""
        written = min(slots, capacity)
        reached = self.memory.load(REACH, 4, written)
        entries = Multiset(zip(reached, self.memory.load(NEXT, 8, written), strict=True))
        assert set(reached) <= self.expected
        if slots <= capacity:
            assert set(reached) == self.expected
            for vertex in reached:
                copies = entries[vertex, self.chunks[vertex][0]]
                assert copies >= 1
                assert [entries[vertex, word] for word in self.chunks[vertex]] == [copies] * len(self.chunks[vertex])
        assert set(entries) <= {(vertex, word) for vertex in reached for word in self.chunks[vertex]}
        self.check_rest({vertex: self.words[vertex] | 1 for vertex in reached}, written)
        assert not any(self.memory.data[REACH + 4 * written :])


class SearchLevel(Level):
    """The same in a machine that only searches."""

    bfs_only = True

    def __init__(self, adjacency: list[list[int]], frontier: list[int], memory: PortMemory, **options: Any) -> None:
        super().__init__(adjacency, frontier, memory, **options)
        self.parameters[Register.REACH_QUEUE] = DISTANCE
        self.queued = {vertex for vertex in self.expected if adjacency[vertex]}

    def check_writes(self, pushed: int) -> None:
        """Check that there was a write for each entry, and a mark for each vertex, repeated only by a race."""
        places = [address for _, address in self.memory.writes]
        marks = [address // 8 for address in places if address < NEIGHBOURS]
        assert set(marks) == self.expected
        assert len(places) - len(marks) == pushed
        assert pushed == sum(vertex in self.queued for vertex in marks)

    def check(self, slots: int, *, capacity: int = 400) -> None:
        """Check the memory after the level."""
        written = min(slots, capacity)
        entries = self.memory.load(NEXT, 8, written)
        queued = [self.words[vertex] for vertex in self.queued]
        assert set(entries) <= set(queued)
        if slots <= capacity:
            assert set(entries) == set(queued)
        self.check_rest(dict.fromkeys(self.expected, DISTANCE << 1 | 1), written)
        assert not any(self.memory.data[REACH:])


def pauses(writes: list[int], others: list[int]) -> list[tuple[int, int]]:
    """Return the pauses between writes in which nothing else is issued either, though much is still to come.

    What is on its way to the port when the pause begins may still leave.
    """
    return [
        (last, first)
        for last, first in pairwise(writes)
        if first - last > 10 and max(others) > first and not any(last + 3 < cycle < first for cycle in others)
    ]


def machine(kind: type[Level], **changes: Any) -> AcceleratorConfig:
    """Return the small configuration with one AE for a kind of level, and with changes."""
    return one_engine(bfs_only=kind.bfs_only, edge_chunk=CHUNK * (kind is ChunkLevel), **changes)


def random_level(
    seed: int, memory: PortMemory, *, vertices: int = 40, capacity: int = 400, kind: type[Level] = Level
) -> Level:
    """Return a level of a random graph with leaves, self-loops and repeated edges."""
    chance = random.Random(seed)
    adjacency = [[chance.randrange(vertices) for _ in range(chance.choice([0, 0, 1, 2, 5]))] for _ in range(vertices)]
    frontier = chance.sample(range(vertices), 14)
    visited = frozenset(chance.sample(range(vertices), 6))
    return kind(adjacency, frontier, memory, visited=visited, capacity=capacity)


def run(
    config: AcceleratorConfig,
    level: Level,
    *,
    cycles: int = 6000,
    token_after: int = 0,
) -> dict[Counter, int]:
    """Run a level, check its results, and return the event counters."""
    ring, simulation = simulated_ring(Kernel, config)
    kernels = config.bfs_kernels
    memory = level.memory
    counts: dict[Counter, int] = {}

    async def bench(ctx: Any) -> None:
        await launch(ctx, ring, level.parameters, token=not token_after)
        if token_after:
            await wait(ctx, token_after)
            assert not any(ctx.get(kernel.done) for kernel in ring.kernels)
            assert memory.flushes == []
            await pulse(ctx, ring.master.start)
        slots = await finish(ctx, ring)
        assert not any(ctx.get(kernel.error) for kernel in ring.kernels)
        level.check(slots)
        writes = len(memory.writes)
        await wait(ctx, 60)
        assert len(memory.writes) == writes, "a write came after the end"
        counts.update(await counters(ctx, ring))
        assert counts[Counter.PUSHED] == slots
        for kernel in range(kernels):
            state = data.Const(BfsState, await ask(ctx, ring, kernel=kernel, word=KernelWord.STATE))
            assert state == {
                "done": 1,
                **dict.fromkeys(
                    ("frontier_idle", "neighbours_idle", "words_idle", "visitor_idle", "slots_idle", "requests_idle"), 1
                ),
            }

    servers = [memory.serve(kernel.port) for kernel in ring.kernels]
    simulation.run(bench, background=servers, cycles=cycles)
    assert len(memory.flushes) == kernels
    assert all(cycle < min(memory.flushes) for cycle, _ in memory.writes) or kernels > 1
    assert counts[Counter.ENTRIES] == level.entries
    looked_at = counts[Counter.ITEMS]
    if config.remembered_ids:
        # All vertices are remembered in these levels: each kernel looks at a neighbour once.
        assert len(level.targets) <= looked_at <= kernels * len(level.targets)
        assert kernels > 1 or counts[Counter.PUSHED] == level.pushes
    else:
        assert looked_at == level.edges
    assert counts[Counter.REQUESTS] == len(memory.reads) + len(memory.writes)
    reads_of_ids = level.pairs if config.pair_reads else (Kernel.READS_PER_EDGE - 1) * level.edges
    assert len(memory.reads) == Kernel.READS_PER_ENTRY * level.entries + reads_of_ids + looked_at
    level.lean = config.lean_visits
    level.check_writes(counts[Counter.PUSHED])
    return counts


def run_beyond_capacity(config: AcceleratorConfig, level: Level, *, demanded: int, capacity: int) -> None:
    """Run a level that demands more slots than there are, then an empty one: the error lasts one run."""
    ring, simulation = simulated_ring(Kernel, config)
    kernel = ring.kernels[0]

    async def bench(ctx: Any) -> None:
        await launch(ctx, ring, level.parameters)
        slots = await finish(ctx, ring)
        assert slots == demanded
        level.check(slots, capacity=capacity)
        assert ctx.get(kernel.error)
        await launch(ctx, ring, level.parameters | {Register.CURRENT_COUNT: 0})
        assert await finish(ctx, ring) == 0
        assert not ctx.get(kernel.error)

    simulation.run(bench, background=[level.memory.serve(kernel.port)])
