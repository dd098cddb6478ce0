"""`make sanitize`: tests of the compiled executor under GCC's sanitizers, and of what numba compiles with bounds."""

import os
import subprocess
import sys
from pathlib import Path

from hw.config import PRESETS
from sim.executors.compiled.build import build_library

FOLDER = Path("build") / "sanitized"

EXECUTOR_TESTS = (
    "tests/sim/executors/test_executors.py",
    "-k",
    "test_both_executors or threads or independent",
)
"""On the presets `test` and `hc2`, which are built beforehand."""

NUMBA_TESTS = ("tests/host/graph", "tests/host/algorithms", "tests/sim/memory")

RUNS: dict[str, tuple[tuple[str, ...], str, dict[str, str]]] = {
    "addresses and undefined behaviour": (
        ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
        "libasan.so",
        # Python leaves much behind when it ends.
        {"ASAN_OPTIONS": "detect_leaks=0"},
    ),
    "threads": (("-fsanitize=thread",), "libtsan.so", {"TSAN_OPTIONS": "halt_on_error=1"}),
}
"""Options for the compiler, the library that must be there first, and its settings."""


def found(library: str) -> str:
    """Return the path of a library of GCC's."""
    return subprocess.run(
        ["g++", f"-print-file-name={library}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def pytest(*arguments: str, environment: dict[str, str]) -> None:
    """Run tests, at addresses that are not random, since TSan looks for its own at certain places."""
    command = ["setarch", "-R", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long"]
    ended = subprocess.run([*command, *arguments], env={**os.environ, **environment}, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)


def sanitized(options: tuple[str, ...], library: str, settings: dict[str, str]) -> None:
    """Run the executor's tests on machines that are compiled to watch themselves."""
    compiler = " ".join(("g++", "-g", "-fno-omit-frame-pointer", *options))
    os.environ |= {"CYSCC_CACHE": str(FOLDER.absolute()), "CXX": compiler}
    # Beforehand, so that the tools that build them are not watched too.
    for preset in ("test", "hc2"):
        build_library(PRESETS[preset], waves=False)
    preload = f"{found(library)} {found('libstdc++.so.6')}"
    pytest(*EXECUTOR_TESTS, environment={"LD_PRELOAD": preload, **settings})


def bounded() -> None:
    """Run tests of what numba compiles: arrays with bounds, and those of the memory with forbidden pages behind."""
    environment = {"NUMBA_BOUNDSCHECK": "1", "CYSCC_CACHE": str((FOLDER / "bounded").absolute())}
    pytest("-p", "tests.sanitizers.guards", *NUMBA_TESTS, environment=environment)


if __name__ == "__main__":
    for name, run in RUNS.items():
        print(f"sanitizer: {name}", flush=True)
        sanitized(*run)
    for variable in ("CYSCC_CACHE", "CXX"):
        del os.environ[variable]
    print("bounds of arrays", flush=True)
    bounded()
