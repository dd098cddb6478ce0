"""Descendants of this process."""

import os
import signal
from contextlib import suppress
from pathlib import Path


def end_descendants() -> None:
    """Kill all descendants of this process, such as compilers and tools.

    Without ``/proc``, kill none.
    """
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # The process name, in parentheses, may contain any characters.
            _, parent, *_ = entry.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(parent), []).append(int(entry.parent.name))
    found = list(children.get(os.getpid(), []))
    for process in found:
        found += children.get(process, [])
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
