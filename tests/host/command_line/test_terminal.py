"""Progress on a terminal, and signals from it: the first is an interrupt, a later one ends the process."""

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.command_line.signals import Interrupts
from cyscc.host.output.progress import Progress, Step
from cyscc.sim.notices import notice
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor
from tests.waiting import is_gone, wait_until


class Terminal:
    """Replaces standard error by a terminal for the duration of a block."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._sent: list[bytes] = []

    def __enter__(self) -> "Terminal":
        self._master, slave = pty.openpty()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._file = os.fdopen(slave, "w")
        # Here rather than in a fixture, after which pytest would put its own in place again.
        self._monkeypatch.setattr(sys, "stderr", self._file)
        self._monkeypatch.setenv("TERM", "xterm")
        self._monkeypatch.setenv("COLUMNS", "160")
        return self

    def __exit__(self, *_: object) -> None:
        self._monkeypatch.undo()
        self._file.close()
        self._reader.join()
        os.close(self._master)

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 1 << 16):
                self._sent.append(data)
        except OSError:  # how a terminal ends that nobody has open
            pass

    @property
    def text(self) -> str:
        """The bytes sent to it."""
        return b"".join(self._sent).decode()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield Terminal(monkeypatch)


class Slow(FakeCoprocessor):
    """Reports a cycle while an instruction runs."""

    on_progress: Callable[[int], None]

    def wait(self) -> int:
        self.on_progress(self.cycle + 50)
        return super().wait()


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (
            "scc g.txt",
            ["reading", "100%", "building the executor", "compiling", "transposing", "simulating", "verifying"],
        ),
        ("bfs g.txt --source 14", ["reading", "building the executor", "placing", "simulating", "verifying"]),
        ("software hong g.txt", ["reading", "transposing", "hong: compiling and running", "verifying"]),
        ("generate random --vertices 8 --degree 2 -o r.gr", ["generating", "writing"]),
        ("scc g.txt --quiet", []),
    ],
)
def test_every_step_is_shown_and_nothing_stays(
    command: str, shown: list[str], terminal: Terminal, workshop: Workshop
) -> None:
    with terminal:
        assert main(command.split()) == 0
    text = terminal.text
    places = [text.find(part) for part in shown]
    assert -1 not in places
    assert places == sorted(places)
    assert text.endswith("\x1b[2K") == bool(shown)
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h")  # the cursor, hidden and shown


def test_nobody_but_a_terminal_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    for command in ("scc g.txt", "bfs g.txt --source 14", "software tarjan g.txt"):
        assert main(command.split()) == 0
        assert capfd.readouterr().err == ""


def test_simulation_moves_within_an_instruction(
    terminal: Terminal, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cyscc.host.output.progress._INTERVAL", 0)

    def make() -> FakeCoprocessor:
        machine = Slow()
        machine.on_progress = workshop.asked["on_progress"]
        return machine

    workshop.make = make
    with terminal:
        assert main(["scc", "g.txt"]) == 0
    lines = re.findall(r"iteration \d[^%]*?of 8 vertices", terminal.text)
    assert re.match(r"iteration 0, cycle 50, [\d,]+ cycles/s, 0 of 8 vertices", lines[1])
    assert any(re.match(r"iteration 1, cycle [\d,]+, [\d,]+ cycles/s, 3 of 8 vertices", line) for line in lines)


def test_interrupt_shows_the_cursor_again(terminal: Terminal, workshop: Workshop) -> None:
    class Interrupted(FakeCoprocessor):
        def wait(self) -> int:
            raise KeyboardInterrupt

    workshop.make = Interrupted
    with terminal:
        assert main(["scc", "g.txt"]) == 130
    text = terminal.text
    assert text.endswith("cyscc scc: interrupted; nothing is kept of the run (--checkpoint DIR would keep it)\r\n")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h")


def test_step_is_drawn_a_few_times_a_second_and_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    drawn = []
    monkeypatch.setattr("time.monotonic", lambda: now)
    step = Step(lambda *told: drawn.append(told))
    for number in range(100):
        now = number / 100
        step(number, 99, "x")
    assert 9 <= len(drawn) <= 11
    assert drawn[-1] == (99, 99, "x")


def test_notices_stay_above_the_bar(terminal: Terminal) -> None:
    with terminal, Progress(quiet=False).step("measuring") as step:
        notice("1 of 3: [x]")
        step(1, 3)
    assert "cyscc: 1 of 3: [x]\r\n" in terminal.text


def test_hidden_step_is_never_due(capfd: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=False).step("measuring") as step:
        assert not step.due
        step(1, 3)
    assert capfd.readouterr() == ("", "")


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
