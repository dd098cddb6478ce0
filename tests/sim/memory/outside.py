"""A memory profile from outside the package: one channel that all AEs share, and a read buffer in each AE."""

from dataclasses import dataclass
from typing import Any, ClassVar

from cyscc.sim.memory.profiles.profile import Profile, parameter, rule
from cyscc.sim.memory.records import Side
from cyscc.sim.memory.structures import Record


class Own(Record):
    """The line that an AE read last."""

    line: int


class Shared(Record):
    """The cycle from which on the channel is free."""

    free: int


@dataclass(frozen=True, kw_only=True)
class Channel(Profile):
    """Requests pass one after another; what the AE read last comes without them."""

    name: ClassVar[str] = "channel"
    short: ClassVar[str] = "latency"
    Own: ClassVar[type[Record]] = Own
    Shared: ClassVar[type[Record]] = Shared

    latency: int = parameter(20, low=-9, high=2**62)
    flush: int = parameter(2, low=-9, high=2**62)
    line_bits: int = parameter(6, low=3, high=12)

    unloaded_latency = property(lambda self: 2)
    flush_latency = property(lambda self: 2)
    reads_in_flight_limit = property(lambda self: 4096)

    @rule
    def enter(self, side: Side, port: int, kind: int, address: int, cycle: int) -> int:
        line = (address >> self.line_bits) + 1
        hit = line == side.own.line and kind == 0
        side.own.line = line
        return cycle << 1 | hit

    @rule
    def serve(self, shared: Any, ae: int, address: int, is_read: int, entered: int, now: int) -> int:
        if entered & 1 == 1:
            return now + 2
        shared.free = max(shared.free, now) + 1
        return shared.free + self.latency - 1

    @rule
    def flushed(self, now: int) -> int:
        return now + self.flush
