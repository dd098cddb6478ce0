"""The first signal is an interrupt, further ones at once are the same, a later one ends the process there and then."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cyscc.host.command_line.signals import Interrupts
from tests.waiting import is_gone, wait_until

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_interrupt_for_several_signals(number: signal.Signals) -> None:
    # Whoever runs the tests in the background may have interrupts ignored.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with Interrupts() as interrupts:
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
            assert interrupts.seen
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
        assert not interrupts.seen
    finally:
        signal.signal(signal.SIGHUP, before)


LOST = """
class Thing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
try:
    thing = Thing()
    del thing
    for _ in range(1000):
        time.sleep(0.01)
    print("lost")
except KeyboardInterrupt:
    print("heard")
"""

LATER = """
child = subprocess.Popen(["sleep", "60"])
print(child.pid)
try:
    os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    time.sleep(0.7)
    subprocess.Popen(["kill", "-TERM", str(os.getpid())])
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # compiled code, which no handler interrupts
"""


@pytest.mark.parametrize(("code", "status", "out"), [(LOST, 0, "heard\n"), (LATER, 130, None)])
def test_interrupt_of(code: str, status: int, out: str | None) -> None:
    start = "import hashlib, os, signal, subprocess, sys, time\nfrom cyscc.host.command_line.signals import *\n"
    program = start + "sys.stdout.reconfigure(line_buffering=True)\nwith Interrupts():\n" + code.replace("\n", "\n    ")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert done.returncode == status, done.stderr
    if out is not None:
        assert (done.stdout, done.stderr) == (out, "")
    else:
        assert done.stderr == "cyscc: ended at once\n"
        wait_until(lambda: is_gone(int(done.stdout)))
