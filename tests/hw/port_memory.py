"""Memory for the hardware tests: random latencies, random stalls, and the order that a memory port promises."""

import random
from collections import deque
from typing import Any

from cyscc.hw.interfaces import SIZE_8
from tests.hw.streams import Bench


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
