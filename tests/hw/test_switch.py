"""Switch: nothing is lost, repeated or misplaced, order is kept, a flush is a barrier, and ports are kept busy."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from cyscc.hw.interfaces import SIZE_4, SIZE_8
from cyscc.hw.switch.flush_barrier import FlushBarrier
from cyscc.hw.switch.switch import Switch, SwitchSizes
from tests.hw.streams import Bench, PortMemory, collect, simulate, stream_put

KERNELS = 4
LINK_BITS = (3, 7)
LINKS = 4
SIZE = 1 << 14
REGION = SIZE // 2 // KERNELS
"""Bytes in the upper half of the memory that a kernel writes."""


def link_of(address: int) -> int:
    """Return the number of an address's link."""
    return sum((address >> bit & 1) << place for place, bit in enumerate(LINK_BITS))


class Barred(wiring.Component):
    """A switch with its flush barrier.

    Parameters
    ----------
    sizes : int
        Parameters of the switch.
    """

    def __init__(self, **sizes: int) -> None:
        self._switch = Switch(SwitchSizes(kernels=KERNELS, link_bits=LINK_BITS, **sizes), instrument=True)
        members = self._switch.signature.members
        own = {name: members[name] for name in members if name.startswith(("kernel", "port"))}
        super().__init__({**own, "quiescent": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.switch = switch = self._switch
        m.submodules.barrier = barrier = FlushBarrier(kernels=KERNELS, links=LINKS)
        for name in self.signature.members:
            if name != "quiescent":
                connect(m, flipped(getattr(self, name)), getattr(switch, name))
        m.d.comb += [
            barrier.asks.eq(switch.asks),
            barrier.working.eq(-1),
            barrier.busy.eq(switch.busy),
            barrier.answers.eq(switch.answers),
            switch.flush.eq(barrier.flush),
            switch.flushed.eq(barrier.flushed),
            self.quiescent.eq(switch.quiescent),
        ]
        return m


class Machine:
    """A switch, the memories behind it, and all that a kernel gets.

    Parameters
    ----------
    seed : int
        Seed of contents, stalls and latencies.
    stall : float
        Chance that a port takes nothing in a cycle.
    latency : callable
        Least and greatest latency of a port by its number.
    sizes : int
        Parameters of the switch.
    """

    def __init__(self, seed: int, *, stall: float, latency: Callable[[int], tuple[int, int]], **sizes: int) -> None:
        self.dut = Barred(**sizes)
        data = bytearray(random.Random(seed).randbytes(SIZE))
        self.memories = [
            PortMemory(SIZE, seed=seed + link, stall=stall, latency=latency(link)) for link in range(LINKS)
        ]
        for memory in self.memories:
            memory.data = data
        self.kernels = [getattr(self.dut, f"kernel{kernel}") for kernel in range(KERNELS)]
        self.ports = [getattr(self.dut, f"port{link}") for link in range(LINKS)]
        self.answers: list[list[Any]] = [[] for _ in self.kernels]
        self.background: list[Bench] = [
            *(memory.serve(port) for memory, port in zip(self.memories, self.ports, strict=True)),
            *(collect(kernel.response, got) for kernel, got in zip(self.kernels, self.answers, strict=True)),
        ]
        self.steady = [channel for port in self.ports for channel in (port.read, port.write)]


def reads_of(chance: random.Random, count: int) -> list[dict[str, int]]:
    """Return random reads of the lower half of the memory."""
    reads = []
    for _ in range(count):
        size = chance.choice([SIZE_4, SIZE_8])
        step = 8 if size == SIZE_8 else 4
        reads.append({"address": chance.randrange(SIZE // 2 // step) * step, "size": size, "tag": chance.randrange(4)})
    return reads


def writes_of(chance: random.Random, kernel: int, count: int) -> list[dict[str, int]]:
    """Return random writes of a few words of a kernel's region, so that many hit the same word."""
    base = SIZE // 2 + kernel * REGION
    return [
        {"address": base + 8 * chance.randrange(64), "size": SIZE_8, "data": chance.getrandbits(64)}
        for _ in range(count)
    ]


def put(channel: Any, values: list[dict[str, int]], *, seed: int, stall: float) -> Bench:
    """Return a bench that puts requests into a channel."""

    async def bench(ctx: Any) -> None:
        await stream_put(ctx, channel, values, seed=seed, stall=stall)

    return bench


async def answered(ctx: Any, machine: Machine, counts: list[int]) -> None:
    """Wait until each kernel has as many answers."""
    while [len(got) for got in machine.answers] != counts:
        await ctx.tick()


@pytest.mark.parametrize(("seed", "depth", "places"), [(1, 8, 16), (2, 4, 4)])
def test_random_traffic(seed: int, depth: int, places: int) -> None:
    chance = random.Random(seed)
    machine = Machine(
        seed,
        stall=0.3,
        latency=lambda link: (2 + 9 * link, 12 + 15 * link),
        depth=depth,
        places=places,
    )
    count = 60
    reads = [reads_of(chance, count) for _ in machine.kernels]
    writes = [writes_of(chance, number, count) for number in range(KERNELS)]
    values = [
        [
            (machine.memories[0].load(read["address"], 8 if read["size"] == SIZE_8 else 4)[0], read["tag"])
            for read in mine
        ]
        for mine in reads
    ]
    rounds = 2
    barriers: list[int] = []
    half = count // rounds

    def kernel_writes(number: int) -> Bench:
        async def bench(ctx: Any) -> None:
            port = machine.kernels[number]
            for turn in range(rounds):
                mine = writes[number][turn * half : (turn + 1) * half]
                await stream_put(ctx, port.write, mine, seed=number, stall=0.2 * number)
                ctx.set(port.flush, 1)
                await ctx.tick()
                ctx.set(port.flush, 0)
                while not ctx.get(port.flushed):
                    await ctx.tick()
                assert sum(len(memory.writes) for memory in machine.memories) == (turn + 1) * half * KERNELS
                assert all(len(memory.flushes) == turn + 1 for memory in machine.memories)
                barriers.append(turn)
                await ctx.tick()

        return bench

    async def end(ctx: Any) -> None:
        await answered(ctx, machine, [count] * KERNELS)

    simulate(
        machine.dut,
        *(put(port.read, mine, seed=9, stall=0.1) for port, mine in zip(machine.kernels, reads, strict=True)),
        *(kernel_writes(number) for number in range(KERNELS)),
        end,
        background=machine.background,
        steady=machine.steady,
        cycles=20_000,
    )
    for got, expected in zip(machine.answers, values, strict=True):
        assert [(answer.data, answer.tag) for answer in got] == expected
    assert sorted(barriers) == [turn for turn in range(rounds) for _ in machine.kernels]
    for link, memory in enumerate(machine.memories):
        assert all(link_of(address) == link for _, address in (*memory.reads, *memory.writes))
        for number in range(KERNELS):
            base = SIZE // 2 + number * REGION
            mine = [address for _, address in memory.writes if base <= address < base + REGION]
            assert mine == [w["address"] for w in writes[number] if link_of(w["address"]) == link]
        # Each flush came after all writes of its round.
        for turn, cycle in enumerate(memory.flushes):
            before = [address for at, address in memory.writes if at < cycle]
            sent = [w for mine in writes for w in mine[: (turn + 1) * half] if link_of(w["address"]) == link]
            assert sorted(before) == sorted(w["address"] for w in sent)
    assert sum(len(memory.reads) for memory in machine.memories) == count * KERNELS
    last = {write["address"]: write["data"] for mine in writes for write in mine}
    assert {address: machine.memories[0].load(address, 8)[0] for address in last} == last
