"""What counts as much, near or small in an explanation: each number with its reason, all in one place."""

__all__ = [
    "BUSY",
    "CROWDED",
    "HEAD_OF_LINE",
    "LACKING",
    "NEAR_FULL",
    "SAID_OF_BANK",
    "SAID_OF_GROUP",
    "SAID_OF_RUN",
    "SLOWED",
    "SMALL",
    "UNEVEN",
    "crossbar_share",
]

SAID_OF_BANK = 0.2
"""Share of a bank's accesses from which on an array is named."""

SAID_OF_RUN = 0.03
"""Share of a run from which on a cause is worth a finding: less could not be felt if it were gone."""

SAID_OF_GROUP = 0.01
"""Share of a run from which on a group gets at least the finding of its largest cause."""

BUSY = 0.7
"""Use of a bank or link over some levels from which on it counts as the bottleneck: while a level begins and ends there
is little to serve, and random traffic waits long before 100 %."""

HEAD_OF_LINE = 0.85
"""Share of what a crossbar carries at most (`crossbar_share`) from which on head-of-line blocking explains refusals:
not far below 1, as at the beginning and at the end of a level there is little to carry."""

CROWDED = 1.5
"""Accesses of the busiest bank, as a multiple of the mean, from which on it is a matter of this bank: random traffic of
a saturated level stays below 1.2."""

LACKING = 0.5
"""Places promised to reads under way, as a share of a FIFO's depth, from which on more places are proposed where reads
waited for some: a mean of half of them means that they were all taken at times."""

NEAR_FULL = 0.9
"""High-water mark of a FIFO, as a share of its depth, from which on it counts as having been full."""

SLOWED = 1.5
"""Mean latency, as a multiple of the shortest, from which on requests are said to queue in the memory."""

SMALL = 3.0
"""Cycles of a level, as a multiple of what the smallest one must take, up to which that is what it is said to take."""

UNEVEN = 1.2
"""How long the last kernel works, as a multiple of the mean one, from which on a few vertices with many edges are
suspected: shares of many like vertices differ less."""


def crossbar_share(links: float) -> float:
    """Return the share of what its links could carry that a large crossbar with one queue a port does carry.

    However long the queues are (Karol, Hluchyj, Morgan 1987): 2 - 2**0.5 with as many links as ports.

    Parameters
    ----------
    links : float
        Links for each port.
    """
    return (1 + links - (1 + links * links) ** 0.5) / links if links else 0.0
