"""numba's compilers with a trusted cache of compiled code.

numba's own cache loads any file beside the sources: a damaged file ends a run with an exception, and a file written by
another user runs as this user. Its cache key also covers only one source file, and so misses changes of functions and
constants compiled in from other files.
"""

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numba
from numba import config
from numba.extending import is_jitted

from cyscc.sim.caching.folder import UnusableError, code_directory, read_sealed, write_sealed
from cyscc.sim.errors import BuildError
from cyscc.sim.notices import notice
from cyscc.sim.numba_internals import NullCache, compile_cfunc, intrinsic_file, restored, serialized, set_cache

__all__ = ["SUFFIX", "cfunc", "njit"]

SUFFIX = ".code"
"""Suffix of files of compiled code."""

_DIGITS = 16
_CONSTANTS = (bool, int, float, str, bytes, tuple, type(None))

_stamps: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""Digest, for each function, of everything that its code depends on."""

_refusals: set[str] = set()
"""Reasons why code could not be cached, each reported once."""


def njit(*, cache: bool = False, stamp: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function like numba's ``njit``.

    Parameters
    ----------
    cache : bool
        Cache the code.
    stamp : str, optional
        Digest of everything that the function depends on. By default it covers the function's source file, its global
        constants, the global functions made by this decorator, as they are now, and the source files of numba
        intrinsics among its globals.
    **options
        Options of numba.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)  # noqa: TID251
        _stamps[dispatcher] = stamp or _stamp(function)
        if cache:
            set_cache(dispatcher, _CodeCache(function, _stamps[dispatcher], options))
        return dispatcher

    return decorate


def cfunc(signature: Any, *, stamp: str, **options: Any) -> Callable[[Callable[..., Any]], int]:
    """Return a decorator that compiles a function for callers in C, caches its code, and returns its address.

    Parameters
    ----------
    signature : numba signature
        Its types.
    stamp : str
        Digest of everything that the function depends on.
    **options
        Options of numba.
    """

    def decorate(function: Callable[..., Any]) -> int:
        return compile_cfunc(function, signature, options, _CodeCache(function, stamp, options))

    return decorate


@cache
def _source_digest(path: str) -> bytes:
    return sha256(Path(path).read_bytes()).digest()


def _stamp(function: Callable[..., Any]) -> str:
    """Return a digest of everything that a function's code depends on."""
    code = function.__code__
    digest = sha256(_source_digest(code.co_filename))
    for name in sorted(set(code.co_names) & function.__globals__.keys()):
        value = function.__globals__[name]
        if is_jitted(value):
            digest.update(f"{name} {_stamps.get(value)};".encode())
        elif (file := intrinsic_file(value)) is not None:
            digest.update(f"{name} {_source_digest(str(file)).hex()};".encode())
        elif isinstance(value, _CONSTANTS):
            digest.update(f"{name} = {value!r};".encode())
    return digest.hexdigest()


class _CodeCache(NullCache):
    """Cache of a function's code, in a sealed file for each signature, processor and set of options.

    Functions of the same version of a source file share a folder.
    """

    def __init__(self, function: Callable[..., Any], stamp: str, options: dict[str, Any]) -> None:
        self._folder = f"{function.__module__}-{_source_digest(function.__code__.co_filename).hex()[:_DIGITS]}"
        self._name = re.sub(r"[^\w.]", "", function.__qualname__)
        self._settings = (
            *(stamp, sorted(options.items()), function.__qualname__, function.__code__.co_firstlineno),
            *(numba.__version__, sys.implementation.cache_tag, sys.abiflags),
            *(config.OPT, config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for a signature, or None."""
        target_context.refresh()
        place = self._place(sig, target_context.codegen())
        if place is None:
            return None
        path, key = place
        try:
            result = restored(target_context, read_sealed(path, key))
        except FileNotFoundError:
            return None
        except MemoryError:
            raise
        except Exception as error:
            # A file written by a build that differs in ways no version number shows must not end this program.
            reason = str(error) if isinstance(error, UnusableError) else f"it is damaged ({type(error).__name__})"
            notice(f"{path}: {reason}: compiled again")
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path.parent)
        return result

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache the code for a signature."""
        place = self._place(sig, data.codegen)
        content = None if place is None else serialized(data)
        if place is None or content is None:
            return
        path, key = place
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_sealed(path, key, content)
        except OSError as error:
            _refuse(f"{path.parent.parent}: {error.strerror}")

    def _place(self, sig: Any, codegen: Any) -> tuple[Path, bytes] | None:
        """Return the file for a signature and the key that it is sealed with; None if it cannot be cached."""
        key = repr((self._settings, sig, codegen.magic_tuple())).encode()
        try:
            folder = code_directory() / self._folder
        except BuildError as error:
            _refuse(str(error))
            return None
        return folder / f"{self._name}-{sha256(key).hexdigest()[:_DIGITS]}{SUFFIX}", key


def _refuse(reason: str) -> None:
    if reason not in _refusals:
        _refusals.add(reason)
        notice(f"{reason}: compiled code is not kept")
