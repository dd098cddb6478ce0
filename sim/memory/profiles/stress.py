"""Profile `stress`: random latencies and stalls, to expose dependences on timing."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from cyscc.sim.memory.compiling import apart, inlined
from cyscc.sim.memory.profiles.profile import Profile, parameter, rule
from cyscc.sim.memory.records import MAX_PORTS, Request, Side
from cyscc.sim.memory.structures import Record, Words

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@inlined
def _mix(key: int) -> int:
    """Return the splitmix64 hash of a 64-bit word."""
    word = np.uint64(key) + _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return int(np.int64(word ^ (word >> np.uint64(31))))


@inlined
def stream(seed: int, ae: int, port: int, purpose: int) -> int:
    """Return the key of one sequence of random words."""
    return _mix(_mix(seed) + (purpose << 16 | ae << 8 | port))


@inlined
def draw(key: int, index: int) -> int:
    """Return word number `index` of a sequence: 64 random bits."""
    return _mix(key + index * 0x5851F42D4C957F2D)


_FLUSH = 4
_LEAST, _MOST = 70, 1000
_LATENCIES, _STALLS = 0, 1


class Own(Record):
    """Number of accesses of each port that have drawn a latency."""

    serial: Annotated[Words, MAX_PORTS]


@apart
def _draw_latency(seed: int, side: Side, port: int) -> int:
    """Return the random word of a port's next access."""
    serial = side.own.serial[port]
    side.own.serial[port] = serial + 1
    return draw(stream(seed, side.number, port, _LATENCIES), serial)


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

    @rule
    def read_back(self, side: Side, port: int, request: Request) -> int:
        """Return when a read's response is at the port: after 70 to 200 cycles, for one in four 700 to 1000."""
        word = _draw_latency(self.seed, side, port)
        part = (word >> 8) & 0xFFFFFFFF
        return request.cycle() + (_LEAST + part % 131 if word & 3 != 3 else 700 + part % 301)

    @rule
    def written(self, side: Side, port: int, request: Request) -> int:
        """Return when a write is complete: after 50 to 250 cycles."""
        return request.cycle() + 50 + ((_draw_latency(self.seed, side, port) >> 8) & 0xFFFFFFFF) % 201

    @rule
    def flushed(self, now: int) -> int:
        """Return when a flush is complete, if the port's writes are."""
        return now + _FLUSH

    @rule
    def stalled(self, side: Side, cycle: int) -> tuple[int, int]:
        """Return the masks of the stalled ports; each bit is the AND of fair random bits."""
        key = stream(self.seed, side.number, 0, _STALLS)
        single = draw(key, 3 * cycle) & draw(key, 3 * cycle + 1) & draw(key, 3 * cycle + 2)
        key = stream(self.seed, side.number, 1, _STALLS)
        first = 4 * (cycle >> 3)
        runs = draw(key, first) & draw(key, first + 1) & draw(key, first + 2) & draw(key, first + 3)
        stalls = single | runs
        return stalls & 0xFFFFFFFF, (stalls >> 32) & 0xFFFFFFFF

    @rule
    def restless(self, side: Side, cycle: int) -> bool:
        """Return whether stalls may come and go by themselves."""
        return True
