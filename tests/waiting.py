"""Other processes: a command in one, and waiting for what they do, with a limit."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def started(*arguments: str, **given: Any) -> "subprocess.Popen[Any]":
    """Begin a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "cyscc.host.command_line.main", *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        # Whoever runs the tests in the background may have interrupts ignored, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **given,
    )


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
