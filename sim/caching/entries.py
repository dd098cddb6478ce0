"""What the cache holds, and how it is kept within its limit."""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sim.caching.files import UnusableError, read_sealed
from sim.caching.folder import untrusted
from sim.caching.libraries import LIBRARY, OLD_LIBRARY, builds, check, description_of, remove_interrupted_builds
from sim.locks import locked, private_folder
from sim.notices import notice

__all__ = [
    "BUILDING",
    "DEFAULT_LIMIT",
    "LEFT",
    "LIMIT_VARIABLE",
    "OK",
    "OLD",
    "USED",
    "Entry",
    "clear",
    "entries",
    "evict",
    "limit",
    "size_of",
]

LIMIT_VARIABLE = "CYSCC_CACHE_LIMIT"
DEFAULT_LIMIT = 1 << 30
"""Bytes that the cache may hold where nobody says otherwise."""

OK, USED, OLD = "ok", "in use", "of an older version"
BUILDING, LEFT = "being built", "left by a build that was interrupted"
"""States of what is not damaged."""

_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


@dataclass(frozen=True)
class Entry:
    """A library, or the compiled code of a module.

    Parameters
    ----------
    path : Path
        The library, or the folder of the code.
    configuration : str
        What a library was built for; empty for code.
    size : int
        Bytes.
    used : float
        When it was used last, in seconds since 1970.
    state : str
        ``ok``, or what is wrong with it.
    """

    path: Path
    configuration: str
    size: int
    used: float
    state: str

    @property
    def damaged(self) -> bool:
        """Whether it cannot be used."""
        return self.state not in (OK, USED, OLD, BUILDING, LEFT)


def size_of(text: str) -> int:
    """Return the bytes that a text such as 1000000, 500M or 1GiB names; the units are powers of 1024.

    Raises
    ------
    ValueError
        It names none.
    """
    match = re.fullmatch(r"(\d+) ?(?:([KMGT])i?)?B?", text.strip(), re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is no size such as 1000000, 500M or 1GiB")
    return int(match[1]) << _UNITS.get((match[2] or "").upper(), 0)


def limit() -> int:
    """Return the bytes that the cache may hold: ``$CYSCC_CACHE_LIMIT``, or 1 GiB."""
    text = os.environ.get(LIMIT_VARIABLE)
    if text:
        try:
            return size_of(text)
        except ValueError as error:
            notice(f"{LIMIT_VARIABLE}: {error}: the limit is 1 GiB")
    return DEFAULT_LIMIT


def entries(cache: Path, *, thorough: bool = False) -> list[Entry]:
    """Return what a cache holds, what was used last first.

    Parameters
    ----------
    cache : Path
        Its folder; there may be none.
    thorough : bool
        Read everything to verify it, not sizes and owners only.
    """
    found = [
        *(_library(path, thorough=thorough) for path in cache.glob("*.*o") if LIBRARY.fullmatch(path.name)),
        *(_code(path, thorough=thorough) for path in (cache / "numba").glob("*-*")),
        *(_build(path) for path in builds(cache)),
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
        # Those who use it share it.
        if not locked(descriptor):
            state = USED
        os.close(descriptor)
    # Whoever uses a library touches its description.
    used = files[-1][1].st_mtime if files else 0.0
    return Entry(library, configuration, _size_and_time(files)[0], used, state)


def _code(folder: Path, *, thorough: bool) -> Entry | None:
    try:
        state = untrusted(folder.stat()) or OK
        files = _files(folder.iterdir())
        for file, status in files:
            reason = untrusted(status)
            if reason is None and thorough:
                try:
                    read_sealed(file)
                except UnusableError as error:
                    reason = str(error)
            if reason is not None:
                state = f"{file.name}: {reason}"
    except OSError:
        return None
    return Entry(folder, "", _size_and_time(files)[0], folder.stat().st_mtime, state)


def _build(folder: Path) -> Entry | None:
    try:
        with private_folder(folder) as left:
            size, used = _size_and_time(_files(folder.rglob("*")))
            return Entry(folder, "?", size, used or folder.stat().st_mtime, LEFT if left else BUILDING)
    except OSError:
        return None


def _files(paths: Iterable[Path]) -> list[tuple[Path, os.stat_result]]:
    """Return the state of those files that are there."""
    found = []
    for path in paths:
        with suppress(OSError):
            found.append((path, os.stat(path, follow_symlinks=False)))
    return found


def _size_and_time(files: Sequence[tuple[Path, os.stat_result]]) -> tuple[int, float]:
    """Return the bytes of files together, and when the last of them was changed."""
    return sum(status.st_size for _, status in files), max((status.st_mtime for _, status in files), default=0.0)


def evict(cache: Path, most: int) -> list[Entry]:
    """Remove what was not used for longest until a cache holds no more than a number of bytes; return what it was.

    What a process uses or builds stays.
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
    """Remove everything from a cache but what a process uses or builds; return what it was."""
    remove_interrupted_builds(cache)
    return [entry for entry in entries(cache) if _remove(entry)]


def _remove(entry: Entry) -> bool:
    """Remove an entry that no process uses; return whether that was possible."""
    with suppress(OSError):
        if not LIBRARY.fullmatch(entry.path.name):
            # Code is read at once, so that nobody needs the files any longer; a build is its process's.
            if entry.state != BUILDING:
                shutil.rmtree(entry.path)
                return True
            return False
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if locked(descriptor):
                entry.path.unlink()
                description_of(entry.path).unlink(missing_ok=True)
                return True
        finally:
            os.close(descriptor)
    return False
