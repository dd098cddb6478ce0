"""The processes that this one has started, with all that they started."""

import os
import signal
from contextlib import suppress
from pathlib import Path

__all__ = ["end_descendants"]


def end_descendants() -> None:
    """Kill every process that descends from this one: compilers and tools, whoever started them.

    Where the system does not tell what there is (no ``/proc``), none.
    """
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # The name, in brackets, may hold anything.
            _, parent, *_ = entry.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(parent), []).append(int(entry.parent.name))
    found = list(children.get(os.getpid(), []))
    for process in found:
        found += children.get(process, [])
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
