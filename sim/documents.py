"""Small documents, opened with a limit of their size: devices, pipes and huge files are refused unread."""

import os
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

LONGEST_SETTING = 1 << 20
"""Most bytes of a file that a person writes: a TOML file or memory rules."""


class DocumentError(ValueError):
    """A file that is no document of the expected kind. One line, without the file's name."""


@contextmanager
def open_plain(path: Path | str, *, follow: bool = True) -> Iterator[BufferedReader]:
    """Open a regular file for reading in the block.

    Parameters
    ----------
    path : Path or str
        The file.
    follow : bool
        Whether the file itself may be a symbolic link.

    Raises
    ------
    DocumentError
        It is no regular file, or a link that must not be followed.
    OSError
        It cannot be opened.
    """
    if not follow and os.path.islink(path):
        raise DocumentError("is a link, which is not followed here")
    # Without O_NONBLOCK a pipe that nobody writes would block; O_NOFOLLOW, as it may have become a link meanwhile.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise DocumentError("is no plain file")
        yield file


def read_plain(path: Path | str, *, most: int, follow: bool = True) -> bytes:
    """Return the contents of a regular file.

    Parameters
    ----------
    path : Path or str
        The file.
    most : int
        Most bytes that it may have.
    follow : bool
        Whether the file itself may be a symbolic link.

    Raises
    ------
    DocumentError
        See `open_plain`; or it is too long.
    OSError
        It cannot be opened or read.
    """
    with open_plain(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        # Files of /proc claim to be empty, so that the contents are limited too.
        longest = min(max(size, LONGEST_SETTING), most)
        content = b"" if size > most else file.read(longest + 1)
        if size > most or len(content) > longest:
            raise DocumentError(f"is too long: it may have {most:,} bytes")
        return content


def read_toml(path: Path | str) -> dict[str, Any]:
    """Return the document of a TOML file of at most `LONGEST_SETTING` bytes.

    Raises
    ------
    DocumentError
        See `read_plain`; or it is not TOML.
    OSError
        It cannot be opened or read.
    """
    try:
        return tomllib.loads(read_plain(path, most=LONGEST_SETTING).decode("utf-8-sig"))
    except RecursionError:
        raise DocumentError("not TOML: nested too deeply") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DocumentError(f"not TOML: {str(error).splitlines()[0]}") from None
