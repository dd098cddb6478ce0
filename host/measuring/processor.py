"""The processor at hand, against which speed-ups are stated, and the memory taken."""

import os
import platform
import resource
from pathlib import Path

__all__ = ["cores", "peak_memory", "processor_name"]


def processor_name() -> str:
    """Return the name of the processor as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def peak_memory() -> int:
    """Return the largest resident size, in bytes, that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
