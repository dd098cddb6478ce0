"""Causes: why a kernel did or did not issue a request in a cycle. Exactly one for every kernel and cycle."""

from enum import IntEnum

__all__ = ["ISSUING", "Cause"]


class Cause(IntEnum):
    """Where a kernel's cycle went; of several that apply the last one in this list."""

    IDLE = 0
    """No run is under way in the kernel: its start, other kernels, the ring or the host are awaited."""
    RESPONSE = 1
    """Responses are awaited."""
    FLUSH = 2
    """The flush is awaited."""
    CREDIT = 3
    """A process has something to read, and no free place for the answer."""
    SLOT = 4
    """Only vertices that wait for the token can go on."""
    REFUSED = 5
    """A request is ready, and the memory port does not take it."""
    RESTING = 6
    """The multiplexer rests between two requests."""
    ISSUE_1 = 7
    """A read of process 1 was issued."""
    ISSUE_2 = 8
    """A read of process 2 was issued."""
    ISSUE_3 = 9
    """A read of process 3 was issued."""
    WRITE = 10
    """A write was issued."""


ISSUING = (Cause.ISSUE_1, Cause.ISSUE_2, Cause.ISSUE_3, Cause.WRITE)
"""Those of the cycles in which a request was issued."""
