"""Files and folders that processes share: locks, and temporary files beside what they become.

A lock is on an open file or folder, and ends with the process that has it, whatever ended that. They are of our own
because `filelock` locks only a file that it makes beside what is meant, and leaves there: neither a folder itself nor a
file that is open already.

A temporary file has a name that nobody can guess, and no link is followed. It is locked as long as the process that
writes it lives; so the next one that writes into the folder knows those that nobody writes any more, whatever ended
their process, and removes them.
"""

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = [
    "alone",
    "is_temporary",
    "lock_folder",
    "locked",
    "private_folder",
    "replaced",
    "same_file",
    "temporary_file",
]

_LEFT = re.compile(r"\..*\.cyscc-[0-9a-f]{16}(\..*)?")
_LONGEST_STEM = 64

_looked_at: set[Path] = set()


def locked(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file or folder; return whether that was possible, which it is in the end for those who wait."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except OSError:
        if wait:
            raise
        return False
    return True


def same_file(path: Path, descriptor: int) -> bool:
    """Whether a path still names the open file."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except OSError:
        return False


def lock_folder(folder: Path) -> int | None:
    """Lock a folder without waiting; return the descriptor that has the lock, None where another has it.

    Raises
    ------
    OSError
        There is no such folder, or it cannot be read.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    if locked(descriptor):
        return descriptor
    os.close(descriptor)
    return None


@contextmanager
def private_folder(folder: Path) -> Iterator[bool]:
    """Lock a folder of this user for the block, without waiting; tell whether that was possible.

    Raises
    ------
    OSError
        There is no such folder, or it cannot be read.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        own = os.fstat(descriptor).st_uid == os.geteuid()
        yield own and locked(descriptor) and same_file(folder, descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def alone(folder: Path, *, on_wait: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """Give a new folder; who else asks for the same one waits until it is removed, at the end of the block.

    Parameters
    ----------
    folder : Path
        The folder, in one that exists.
    on_wait : callable
        Called before waiting for another process.

    Raises
    ------
    OSError
        It cannot be made or locked.
    """
    descriptor = _make_and_lock(folder, on_wait)
    try:
        # What was left in it when whoever had it was killed.
        for entry in folder.iterdir():
            _remove_entry(entry)
        yield folder
    finally:
        _remove_entry(folder)
        os.close(descriptor)


def _make_and_lock(folder: Path, on_wait: Callable[[], None]) -> int:
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            if not locked(descriptor):
                on_wait()
                locked(descriptor, wait=True)
        except BaseException:
            os.close(descriptor)
            raise
        # Whoever had it has removed it.
        if same_file(folder, descriptor):
            return descriptor
        os.close(descriptor)


def _remove_entry(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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
