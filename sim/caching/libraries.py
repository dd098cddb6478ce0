"""Built libraries in the cache: published with a description, verified before loading, locked while in use.

Also listing, eviction and removal of all entries of the cache. Libraries for caches (diskcache, joblib) keep values
that a program reads back. Here the system's loader opens the file itself: it is verified just before, under its own
name, and is not removed while any process has it loaded. Those libraries evict entries whether they are in use or not.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyscc.sim.caching.folder import (
    UnusableError,
    digest_of,
    open_trusted,
    publish,
    read_trusted,
    reading,
    untrusted,
)
from cyscc.sim.files import locked, private_folder, same_file
from cyscc.sim.notices import notice

LIBRARY = re.compile(r"[a-z]+(-[a-z]+)?-([0-9a-f]{16}-[0-9a-f]{8}\.s?o|[0-9a-f]{24}\.so)")
OLD_LIBRARY = re.compile(r"[a-z]+(-[a-z]+)?-[0-9a-f]{24}\.so")
"""Names of libraries and of object files, also of those from versions that wrote no descriptions."""

_BUILD = "build-"
_OWN_BUILD = re.compile(_BUILD + r"[a-z]+(-[a-z]+)?-[0-9a-f]{16}-[0-9a-f]{8}")
_OLD_BUILD = re.compile(_BUILD + r"[a-z0-9_]{8}")
"""Names of build folders, also of those from versions that wrote no descriptions."""

AREA_FOLDER = "area"
"""Name of the folder of syntheses, which make an entry together; it is touched when it is used."""

_in_use: dict[Path, int] = {}
"""The libraries that this process may have loaded, with the descriptors that lock them against eviction."""


def description_of(library: Path) -> Path:
    """Return the path of a library's description."""
    return library.with_suffix(".json")


def check(library: Path, *, whole: bool = True) -> tuple[int, dict[str, Any]]:
    """Verify a library; return its descriptor, locked against eviction, and its description.

    Parameters
    ----------
    library : Path
        The library.
    whole : bool
        Verify the checksum, not only the size.

    Raises
    ------
    FileNotFoundError
        The library does not exist.
    UnusableError
        It must not be loaded; the message says why.
    """
    with ExitStack() as failing, reading():
        descriptor = open_trusted(library)
        failing.callback(os.close, descriptor)
        # Wait for another process that lists the entries, or is removing this one. Where nothing can be locked, nothing
        # is removed.
        with suppress(OSError):
            locked(descriptor, library, shared=True, wait=True)
        description = _description(library)
        size = os.fstat(descriptor).st_size
        if size != description["size"] or (whole and digest_of(descriptor) != description["sha256"]):
            raise UnusableError("it is damaged" if size else "it is empty")
        if not same_file(library, descriptor):
            raise UnusableError("it has just been replaced")
        failing.pop_all()
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


def find(library: Path, *, to: Path | None = None) -> bool:
    """Whether a library exists and may be loaded; it is then locked until the process ends.

    Parameters
    ----------
    library : Path
        The library. One that must not be loaded counts as missing.
    to : Path, optional
        Where to copy it, instead of locking it.
    """
    try:
        descriptor, _ = check(library)
    except FileNotFoundError:
        return False
    except UnusableError as error:
        notice(f"{library}: {error}: built again", once=True)
        return False
    with suppress(OSError):
        os.utime(description_of(library))
    if to is not None:
        with open(descriptor, "rb") as source, to.open("wb") as copy:
            source.seek(0)
            shutil.copyfileobj(source, copy)
        return True
    before = _in_use.get(library)
    _in_use[library] = descriptor
    if before is not None:
        os.close(before)
    return True


def publish_library(built: Path, library: Path, description: dict[str, Any]) -> None:
    """Put a library and its description into the cache.

    Parameters
    ----------
    built : Path
        The library, on the same file system.
    library : Path
        Its path in the cache.
    description : dict
        Further entries of the description, besides name, checksum, size and time.

    Raises
    ------
    OSError
        The cache cannot be written.
    """
    # The linker follows the user's umask, but a file that others may write would not be loaded.
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
    """Return the build folder of a library."""
    return library.with_name(f"{_BUILD}{library.stem}")


def builds(cache: Path) -> list[Path]:
    """Return the build folders in a cache, current and abandoned; excludes others with similar names."""
    return [
        folder
        for folder in cache.glob(f"{_BUILD}*")
        if _OWN_BUILD.fullmatch(folder.name) or _OLD_BUILD.fullmatch(folder.name)
    ]


def remove_interrupted_builds(cache: Path) -> None:
    """Remove the build folders whose process has ended."""
    for folder in builds(cache):
        with suppress(OSError), ExitStack() as held:
            # Versions without descriptions lock the whole cache while they build.
            locks = [folder] if _OWN_BUILD.fullmatch(folder.name) else [folder, cache]
            if all(held.enter_context(private_folder(each)) for each in locks):
                shutil.rmtree(folder, ignore_errors=True)


LIMIT_VARIABLE = "CYSCC_CACHE_LIMIT"
DEFAULT_LIMIT = 1 << 30
"""Default size limit of the cache in bytes."""

OK, USED, OLD = "ok", "in use", "of an older version"
BUILDING, LEFT = "being built", "left by a build that was interrupted"
"""States of build folders."""

