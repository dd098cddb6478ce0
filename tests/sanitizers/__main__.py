"""`make sanitize`: tests of the compiled executor under GCC's sanitizers, and of what numba compiles with bounds.

Whichever part is named runs alone: ``python -m tests.sanitizers threads``. The status is 1 if anything was found, or
if a planted fault was not.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cyscc.sim.errors import BuildError
from tests.sanitizers.parts import PARTS, MissingError, Part
from tests.sanitizers.planted import FAULTS
from tests.tables import plain_table

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
        command += ["-p", "tests.sanitizers.instrumented"]
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
