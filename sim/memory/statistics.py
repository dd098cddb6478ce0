"""Statistics of the memory as plain numbers, and error messages."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.memory.records import BASE_ADDRESS, HISTOGRAM_BINS, LATEST, MAX_PORTS, ErrorCode

_KINDS = ("read", "write", "flush")
_CAUSES = {
    ErrorCode.OUTSIDE: "outside the allocated range {base} to {top}",
    ErrorCode.MISALIGNED: "not aligned to its size",
    ErrorCode.NOT_READY: "the port was not ready for a {kind}",
    ErrorCode.MALFORMED: "not a mask of {ports} ports",
    ErrorCode.LOG_FULL: "more requests waiting to be settled than {value}; settle every {quantum} cycles",
    ErrorCode.RING_FULL: "more than {value} of kind {kind} waiting on the port",
    ErrorCode.OVERBOOKED: "its way is reserved further ahead than the profile has room for",
    ErrorCode.ANSWER: "answered cycle {value}, which is not from {soonest} to {latest}",
    ErrorCode.PLACE: "answered {value}, which the record has no place for",
    ErrorCode.LATE: "due in cycle {value} but shown later; settle every {quantum} cycles and leave out no event",
}

_OF_RULES = (ErrorCode.OVERBOOKED, ErrorCode.ANSWER, ErrorCode.PLACE)


def message(
    error: tuple[int, int, int, int, int, int], *, top: int, quantum: int, ports: int, rules: str | None = None
) -> str:
    """Return the message of an error in one line.

    Parameters
    ----------
    error : tuple of int
        The fields of `cyscc.sim.memory.records.Error`.
    top : int
        End of the last allocation.
    quantum : int
        Most cycles that AEs may run between sync points.
    ports : int
        Ports of an AE.
    rules : str, optional
        The file of rules and the rule that the error is of, if they are from a file.
    """
    code, kind, value, ae, port, cycle = error
    place = f"engine {ae} port {port} cycle {cycle}"
    name = _KINDS[kind & 3]
    limits = {"base": BASE_ADDRESS, "top": top, "quantum": quantum, "ports": ports}
    limits |= {"soonest": cycle + (0 if name == "write" else quantum), "latest": cycle + LATEST}
    cause = _CAUSES[ErrorCode(code)].format(kind=name, value=value, **limits)
    if rules is not None and code in _OF_RULES:
        cause = f"{rules}: {f'answered {value}' if code == ErrorCode.OVERBOOKED else cause}"
    if code in (ErrorCode.OUTSIDE, ErrorCode.MISALIGNED):
        size = 8 if kind & 4 else 4
        return f"memory: {name} of {size} bytes at address {value:#x} ({place}): {cause}"
    if code == ErrorCode.MALFORMED:
        return f"memory: mask {value & 2**64 - 1:#x} of {name} requests (engine {ae} cycle {cycle}): {cause}"
    return f"memory: {name} ({place}): {cause}"


def _read_latency(counts: NDArray[np.void]) -> dict[str, Any]:
    """Return count, mean, extremes, median, 99th percentile and the non-empty bins of the histogram.

    Of latencies in the open bin only the maximum, and the sum of their excess over the bin's start, are known.
    """
    histogram = counts["histogram"].sum(axis=0)
    bins = np.flatnonzero(histogram)
    total = int(histogram.sum())
    if total == 0:
        empty = dict.fromkeys(("mean", "minimum", "maximum", "p50", "p99"))
        return {"count": 0, **empty, "histogram": []}
    reached = np.cumsum(histogram)
    return {
        "count": total,
        "mean": (int(histogram @ np.arange(HISTOGRAM_BINS)) + int(counts["latency_excess"].sum())) / total,
        "minimum": int(bins[0]),
        "maximum": max(int(bins[-1]), int(counts["latency_max"].max())),
        "p50": int(np.searchsorted(reached, -(-total // 2))),
        "p99": int(np.searchsorted(reached, -(-total * 99 // 100))),
        "histogram": [[int(cycles), int(histogram[cycles])] for cycles in bins],
    }


def summarise(sides: NDArray[np.void], own: dict[str, Any], *, ports: int, cycles: int) -> dict[str, Any]:
    """Return the statistics of a memory, JSON-able.

    Parameters
    ----------
    sides : ndarray of Side
        The AEs' sides.
    own : dict
        The profile's own statistics.
    ports : int
        Ports of an AE.
    cycles : int
        Cycles settled since counting began.

    Returns
    -------
    dict
        `cycles`; `reads` and `writes` with the keys `bytes4`, `bytes8` and `total`; `flushes`; `read_latency` in
        cycles from acceptance to response (`count`, `mean`, `minimum`, `maximum`, `p50`, `p99`, and `histogram`, a
        list of [cycles, reads] whose bin 2047 is open above); `waiting_cycles` summed over the accesses for
        `ordering`; `stall_cycles`, for `read` and `write` a list for each AE of the cycles, among those prepared, in
        which each port was not ready; and what is the profile's own, see `Profile.statistics`.
    """
    counts = sides["statistics"]
    reads4, reads8, writes4, writes8, flushes, order_wait = (
        int(counts[name].sum()) for name in ("reads4", "reads8", "writes4", "writes8", "flushes", "order_wait")
    )
    reads, writes = (sides["stalls"][:, first : first + ports] for first in (0, MAX_PORTS))
    return {
        "cycles": cycles,
        "reads": {"bytes4": reads4, "bytes8": reads8, "total": reads4 + reads8},
        "writes": {"bytes4": writes4, "bytes8": writes8, "total": writes4 + writes8},
        "flushes": flushes,
        "read_latency": _read_latency(counts),
        **own,
        "waiting_cycles": {**own.get("waiting_cycles", {}), "ordering": order_wait},
        "stall_cycles": {"read": reads.tolist(), "write": writes.tolist()},
    }
