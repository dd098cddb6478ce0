"""A compiler that makes empty files at once, so that builds of the compiled executor can be watched."""

from pathlib import Path
from typing import NamedTuple, Self

import pytest

from cyscc.sim.caching.folder import code_directory

_SCRIPT = """\
#!/bin/sh
echo "$*" >> '{log}'
[ "$1" = --version ] && {{ echo empty compiler 1.0; exit; }}
{failure}
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && : > "$2"
  shift
done
"""


class Toolchain(NamedTuple):
    """A compiler and a cache of built executors for one test.

    Parameters
    ----------
    cache : Path
        The folder for built executors.
    log : Path
        Where the compiler writes each of its command lines.
    """

    cache: Path
    log: Path

    @classmethod
    def install(cls, folder: Path, environment: pytest.MonkeyPatch, *, failure: str = "") -> Self:
        """Make builds use them.

        Parameters
        ----------
        folder : Path
            Where to put them.
        environment : pytest.MonkeyPatch
            Gives the old environment back.
        failure : str
            Shell command that the compiler runs before it makes a file.
        """
        tools = cls(folder / "cache", folder / "log")
        compiler = folder / "compiler"
        compiler.write_text(_SCRIPT.format(log=tools.log, failure=failure))
        compiler.chmod(0o755)
        environment.setenv("CXX", str(compiler))
        # What numba compiles is compiled already.
        environment.setenv("NUMBA_CACHE_DIR", str(code_directory()))
        environment.setenv("CYSCC_CACHE", str(tools.cache))
        return tools

    def compilations(self) -> int:
        """Return how many files the compiler was asked for so far."""
        return sum(" -o " in line for line in self.log.read_text().splitlines())
