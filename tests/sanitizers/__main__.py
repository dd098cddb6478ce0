"""`make sanitize`: tests of the compiled executor under GCC's sanitizers, and of what numba compiles with bounds.

Whichever part is named runs alone: ``python -m tests.sanitizers threads``. The status is 1 if anything was found, or
if a planted fault was not.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cyscc.hw.config import PRESETS
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.parts import build_library
from tests.sanitizers.planted import FAULTS
from tests.sanitizers.watching import LIBRARIES, TOLD
from tests.tables import plain_table

FOLDER = Path("build", "sanitized").absolute()

_COMPILER = """\
#!/bin/sh
# The compiler itself is not to be watched.
unset LD_PRELOAD
for option; do shift; [ "$option" = -O3 ] && option=-O1; set -- "$@" "$option"; done
exec g++ -g -fno-omit-frame-pointer {options} "$@"
"""
"""Optimised less: it takes a third of the time to build, and more than that to run."""


class MissingError(Exception):
    """A part cannot run here; says why."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part.

    Parameters
    ----------
    name : str
        What it is called.
    faults : tuple of str
        Faults of `tests.sanitizers.planted` that it must find.
    tests : tuple of str
        Arguments of pytest.
    options : tuple of str
        Options for the compiler; none if it watches no C++.
    preloaded : str
        GCC's library that must be there before everything else.
    prefix : str
        Of that library's functions.
    settings : mapping of str to str
        Environment.
    presets : tuple of str
        Machines to build.
    """

    name: str
    faults: tuple[str, ...]
    tests: tuple[str, ...]
    options: tuple[str, ...] = ()
    preloaded: str = ""
    prefix: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    presets: tuple[str, ...] = ()

    @property
    def reporters(self) -> tuple[str, ...]:
        """Variables of the environment that say where to report to."""
        return tuple(name for name in self.settings if name.endswith("SAN_OPTIONS"))

    @property
    def folder(self) -> Path:
        """Where everything of it is."""
        return FOLDER / (self.prefix or "bounds")

    def prepare(self) -> dict[str, str]:
        """Build its machines; return the environment to run in.

        Raises
        ------
        MissingError
            It cannot run here.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, **self.settings}
        if not self.preloaded:
            return environment
        both = f"{_found(self.preloaded)} {_found('libstdc++.so.6')}"
        own = {"CXX": str(self.folder / "compiler"), "CYSCC_CACHE": str(self.folder)}
        libraries = json.dumps(self._build(own))
        return environment | own | {"LD_PRELOAD": both, TOLD: self.prefix, LIBRARIES: libraries}

    def _build(self, own: Mapping[str, str]) -> dict[str, str]:
        """Build machines, with some variables of the environment, which tests build memories with."""
        compiler = Path(own["CXX"])
        compiler.write_text(_COMPILER.format(options=" ".join(self.options)))
        compiler.chmod(0o755)
        before = {name: os.environ.get(name) for name in own}
        os.environ.update(own)
        try:
            return {preset: str(build_library(PRESETS[preset], waves=False)) for preset in self.presets}
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def _found(library: str) -> str:
    """Return the path of a library of GCC's."""
    if shutil.which("g++") is None:
        raise MissingError("g++ is not there")
    command = ["g++", f"-print-file-name={library}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        raise MissingError(f"g++ has no {library}")
    return path


_COMPILED = "not amaranth and not both_executors and not other_executors"
"""What deselects the tests that make runs by Amaranth too: words of their own names, not of those of files."""

PARTS = (
    Part(
        name="addresses",
        faults=(
            "C++ writes behind the mailboxes",
            "the memory's code reads behind its sides",
            "C++ adds beyond 64 bits",
        ),
        tests=(
            "tests/sim/memory",
            "tests/sim/executors/test_executors.py",
            "tests/system/test_pinned.py",
            "tests/system/test_checkpoints.py",
            *("-k", f"{_COMPILED} and not threads"),
        ),
        options=("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
        preloaded="libasan.so",
        prefix="asan",
        # Python leaves much behind when it ends.
        settings={"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
        presets=("test", "hc2"),
    ),
    Part(
        name="threads",
        faults=("two threads run one machine", "two engines write one word of the memory"),
        tests=(
            "tests/sim/memory/test_rounds.py",
            *(
                "tests/sim/executors/test_executors.py",
                "tests/system/test_pinned.py",
                "tests/system/test_checkpoints.py",
            ),
            *("-k", _COMPILED),
        ),
        options=("-fsanitize=thread",),
        preloaded="libtsan.so",
        prefix="tsan",
        settings={"TSAN_OPTIONS": "halt_on_error=1"},
        presets=("test", "hc2"),
    ),
    Part(
        name="bounds",
        faults=("numba reads behind an array",),
        tests=("tests/host/graph", "tests/host/baselines"),
        settings={"NUMBA_BOUNDSCHECK": "1"},
    ),
)
"""In the order in which they run."""


_COUNTS = re.compile(r"\d+ (?:passed|skipped)")


class Row(NamedTuple):
    """A line of the result."""

    part: str
    what: str
    result: str
    seconds: str
    good: bool


def run_part(part: Part) -> Iterator[Row]:
    """Build what a part needs, check that it detects the planted faults, and then run the tests."""
    print(f"{part.name}: preparing", flush=True)
    began = time.monotonic()
    try:
        environment = part.prepare()
        fixed = _fixed_addresses(part)
    except MissingError as missing:
        yield Row(part.name, "all", f"skipped: {missing}", "", True)
        return
    except BuildError as error:
        yield Row(part.name, "building", f"failed: {error}", _since(began), False)
        return
    if part.presets:
        yield Row(part.name, "building", "done", _since(began), True)
    python = [*fixed, sys.executable, "-m"]
    for fault in part.faults:
        yield _plant(part, fault, python, environment)
    yield _test(part, python, environment)


def _fixed_addresses(part: Part) -> list[str]:
    """Return the command that disables address randomisation; TSan needs its shadow memory at fixed addresses.

    Raises
    ------
    MissingError
        It is needed, and this system has no such thing, or forbids it.
    """
    command = ["setarch", "-R"]
    if not part.preloaded:
        return []
    if shutil.which(command[0]) is None:
        raise MissingError("setarch is not there (Debian's package util-linux)")
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        raise MissingError("this system does not let addresses be fixed (setarch -R)")
    return command


def _plant(part: Part, fault: str, python: list[str], environment: Mapping[str, str]) -> Row:
    """Make a fault in a process of its own; it is found if that fails, and says why."""
    print(f"{part.name}: planted: {fault}", flush=True)
    began = time.monotonic()
    command = [*python, "tests.sanitizers.planted", fault, *(["watched"] if part.preloaded else [])]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = ended.returncode != 0 and FAULTS[fault].report in ended.stderr
    if not found:
        sys.stdout.write(ended.stderr)
    return Row(part.name, f"planted: {fault}", "found" if found else "NOT FOUND", _since(began), found)


def _test(part: Part, python: list[str], environment: Mapping[str, str]) -> Row:
    """Run a part's tests; print the findings, which pytest does not show if it is killed."""
    print(f"{part.name}: tests", flush=True)
    began = time.monotonic()
    for old in part.folder.glob("report*"):
        old.unlink()
    told = {name: f"{environment.get(name, '')}:log_path={part.folder / 'report'}" for name in part.reporters}
    command = [*python, "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long"]
    if part.preloaded:
        command += ["-p", "tests.sanitizers.watching"]
    last = ""
    own = {**environment, **told}
    with subprocess.Popen(
        [*command, *part.tests], env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pytest:
        assert pytest.stdout is not None
        for line in pytest.stdout:
            print(line, end="", flush=True)
            last = line if line.strip() else last
    status = pytest.returncode
    reports = sorted(part.folder.glob("report*"))
    for report in reports:
        sys.stdout.write(report.read_text())
    good = status == 0 and " passed" in last and not reports
    result = f"clean: {', '.join(_COUNTS.findall(last))}" if good else f"FOUND SOMETHING (status {status}, see above)"
    return Row(part.name, "tests", result, _since(began), good)


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s"


def main() -> int:
    """Run the parts that were named, or all; return the status."""
    parser = argparse.ArgumentParser(prog="python -m tests.sanitizers", description="Run tests under sanitizers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(part.name for part in PARTS)}")
    named = parser.parse_args().parts
    unknown = set(named) - {part.name for part in PARTS}
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    rows = [row for part in PARTS if not named or part.name in named for row in run_part(part)]
    print()
    print(plain_table([row[:4] for row in rows], head=("part", "what", "result", "time"), words=3), end="")
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
