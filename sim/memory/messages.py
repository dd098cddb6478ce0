"""What is said of an error."""

from sim.memory.records import BASE_ADDRESS, ErrorCode

__all__ = ["message"]

_KINDS = ("read", "write", "flush")
_CAUSES = {
    ErrorCode.OUTSIDE: "outside the allocated range {base} to {top}",
    ErrorCode.MISALIGNED: "not aligned to its size",
    ErrorCode.NOT_READY: "the port was not ready for a {kind}",
    ErrorCode.MALFORMED: "not a mask of {ports} ports",
    ErrorCode.LOG_FULL: "more requests waiting to be settled than {value}; settle every {quantum} cycles",
    ErrorCode.RING_FULL: "more than {value} of kind {kind} waiting on the port",
    ErrorCode.OVERBOOKED: "its way is reserved further ahead than the profile has room for",
    ErrorCode.LATE: "due in cycle {value} but shown later; settle every {quantum} cycles and leave out no event",
}


def message(error: tuple[int, int, int, int, int, int], *, top: int, quantum: int, ports: int) -> str:
    """Return one line about an error.

    Parameters
    ----------
    error : tuple of int
        The fields of `sim.memory.records.Error`.
    top : int
        End of the last allocation.
    quantum : int
        Most cycles that AEs may run before they meet.
    ports : int
        Ports of an AE.
    """
    code, kind, value, ae, port, cycle = error
    place = f"engine {ae} port {port} cycle {cycle}"
    name = _KINDS[kind & 3]
    limits = {"base": BASE_ADDRESS, "top": top, "quantum": quantum, "ports": ports}
    cause = _CAUSES[ErrorCode(code)].format(kind=name, value=value, **limits)
    if code in (ErrorCode.OUTSIDE, ErrorCode.MISALIGNED):
        size = 8 if kind & 4 else 4
        return f"memory: {name} of {size} bytes at address {value:#x} ({place}): {cause}"
    if code == ErrorCode.MALFORMED:
        return f"memory: mask {value & 2**64 - 1:#x} of {name} requests (engine {ae} cycle {cycle}): {cause}"
    return f"memory: {name} ({place}): {cause}"
