"""Locks on open files and folders; each ends with the process that has it, whatever ended that.

They are of our own because `filelock` locks only a file that it makes beside what is meant, and leaves there: neither a
folder itself nor a file that is open already.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["alone", "lock_folder", "locked", "private_folder", "same_file"]


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
            _remove(entry)
        yield folder
    finally:
        _remove(folder)
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


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
