"""Benches of streams, and a memory behind a port."""

import inspect
import random
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any

from amaranth.hdl import ClockDomain, Elaboratable, Module, Value
from amaranth.sim import Simulator

from cyscc.hw.interfaces import SIZE_8

Bench = Callable[[Any], Awaitable[None]]
"""A testbench: takes the simulator's context."""


class Simulation:
    """A component for many simulations, elaborated and compiled once.

    Parameters
    ----------
    component : Elaboratable
        What is tested; may be combinational.
    """

    def __init__(self, component: Elaboratable) -> None:
        top = Module()
        top.domains.sync = ClockDomain("sync")
        top.submodules.component = component
        self._simulator = Simulator(top)
        self._simulator.add_clock(1e-6)
        self._turn = 0

    def run(
        self,
        *benches: Bench,
        background: Sequence[Bench] = (),
        steady: Sequence[Any] = (),
        cycles: int = 5000,
    ) -> None:
        """Simulate from reset until all benches end.

        Parameters
        ----------
        benches : Bench
            Benches that must come to their end.
        background : sequence of Bench
            Benches that need not.
        steady : sequence of stream interfaces
            Streams on which the component must keep the rules: what is offered is neither withdrawn nor changed until
            it is taken.
        cycles : int
            Cycle limit.

        Raises
        ------
        AssertionError
            The benches did not end within the limit, or a stream broke the rules.
        """
        if self._turn:
            self._simulator.reset()
        self._turn += 1
        for bench in benches:
            self._simulator.add_testbench(self._of_this_turn(bench))
        for bench in (*background, *(_steady(stream) for stream in steady), _limit(cycles)):
            self._simulator.add_testbench(self._of_this_turn(bench), background=True)
        self._simulator.run()

    def _of_this_turn(self, bench: Bench) -> Bench:
        """Return a bench that does nothing in later turns: the simulator keeps all that it was ever given."""
        turn = self._turn

        async def own(ctx: Any) -> None:
            if self._turn == turn:
                await bench(ctx)

        return own


def simulate(component: Elaboratable, *benches: Bench, **how: Any) -> None:
    """Simulate once until all benches end, as `Simulation.run` does."""
    Simulation(component).run(*benches, **how)


