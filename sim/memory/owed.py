"""What the memory still owes: until when something comes of the requests that it has taken (compiled)."""

from sim.memory.compiling import apart
from sim.memory.records import Context

__all__ = ["owed_until"]


@apart
def owed_until(context: Context) -> int:
    """Return the last cycle in which a request that was taken bears fruit; see `sim.memory.memory.Memory.owed_until`.

    Each port knows its latest response, write and flush. They are over when that cycle has passed, and readiness that
    hangs on them is back.
    """
    last = -1
    for ae in range(context.engines):
        side = context.sides[ae]
        for number in range(side.width):
            port = side.ports[number]
            last = max(last, port.last_seen, port.last_written, port.last_flushed)
    return last