_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


@dataclass(frozen=True)
class Entry:
    """A library, or the compiled code of a module.

    Parameters
    ----------
    path : Path
        The library, or the folder of code or of syntheses.
    configuration : str
        What a library was built for; empty for folders.
    size : int
        Bytes.
    used : float
        Time of last use, in seconds since 1970.
    state : str
        ``ok``, or the error.
    """

    path: Path
    configuration: str
    size: int
    used: float
    state: str

    @property
    def damaged(self) -> bool:
        """Whether it is damaged."""
        return self.state not in (OK, USED, OLD, BUILDING, LEFT)


def size_of(text: str) -> int:
    """Parse a size such as 1000000, 500M or 1GiB in bytes; the units are powers of 1024.

    Raises
    ------
    ValueError
        The text is not a size.
    """
    match = re.fullmatch(r"(\d+) ?(?:([KMGT])i?)?B?", text.strip(), re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is no size such as 1000000, 500M or 1GiB")
    return int(match[1]) << _UNITS.get((match[2] or "").upper(), 0)


def limit() -> int:
    """Return the size limit of the cache in bytes: ``$CYSCC_CACHE_LIMIT``, or 1 GiB."""
    text = os.environ.get(LIMIT_VARIABLE)
    if text:
        try:
            return size_of(text)
        except ValueError as error:
            notice(f"{LIMIT_VARIABLE}: {error}: the limit is 1 GiB", once=True)
    return DEFAULT_LIMIT


def entries(cache: Path, *, thorough: bool = False) -> list[Entry]:
    """Return the entries of a cache, the most recently used first.

    Parameters
    ----------
    cache : Path
        Its folder, which may be missing.
    thorough : bool
        Verify checksums, not only sizes and owners.
    """
    found = [
        *(_library(path, thorough=thorough) for path in cache.glob("*.*o") if LIBRARY.fullmatch(path.name)),
        *(_folder(path) for path in (cache / "numba").glob("*-*")),
        *(_build(path) for path in builds(cache)),
        _folder(cache / AREA_FOLDER),
    ]
    return sorted((entry for entry in found if entry is not None), key=lambda entry: (-entry.used, entry.path))


def _library(library: Path, *, thorough: bool) -> Entry | None:
    files = _files([library, description_of(library)])
    configuration, state = "?", OK
    try:
        descriptor, description = check(library, whole=thorough)
    except FileNotFoundError:
        return None
    except UnusableError as error:
        described = description_of(library).exists() or not OLD_LIBRARY.fullmatch(library.name)
        state = str(error) if described else OLD
    else:
        configuration = str(description["configuration"]["name"])
        # Processes that use it hold a shared lock.
        with suppress(OSError):
            state = OK if locked(descriptor, library) else USED
        os.close(descriptor)
    # Using a library touches its description.
    used = files[-1][1].st_mtime if files else 0.0
    return Entry(library, configuration, _size_and_time(files)[0], used, state)


def _folder(folder: Path) -> Entry | None:
    """Return the entry of numba's code or of the syntheses, which are checked by those who read them."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return Entry(folder, "", _size_and_time(_files(folder.rglob("*")))[0], status.st_mtime, untrusted(status) or OK)


def _build(folder: Path) -> Entry | None:
    try:
        with private_folder(folder) as left:
            size, used = _size_and_time(_files(folder.rglob("*")))
            return Entry(folder, "?", size, used or folder.stat().st_mtime, LEFT if left else BUILDING)
    except OSError:
        return None


def _files(paths: Iterable[Path]) -> list[tuple[Path, os.stat_result]]:
    """Return the status of those files that exist."""
    found = []
    for path in paths:
        with suppress(OSError):
            found.append((path, os.stat(path, follow_symlinks=False)))
    return found


def _size_and_time(files: Sequence[tuple[Path, os.stat_result]]) -> tuple[int, float]:
    """Return the total size of files, and the latest modification time."""
    return sum(status.st_size for _, status in files), max((status.st_mtime for _, status in files), default=0.0)


def evict(cache: Path, most: int) -> list[Entry]:
    """Remove the least recently used entries until a cache holds at most `most` bytes; return the removed entries.

    Entries that a process uses or builds stay.
    """
    remove_interrupted_builds(cache)
    held = entries(cache)
    size = sum(entry.size for entry in held)
    removed = []
    for entry in reversed(held):
        if size <= most:
            break
        if _remove(entry):
            size -= entry.size
            removed.append(entry)
    return removed


def clear(cache: Path) -> list[Entry]:
    """Remove all entries that no process uses or builds; return the removed entries."""
    remove_interrupted_builds(cache)
    return [entry for entry in entries(cache) if _remove(entry)]


def _remove(entry: Entry) -> bool:
    """Remove an entry unless a process uses it; return whether it was removed."""
    with suppress(OSError):
        if not LIBRARY.fullmatch(entry.path.name):
            # Code is read as a whole, so its files are not in use afterwards; a build belongs to its process.
            if entry.state != BUILDING:
                shutil.rmtree(entry.path)
                return True
            return False
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if locked(descriptor, entry.path):
                entry.path.unlink()
                description_of(entry.path).unlink(missing_ok=True)
                return True
        finally:
            os.close(descriptor)
    return False
