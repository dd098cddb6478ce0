"""Temporary files beside what they become: names that nobody can guess, no links followed, none left for long.

A file is locked as long as the process that writes it lives; so the next one that writes into the folder knows those
that nobody writes any more, whatever ended their process, and removes them.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sim.locks import locked, same_file

__all__ = ["is_temporary", "replaced", "temporary_file"]

_LEFT = re.compile(r"\..*\.cyscc-[0-9a-f]{16}(\..*)?")
_LONGEST_STEM = 64

_looked_at: set[Path] = set()


def is_temporary(name: str) -> bool:
    """Whether a file is called as temporary ones are; one that is left goes when the next is made beside it."""
    return _LEFT.fullmatch(name) is not None


@contextmanager
def replaced(target: Path, *, durable: bool = False, mode: int | None = None) -> Iterator[Path]:
    """Give a temporary name beside a file, and put what was written there in its place at the end of the block.

    So the file is there whole or as it was; after an error nothing is left.

    Parameters
    ----------
    target : Path
        The file; its permissions stay.
    durable : bool
        Also if the machine stops: what is written is on the disk before it has its name.
    mode : int, optional
        Permissions that it is to have instead.

    Raises
    ------
    OSError
        It cannot be written.
    """
    with temporary_file(target) as path:
        yield path
        if durable:
            with path.open("rb") as file:
                os.fsync(file.fileno())
        if mode is not None:
            path.chmod(mode)
        path.replace(target)


@contextmanager
def temporary_file(target: Path) -> Iterator[Path]:
    """Give a new, empty file in the folder of another, with its suffix; remove it at the end unless it was renamed.

    Parameters
    ----------
    target : Path
        What it is to become. Where that is there already, the temporary file has its permissions.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    _remove_left(target.parent)
    stem = os.fsdecode(os.fsencode(target.stem)[:_LONGEST_STEM])
    path = target.with_name(f".{stem}.cyscc-{os.urandom(8).hex()}{target.suffix}")
    descriptor, ours = None, True
    try:
        try:
            descriptor = _create(path)
        except OSError:
            ours = False
            raise
        with suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
        yield path
    finally:
        # Also when an interrupt came as soon as it was there, before anybody was told.
        if ours:
            path.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


def _create(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        # Where files cannot be locked, none are removed either.
        locked(descriptor)
        # Somebody may have taken it for one that was left, before it was locked.
        if same_file(path, descriptor):
            return descriptor
        os.close(descriptor)


def _remove_left(folder: Path) -> None:
    """Remove what processes that are gone have left in a folder; once in the life of this one."""
    if folder in _looked_at:
        return
    _looked_at.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_temporary(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if locked(descriptor) and same_file(path, descriptor):
                path.unlink()
        finally:
            os.close(descriptor)
