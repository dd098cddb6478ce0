"""A sweep on a Dask cluster of two workers on this machine, of which one is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from tests.conftest import ROOT
from tests.host.command_line.test_sweep import MANY, times
from tests.host.experiments.sweep.studies import SMALL
from tests.waiting import wait_until

pytest.importorskip("distributed")

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
SLOWEST = 60


pytestmark = pytest.mark.usefixtures("folder")


@contextmanager
def running(*command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a part of a cluster until the end of the block."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-m", *command], env=environment, **QUIET)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def scheduler() -> Iterator[str]:
    """Run a scheduler; give its address."""
    file = Path("scheduler.json")
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with running("distributed.cli.dask_scheduler", *options):
        wait_until(lambda: file.exists() and file.stat().st_size)
        yield json.loads(file.read_text())["address"]


def worker(address: str, name: str) -> AbstractContextManager["subprocess.Popen[bytes]"]:
    """Run a worker, without another process that would start it again."""
    options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--name", name, "--local-directory", name]
    return running("distributed.cli.dask_worker", address, *options)


def kill_one_of_two(address: str, *sweep: str) -> dict[str, int]:
    """Make a sweep with two workers, of which one is killed; return the points that were complete then."""
    with worker(address, "one") as one, worker(address, "two"), running(*sweep, "--scheduler", address) as run:
        wait_until(lambda: len(times()) >= 3, run)
        one.send_signal(signal.SIGKILL)
        before = times()
        assert run.wait(SLOWEST) == 0
    return before


def test_a_worker_that_is_killed_loses_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("many.toml").write_text(MANY)
    sweep = ["sweep", "many.toml", "-o", "out", "--json", "json", "--quiet"]
    with scheduler() as address:
        with monkeypatch.context() as patch:
            patch.setattr("cyscc.host.experiments.plan.pool._WORKERS", 0.2)
            assert main([*sweep, "--scheduler", address]) == 2
        assert capfd.readouterr() == ("", f"cyscc sweep: --scheduler: {address}: the scheduler has no workers\n")
        before = kill_one_of_two(address, "cyscc.host.command_line.main", *sweep)
    document = json.loads(Path("json").read_text())
    after = times()
    assert {each["status"] for each in document["points"]} == {"done"}
    assert sorted(after) == sorted(each["point"] for each in document["points"])
    assert len(after) == 12
    assert {name: after[name] for name in before} == before
    # The same as without a cluster, which finds them.
    assert main(["sweep", "many.toml", "-o", "out", "--jobs", "1", "--json", "again", "--quiet"]) == 0
    again = json.loads(Path("again").read_text())
    told = [each.pop("said")[0].partition("\n")[0] for each in (document, again)]
    assert told == ["12 points: 12 made, 0 from before", "12 points: 0 made, 12 from before"]
    assert again == document
    assert times() == after


def test_no_scheduler_is_one_line(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.experiments.plan.pool._CONNECTING", 1)
    Path("small.toml").write_text(SMALL)
    for address in ("tcp://127.0.0.1:9", "nowhere://x"):
        assert main(["sweep", "small.toml", "-o", "out", "--scheduler", address]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith(f"cyscc sweep: --scheduler: {address}: no scheduler answers: ")
        assert err.count("\n") == 1