def simulated(make: Callable[[], Elaboratable]) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Make a test of a bench that takes the simulator's context, a fresh component, and the test's own arguments."""

    def decorate(bench: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        @wraps(bench)
        def test(**arguments: Any) -> None:
            dut = make()
            simulate(dut, partial(bench, dut=dut, **arguments))

        own = inspect.signature(bench)
        test.__signature__ = own.replace(parameters=list(own.parameters.values())[2:])  # type: ignore[attr-defined]
        return test

    return decorate


def _limit(cycles: int) -> Bench:
    async def bench(ctx: Any) -> None:
        cycle = 0
        async for _ in ctx.tick():
            cycle += 1
            assert cycle < cycles, f"the benches have not ended after {cycles} cycles"

    return bench


def _steady(stream: Any) -> Bench:
    async def bench(ctx: Any) -> None:
        held: int | None = None
        payload = Value.cast(stream.payload)
        async for _, _, valid, ready, value in ctx.tick().sample(stream.valid, stream.ready, payload):
            if held is not None:
                assert valid, f"{stream!r}: valid was withdrawn while stalled"
                assert value == held, f"{stream!r}: the payload changed while stalled"
            held = value if valid and not ready else None

    return bench


async def stream_put(ctx: Any, stream: Any, values: Iterable[Any], *, seed: int, stall: float = 0.5) -> None:
    """Put values into a stream.

    Parameters
    ----------
    ctx : simulator context
        Of the bench.
    stream : stream interface
        Where to.
    values : iterable
        Payloads.
    seed : int
        Seed of the stalls.
    stall : float
        Chance that a cycle passes before the next value is offered.
    """
    chance = random.Random(seed)
    for value in values:
        while chance.random() < stall:
            await ctx.tick()
        ctx.set(stream.payload, value)
        ctx.set(stream.valid, 1)
        ready = False
        while not ready:
            _, _, ready = await ctx.tick().sample(stream.ready)
        ctx.set(stream.valid, 0)


async def pulse(ctx: Any, signal: Any) -> None:
    """Set a signal for one cycle."""
    ctx.set(signal, 1)
    await ctx.tick()
    ctx.set(signal, 0)


async def wait(ctx: Any, cycles: int) -> None:
    """Let cycles pass; also none."""
    for _ in range(cycles):
        await ctx.tick()


def collect(stream: Any, values: list[Any]) -> Bench:
    """Return a background bench that appends each payload that a stream transfers, without driving `ready`."""

    async def bench(ctx: Any) -> None:
        async for _, _, valid, ready, payload in ctx.tick().sample(stream.valid, stream.ready, stream.payload):
            if valid and ready:
                values.append(payload)

    return bench


def cycles_of(signal: Any, cycles: list[int]) -> Bench:
    """Return a background bench that appends the number of each cycle in which a signal is high."""

    async def bench(ctx: Any) -> None:
        cycle = 0
        async for _, _, high in ctx.tick().sample(signal):
            if high:
                cycles.append(cycle)
            cycle += 1

    return bench


class PortMemory:
    """Memory behind a memory port. Reads and writes take effect in the cycle in which the port takes them.

    Parameters
    ----------
    size : int
        Bytes.
    seed : int
        Seed of stalls and latencies.
    stall : float
        Chance that a channel takes nothing in a cycle.
    latency : (int, int)
        Least and greatest latency of a read and of a flush, in cycles.

    Attributes
    ----------
    data : bytearray
        The contents.
    reads, writes : list of (int, int)
        Cycle and address of each request.
    flushes : list of int
        Cycle of each flush.
    in_flight : int
        Greatest number of reads in flight.
    """

    def __init__(self, size: int, *, seed: int, stall: float = 0.3, latency: tuple[int, int] = (2, 30)) -> None:
        self.data = bytearray(size)
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, int]] = []
        self.flushes: list[int] = []
        self.in_flight = 0
        self._chance = random.Random(seed)
        self._stall = stall
        self._latency = latency

    def load(self, address: int, width: int, count: int = 1) -> list[int]:
        """Return little-endian elements of `width` bytes."""
        places = range(address, address + width * count, width)
        return [int.from_bytes(self.data[place : place + width], "little") for place in places]

    def store(self, address: int, width: int, *values: int) -> None:
        """Store little-endian elements of `width` bytes."""
        for number, value in enumerate(values):
            place = address + width * number
            assert place + width <= len(self.data), f"write beyond the memory: {place:#x}"
            self.data[place : place + width] = value.to_bytes(width, "little")

    def serve(self, port: Any) -> Bench:
        """Return a background bench that serves a port."""

        async def bench(ctx: Any) -> None:
            cycle = 0
            responses: deque[tuple[int, dict[str, int]]] = deque()
            flushed: deque[int] = deque()
            while True:
                arrives = bool(responses) and responses[0][0] <= cycle
                ctx.set(port.response.valid, arrives)
                if arrives:
                    ctx.set(port.response.payload, responses.popleft()[1])
                ctx.set(port.flushed, bool(flushed) and flushed[0] <= cycle)
                if flushed and flushed[0] <= cycle:
                    flushed.popleft()
                ctx.set(port.read.ready, self._chance.random() >= self._stall)
                ctx.set(port.write.ready, self._chance.random() >= self._stall)
                _, _, reads, read, writes, write, flush = await ctx.tick().sample(
                    port.read.valid & port.read.ready,
                    port.read.payload,
                    port.write.valid & port.write.ready,
                    port.write.payload,
                    port.flush,
                )
                due = cycle + self._chance.randint(*self._latency)
                if reads:
                    self.reads.append((cycle, read.address))
                    value = self.load(read.address, 8 if read.size == SIZE_8 else 4)[0]
                    responses.append((due, {"data": value, "tag": read.tag}))
                    self.in_flight = max(self.in_flight, len(responses))
                if writes:
                    self.writes.append((cycle, write.address))
                    width = 8 if write.size == SIZE_8 else 4
                    self.store(write.address, width, write.data & ((1 << 8 * width) - 1))
                if flush:
                    self.flushes.append(cycle)
                    flushed.append(due)
                cycle += 1

        return bench
