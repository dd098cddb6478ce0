"""Functions that numba compiles when they are first called, by its public interface.

numba keeps their code itself, and runs what it finds: so it gets a folder that only this user may enter. The folder's
name has a digest of what code depends on and numba does not look at: numba sees changes of a function's own source file
only.
"""

import os
import pickle
import re
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from hashlib import sha256
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any

from cyscc.sim.caching.folder import code_directory
from cyscc.sim.errors import BuildError
from cyscc.sim.notices import notice

_CONSTANTS = (bool, int, float, str, bytes, type(None))
_DIGITS = 16
_UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)
"""What numba raises where it cannot keep code, or finds files that are cut off."""

_choosing = RLock()
"""Held while numba's folder is the one of a function."""


@cache
def numba() -> Any:
    """Import numba; return the module.

    Raises
    ------
    BuildError
        Its environment variables are wrong, or have it compile nothing.
    """
    # Numbers of compiled functions have 64 bits.
    os.environ["NUMBA_DISABLE_JIT"] = "0"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "Environment variable", RuntimeWarning)
            import numba
        # Refused by numba where a number of threads is wrong.
        from numba import config
    except (ValueError, RuntimeWarning) as error:
        raise BuildError(f"numba, by its environment variables: {str(error).splitlines()[0]}") from None
    if config.DISABLE_JIT:
        raise BuildError("numba was imported with NUMBA_DISABLE_JIT: functions that must be compiled cannot be")
    return numba


@cache
def _source_digest(path: str) -> bytes:
    return sha256(Path(path).read_bytes()).digest()


def _is_constant(value: Any) -> bool:
    """Return whether a value has the same text in every process."""
    return isinstance(value, _CONSTANTS) or (isinstance(value, tuple) and all(map(_is_constant, value)))


class Compiled:
    """A function that is compiled when it is first called. Its other attributes are those of numba's dispatcher.

    Parameters
    ----------
    function : callable
        The function.
    kept : bool
        Keep the code.
    options : dict
        Options of numba.
    """

    def __init__(self, function: Callable[..., Any], *, kept: bool, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._kept = kept
        self._options = options

    @cached_property
    def stamp(self) -> bytes:
        """Digest of the source file, and of the constants and compiled functions among its globals."""
        names = self.py_func.__globals__
        digest = sha256(_source_digest(self.py_func.__code__.co_filename))
        for name, value in sorted(names.items()):
            if isinstance(value, Compiled):
                own = value.py_func.__globals__ is names
                digest.update(name.encode() + (b"" if own else value.stamp))
            elif _is_constant(value) and not name.startswith("__"):
                digest.update(f"{name} = {value!r};".encode())
        return digest.digest()

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiles it; its code is kept if it can be."""
        folder = self._folder() if self._kept else None
        if folder is None:
            return self._plain
        function = self._copy(lambda other: other.dispatcher)
        with _keeping_in(folder):
            return numba().njit(cache=True, **self._options)(function)

    @cached_property
    def _plain(self) -> Any:
        """The function as numba compiles it, without keeping anything."""
        return numba().njit(**self._options)(self._copy(lambda other: other._plain))

    def _copy(self, dispatcher_of: Callable[["Compiled"], Any]) -> FunctionType:
        """Return the function with numba's dispatchers of the functions that it calls."""
        own = self.py_func
        called = {
            name: dispatcher_of(value)
            for name in own.__code__.co_names
            if isinstance(value := own.__globals__.get(name), Compiled)
        }
        copy = FunctionType(own.__code__, {**own.__globals__, **called}, own.__name__, own.__defaults__)
        copy.__module__, copy.__qualname__ = own.__module__, own.__qualname__
        return copy

    def _folder(self) -> Path | None:
        """Return the folder for the code, only this user's; None if there is none, with a notice."""
        options = sorted(item for item in os.environ.items() if re.match("NUMBA_(?!.*CACHE|DISABLE_JIT)", item[0]))
        digest = sha256(self.stamp + repr(options).encode()).hexdigest()[:_DIGITS]
        try:
            folder = code_directory() / f"{self.py_func.__module__}-{digest}"
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            status = folder.stat(follow_symlinks=False)
            os.utime(folder)
        except BuildError as error:
            reason = str(error)
        except OSError as error:
            reason = f"{folder.parent}: {error.strerror}"
        else:
            if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == stat.S_IRWXU:
                return folder
            reason = f"{folder}: it is not this user's alone"
        notice(f"{reason}: compiled code is not kept", once=True)
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, and compile it for arguments of such types if it was not."""
        try:
            return self.dispatcher(*arguments)
        except _UNREADABLE as error:
            if self.dispatcher is self._plain:
                raise
            reason = getattr(error, "strerror", None) or "it is cut off"
            notice(f"{self.dispatcher.stats.cache_path}: {reason}: compiled again, and not kept", once=True)
        self.dispatcher = self._plain
        return self.dispatcher(*arguments)


@contextmanager
def _keeping_in(folder: Path) -> Iterator[None]:
    """Have numba keep the code of functions that are made in the block in a folder."""
    config = numba().config
    with _choosing:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            yield
        finally:
            config.CACHE_DIR = before


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function like numba's ``njit``, when it is first called.

    Parameters
    ----------
    cache : bool
        Keep the code.
    **options
        Options of numba.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        return Compiled(function, kept=cache, options=options)

    return decorate
