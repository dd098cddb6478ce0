"""Requests on several processes: memory, failures, ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.plan.pool import EndedError, perform_here
from cyscc.host.output.errors import InputError
from cyscc.sim.errors import HangError
from tests.conftest import ROOT
from tests.host.experiments.plan.requests import Nap, nap, sleep_below
from tests.waiting import is_gone, wait_until


@pytest.fixture(autouse=True)
def _own_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests see only processes that they have started: fixtures of the session may have some, too."""
    others, every = set(multiprocessing.active_children()), multiprocessing.active_children
    monkeypatch.setattr(multiprocessing, "active_children", lambda: [each for each in every() if each not in others])


def run(requests: list[Nap], *, jobs: int, memory: int = 1 << 40) -> dict[str, Any]:
    """Perform naps; return when each began and ended, and in which process, in the order of their outcomes."""
    slept: dict[str, Any] = {}
    try:
        perform_here(
            requests, nap, lambda request, outcome: slept.update({request.label: outcome}), jobs=jobs, memory=memory
        )
    finally:
        assert multiprocessing.active_children() == []
    return slept


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_process_goes_on(jobs: int) -> None:
    naps = [Nap(label=f"{size}{each}", bytes=size) for size in (3, 2) for each in range(size)]
    slept = run(naps, jobs=jobs, memory=0)
    assert list(slept) == ["30", "31", "32", "20", "21"]
    processes = {process for _, _, process in slept.values()}
    assert len(processes) == 1
    assert (processes == {os.getpid()}) == (jobs == 1)


def test_only_what_fits_in_memory_runs_side_by_side(capfd: pytest.CaptureFixture[str]) -> None:
    naps = [
        Nap(label="a", bytes=60, seconds=1, says="what all say"),
        Nap(label="b", bytes=50),
        Nap(label="c", bytes=40, says="what all say"),
    ]
    slept = run(naps, jobs=3, memory=100)
    a, b, c = slept["a"], slept["b"], slept["c"]
    assert list(slept) == ["c", "a", "b"], "the smallest ran beside the largest, the other one after it"
    assert c[1] < a[1] <= b[0]
    assert capfd.readouterr().err == "cyscc: what all say\n"


def test_alone_each_has_a_process_of_its_own_and_nothing_beside() -> None:
    naps = [Nap(label="a", alone=True), Nap(label="b", alone=True), Nap(label="c")]
    slept = run(naps, jobs=2)
    assert list(slept) == ["a", "b", "c"]
    assert slept["b"][1] <= slept["c"][0]
    assert len({os.getpid(), slept["a"][2], slept["b"][2]}) == 3
    assert slept["a"][1] <= slept["b"][0]


