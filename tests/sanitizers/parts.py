"""The parts of `make sanitize`: the tool, the planted faults that it must detect, and the tests that must pass."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cyscc.hw.config import PRESETS
from cyscc.sim.executors.compiled.parts import build_library
from tests.sanitizers.watching import LIBRARIES, TOLD

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
            *("-k", "not amaranth and not executors and not threads"),
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
            *("tests/sim/memory/test_rounds.py", "tests/sim/memory/test_order.py"),
            *(
                "tests/sim/executors/test_executors.py",
                "tests/system/test_pinned.py",
                "tests/system/test_checkpoints.py",
            ),
            *("-k", "not amaranth and not executors"),
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
