"""Compilers and emulated processors for tests, if they are there."""

import platform
import shutil
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


_X86 = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "skylake-avx512": "avx512dq"}
"""Processors by GCC's name, and what one must have to run programs for them, as Linux calls it."""

_NOT_EMULATED = "avx512dq"


class Processor(NamedTuple):
    """A processor.

    Parameters
    ----------
    compiler : tuple of str
        The command that compiles for it.
    runner : tuple of str
        The command that its programs are run by; none if they run by themselves.
    """

    compiler: tuple[str, ...]
    runner: tuple[str, ...]

    def write_compiler(self, path: Path) -> None:
        """Write a compiler script for it, which ignores `-march=native`."""
        command = " ".join(self.compiler)
        path.write_text(
            "#!/bin/sh\n"
            'for option; do shift; [ "$option" = -march=native ] || set -- "$@" "$option"; done\n'
            f'exec {command} "$@"\n'
        )
        path.chmod(0o755)


def find_processor(name: str) -> Processor:
    """Return a processor; skip the test if nothing here compiles for it, or runs what is compiled.

    Parameters
    ----------
    name : str
        ``native``; ``plain``: without vector instructions of any make; ``aarch64``: 64-bit ARM, which is emulated;
        or a name that GCC has for x86, which is emulated where this one has less.
    """
    if name == "native":
        return Processor(("g++", "-march=native"), ())
    if name == "aarch64":
        compiler = _found("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu")
        emulator = _found("qemu-aarch64", "qemu-user")
        return Processor((compiler,), (emulator, "-L", "/usr/aarch64-linux-gnu"))
    if platform.machine() != "x86_64":
        pytest.skip("only x86 has these options")
    if name == "plain":
        return Processor(("g++", "-march=x86-64", "-U__SSE2__"), ())
    needed = _X86[name]
    runner: tuple[str, ...] = ()
    if needed not in Path("/proc/cpuinfo").read_text().split():
        if needed == _NOT_EMULATED:
            pytest.skip(f"this processor has no {needed}, and qemu-user does not emulate it")
        runner = (_found("qemu-x86_64", "qemu-user"), "-cpu", "max")
    return Processor(("g++", f"-march={name}"), runner)


def _found(tool: str, package: str) -> str:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not there (Debian's package {package})")
    return tool
