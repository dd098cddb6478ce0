"""Tasks for the scheduler, in a module of their own: worker processes import it."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

from host.errors import InputError
from sim.errors import HangError

__all__ = ["Nap", "nap"]


@dataclass(frozen=True, kw_only=True)
class Nap:
    """A task that sleeps.

    Parameters
    ----------
    label : str
        Its name.
    bytes : int
        The memory that it says to take.
    seconds : float
        How long it sleeps before each result.
    results : int
        Results that it has.
    end : {"", "input", "hang", "memory", "bug", "kill"}
        How it fails after its results.
    """

    label: str
    bytes: int = 0
    seconds: float = 0.0
    results: int = 1
    end: str = ""


def nap(task: Nap) -> Iterator[tuple[float, float, int]]:
    """Sleep, and yield when each sleep began and ended and in which process it was."""
    for _ in range(task.results):
        begin = time.monotonic()
        time.sleep(task.seconds)
        yield begin, time.monotonic(), os.getpid()
    match task.end:
        case "input":
            raise InputError("no such graph", path="g.txt", line=3)
        case "hang":
            raise HangError("nothing moved", "kernel 0 waits")
        case "memory":
            raise MemoryError
        case "bug":
            raise ZeroDivisionError("division by zero")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
