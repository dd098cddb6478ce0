"""Files, plain or gzipped: failures become `InputError`, and output is written atomically."""

import gzip
import io
import os
import re
import select
import stat
import tomllib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from cyscc.host.output.errors import InputError, locating_errors, reason
from cyscc.host.output.files import renamed_when_complete, writing

LONGEST_HEAD = 1 << 13
"""Bytes at the beginning of a file used to recognise its format."""

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_LEVEL = 4
_BUFFER = 1 << 17
_PATIENCE = 5
"""Seconds to wait for the first bytes of a named pipe or of a device."""

_UNREAD = {
    name: begin.encode()
    for name, begin in tomllib.loads(Path(__file__).with_name("unread.toml").read_text(encoding="utf-8")).items()
}
"""Formats that are not read, by name, and how they begin after blanks and comments."""

_COMMENTS = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:\s+|(?:#|%(?!PDF)|//)[^\n]*\n|/\*[^*]*\*/)*")


def gzipped(path: Path) -> bool:
    """Whether a file is gzipped by its suffix."""
    return path.suffix.lower() == ".gz"


def suffix_of(path: Path) -> str:
    """Return the lower-case suffix of the format, without ``.gz``; empty if there is none."""
    return (path.with_suffix("") if gzipped(path) else path).suffix.lower()


Watch = Callable[[int, int | None, str], None]
"""Progress callback: bytes read or written so far, size of an input file, and the bytes so far as text."""


class InputFile(NamedTuple):
    """An input file."""

    stream: IO[bytes]
    """Its uncompressed bytes from the start; seekable only for a regular file."""
    head: bytes
    """The first `LONGEST_HEAD` bytes, or fewer."""
    gzipped: bool
    """Whether it is gzipped."""


def _check_known(head: bytes) -> None:
    """Refuse a file in a known format that is not read, by its first uncompressed bytes."""
    begin = _COMMENTS.sub(b"", head, count=1)
    for name, pattern in _UNREAD.items():
        if re.match(pattern, begin):
            raise InputError(f"{name} is not read")


def _looked_at(stream: "io.BufferedReader[Any]", *, packed: bool) -> InputFile:
    """Peek at the beginning of a file, refuse foreign types, and return the `InputFile`."""
    head = stream.peek()[:LONGEST_HEAD]
    if not head:
        raise InputError("is empty")
    _check_known(head)
    return InputFile(stream, head, packed)


def _open(name: str, flags: int) -> int:
    """Open a file; a named pipe, and what else could block for ever, only if something comes soon."""
    descriptor = os.open(name, flags | os.O_NONBLOCK)
    try:
        # A shell's pipes have no names. Their writers, and who types a graph, may take any time.
        if os.path.exists(os.path.realpath(name)) and not os.isatty(descriptor):
            _await_data(descriptor)
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _await_data(descriptor: int) -> None:
    """Wait for a file's first bytes or its end, which those on a disk have at once."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(1000 * _PATIENCE):
        kind = "a pipe" if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else "a device"
        raise InputError(f"is {kind} to which nobody has written for {_PATIENCE} seconds")


class _Unpacked(gzip.GzipFile):
    """Gzip data without seeking, since seeking backwards would decompress it again."""

    def seekable(self) -> bool:
        return False


class _Watched(io.FileIO):
    """A file, standard input if it has no path, that reports how much of it has been read or written."""

    def __init__(self, path: Path | None, mode: str, watch: Watch | None) -> None:
        super().__init__(os.dup(0) if path is None else path, mode, opener=_open if mode == "rb" else None)
        self._watch = watch
        self._size = os.fstat(self.fileno()).st_size or None
        self._done = 0

    def readinto(self, buffer: Any, /) -> int:
        """Fill the whole buffer unless the file ends; a pipe returns smaller pieces."""
        with memoryview(buffer) as view:
            done = 0
            while done < len(view):
                with view[done:] as free:
                    count = self._told(super().readinto(free))
                if not count:
                    break
                done += count
        return done

    def write(self, data: Any, /) -> int:
        return self._told(super().write(data))

    def _told(self, count: int) -> int:
        self._done += count
        if self._watch is not None:
            self._watch(self._done, self._size, f"{self._done / 1e6:,.1f} MB")
        return count


@contextmanager
def open_input(path: Path | None, watch: Watch | None = None, *, what: str) -> Iterator[InputFile]:
    """Open a file for reading, decompressed if it is gzipped.

    Parameters
    ----------
    path : Path
        The file; None for standard input.
    watch : callable, optional
        Progress callback; counts compressed bytes of a gzipped file.
    what : str
        Expected content for messages: ``graph``.

    Yields
    ------
    InputFile

    Raises
    ------
    InputError
        The file cannot be opened or read, is empty, damaged or of a foreign type, or does not fit in memory. This
        covers errors in the body of the block; an `InputError` raised there without a file gets this file.
    """
    if "\0" in str(path):
        raise InputError("does not exist", path=path)
    file, path = path, path or Path("standard input")
    try:
        with locating_errors(path=path), io.BufferedReader(_Watched(file, "rb", watch), _BUFFER) as raw:
            if not raw.peek().startswith(_GZIP_MAGIC):
                yield _looked_at(raw, packed=False)
                return
            # A further buffer that can be peeked into.
            with io.BufferedReader(cast(io.RawIOBase, _Unpacked(fileobj=raw)), _BUFFER) as unpacked:
                yield _looked_at(unpacked, packed=True)
    except FileNotFoundError:
        raise InputError("does not exist", path=path) from None
    except IsADirectoryError:
        raise InputError(f"is a directory, not a {what}", path=path) from None
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
    """Open a file for atomic writing, compressed if its suffix is ``.gz``.

    A device or a pipe is written in place.

    Parameters
    ----------
    path : Path
        The file.
    watch : callable, optional
        Progress callback; counts compressed bytes of a gzipped file.

    Yields
    ------
    binary file
        The file to write to.

    Raises
    ------
    InputError
        When the file cannot be written. An `InputError` raised in the block without a file gets this file.
    """
    with (
        locating_errors(path=path),
        writing(path),
        renamed_when_complete(str(path)) as name,
        io.BufferedWriter(_Watched(name, "wb", watch), _BUFFER) as raw,
    ):
        if not gzipped(path):
            yield raw
            return
        # Without name and time stamp, so that equal graphs give equal files.
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as packed:
            yield cast(IO[bytes], packed)
