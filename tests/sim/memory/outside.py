"""A memory profile from outside the package: one channel that all AEs share, and a read buffer in each AE."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cyscc.sim.memory.profiles.profile import Profile, parameter, rule


@dataclass(frozen=True, kw_only=True)
class Channel(Profile):
    """Requests pass one after another; what the AE read last comes without them.

    `line` is the line that an AE read last, `free` the cycle from which on the channel is free.
    """

    name: ClassVar[str] = "channel"
    short: ClassVar[str] = "latency"
    own: ClassVar[Mapping[str, int]] = {"line": 1}
    shared: ClassVar[Mapping[str, int]] = {"free": 1}

    latency: int = parameter(20, low=-9, high=2**62)
    flush: int = parameter(2, low=-9, high=2**62)
    line_bits: int = parameter(6, low=3, high=12)

    unloaded_latency = property(lambda self: 2)
    flush_latency = property(lambda self: 2)
    reads_in_flight_limit = property(lambda self: 4096)

    @rule
    def enter(self, own: Any, kind: int, address: int, cycle: int) -> int:
        line = (address >> self.line_bits) + 1
        hit = line == own.line and kind == 0
        own.line = line
        return cycle << 1 | hit

    @rule
    def serve(self, shared: Any, entered: int, now: int) -> int:
        if entered & 1 == 1:
            return now + 2
        shared.free = max(shared.free, now) + 1
        return shared.free + self.latency - 1

    @rule
    def flushed(self, now: int) -> int:
        return now + self.flush
