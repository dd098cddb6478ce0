"""A profile alone: requests played through its service, in clocks of its memory, and figures of what they met."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyscc.sim.memory.memory import Memory
from cyscc.sim.memory.profiles import Profile

_WAYS = ("request_travel", "response_travel", "way_there", "way_back")
"""Parameters of the ways between the machine and a memory's channels."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What requests met.

    Parameters
    ----------
    rate_per_clock : float
        Requests completed in a clock, between 20 % and 80 % of them.
    read_mean_clocks, read_p95_clocks : float
        Mean and 95th percentile of the reads' clocks from their arrival until their data are there; 0 without reads.
    row_hit_share : float or None
        Share of the requests that needed no activate of their own; None if banks have no rows.
    latencies : ndarray of int64
        Clocks of each request, in their order.
    """

    rate_per_clock: float
    read_mean_clocks: float
    read_p95_clocks: float
    row_hit_share: float | None
    latencies: NDArray[np.int64]


def alone(profile: Profile) -> Profile:
    """Return a profile without the ways to and from its channels, in clocks of its memory."""
    known = {each.name for each in fields(profile)}
    changes: dict[str, Any] = {name: 0 for name in _WAYS if name in known}
    if "memory_mhz" in known:
        changes["machine_mhz"] = profile.memory_mhz  # type: ignore[attr-defined]
    return replace(profile, **changes)


def play(
    profile: Profile, addresses: ArrayLike, writes: ArrayLike, *, clocks: ArrayLike | None = None, outstanding: int = 0
) -> Played:
    """Play requests through a profile alone.

    Parameters
    ----------
    profile : Profile
        The memory; its ways to and from the channels are left out.
    addresses : array_like of int
        Byte addresses, in the order of arrival.
    writes : array_like of bool
        Which are writes.
    clocks : array_like of int, optional
        Arrivals, ascending; not needed with `outstanding`.
    outstanding : int
        Requests under way at a time, a further one when one is done; 0 for requests that come at their clocks.

    Raises
    ------
    ValueError
        There are no requests, or a resource cannot be booked as far ahead as they need.
    """
    places = np.ascontiguousarray(addresses, np.int64)
    if not places.size:
        raise ValueError("there are no requests")
    reads = np.ascontiguousarray(~np.asarray(writes, np.bool_), np.int64)
    come = np.zeros(places.size, np.int64) if clocks is None else np.array(clocks, np.int64)
    memory = Memory(alone(profile), engines=1, ports=1)
    done = memory.play(places, reads, come=come, outstanding=outstanding)
    latencies = done - come
    of_reads = latencies[reads == 1]
    ends = np.sort(done)
    first, last = ends.size // 5, ends.size * 4 // 5
    rows = memory.statistics().get("rows")
    return Played(
        rate_per_clock=(last - first) / max(int(ends[last] - ends[first]), 1) if last > first else 0.0,
        read_mean_clocks=float(of_reads.mean()) if of_reads.size else 0.0,
        read_p95_clocks=float(np.percentile(of_reads, 95)) if of_reads.size else 0.0,
        row_hit_share=None if rows is None else rows["hits"] / places.size,
        latencies=latencies,
    )
