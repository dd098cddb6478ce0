"""A file of memory rules that disturbs as `stress` does, in few cycles: short random latencies and refusals."""

from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory import Stress


@dataclass(frozen=True, kw_only=True)
class Stalls(Stress):
    """Reads take 2 to 17 cycles, one in eight 40 more, writes 2 to 33; a channel refuses in one cycle of four."""

    name: ClassVar[str] = "stalls"
    header: ClassVar[str] = "stalls.h"

    unloaded_latency = property(lambda self: 2)
    flush_latency = property(lambda self: 4)
    reads_in_flight_limit = property(lambda self: 64)
