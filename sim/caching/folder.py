"""Where the cache is, and files in it.

It is the user's folder, or a temporary one where that cannot be had or must not be trusted. Its files are written
whole, and read only if they are what was written and nobody else could have written it.
"""

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from platformdirs import user_cache_path

from sim.errors import BuildError
from sim.files import lock_folder, private_folder, replaced
from sim.notices import notice

__all__ = [
    "UnusableError",
    "cache_directory",
    "code_directory",
    "digest_of",
    "open_trusted",
    "provide_for_tools",
    "publish",
    "read_sealed",
    "read_trusted",
    "reading",
    "remove_temporary_cache",
    "temporary_cache",
    "untrusted",
    "usable_cache",
    "write_sealed",
]

_VARIABLE = "CYSCC_CACHE"
_PREFIX = "cyscc-cache-"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_temporary: dict[Path, int | None] = {}
"""The temporary cache of this process, if it has one, and the descriptor that locks it where that is possible."""


def cache_directory() -> Path:
    """Return the folder for what is compiled: ``$CYSCC_CACHE``, or ``cyscc`` in the user's cache folder."""
    named = os.environ.get(_VARIABLE)
    if named:
        return Path(named)
    return user_cache_path("cyscc")


def untrusted(status: os.stat_result) -> str | None:
    """Return why nothing may be loaded from a file or a folder: others could have written it; None if they could not.

    Parameters
    ----------
    status : os.stat_result
        Its state.
    """
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to another user ({status.st_uid})"
    if status.st_mode & _OTHERS:
        return f"others may write it (mode {stat.S_IMODE(status.st_mode):o}; chmod go-w mends that)"
    return None


def usable_cache() -> Path:
    """Return a folder of which this process may load what it holds; a temporary one where there is no other.

    It is made if need be, for its owner alone. It may be one that cannot be written.

    Raises
    ------
    BuildError
        There is not even a temporary folder.
    """
    folder = cache_directory()
    reason = _reason_against(folder)
    return folder if reason is None else temporary_cache(folder, reason)


def provide_for_tools(cache: Path) -> None:
    """Give tools that keep something in the user's cache folder a place in this one, where there is no such folder.

    Yosys, which is compiled for any processor, keeps there what it became on this one, and does not start without.
    """
    folder = user_cache_path()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not folder.is_absolute() or not os.access(folder, os.W_OK | os.X_OK):
        os.environ["XDG_CACHE_HOME"] = str(cache / "tools")


def code_directory() -> Path:
    """Return the folder for what numba compiles: ``$NUMBA_CACHE_DIR``, or ``numba`` in the cache.

    Raises
    ------
    BuildError
        There is not even a temporary folder.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named and _reason_against(Path(named)) is None:
        return Path(named)
    return usable_cache() / "numba"


def _reason_against(folder: Path) -> str | None:
    """Return why a folder, made if need be, cannot be the cache."""
    if not folder.is_absolute() and not os.environ.get(_VARIABLE):
        return "the user has no home"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return untrusted(folder.stat())
    except OSError as error:
        return error.strerror or str(error)


def temporary_cache(instead_of: Path, reason: str) -> Path:
    """Make a cache that ends with the process, and say so; processes that are started later share it.

    Parameters
    ----------
    instead_of : Path
        The folder that cannot be used.
    reason : str
        Why.

    Raises
    ------
    BuildError
        It cannot be made.
    """
    try:
        _remove_left()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    except OSError as error:
        raise BuildError(f"{instead_of}: {reason}; and no temporary cache can be made: {error.strerror}") from None
    _temporary[folder] = lock_folder(folder)
    os.environ[_VARIABLE] = str(folder)
    notice(f"{instead_of}: {reason}: a temporary cache is used; {_VARIABLE} names another folder")
    return folder


@atexit.register
def remove_temporary_cache() -> None:
    """Remove the temporary cache of this process, if it has one."""
    while _temporary:
        folder, descriptor = _temporary.popitem()
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def _remove_left() -> None:
    """Remove temporary caches of this user whose process is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), private_folder(folder) as mine:
            if mine:
                shutil.rmtree(folder, ignore_errors=True)


_SEAL = b"cyscc sealed "
_HEAD = len(_SEAL) + hashlib.sha256().digest_size
_LONGEST = 1 << 26
"""Bytes of a file that is read as a whole."""


class UnusableError(Exception):
    """A file that is there, and must not be used; the message says why."""


@contextmanager
def reading() -> Iterator[None]:
    """Say of what cannot be read in the block that it is unusable, unless it is not there."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnusableError(f"it cannot be read: {error.strerror}") from None


def open_trusted(path: Path) -> int:
    """Open a file to read, without following links; return its descriptor.

    Raises
    ------
    FileNotFoundError
        There is none.
    UnusableError
        It cannot be read, is no plain file, or others could have written it.
    """
    with reading():
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    status = os.fstat(descriptor)
    reason = untrusted(status) if stat.S_ISREG(status.st_mode) else "it is no plain file"
    if reason is not None:
        os.close(descriptor)
        raise UnusableError(reason)
    return descriptor


def read_trusted(path: Path) -> bytes:
    """Return the bytes of a file that others could not have written.

    Raises
    ------
    FileNotFoundError, UnusableError
        As of `open_trusted`.
    """
    with reading(), open(open_trusted(path), "rb") as file:
        if os.fstat(file.fileno()).st_size > _LONGEST:
            raise UnusableError("it is too long")
        return file.read(_LONGEST)


def digest_of(descriptor: int) -> str:
    """Return the SHA-256 of an open file, in hexadecimal.

    Raises
    ------
    OSError
        It cannot be read.
    """
    with open(descriptor, "rb", buffering=0, closefd=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or as it was, also if the machine stops.

    Raises
    ------
    OSError
        It cannot be written.
    """
    # Whatever the user's mask is: what others may write would not be read again.
    with replaced(path, durable=True, mode=0o644) as name:
        name.write_bytes(content)


def write_sealed(path: Path, key: bytes, content: bytes) -> None:
    """Write a file with what it is called by, and a checksum.

    Parameters
    ----------
    path : Path
        The file.
    key : bytes
        What its content depends on.
    content : bytes
        The content.

    Raises
    ------
    OSError
        It cannot be written.
    """
    sealed = len(key).to_bytes(8, "little") + key + content
    publish(path, _SEAL + hashlib.sha256(sealed).digest() + sealed)


def read_sealed(path: Path, key: bytes | None = None) -> bytes:
    """Return the content of a file as it was written.

    Parameters
    ----------
    path : Path
        The file.
    key : bytes, optional
        What its content must depend on; anything by default.

    Raises
    ------
    FileNotFoundError, UnusableError
        As of `open_trusted`; and it is not what was written, or not what depends on the key.
    """
    data = memoryview(read_trusted(path))
    sealed = data[_HEAD:]
    if data[:_HEAD] != _SEAL + hashlib.sha256(sealed).digest():
        raise UnusableError("it is damaged" if data else "it is empty")
    content = 8 + int.from_bytes(sealed[:8], "little")
    if key is not None and sealed[8:content] != key:
        raise UnusableError("it is foreign")
    return bytes(sealed[content:])
