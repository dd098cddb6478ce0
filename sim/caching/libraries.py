"""Built libraries in the cache: published with a description, verified before they are loaded, locked while in use."""

import json
import os
import re
import shutil
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from sim.caching.files import UnusableError, digest_of, open_trusted, publish, read_trusted
from sim.locks import locked, private_folder, same_file
from sim.notices import notice

__all__ = [
    "LIBRARY",
    "OLD_LIBRARY",
    "build_folder",
    "builds",
    "check",
    "description_of",
    "fetch",
    "find",
    "publish_library",
    "remove_interrupted_builds",
]

LIBRARY = re.compile(r"[a-z]+(-[a-z]+)?-([0-9a-f]{16}-[0-9a-f]{8}\.s?o|[0-9a-f]{24}\.so)")
OLD_LIBRARY = re.compile(r"[a-z]+(-[a-z]+)?-[0-9a-f]{24}\.so")
"""Names of libraries, and of what they are linked with; and those given by versions that wrote no descriptions."""

_BUILD = "build-"
_OWN_BUILD = re.compile(_BUILD + r"[a-z]+(-[a-z]+)?-[0-9a-f]{16}-[0-9a-f]{8}")
_OLD_BUILD = re.compile(_BUILD + r"[a-z0-9_]{8}")
"""Names of folders to build in, and those given by versions without descriptions."""

_in_use: dict[Path, int] = {}
"""The libraries that this process may have loaded, and the descriptors that keep them from being evicted."""


def description_of(library: Path) -> Path:
    """Return the file beside a library that describes it."""
    return library.with_suffix(".json")


def check(library: Path, *, whole: bool = True) -> tuple[int, dict[str, Any]]:
    """Verify a library; return its descriptor, locked against eviction, and its description.

    Parameters
    ----------
    library : Path
        The library.
    whole : bool
        Read all of it, not its size only.

    Raises
    ------
    FileNotFoundError
        There is no library.
    UnusableError
        It must not be loaded; the message says why.
    """
    descriptor = open_trusted(library)
    try:
        locked(descriptor, shared=True)
        description = _description(library)
        size = os.fstat(descriptor).st_size
        if size != description["size"] or (whole and digest_of(descriptor) != description["sha256"]):
            raise UnusableError("it is damaged" if size else "it is empty")
        if not same_file(library, descriptor):
            raise UnusableError("it has just been replaced")
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError):
            raise UnusableError(f"it cannot be read: {error.strerror}") from None
        raise
    return descriptor, description


def _description(library: Path) -> dict[str, Any]:
    try:
        description = json.loads(read_trusted(description_of(library)))
        if description["library"] != library.name:
            raise UnusableError("it is foreign: its description is of another")
        description["sha256"], description["size"], description["configuration"]["name"]
    except FileNotFoundError:
        raise UnusableError("it has no description") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnusableError("its description is damaged") from None
    return dict(description)


def find(library: Path, *, told: bool = False) -> bool:
    """Whether a library is there and may be loaded, which it then may until the process ends.

    Parameters
    ----------
    library : Path
        The library. One that may not be loaded is as if it were not there.
    told : bool
        Whether a line on standard error has already said what is wrong with it.
    """
    descriptor = _checked(library, told=told)
    if descriptor is None:
        return False
    before = _in_use.get(library)
    _in_use[library] = descriptor
    if before is not None:
        os.close(before)
    return True


def _checked(library: Path, *, told: bool) -> int | None:
    """Return the descriptor of a library that may be used, which it was just now."""
    try:
        descriptor, _ = check(library)
    except FileNotFoundError:
        return None
    except UnusableError as error:
        if not told:
            notice(f"{library}: {error}: built again")
        return None
    with suppress(OSError):
        os.utime(description_of(library))
    return descriptor


def fetch(library: Path, to: Path, *, told: bool = False) -> bool:
    """Copy a library out of the cache; return whether it is there and may be used.

    Parameters
    ----------
    library : Path
        The library.
    to : Path
        The copy.
    told : bool
        As of `find`.
    """
    descriptor = _checked(library, told=told)
    if descriptor is None:
        return False
    with open(descriptor, "rb") as source, to.open("wb") as copy:
        source.seek(0)
        shutil.copyfileobj(source, copy)
    return True


def publish_library(built: Path, library: Path, description: dict[str, Any]) -> None:
    """Put a library and its description into the cache.

    Parameters
    ----------
    built : Path
        The library, on the same file system.
    library : Path
        What it is to be called.
    description : dict
        What to say of it besides name, checksum, size and time.

    Raises
    ------
    OSError
        The cache cannot be written.
    """
    # The linker follows the user's mask: what others may write would not be loaded.
    built.chmod(0o755)
    descriptor = os.open(built, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
        sha256, size = digest_of(descriptor), os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    what = {"library": library.name, "sha256": sha256, "size": size, **description}
    built.replace(library)
    publish(description_of(library), json.dumps(what | {"built": _now()}, indent=2).encode() + b"\n")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def build_folder(library: Path) -> Path:
    """Return the folder that a library is built in."""
    return library.with_name(f"{_BUILD}{library.stem}")


def builds(cache: Path) -> list[Path]:
    """Return the folders in which is built, or was: others may have such names that are not its own."""
    return [
        folder
        for folder in cache.glob(f"{_BUILD}*")
        if _OWN_BUILD.fullmatch(folder.name) or _OLD_BUILD.fullmatch(folder.name)
    ]


def remove_interrupted_builds(cache: Path) -> None:
    """Remove the folders of builds whose process is gone."""
    for folder in builds(cache):
        with suppress(OSError), ExitStack() as held:
            # Versions without descriptions lock the whole cache while they build.
            locks = [folder] if _OWN_BUILD.fullmatch(folder.name) else [folder, cache]
            if all(held.enter_context(private_folder(each)) for each in locks):
                shutil.rmtree(folder, ignore_errors=True)
