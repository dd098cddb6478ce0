"""Files: plain or gzipped, every failure an `InputError`, nothing half-written left behind."""

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from host.errors import InputError, placed
from host.output import reason, renamed_when_complete

__all__ = ["Watch", "open_input", "open_output"]

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_LEVEL = 4
_BUFFER = 1 << 17


def _gzipped(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


Watch = Callable[[int, int | None, str], None]
"""Called with the bytes read or written so far, the size of a file that is read, and the former in words."""


class _Watched(io.FileIO):
    """A file that tells how much of it has been read or written, if anybody watches."""

    def __init__(self, path: Path, mode: str, watch: Watch | None) -> None:
        super().__init__(path, mode)
        self._watch = watch
        self._size = os.fstat(self.fileno()).st_size or None
        self._done = 0

    def readinto(self, buffer: Any, /) -> int:
        return self._told(super().readinto(buffer))

    def write(self, data: Any, /) -> int:
        return self._told(super().write(data))

    def _told(self, count: int) -> int:
        self._done += count
        if self._watch is not None:
            self._watch(self._done, self._size, f"{self._done / 1e6:,.1f} MB")
        return count


@contextmanager
def open_input(path: Path, watch: Watch | None = None) -> Iterator[IO[bytes]]:
    """Open a file to read, unpacked when its suffix is ``.gz``.

    Parameters
    ----------
    path : Path
        The file.
    watch : callable, optional
        Watches the file; of a packed one the packed bytes.

    Yields
    ------
    binary file
        The bytes of the file.

    Raises
    ------
    InputError
        When the file cannot be opened or read, is damaged, or does not fit in memory: also for what goes wrong in the
        body, where an `InputError` that names no file is given this one.
    """
    try:
        with placed(path=path), io.BufferedReader(_Watched(path, "rb", watch), _BUFFER) as raw:
            if not _gzipped(path):
                yield raw
            elif raw.peek(len(_GZIP_MAGIC))[: len(_GZIP_MAGIC)] != _GZIP_MAGIC:
                raise InputError("not gzip data")
            else:
                with gzip.open(raw, "rb") as unpacked:
                    yield cast(IO[bytes], unpacked)
    except FileNotFoundError:
        raise InputError("does not exist", path=path) from None
    except IsADirectoryError:
        raise InputError("is a directory, not a graph", path=path) from None
    except EOFError:
        raise InputError("the gzip data is cut short", path=path) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"the gzip data is damaged: {error}", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
    except MemoryError:
        raise InputError("does not fit in this machine's memory", path=path) from None


@contextmanager
def open_output(path: Path, watch: Watch | None = None) -> Iterator[IO[bytes]]:
    """Open a file to write, packed when its suffix is ``.gz``, that appears whole or not at all.

    A device or a pipe is written in place.

    Parameters
    ----------
    path : Path
        The file.
    watch : callable, optional
        Watches the file; of a packed one the packed bytes.

    Yields
    ------
    binary file
        Where to write.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    try:
        with renamed_when_complete(str(path)) as name, io.BufferedWriter(_Watched(name, "wb", watch), _BUFFER) as raw:
            if not _gzipped(path):
                yield raw
                return
            # No name and no time, so that equal graphs are equal files.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as packed:
                yield cast(IO[bytes], packed)
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", path=path) from None
