"""Changes of Python sources, one at a time in a copy of the tree, and the tests that are to find them."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from cyscc.sim.caching.folder import cache_directory
from tests.conftest import ROOT
from tests.mutants.changes import Change, list_changes
from tests.mutants.covering import FOLDER, Covering

_COPIED = ("hw", "sim", "host", "cyscc", "tests", "docs", "pyproject.toml", "Makefile", "README.md")
_TEXTS = ("tests/test_layout.py", "tests/test_supply.py", "tests/system/test_outside.py")
"""Tests that compare texts: what only they find is not found."""

_BUDGET = 100.0
"""Seconds of the processor that the tests of a change take together; the quickest are chosen."""

_SLOWER = 10
"""A change counts as detected if the tests take this many times as long."""


@dataclass(frozen=True)
class Trial:
    """Outcome of a change.

    Parameters
    ----------
    change : str
        Its name.
    fate : {"found", "endless", "missed", "not run"}
        Whether a test failed, took too long, none did, or none runs the line.
    by : str
        The test that failed.
    tests : int
        How many were chosen.
    """

    change: str
    fate: str
    by: str = ""
    tests: int = 0


def cover(folder: Path, tests: Sequence[str]) -> None:
    """Find out what some tests run, unless it is known; it takes as long as they do, and somewhat more."""
    due = [test for test in tests if not (folder / f"covered-{test.replace('/', '-')}").exists()]
    for test in due:
        _pytest(folder, ROOT, ["-p", "tests.mutants.covering", "-m", "not long", test], seconds=None)
        (folder / f"covered-{test.replace('/', '-')}").touch()


def pick(paths: Sequence[str], *, seed: int, count: int) -> list[Change]:
    """Return changes of some files and folders, at random."""
    changes = list_changes(ROOT, paths)
    return random.Random(seed).sample(changes, min(count, len(changes)))


def try_changes(
    changes: Sequence[Change], folder: Path, results: Path, step: Callable[[int, int, str], None]
) -> list[Trial]:
    """Try changes, but for those that have been; return what became of all.

    Parameters
    ----------
    changes : sequence of Change
        The changes.
    folder : Path
        Where `cover` has been, and the copy of the tree is to be.
    results : Path
        The file with what became of each, a line each.
    step : callable
        Told of each change: how many are done, of how many, which.
    """
    known = {trial.change: trial for trial in _read(results)}
    covering = Covering(folder / "covering", ROOT)
    tree = _copy(folder / "tree")
    for done, change in enumerate(changes, start=1):
        if change.name not in known:
            trial = known[change.name] = _try(change, tree, folder, covering)
            with results.open("a") as file:
                file.write(json.dumps(asdict(trial)) + "\n")
        step(done, len(changes), f"{known[change.name].fate}: {change.name}")
    return [known[change.name] for change in changes]


def summary(trials: Iterable[Trial]) -> str:
    """Return how many were found, and those that were not."""
    trials = list(trials)
    missed = [trial for trial in trials if trial.fate in ("missed", "not run")]
    lines = [f"{trial.fate} ({trial.tests} tests): {trial.change}" for trial in missed]
    return "\n".join([*lines, f"{len(trials) - len(missed)} of {len(trials)} found"])


def _try(change: Change, tree: Path, folder: Path, covering: Covering) -> Trial:
    last = change.line + change.old.count("\n")
    tests: list[str] = []
    seconds = 0.0
    for test in covering.tests(change.file, range(change.line, last + 1)):
        seconds += covering.seconds[test]
        if seconds > _BUDGET and tests:
            break
        if not test.startswith(_TEXTS):
            tests.append(test)
    if not tests:
        return Trial(change.name, "not run")
    source = (tree / change.file).read_bytes()
    (tree / change.file).write_bytes(change.applied(source))
    try:
        limit = 60 + _SLOWER * seconds
        status, out = _pytest(folder, tree, ["-x", *tests], seconds=limit)
        if status == pytest.ExitCode.USAGE_ERROR:
            # A test of this name is not there any more: its name tells a value that has changed.
            files = dict.fromkeys(test.partition("::")[0] for test in tests)
            status, out = _pytest(folder, tree, ["-x", "-m", "not long", *files], seconds=limit)
    finally:
        (tree / change.file).write_bytes(source)
    if status == 0:
        return Trial(change.name, "missed", tests=len(tests))
    by = next((line for line in out.splitlines() if line.startswith(("FAILED", "ERROR"))), out[-200:])
    return Trial(change.name, "found" if status is not None else "endless", by[:300], len(tests))


def _pytest(folder: Path, tree: Path, arguments: Sequence[str], *, seconds: float | None) -> tuple[int | None, str]:
    """Run tests in a tree; return the status, None if it takes too long, and the output."""
    cache = folder / "cache"
    if not cache.exists() and cache_directory().exists():
        shutil.copytree(cache_directory(), cache)
    environment = {**os.environ, "PYTHONPATH": str(tree), "CYSCC_CACHE": str(cache), FOLDER: str(folder / "covering")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", *arguments]
    with subprocess.Popen(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
            return process.returncode, out.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def _copy(tree: Path) -> Path:
    """Copy the present tree."""
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, tree / name)
    return tree


def _read(path: Path) -> list[Trial]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [Trial(**json.loads(line)) for line in lines if line.endswith("}")]
