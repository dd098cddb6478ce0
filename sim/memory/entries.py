"""The four functions that engines call, for Python and, by their addresses, for compiled code of any language."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sim.memory.channels import accept_cycle, next_event_cycle, prepare_cycle
from sim.memory.compiled import c_function, jit
from sim.memory.timing import settle_cycles

__all__ = ["accept", "entry_addresses", "next_event", "prepare", "settle"]


@jit
def prepare(context: NDArray[np.int64], ae: int, cycle: int) -> None:
    """Fill an engine's mailbox with what it sees in a cycle: readiness, responses, completed flushes.

    To be called once for a cycle that the engine evaluates, cycles ascending; cycles before `next_event` may be
    left out. Engines may call it at the same time as each other, but not during `settle`.

    Parameters
    ----------
    context : ndarray of int64
        `Memory.context`, whose memory must still exist.
    ae : int
        The engine.
    cycle : int
        The cycle.
    """
    prepare_cycle(context.ctypes.data, ae, cycle)


@jit
def accept(context: NDArray[np.int64], ae: int, cycle: int) -> None:
    """Take the requests of a cycle out of an engine's mailbox and clear their masks.

    To be called after `prepare` of the same cycle. Reads and writes only where the port is ready for them.

    Parameters
    ----------
    context, ae, cycle
        As for `prepare`.
    """
    accept_cycle(context.ctypes.data, ae, cycle)


@jit
def settle(context: NDArray[np.int64], cycle: int) -> int:
    """Perform all requests accepted up to a cycle, which all engines have finished.

    To be called often enough: before any engine prepares the cycle `quantum` after one that is not settled.

    Parameters
    ----------
    context : ndarray of int64
        `Memory.context`.
    cycle : int
        The last cycle to settle.

    Returns
    -------
    int
        0, or an error code when there has been an error, now or before; `Memory.error` has its text.
    """
    return settle_cycles(context.ctypes.data, cycle)


@jit
def next_event(context: NDArray[np.int64], ae: int, cycle: int) -> int:
    """Return the first cycle from `cycle` on in which `prepare` will show a response or a completed flush.

    Only what is settled counts. Without any, the result is 2**62.

    Parameters
    ----------
    context, ae, cycle
        As for `prepare`.
    """
    return next_event_cycle(context.ctypes.data, ae, cycle)


def _prepare(context: int, ae: int, cycle: int) -> None:
    prepare_cycle(context, ae, cycle)


def _accept(context: int, ae: int, cycle: int) -> None:
    accept_cycle(context, ae, cycle)


def _settle(context: int, cycle: int) -> int:
    return settle_cycles(context, cycle)


def _next_event(context: int, ae: int, cycle: int) -> int:
    return next_event_cycle(context, ae, cycle)


@cache
def entry_addresses() -> dict[str, int]:
    """Return the addresses of the same functions under the C calling convention.

    Returns
    -------
    dict
        `prepare` and `accept`: `void (int64_t *context, int64_t ae, int64_t cycle)`;
        `settle`: `int64_t (int64_t *context, int64_t cycle)`;
        `next_event`: `int64_t (int64_t *context, int64_t ae, int64_t cycle)`.
    """
    return {
        "prepare": c_function("void(int64, int64, int64)", _prepare),
        "accept": c_function("void(int64, int64, int64)", _accept),
        "settle": c_function("int64(int64, int64)", _settle),
        "next_event": c_function("int64(int64, int64, int64)", _next_event),
    }
