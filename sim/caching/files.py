"""Files of the cache: written whole, and read only if they are what was written and nobody else could have written."""

import hashlib
import os
import stat
from pathlib import Path

from sim.caching.folder import untrusted
from sim.temporary import replaced

__all__ = ["UnusableError", "digest_of", "open_trusted", "publish", "read_sealed", "read_trusted", "write_sealed"]

_SEAL = b"cyscc sealed "
_HEAD = len(_SEAL) + hashlib.sha256().digest_size
_LONGEST = 1 << 26
"""Bytes of a file that is read as a whole."""


class UnusableError(Exception):
    """A file that is there, and must not be used; the message says why."""


def open_trusted(path: Path) -> int:
    """Open a file to read, without following links; return its descriptor.

    Raises
    ------
    FileNotFoundError
        There is none.
    UnusableError
        It cannot be read, is no plain file, or others could have written it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnusableError(f"it cannot be read: {error.strerror}") from None
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
    try:
        with open(open_trusted(path), "rb") as file:
            if os.fstat(file.fileno()).st_size > _LONGEST:
                raise UnusableError("it is too long")
            return file.read(_LONGEST)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnusableError(f"it cannot be read: {error.strerror}") from None


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
