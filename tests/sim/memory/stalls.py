"""A memory profile of rules that disturbs as `stress` does, in few cycles: short random latencies and refusals."""

from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory.profiles.profile import rule
from cyscc.sim.memory.profiles.stress import Stress, draw, stream
from cyscc.sim.memory.records import Request, Side


@dataclass(frozen=True, kw_only=True)
class Stalls(Stress):
    """Reads take 2 to 17 cycles, one in eight 40 more, writes 2 to 33; a channel refuses in one cycle of four."""

    name: ClassVar[str] = "stalls"

    unloaded_latency = property(lambda self: 2)
    flush_latency = property(lambda self: 4)
    reads_in_flight_limit = property(lambda self: 64)

    @rule
    def drawn(self, side: Side, port: int) -> int:
        side.own.serial[port] += 1
        return draw(stream(self.seed, side.number, port, 0), side.own.serial[port])

    @rule
    def read_back(self, side: Side, port: int, request: Request) -> int:
        word = self.drawn(side, port)
        return request.cycle() + 2 + (word >> 8 & 15) + (40 if word & 7 == 0 else 0)

    @rule
    def written(self, side: Side, port: int, request: Request) -> int:
        return request.cycle() + 2 + (self.drawn(side, port) >> 8 & 31)

    @rule
    def stalled(self, side: Side, cycle: int) -> tuple[int, int]:
        key = stream(self.seed, side.number, 1, 0)
        stalls = draw(key, 2 * cycle) & draw(key, 2 * cycle + 1)
        return stalls & 0xFFFFFFFF, (stalls >> 32) & 0xFFFFFFFF
