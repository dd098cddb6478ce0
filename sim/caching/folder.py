"""The cache folder, and trusted files in it.

The cache is in the user's cache folder, or in a temporary one if that is not usable or not trusted. Its files are
written atomically. They are read only if their checksum is right and no other user could have written them.
"""

import atexit
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cyscc.sim.errors import BuildError
from cyscc.sim.files import lock_folder, private_folder, replaced
from cyscc.sim.notices import notice

_VARIABLE = "CYSCC_CACHE"
_PREFIX = "cyscc-cache-"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_temporary: dict[Path, int | None] = {}
"""The temporary cache of this process, if any, and the descriptor that holds its lock, if it could be locked."""


def cache_directory() -> Path:
    """Return the cache folder: ``$CYSCC_CACHE``, or ``cyscc`` in the user's cache folder.

    It is relative if there is neither.
    """
    named = os.environ.get(_VARIABLE)
    return Path(named).absolute() if named else _user_cache() / "cyscc"


def _user_cache() -> Path:
    """Return the user's cache folder, a relative path if the user has no home, or if there is nothing to tell it."""
    # The steps run with numba, numpy and scipy alone, with a temporary cache unless another one is named.
    with suppress(ImportError, RuntimeError):
        from platformdirs import user_cache_path

        return user_cache_path()
    return Path("~/.cache")


def untrusted(status: os.stat_result) -> str | None:
    """Return why a file or a folder must not be trusted (others could have written it), or None.

    Parameters
    ----------
    status : os.stat_result
        Its status.
    """
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to another user ({status.st_uid})"
    if status.st_mode & _OTHERS:
        return f"others may write it (mode {stat.S_IMODE(status.st_mode):o}; chmod go-w mends that)"
    return None


def usable_cache() -> Path:
    """Return a trusted cache folder, a temporary one if there is no other.

    It is created if needed, accessible to its owner only. It may be read-only.

    Raises
    ------
    BuildError
        Not even a temporary folder can be created.
    """
    folder = cache_directory()
    reason = _reason_against(folder)
    return folder if reason is None else temporary_cache(folder, reason)


def writable_cache() -> Path:
    """Return a trusted cache folder that can be written, a temporary one if there is no other.

    Raises
    ------
    BuildError
        Not even a temporary folder can be created.
    """
    cache = usable_cache()
    return cache if _is_writable(cache) else temporary_cache(cache, os.strerror(errno.EACCES))


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def provide_for_tools() -> None:
    """Give tools a home in the cache, if the user has none, or no folder for caches there.

    The portable build of Yosys stores its code translated for this processor there, and does not start without it.

    Raises
    ------
    BuildError
        Not even a temporary folder can be created.
    """
    folder = _user_cache()
    if folder.is_absolute() and os.path.isabs(os.environ.get("HOME", "")):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        if _is_writable(folder):
            return
    cache = writable_cache()
    home = str(cache / "tools")
    # The cache stays where it is.
    os.environ.update({_VARIABLE: str(cache), "HOME": home, "XDG_CACHE_HOME": home})


def code_directory() -> Path:
    """Return the folder for code compiled by numba: ``$NUMBA_CACHE_DIR``, or ``numba`` in the cache.

    Raises
    ------
    BuildError
        Not even a temporary folder can be created.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named and _reason_against(Path(named).absolute()) is None:
        return Path(named)
    return usable_cache() / "numba"


def _reason_against(folder: Path) -> str | None:
    """Create a folder if needed; return why it cannot be the cache, or None."""
    if not folder.is_absolute():
        return "the user has no home"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.scandir(folder).close()
        return untrusted(folder.stat())
    except OSError as error:
        return error.strerror or str(error)


def temporary_cache(instead_of: Path, reason: str) -> Path:
    """Create a cache that ends with the process, with a notice; processes started later share it.

    Parameters
    ----------
    instead_of : Path
        The folder that cannot be used.
    reason : str
        Why.

    Raises
    ------
    BuildError
        It cannot be created.
    """
    try:
        _remove_left()
        folder, descriptor = _new_folder()
    except OSError as error:
        raise BuildError(f"{instead_of}: {reason}; and no temporary cache can be made: {error.strerror}") from None
    _temporary[folder] = descriptor
    os.environ[_VARIABLE] = str(folder)
    notice(f"{instead_of}: {reason}: a temporary cache is used; {_VARIABLE} names another folder", once=True)
    return folder


def _new_folder() -> tuple[Path, int | None]:
    """Create a temporary folder, and lock it before another process removes it as abandoned."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            descriptor = lock_folder(folder)
        except FileNotFoundError:
            continue
        except OSError:  # where nothing can be locked, nothing is removed
            return folder, None
        if descriptor is not None:
            return folder, descriptor


@atexit.register
def remove_temporary_cache() -> None:
    """Remove the temporary cache of this process, if it has one."""
    while _temporary:
        folder, descriptor = _temporary.popitem()
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def _remove_left() -> None:
    """Remove temporary caches of this user whose process has ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), private_folder(folder) as mine:
            if mine:
                shutil.rmtree(folder, ignore_errors=True)


_LONGEST = 1 << 26
"""Most bytes of a file that is read as a whole."""


class UnusableError(Exception):
    """A file that exists but must not be used; the message says why."""


@contextmanager
def reading() -> Iterator[None]:
    """Turn read errors of the block into `UnusableError`, except for missing files, which this user may not read."""
    try:
        yield
    except FileNotFoundError:
        raise
    except PermissionError as error:
        raise FileNotFoundError(errno.ENOENT, error.strerror, error.filename) from None
    except OSError as error:
        raise UnusableError(f"it cannot be read: {error.strerror}") from None


def open_trusted(path: Path) -> int:
    """Open a trusted file for reading, without following links; return its descriptor.

    Raises
    ------
    FileNotFoundError
        It does not exist.
    UnusableError
        It cannot be read, is not a regular file, or others could have written it.
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
    """Return the bytes of a trusted file.

    Raises
    ------
    FileNotFoundError, UnusableError
        See `open_trusted`.
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
    """Write a file atomically and durably.

    Raises
    ------
    OSError
        It cannot be written.
    """
    # Regardless of the user's umask: a file that others may write would not be trusted.
    with replaced(path, durable=True, mode=0o644) as name:
        name.write_bytes(content)
