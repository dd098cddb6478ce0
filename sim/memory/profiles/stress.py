"""Profile `stress`: random latencies and stalls, to expose dependences on timing."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from cyscc.sim.memory.profiles.profile import Profile, parameter
from cyscc.sim.memory.records import MAX_PORTS
from cyscc.sim.memory.structures import Record, Words

_FLUSH = 4
_LEAST, _MOST = 70, 1000


class Own(Record):
    """Number of accesses of each port that have drawn a latency."""

    serial: Annotated[Words, MAX_PORTS]


@dataclass(frozen=True, kw_only=True)
class Stress(Profile):
    """Latencies of the published project's simulator setup; random stalls of each channel, which are an assumption.

    A channel stalls in 1/8 of single cycles and in 1/16 of runs of eight cycles, 18 % in total. All random numbers are
    functions of seed, AE, port, and serial number or cycle.

    Parameters
    ----------
    seed : int
        Start of the random numbers.
    """

    name: ClassVar[str] = "stress"
    short: ClassVar[str] = "seed"
    Own: ClassVar[type[Record]] = Own

    seed: int = parameter(0, low=0, high=2**63 - 1)

    @property
    def unloaded_latency(self) -> int:
        """The shortest latency of a read."""
        return _LEAST

    @property
    def flush_latency(self) -> int:
        """Least cycles of a flush."""
        return _FLUSH

    @property
    def reads_in_flight_limit(self) -> int:
        """One read per cycle of the longest latency."""
        return _MOST + 1
