"""The functions that engines call, for Python and, by their addresses, for compiled code of any language."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sim.memory.acceptance import accept_cycle
from sim.memory.channels import next_event_cycle, prepare_cycle
from sim.memory.compiled import c_function, jit
from sim.memory.delivery import deliver_round
from sim.memory.rounds import seal_round, settle_cycles
from sim.memory.timing import serve_round

__all__ = ["accept", "deliver", "entry_addresses", "next_event", "prepare", "seal", "serve", "settle"]


@jit
def prepare(context: NDArray[np.int64], ae: int, cycle: int) -> None:
    """Fill an engine's mailbox with what it sees in a cycle: readiness, responses, completed flushes.

    To be called once for a cycle that the engine evaluates, cycles ascending; cycles before `next_event` may be
    left out. Engines may call it at the same time as each other, but not during `settle` or `seal`.

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
    """Perform and deliver all requests accepted up to a cycle, which all engines have finished.

    To be called often enough: before any engine prepares the cycle `quantum` after one that is not settled. It is the
    same as `seal`, `serve`, `seal` and `deliver` for all engines, and may end a sequence of these.

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
def seal(context: NDArray[np.int64], cycle: int) -> int:
    """End a round, which all engines have finished; the requests of each round then move on by a step.

    The requests that engines accept in one round are performed by `serve` during the next, and reach their engine by
    `deliver` at the beginning of the round after that, before its first `prepare`. So a round may have at most half
    of `quantum` cycles. `seal` is to be called while nothing else runs; it makes up for a `serve` or `deliver` of the
    round that was left out.

    Parameters
    ----------
    context : ndarray of int64
        `Memory.context`.
    cycle : int
        The last cycle of the round.

    Returns
    -------
    int
        As `settle`; an error that a request brings is reported when the round is over in which it is performed.
    """
    return seal_round(context.ctypes.data, cycle)


@jit
def serve(context: NDArray[np.int64]) -> None:
    """Perform the requests that all engines accepted in the round before this one.

    It may run at the same time as `prepare`, `accept` and `deliver` of any engine. To be called once a round.

    Parameters
    ----------
    context : ndarray of int64
        `Memory.context`.
    """
    serve_round(context.ctypes.data)


@jit
def deliver(context: NDArray[np.int64], ae: int) -> None:
    """Queue for an engine what its requests of the last round but one bring: responses and completions.

    To be called once a round, before the engine's first `prepare`. Engines may call it at the same time as each other.

    Parameters
    ----------
    context, ae
        As for `prepare`.
    """
    deliver_round(context.ctypes.data, ae)


@jit
def next_event(context: NDArray[np.int64], ae: int, cycle: int) -> int:
    """Return the first cycle from `cycle` on in which `prepare` will show a response, a completed flush or a stall.

    Only what is settled or delivered counts. Without any, the result is 2**62. Where a port may stall in a later cycle
    without any request, it is `cycle` itself.

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


def _seal(context: int, cycle: int) -> int:
    return seal_round(context, cycle)


def _serve(context: int) -> None:
    serve_round(context)


def _deliver(context: int, ae: int) -> None:
    deliver_round(context, ae)


def _next_event(context: int, ae: int, cycle: int) -> int:
    return next_event_cycle(context, ae, cycle)


@cache
def entry_addresses() -> dict[str, int]:
    """Return the addresses of the same functions under the C calling convention.

    Returns
    -------
    dict
        `prepare` and `accept`: `void (int64_t *context, int64_t ae, int64_t cycle)`;
        `settle` and `seal`: `int64_t (int64_t *context, int64_t cycle)`;
        `serve`: `void (int64_t *context)`; `deliver`: `void (int64_t *context, int64_t ae)`;
        `next_event`: `int64_t (int64_t *context, int64_t ae, int64_t cycle)`.
    """
    return {
        "prepare": c_function("void(int64, int64, int64)", _prepare),
        "accept": c_function("void(int64, int64, int64)", _accept),
        "settle": c_function("int64(int64, int64)", _settle),
        "seal": c_function("int64(int64, int64)", _seal),
        "serve": c_function("void(int64)", _serve),
        "deliver": c_function("void(int64, int64)", _deliver),
        "next_event": c_function("int64(int64, int64, int64)", _next_event),
    }
