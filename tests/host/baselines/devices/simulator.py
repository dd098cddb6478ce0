"""Checks on numba's simulator of a graphics processor, which is chosen before anything is imported."""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache

from tests.conftest import ROOT

_SERVER = """
import importlib, json, sys, traceback
for line in sys.stdin:
    module, name = line.split()
    error = ""
    try:
        getattr(importlib.import_module(module), name)()
    except BaseException:
        error = traceback.format_exc()
    print(json.dumps(error), flush=True)
"""


@cache
def _simulator() -> subprocess.Popen[str]:
    """Start the process in which ``cuda`` is the simulator; it serves all checks, as importing takes longest."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", _SERVER],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    # It ends when its input does.
    atexit.register(process.communicate)
    return process


def simulate(check: Callable[[], None]) -> None:
    """Call a function of a test's module in a process in which ``cuda`` is the simulator."""
    process = _simulator()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{check.__module__} {check.__name__}\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    assert answer, "the simulator ended"
    error = json.loads(answer)
    assert not error, error
