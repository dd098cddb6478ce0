"""What the memory counted, as plain numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.memory import state as s
from sim.memory.addresses import BANKS_PER_CONTROLLER, CONTROLLERS, bank_places
from sim.memory.arrays import State

__all__ = ["summarise"]


def _read_latency(counts: NDArray[np.int64], longest: int) -> dict[str, Any]:
    """Return count, mean, extremes, median, 99th percentile and the non-empty bins of the histogram.

    Only latencies of the open bin are known as `longest` and by their sum beyond its beginning.
    """
    histogram = counts[s.STAT_HISTOGRAM :]
    bins = np.flatnonzero(histogram)
    total = int(histogram.sum())
    if total == 0:
        empty = dict.fromkeys(("mean", "minimum", "maximum", "p50", "p99"))
        return {"count": 0, **empty, "histogram": []}
    reached = np.cumsum(histogram)
    return {
        "count": total,
        "mean": (int(histogram @ np.arange(s.HISTOGRAM_BINS)) + int(counts[s.STAT_LATENCY_EXCESS])) / total,
        "minimum": int(bins[0]),
        "maximum": max(int(bins[-1]), longest),
        "p50": int(np.searchsorted(reached, -(-total // 2))),
        "p99": int(np.searchsorted(reached, -(-total * 99 // 100))),
        "histogram": [[int(cycles), int(histogram[cycles])] for cycles in bins],
    }


def summarise(state: State, *, first_cycle: int, profile: str) -> dict[str, Any]:
    """Return the statistics of a memory, ready for JSON.

    Parameters
    ----------
    state : State
        The memory's arrays.
    first_cycle : int
        Cycle at which counting began.
    profile : str
        Name of the profile, to be repeated in the result.

    Returns
    -------
    dict
        `profile`; `cycles` settled since counting began; `reads` and `writes` with the keys `bytes4`, `bytes8` and
        `total`; `flushes`; `controllers` (accesses of each of the 8); `banks` (accesses of each of the 1024, bank b
        of controller c at c * 128 + b); `bank_busy_cycles` of all accesses accepted, those included that still wait
        for their bank (0 where banks are not modelled); `bank_utilisation`, their share of all bank cycles;
        `read_latency` in cycles from acceptance to response (`count`, `mean`, `minimum`, `maximum`, `p50`, `p99`, and
        `histogram`, a list of [cycles, reads] whose bin 2047 is open above); `waiting_cycles` summed over the
        accesses for `link`, `bank`, `return_link` and `ordering`; and `stall_cycles`, for `read` and `write` a list
        for each engine of the cycles, among those prepared, in which each port was not ready.
    """
    counts, context = state.statistics.sum(axis=0), state.context
    ports = int(context[s.CTX_PORTS])
    banks = state.banks[bank_places(), 1]
    cycles = int(context[s.CTX_SETTLED]) + 1 - first_cycle
    busy = int(banks.sum()) * int(context[s.CTX_BANK_BUSY]) if context[s.CTX_KIND] == s.HC2 else 0
    reads4, reads8, writes4, writes8 = (int(counts[index]) for index in range(s.STAT_READS4, s.STAT_WRITES8 + 1))
    return {
        "profile": profile,
        "cycles": cycles,
        "reads": {"bytes4": reads4, "bytes8": reads8, "total": reads4 + reads8},
        "writes": {"bytes4": writes4, "bytes8": writes8, "total": writes4 + writes8},
        "flushes": int(counts[s.STAT_FLUSHES]),
        "controllers": banks.reshape(CONTROLLERS, BANKS_PER_CONTROLLER).sum(axis=1).tolist(),
        "banks": banks.tolist(),
        "bank_busy_cycles": busy,
        "bank_utilisation": busy / (cycles * banks.size) if cycles else 0.0,
        "read_latency": _read_latency(counts, int(state.statistics[:, s.STAT_LATENCY_MAX].max())),
        "waiting_cycles": {
            "link": int(counts[s.STAT_LINK_WAIT]),
            "bank": int(state.service[s.SERVICE_BANK_WAIT]),
            "return_link": int(state.service[s.SERVICE_RETURN_WAIT]),
            "ordering": int(counts[s.STAT_ORDER_WAIT]),
        },
        "stall_cycles": {
            "read": state.lanes[:, s.LANE_READ_STALLS : s.LANE_READ_STALLS + ports].tolist(),
            "write": state.lanes[:, s.LANE_WRITE_STALLS : s.LANE_WRITE_STALLS + ports].tolist(),
        },
    }
