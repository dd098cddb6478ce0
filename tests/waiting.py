"""Waiting for what other processes do, with a limit."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_until(
    condition: Callable[[], object], process: "subprocess.Popen[Any] | None" = None, *, seconds: float = 120
) -> None:
    """Wait until a condition holds; fail if it takes too long, or if the process that is to bring it about ends."""
    limit = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < limit, f"not so after {seconds} s"
        time.sleep(0.005)


def is_gone(process: int) -> bool:
    """Whether a process has ended, even if its parent has not yet read its status."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
