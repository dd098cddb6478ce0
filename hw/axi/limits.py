"""Limits of outstanding transactions of the AXI masters."""

from dataclasses import dataclass

from cyscc.hw.config import ConfigError


@dataclass(frozen=True, kw_only=True)
class AxiLimits:
    """Limits of each memory port.

    Parameters
    ----------
    outstanding_reads : int
        Reads requested and not answered, 4 to 512; a power of two. The default covers a latency of 0.4 us at 150 MHz
        with a read in every cycle.
    outstanding_writes : int
        Writes requested and not answered, 4 to 512; a power of two.
    """

    outstanding_reads: int = 64
    outstanding_writes: int = 64

    def __post_init__(self) -> None:
        for name in ("outstanding_reads", "outstanding_writes"):
            value = getattr(self, name)
            if type(value) is not int or not 4 <= value <= 512 or value & (value - 1):
                raise ConfigError(f"{name} must be a power of two from 4 to 512, not {value!r}")
