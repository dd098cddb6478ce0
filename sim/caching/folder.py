"""Where the cache is: the user's folder, or a temporary one where that cannot be had or must not be trusted."""

import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from sim.errors import BuildError
from sim.locks import lock_folder, private_folder
from sim.notices import notice

__all__ = [
    "cache_directory",
    "code_directory",
    "provide_for_tools",
    "remove_temporary_cache",
    "temporary_cache",
    "untrusted",
    "usable_cache",
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
