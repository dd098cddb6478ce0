"""Checks on numba's simulator of a graphics processor, which is chosen before anything is imported."""

import os
import subprocess
import sys
from collections.abc import Callable

from tests.conftest import ROOT

__all__ = ["simulate"]


def simulate(check: Callable[[], None]) -> None:
    """Call a function of a test's module in a process of its own, in which ``cuda`` is the simulator."""
    code = f"from {check.__module__} import {check.__name__}; {check.__name__}()"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
