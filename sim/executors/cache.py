"""The cache of built executors: what names a library, and how it is found or built."""

import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hw.config import PRESETS, AcceleratorConfig
from sim.caching.entries import evict, limit
from sim.caching.folder import provide_for_tools, temporary_cache, usable_cache
from sim.caching.libraries import alone, build_folder, find, publish_library, remove_interrupted_builds
from sim.errors import BuildError
from sim.executors.header import machine_header
from sim.executors.tools import NATIVE, OnStep, Toolchain
from sim.memory import memory_header

__all__ = ["cached_library", "digest_sources"]


def digest_sources(folder: Path) -> bytes:
    """Return a digest of the sources of the hardware, of what all native executors share, and of those in a folder."""
    digest = hashlib.sha256()
    for place in (Path(sys.modules["hw"].__path__[0]), NATIVE, folder):
        for file in sorted(place.rglob("*.*")):
            if file.suffix in (".py", ".h", ".cpp"):
                digest.update(file.name.encode() + file.read_bytes())
    digest.update(Path(__file__).with_name("tools.py").read_bytes())
    return digest.digest()


def cached_library(
    name: str,
    config: AcceleratorConfig,
    tools: Toolchain,
    *,
    parts: Sequence[Any],
    sources: bytes,
    build: Callable[[Path], Path],
    on_step: OnStep | None = None,
) -> Path:
    """Return a shared library, built now if it is not in the cache, or not as it was written.

    It stays there at least until this process ends. Where the compiler is missing, one that another compiler has built
    of the same is taken.

    Parameters
    ----------
    name : str
        What its file's name begins with: small letters, and at most one hyphen between.
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
    on_step : callable, optional
        Told when another process is waited for.

    Raises
    ------
    BuildError
        There is no cache that can be written, not even a temporary one, or `build` fails.

    Notes
    -----
    Of several processes that ask for the same library one builds it, and the others wait.
    """
    headers = {"config.h": machine_header(config), "memory.h": memory_header()}
    everything = [*parts, astuple(config), headers, tools.settings(), version("amaranth")]
    inputs = _digest(repr(everything).encode() + sources, 16)
    cache = usable_cache()
    identity = tools.versions()
    if identity is None:
        return _of_another_compiler(cache, f"{name}-{inputs}", tools)
    file = f"{name}-{inputs}-{_digest(repr(identity).encode(), 8)}.so"
    remove_interrupted_builds(cache)
    if find(cache / file):
        return cache / file
    description = {
        "configuration": {"name": _name_of(config), **asdict(config)},
        "parts": [repr(part) for part in parts],
        "tools": identity,
        "version": _version(),
    }

    def wait() -> None:
        if on_step is not None:
            on_step(0, 1, "waiting for another process, which builds the same")

    def build_in(cache: Path) -> Path:
        library = cache / file
        with alone(build_folder(library), on_wait=wait) as folder:
            # Another process may have built it meanwhile.
            if not find(library, told=True):
                provide_for_tools(cache)
                for header, text in headers.items():
                    (folder / header).write_text(text)
                publish_library(build(folder), library, description)
                find(library)
        evict(cache, limit())
        return library

    try:
        try:
            return build_in(cache)
        except OSError as error:
            cache = temporary_cache(cache, error.strerror or str(error))
            return build_in(cache)
    except OSError as error:
        raise BuildError(f"{cache}: {error.strerror}: the executor cannot be built there") from None


def _of_another_compiler(cache: Path, name: str, tools: Toolchain) -> Path:
    """Return a library of the same inputs, whatever has built it.

    Raises
    ------
    BuildError
        There is none.
    """
    for library in sorted(cache.glob(f"{name}-*.so")):
        if find(library):
            return library
    raise BuildError(tools.missing)


def _digest(content: bytes, digits: int) -> str:
    return hashlib.sha256(content).hexdigest()[:digits]


def _name_of(config: AcceleratorConfig) -> str:
    return next((name for name, preset in PRESETS.items() if preset == config), "own")


def _version() -> str:
    try:
        return version("cyscc")
    except PackageNotFoundError:
        return "(not installed)"
