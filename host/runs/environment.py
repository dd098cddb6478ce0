"""The computer and the moment of a run: processor, system, Python, date."""

import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from cyscc.sim.processors import kernel_text

_MOST = 256
"""Most characters of a name in a record."""


def processor_name() -> str:
    """Return the name of the processor, as reported by the system."""
    found = re.search(r"^model name\s*:(.*)$", kernel_text(Path("/proc/cpuinfo")), re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def run_environment() -> dict[str, str]:
    """Return the description of this moment and computer for the record of a run."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "processor": processor_name()[:_MOST],
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}"[:_MOST],
    }
