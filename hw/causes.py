"""Causes: why a kernel did or did not issue a request in a cycle. Exactly one for every kernel and cycle."""

from enum import IntEnum

__all__ = ["Cause"]


class Cause(IntEnum):
    """Where a kernel's cycle went; of several that apply the last one in this list."""

    IDLE = 0
    """No work, or none left in this run: other kernels, the ring or the host are awaited."""
    MEMORY = 1
    """Responses are awaited."""
    FLUSH = 2
    """The flush is awaited."""
    SLOT = 3
    """Only vertices that wait for the token can go on."""
    BACKPRESSURE = 4
    """A request is ready, and the memory port does not take it."""
    INTERVAL = 5
    """The multiplexer rests between two requests."""
    REQUEST = 6
    """A request was issued."""
