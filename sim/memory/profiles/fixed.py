"""Profile `fixed`: a fixed read latency without contention, for comparing cycles with other simulations."""

from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory.profiles.profile import Profile, parameter

_FLUSH = 4


@dataclass(frozen=True, kw_only=True)
class Fixed(Profile):
    """A fixed read latency, independent of load; writes take effect at once.

    Parameters
    ----------
    latency : int
        Cycles from the acceptance of a read to its response.
    """

    name: ClassVar[str] = "fixed"
    short: ClassVar[str] = "latency"

    latency: int = parameter(None, low=1, high=100_000)

    @property
    def unloaded_latency(self) -> int:
        """The latency of every read."""
        return self.latency

    @property
    def flush_latency(self) -> int:
        """Cycles of a flush."""
        return _FLUSH

    @property
    def reads_in_flight_limit(self) -> int:
        """One read per cycle of latency."""
        return self.latency
