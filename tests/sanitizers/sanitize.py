"""`make sanitize`: tests of the compiled executor under GCC's sanitizers, and of what numba compiles with bounds.

Each part first has to find the faults of `tests.sanitizers.watched`, then runs its tests; both fail if the other
tests do. They take long and so are no `test_*.py`: ``python -m pytest tests/sanitizers/sanitize.py -k threads``.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.executors.compiled.parts import build_library
from tests.conftest import ROOT
from tests.sanitizers.watched import FAULTS, LIBRARIES, TOLD

FOLDER = ROOT / "build" / "sanitized"

_COMPILER = """\
#!/bin/sh
# The compiler itself is not to be watched.
unset LD_PRELOAD
for option; do shift; [ "$option" = -O3 ] && option=-O1; set -- "$@" "$option"; done
exec g++ -g -fno-omit-frame-pointer {options} "$@"
"""
"""Optimised less: it takes a third of the time to build, and more than that to run."""

_COMPILED = "not amaranth and not both_executors and not other_executors"
"""What deselects the tests that make runs by Amaranth too: words of their own names, not of those of files."""

_RUNS = ("tests/sim/executors/test_executors.py", "tests/system/test_pinned.py", "tests/system/test_checkpoints.py")

_SHARED = ("tests/sim/memory/test_rounds.py", "tests/sim/memory/test_recording.py")
"""Tests whose memories are served by several threads."""

pytestmark = pytest.mark.long


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part.

    Parameters
    ----------
    tests : tuple of str
        Arguments of pytest.
    options : str
        Options for the compiler; none if it watches no C++.
    prefix : str
        Of the sanitizer's functions.
    settings : mapping of str to str
        Environment.
    """

    tests: tuple[str, ...]
    options: str = ""
    prefix: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


PARTS = {
    "addresses": Part(
        tests=("tests/sim/memory", *_RUNS, "-k", f"{_COMPILED} and not threads"),
        options="-fsanitize=address,undefined -fno-sanitize-recover=all",
        prefix="asan",
        # Python leaves much behind when it ends.
        settings={"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
    ),
    "threads": Part(
        # All machines have several threads here, whatever a test asks for.
        tests=(*_SHARED, *_RUNS, "-k", f"{_COMPILED} and not asked_for"),
        options="-fsanitize=thread",
        prefix="tsan",
        settings={"TSAN_OPTIONS": "halt_on_error=1"},
    ),
    "bounds": Part(tests=("tests/host/graph", "tests/host/baselines"), settings={"NUMBA_BOUNDSCHECK": "1"}),
}


@cache
def prepared(name: str) -> tuple[list[str], dict[str, str]]:
    """Build a part's machines; return the command that starts a Python under its sanitizer, and the environment."""
    part = PARTS[name]
    environment = {**os.environ, **part.settings}
    if not part.options:
        return [sys.executable], environment
    preloaded = f"{_found(f'lib{part.prefix}.so')} {_found('libstdc++.so.6')}"
    # TSan needs its shadow memory at fixed addresses.
    fixed = ["setarch", "-R"]
    if shutil.which(fixed[0]) is None:
        pytest.skip("setarch is not there (Debian's package util-linux)")
    if subprocess.run([*fixed, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system does not let addresses be fixed (setarch -R)")
    folder = FOLDER / part.prefix
    folder.mkdir(parents=True, exist_ok=True)
    compiler = folder / "compiler"
    compiler.write_text(_COMPILER.format(options=part.options))
    compiler.chmod(0o755)
    own = {"CXX": str(compiler), "CYSCC_CACHE": str(folder)}
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in own.items():
            patch.setenv(variable, value)
        libraries = {preset: str(build_library(PRESETS[preset], waves=False)) for preset in ("test", "hc2")}
    told = {"LD_PRELOAD": preloaded, TOLD: part.prefix, LIBRARIES: json.dumps(libraries)}
    return [*fixed, sys.executable], environment | own | told


def _found(library: str) -> str:
    """Return the path of a library of GCC's."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not there")
    command = ["g++", f"-print-file-name={library}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        pytest.skip(f"g++ has no {library}")
    return path


@pytest.mark.parametrize("fault", FAULTS)
def test_planted(fault: str) -> None:
    """A fault is made in a process of its own, which must fail and say why."""
    python, environment = prepared(FAULTS[fault].part)
    command = [*python, "-m", "tests.sanitizers.watched", fault]
    ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert FAULTS[fault].report in ended.stderr, ended.stderr


def _reports(part: Part) -> Iterator[Path]:
    return (FOLDER / part.prefix).glob("report*")


@pytest.mark.parametrize("name", PARTS)
def test_nothing_is_found(name: str) -> None:
    """The tests of a part pass, and some of them ran; reports are in files, since a test that is ended shows none."""
    python, environment = prepared(name)
    part = PARTS[name]
    command = [*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long"]
    if part.options:
        command += ["-p", "tests.sanitizers.watched"]
    for old in _reports(part):
        old.unlink()
    report = FOLDER / part.prefix / "report"
    told = {option: f"{value}:log_path={report}" for option, value in part.settings.items() if "SAN_" in option}
    ended = subprocess.run(
        [*command, *part.tests],
        env=environment | told,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(ended.stdout)
    assert [each.read_text() for each in _reports(part)] == []
    assert ended.returncode == 0
    assert " passed" in ended.stdout.splitlines()[-1]
