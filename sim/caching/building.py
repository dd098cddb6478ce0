"""Libraries and object files in the cache, built if they are not there, and loaded."""

import ctypes
import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cyscc.sim.caching.folder import provide_for_tools, temporary_cache, usable_cache
from cyscc.sim.caching.libraries import build_folder, evict, find, limit, publish_library, remove_interrupted_builds
from cyscc.sim.caching.tools import Toolchain
from cyscc.sim.errors import BuildError
from cyscc.sim.files import alone

_SHARED = {"configuration": {"name": "any"}, "parts": []}
"""Description of files shared by several machines."""

_LITTLE = 1 << 20
"""A disk with less free space in bytes counts as full: a tool that failed may have removed what it wrote."""


def cached(
    name: str,
    tools: Toolchain,
    *,
    inputs: bytes,
    build: Callable[[Path], Path],
    to: Path | None = None,
    on_wait: Callable[[], None] = lambda: None,
    suffix: str = ".o",
    about: Mapping[str, Any] = _SHARED,
) -> Path:
    """Return a shared object file or a library from the cache, built now if it is not there.

    It stays in the cache at least until this process ends. Without a compiler, a file of the same inputs built by
    another compiler is used.

    Parameters
    ----------
    name : str
        Prefix of its file name: lower-case letters, with at most one hyphen inside.
    tools : Toolchain
        Tools to build it with.
    inputs : bytes
        Cache key: everything else that it depends on, including sources.
    build : callable
        Builds it in a folder, which is removed afterwards, and returns its path there.
    to : Path, optional
        Where to copy it, instead of locking it in the cache.
    on_wait : callable
        Called before waiting for another process that builds the same file.
    suffix : str
        Suffix of its file name.
    about : mapping
        Entries of its description.

    Raises
    ------
    BuildError
        There is no writable cache, not even a temporary one, or `build` fails.

    Notes
    -----
    If several processes request the same library, one builds it, and the others wait.
    """
    named = f"{name}-{_digest(repr(tools.settings()).encode() + inputs, 16)}"
    cache = usable_cache()
    identity = tools.versions
    if identity is None:
        for library in sorted(cache.glob(f"{named}-*{suffix}")):
            if find(library, to=to):
                return library
        raise BuildError(tools.missing)
    file = f"{named}-{_digest(repr(identity).encode(), 8)}{suffix}"
    remove_interrupted_builds(cache)
    if find(cache / file, to=to):
        return cache / file

    def build_in(cache: Path) -> Path:
        library = cache / file
        with alone(build_folder(library), on_wait=on_wait) as folder:
            # Another process may have built it meanwhile.
            if not find(library, to=to):
                provide_for_tools()
                publish_library(_built(build, folder), library, {**about, "tools": identity, "version": _version()})
                find(library, to=to)
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


def _built(build: Callable[[Path], Path], folder: Path) -> Path:
    """Build in a folder; raise an `OSError` if a tool has failed because the disk is full."""
    try:
        return build(folder)
    except BuildError:
        if shutil.disk_usage(folder).free < _LITTLE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        raise


def _digest(content: bytes, digits: int) -> str:
    return hashlib.sha256(content).hexdigest()[:digits]


def _version() -> str:
    try:
        return version("cyscc")
    except PackageNotFoundError:
        return "(not installed)"


_loaded: list[ctypes.CDLL] = []
"""Libraries that were loaded from memory."""


def load_library(path: Path, *, mode: int = ctypes.DEFAULT_MODE) -> ctypes.CDLL:
    """Load a library of the cache.

    Parameters
    ----------
    path : Path
        The library.
    mode : int
        `ctypes.RTLD_GLOBAL` to let all code of the process find its functions by name.

    Raises
    ------
    BuildError
        The system refuses it.
    """
    try:
        return ctypes.CDLL(str(path), mode)
    except OSError as error:
        # A file system may be mounted such that nothing is executed from it (noexec).
        with suppress(OSError):
            descriptor = os.memfd_create("code")
            with open(descriptor, "wb") as file:
                file.write(path.read_bytes())
                file.flush()
                # The loader knows a file by its name, and the next one may have the same descriptor.
                _loaded.append(ctypes.CDLL(f"/proc/self/fd/{'/' * len(_loaded)}{descriptor}", mode))
            return _loaded[-1]
        raise BuildError(f"{path}: cannot be loaded: {error}") from None
