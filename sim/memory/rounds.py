"""Rounds: when requests pass from step to step, and the first error of all (compiled)."""

from sim.memory.compiling import apart, call, inlined
from sim.memory.delivery import deliver
from sim.memory.records import Context, Error
from sim.memory.service import serve

__all__ = ["seal", "settle"]


@inlined
def _keep_first(first: Error, other: Error) -> None:
    """Make an error that of the memory, if none is there of the same cycle or before."""
    if other.code != 0 and (first.code == 0 or other.cycle < first.cycle):
        first.code = other.code
        first.kind = other.kind
        first.value = other.value
        first.engine = other.engine
        first.port = other.port
        first.cycle = other.cycle


@apart
def _collect_errors(context: Context) -> int:
    """Make the first error of serving and of all AEs that of the memory; return its code."""
    _keep_first(context.error, context.service.error)
    for ae in range(context.engines):
        _keep_first(context.error, context.sides[ae].error)
    return context.error.code


@inlined
def _sides_failed(context: Context) -> bool:
    """Return whether an AE's side has an error."""
    codes = 0
    for ae in range(context.engines):
        codes |= context.sides[ae].error.code
    return codes != 0


@apart
def seal(context: Context, cycle: int) -> int:
    """End a round; see `sim.memory.memory.Memory.seal`."""
    for ae in range(context.engines):
        deliver(context, ae)
    serve(context)
    emptied = context.delivered
    context.delivered = context.served
    context.served = context.accepted
    context.accepted = emptied
    context.settled = cycle
    if _sides_failed(context):
        # What the AEs did wrong may come after what serving these requests finds.
        serve(context)
    return _collect_errors(context)


@inlined
def settle(context: Context, cycle: int) -> int:
    """Perform and deliver all requests up to a cycle; see `sim.memory.memory.Memory.settle`."""
    seal(context, cycle)
    seal(context, cycle)
    for ae in range(context.engines):
        deliver(context, ae)
    if context.interval != 0:
        call(context.record_until, context, cycle + 1)
    return _collect_errors(context)
