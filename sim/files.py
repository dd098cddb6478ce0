"""Locks on files and folders shared by processes, and atomic replacement of files.

A lock belongs to an open file or folder, and ends with its process, even if that is killed. The library `filelock` does
not serve here: it locks only a separate file, which it creates and leaves behind, not a folder or an open file.

A temporary file has an unpredictable name, and links are not followed. It is locked while its process lives. The next
process that writes into the folder removes unlocked temporary files, which are left by killed processes.
"""

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_LEFT = re.compile(r"\..*\.cyscc-[0-9a-f]{16}(\..*)?", re.DOTALL)
_LONGEST_STEM = 64

_looked_at: set[Path] = set()


def locked(descriptor: int, path: Path, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file or folder; return whether it was locked, always true with `wait`.

    Parameters
    ----------
    descriptor : int
        The open file or folder.
    path : Path
        Its path, for the error.
    shared : bool
        Whether others may have shared locks.
    wait : bool
        Wait for those that hold a lock.

    Raises
    ------
    OSError
        It cannot be locked, as on some network file systems.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise OSError(error.errno, f"cannot be locked: {error.strerror}", str(path)) from None
    return True


def same_file(path: Path, descriptor: int) -> bool:
    """Whether a path still names the open file."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except OSError:
        return False


def lock_folder(folder: Path) -> int | None:
    """Lock a folder without waiting; return the descriptor that holds the lock, None if it is locked already.

    Raises
    ------
    OSError
        The folder does not exist, or cannot be read or locked.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with ExitStack() as failing:
        failing.callback(os.close, descriptor)
        if not locked(descriptor, folder):
            return None
        # The previous owner may have removed it before its lock ended.
        if not same_file(folder.resolve(), descriptor):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        failing.pop_all()
    return descriptor


@contextmanager
def private_folder(folder: Path) -> Iterator[bool]:
    """Lock a folder of this user for the block, without waiting; yield whether it was locked.

    Raises
    ------
    OSError
        The folder does not exist, or cannot be read or locked.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        own = os.fstat(descriptor).st_uid == os.geteuid()
        yield own and locked(descriptor, folder) and same_file(folder, descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def alone(folder: Path, *, on_wait: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """Create a folder for exclusive use in the block, and remove it afterwards; other processes wait for it.

    Parameters
    ----------
    folder : Path
        The folder; its parent exists.
    on_wait : callable
        Called before waiting for another process.

    Raises
    ------
    OSError
        It cannot be created or locked.
    """
    descriptor = _make_and_lock(folder, on_wait)
    try:
        # Contents left by a killed process.
        for entry in folder.iterdir():
            remove_entry(entry)
        yield folder
    finally:
        remove_entry(folder)
        os.close(descriptor)


def _make_and_lock(folder: Path, on_wait: Callable[[], None]) -> int:
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            if not locked(descriptor, folder):
                on_wait()
                locked(descriptor, folder, wait=True)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, OSError):
                with suppress(OSError):
                    folder.rmdir()
            raise
        # The previous owner has removed it.
        if same_file(folder, descriptor):
            return descriptor
        os.close(descriptor)


def remove_entry(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it; if there is none, do nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def is_temporary(name: str) -> bool:
    """Whether a file name is that of a temporary file; abandoned ones are removed when the next one is created."""
    return _LEFT.fullmatch(name) is not None


@contextmanager
def replaced(target: Path, *, durable: bool = False, mode: int | None = None) -> Iterator[Path]:
    """Replace a file atomically: yield a temporary name beside it, and rename that at the end of the block.

    After an error the old file is unchanged, and the temporary file is removed.

    Parameters
    ----------
    target : Path
        The file; it keeps its permissions.
    durable : bool
        Also survive a crash of the machine: data is flushed to disk before the rename.
    mode : int, optional
        New permissions instead.

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
    """Create an empty file in the folder of `target`, with its suffix; remove it after the block unless it was renamed.

    Parameters
    ----------
    target : Path
        The final file. If it exists, the temporary file gets its permissions.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    _remove_left_once(target.parent)
    stem = os.fsdecode(os.fsencode(target.stem)[:_LONGEST_STEM])
    path = target.with_name(f".{stem}.cyscc-{os.urandom(8).hex()}{target.suffix}")
    descriptor, ours = None, True
    try:
        try:
            while descriptor is None:
                descriptor = hold(path, os.O_CREAT | os.O_EXCL)
        except OSError:
            ours = False
            raise
        with suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
        yield path
    finally:
        # Also after an interrupt right after its creation, before the name was yielded.
        if ours:
            path.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


def hold(path: Path, flags: int = 0) -> int | None:
    """Open and lock a temporary file, so that it does not count as abandoned.

    Parameters
    ----------
    path : Path
        Its path.
    flags : int
        Further flags of `os.open`.

    Returns
    -------
    int or None
        The descriptor that holds the lock; None if another thread or process was just removing the file as abandoned.

    Raises
    ------
    OSError
        It cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    # Where nothing can be locked, nothing is removed.
    with suppress(OSError):
        locked(descriptor, path, wait=True)
    if same_file(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _remove_left_once(folder: Path) -> None:
    """Remove temporary files of ended processes from a folder, once in this process."""
    if folder not in _looked_at:
        _looked_at.add(folder)
        remove_left(folder)


def remove_left(folder: Path) -> None:
    """Remove temporary files of ended processes from a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_temporary(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if locked(descriptor, path) and same_file(path, descriptor):
                path.unlink()
        finally:
            os.close(descriptor)
