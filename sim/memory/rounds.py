"""Rounds: when requests pass from step to step, and the first error of all (compiled)."""

from sim.memory import state as s
from sim.memory.compiled import inlined, jit, load, store
from sim.memory.delivery import deliver_round
from sim.memory.lanes import lane_of
from sim.memory.timing import serve_round

__all__ = ["seal_round", "settle_cycles"]


@inlined
def _keep_first(context: int, words: int) -> None:
    """Make an error at the address `words` that of the memory, if none is there of the same cycle or before."""
    first = context + s.CTX_ERROR * 8
    earlier = load(first, s.ERROR_CODE) == 0 or load(words, s.ERROR_CYCLE) < load(first, s.ERROR_CYCLE)
    if load(words, s.ERROR_CODE) != 0 and earlier:
        for index in range(s.ERROR_WORDS):
            store(first, index, load(words, index))


@inlined
def _collect_errors(context: int) -> int:
    """Make the first error of serving and of all engines that of the memory; return its code."""
    _keep_first(context, load(context, s.CTX_SERVICE) + s.SERVICE_ERROR * 8)
    for ae in range(load(context, s.CTX_ENGINES)):
        _keep_first(context, lane_of(context, ae) + s.LANE_ERROR * 8)
    return load(context, s.CTX_ERROR + s.ERROR_CODE)


@inlined
def _lanes_failed(context: int) -> bool:
    """Return whether a lane has an error."""
    codes = 0
    for ae in range(load(context, s.CTX_ENGINES)):
        codes |= load(lane_of(context, ae), s.LANE_ERROR + s.ERROR_CODE)
    return codes != 0


@jit
def seal_round(context: int, cycle: int) -> int:
    """End a round; see `sim.memory.entries.seal`."""
    for ae in range(load(context, s.CTX_ENGINES)):
        deliver_round(context, ae)
    serve_round(context)
    emptied = load(context, s.CTX_DELIVERED)
    store(context, s.CTX_DELIVERED, load(context, s.CTX_SERVED))
    store(context, s.CTX_SERVED, load(context, s.CTX_ACCEPTED))
    store(context, s.CTX_ACCEPTED, emptied)
    store(context, s.CTX_SETTLED, cycle)
    if _lanes_failed(context):
        # What the engines did wrong may come after what serving these requests finds.
        serve_round(context)
    return _collect_errors(context)


@inlined
def settle_cycles(context: int, cycle: int) -> int:
    """Perform and deliver all requests up to a cycle; see `sim.memory.entries.settle`."""
    seal_round(context, cycle)
    seal_round(context, cycle)
    for ae in range(load(context, s.CTX_ENGINES)):
        deliver_round(context, ae)
    return _collect_errors(context)