@pytest.mark.parametrize(
    ("end", "kind", "message"),
    [
        ("hang", HangError, "nothing moved"),
        ("bug", ZeroDivisionError, "division by zero"),
    ],
)
def test_a_failure_in_a_process_is_told_and_ends_the_others(
    end: str, kind: type[Exception], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    says = "what it said before"
    naps = [Nap(label="good", bytes=60), Nap(label="bad", bytes=50, end=end, says=says), Nap(label="long", seconds=60)]
    slept: list[str] = []
    with pytest.raises(kind) as caught:
        perform_here(naps, nap, lambda request, _: slept.append(request.label), jobs=2, memory=100)
    assert str(caught.value) == message
    assert type(caught.value) is kind
    assert getattr(caught.value, "diagnosis", "") == ("kernel 0 waits" if end == "hang" else "")
    assert slept in ([], ["good"])
    assert multiprocessing.active_children() == []
    assert capfd.readouterr().err == f"cyscc: {says}\n"


def test_a_process_that_ends_is_made_anew() -> None:
    naps = [Nap(label="bad", end="kill"), Nap(label="beside", seconds=0.2), Nap(label="after"), Nap(label="later")]
    slept = run(naps, jobs=2)
    assert isinstance(slept["bad"], EndedError)
    assert str(slept["bad"]) == "the process that measured it was killed by signal 9"
    assert set(slept) == {"bad", "after", "beside", "later"}


def test_a_time_limit_kills_what_runs() -> None:
    slept: list[str] = []
    naps = [Nap(label="short"), Nap(label="short"), Nap(label="long", seconds=60), Nap(label="never")]

    def take(request: Nap, _: object) -> None:
        slept.append(request.label)
        time.sleep(0.5)  # so that there is always an outcome to take

    perform_here(naps, nap, take, jobs=3, until=time.monotonic() + 0.1)
    assert set(slept) == {"short"}
    assert multiprocessing.active_children() == []


def test_an_error_of_whoever_takes_the_results_ends_the_processes() -> None:
    def refuse(request: Nap, _: object) -> None:
        raise KeyboardInterrupt(request.label)

    with pytest.raises(KeyboardInterrupt, match=r"^a$"):
        perform_here([Nap(label="a"), Nap(seconds=60)], nap, refuse, jobs=2)
    assert multiprocessing.active_children() == []


def interrupt_at_birth(monkeypatch: pytest.MonkeyPatch, number: signal.Signals, *, child: bool) -> None:
    start = SpawnProcess.start

    def started(process: SpawnProcess) -> None:
        start(process)
        os.kill(process.pid if child and process.pid else os.getpid(), number)

    monkeypatch.setattr(SpawnProcess, "start", started)


def test_an_interrupt_while_a_process_is_born_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    number = signal.SIGTERM
    interrupt_at_birth(monkeypatch, number, child=False)
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run([Nap(seconds=60, alone=True)], jobs=1)
        assert signal.getsignal(number) is signal.default_int_handler
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
    finally:
        signal.signal(number, before)


def test_an_interrupt_at_the_terminal_does_not_reach_a_process_being_born(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at_birth(monkeypatch, signal.SIGINT, child=True)
    assert list(run([Nap(label="a", alone=True)], jobs=1)) == ["a"]


def test_what_a_process_started_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "process"

    def interrupt() -> None:
        wait_until(lambda: file.exists() and file.read_text())
        # This thread hears it, and not the one that waits for the process.
        signal.raise_signal(signal.SIGTERM)
        wait_until(lambda: is_gone(int(file.read_text())), seconds=30)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    interrupted = ThreadPoolExecutor(1).submit(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            perform_here([Nap(label=str(file), alone=True)], sleep_below, lambda *_: None)
    finally:
        signal.signal(signal.SIGTERM, before)
    interrupted.result()


def test_a_process_has_a_session_of_its_own_and_ends_with_its_parent(tmp_path: Path) -> None:
    file = tmp_path / "process"
    code = (
        "from cyscc.host.experiments.plan.pool import perform_here; "
        "from tests.host.experiments.plan.requests import Nap, sleep_below; "
        f"perform_here([Nap(label={str(file)!r}, alone=True)], sleep_below, print)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as parent:
        wait_until(lambda: file.exists() and file.read_text(), parent)
        # A process that the worker has started is of its session, and has its signals.
        below = int(file.read_text())
        session, status = os.getsid(below), Path(f"/proc/{below}/status").read_text()
        blocked, ignored = (int(status.split(f"{name}:")[1].split()[0], 16) for name in ("SigBlk", "SigIgn"))
        parent.kill()
    wait_until(lambda: is_gone(session) and is_gone(below))
    assert session not in (os.getsid(0), parent.pid)
    assert blocked == 0
    assert ignored & 1 << (signal.SIGINT - 1)
    assert not ignored & (1 << (signal.SIGTERM - 1) | 1 << (signal.SIGHUP - 1))


def test_a_python_that_may_not_be_executed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.touch(mode=0o644)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(InputError, match="python: this user may not execute it"):
        perform_here([Nap(label="one", alone=True)], nap, lambda *_: None)
