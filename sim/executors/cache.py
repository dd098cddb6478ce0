"""The cache of built executors."""

import fcntl
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from importlib.metadata import version
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from hw.config import AcceleratorConfig
from sim.errors import BuildError
from sim.executors.header import machine_header
from sim.executors.tools import NATIVE, Toolchain
from sim.memory import memory_header

__all__ = ["cache_directory", "cached_library", "digest_sources"]


def digest_sources(folder: Path) -> bytes:
    """Return a digest of the sources of the hardware, of what all native executors share, and of those in a folder."""
    here = Path(__file__)
    digest = hashlib.sha256()
    for place in (Path(sys.modules["hw"].__path__[0]), NATIVE, folder):
        for file in sorted(place.rglob("*.*")):
            if file.suffix in (".py", ".h", ".cpp"):
                digest.update(file.name.encode() + file.read_bytes())
    for file in (here, here.with_name("tools.py")):
        digest.update(file.read_bytes())
    return digest.digest()


def cache_directory() -> Path:
    """Return the folder for built executors: ``$CYSCC_CACHE``, or ``cyscc`` in the user's cache folder."""
    named = os.environ.get("CYSCC_CACHE")
    if named:
        return Path(named)
    return user_cache_path("cyscc")


def cached_library(
    name: str,
    config: AcceleratorConfig,
    tools: Toolchain,
    *,
    parts: Sequence[Any],
    sources: bytes,
    build: Callable[[Path], Path],
) -> Path:
    """Return a shared library, built now if it is not in the cache.

    Parameters
    ----------
    name : str
        What its file's name begins with.
    config : AcceleratorConfig
        Sizes of the machine.
    tools : Toolchain
        What it is built by.
    parts : sequence
        Whatever else it depends on; their texts name it.
    sources : bytes
        Digest of the sources that it is made of.
    build : callable
        Builds it in a folder, in which the generated headers are, and returns its path there. The folder is removed
        afterwards.

    Raises
    ------
    BuildError
        The cache cannot be written, or `build` fails.

    Notes
    -----
    Builds of several processes come one after the other, since they are often the same, and each uses all processors.
    """
    headers = {"config.h": machine_header(config), "memory.h": memory_header()}
    everything = [*parts, astuple(config), headers, tools.identity(), version("amaranth")]
    key = hashlib.sha256(repr(everything).encode() + sources).hexdigest()[:24]
    library = cache_directory() / f"{name}-{key}.so"
    if library.exists():
        return library
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(library.parent):
            if not library.exists():
                with tempfile.TemporaryDirectory(prefix="build-", dir=library.parent) as folder:
                    for header, text in headers.items():
                        (Path(folder) / header).write_text(text)
                    build(Path(folder)).replace(library)
    except OSError as error:
        raise BuildError(
            f"{library.parent}: {error.strerror}: the cache of built executors cannot be written"
        ) from None
    return library


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from building in a cache until the end of the block."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
