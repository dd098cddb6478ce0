"""Compiled functions with a trusted cache of their code, which runs without importing numba.

A function is compiled by numba when it is first called with new types of arguments. Code that needs nothing of Python
is kept as a shared object, and called through ctypes, since importing numba takes longer than a run on a small graph.
Other code, which creates arrays or returns them, is kept as numba's own; `cyscc.sim.caching.compiler` does that.

numba's own cache loads any file beside the sources: a damaged file ends a run with an exception, and a file written by
another user runs as this user. Its cache key also covers only one source file, and so misses changes of functions and
constants compiled in from other files.
"""

import ctypes
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from inspect import CO_VARARGS
from pathlib import Path
from typing import Any

import numpy as np

from cyscc.sim.caching.folder import UnusableError, code_directory, read_sealed, write_sealed
from cyscc.sim.errors import BuildError
from cyscc.sim.notices import notice
from cyscc.sim.processors import processor

SUFFIX = ".code"
"""Suffix of files of compiled code."""

_DIGITS = 16
_CONSTANTS = (bool, int, float, str, bytes, tuple, type(None))

_LAYOUT = 0x0001 | 0x0400
"""numpy's flags of contiguous and of writeable arrays (``NPY_ARRAY_C_CONTIGUOUS``, ``NPY_ARRAY_WRITEABLE``)."""


@cache
def _source_digest(path: str) -> bytes:
    return sha256(Path(path).read_bytes()).digest()


@cache
def _surroundings() -> tuple[object, ...]:
    """Return what all code depends on: versions of the compilers, how they are used, options, and the processor."""
    versions = [find_spec(name) for name in ("numba", "llvmlite")]
    texts = [
        _source_digest(str(Path(spec.origin).with_name("_version.py"))) for spec in versions if spec and spec.origin
    ]
    texts.append(_source_digest(str(Path(__file__).with_name("compiler.py"))))
    options = sorted(item for item in os.environ.items() if re.match("NUMBA_(?!.*CACHE|DISABLE_JIT)", item[0]))
    return (texts, options, sys.implementation.cache_tag, sys.abiflags, platform.machine(), processor())


class KeptCode:
    """The cached code of a function, or of several that belong together, in sealed files.

    Functions of the same version of a source file share a folder.

    Parameters
    ----------
    function : callable
        The function, or any of the source file.
    name : str
        Name of the files.
    settings : object
        What the code depends on besides the source file and the compilers, as a text by `repr`.
    """

    def __init__(self, function: Callable[..., Any], name: str, settings: object) -> None:
        self._folder = f"{function.__module__}-{_source_digest(function.__code__.co_filename).hex()[:_DIGITS]}"
        self._name = re.sub(r"[^\w.]", "", name)
        self._settings = settings

    def read(self, variant: object) -> bytes | None:
        """Return the code of a variant, such as a signature; None if there is none, or none to be trusted."""
        place = self._place(variant)
        if place is None:
            return None
        path, key = place
        try:
            content = read_sealed(path, key)
        except FileNotFoundError:
            return None
        except UnusableError as error:
            self.discard(variant, str(error))
            return None
        with suppress(OSError):
            os.utime(path.parent)
        return content

    def discard(self, variant: object, reason: str) -> None:
        """Remove the code of a variant, with a notice."""
        if (place := self._place(variant)) is not None:
            notice(f"{place[0]}: {reason}: compiled again", once=True)
            with suppress(OSError):
                place[0].unlink()

    def write(self, variant: object, content: bytes) -> None:
        """Cache the code of a variant."""
        place = self._place(variant)
        if place is None:
            return
        path, key = place
        try:
            # Whoever may enter the cache may read it: an image's is written by root, and used by others.
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            write_sealed(path, key, content)
        except OSError as error:
            notice(f"{path.parent.parent}: {error.strerror}: compiled code is not kept", once=True)

    def _place(self, variant: object) -> tuple[Path, bytes] | None:
        """Return the file of a variant and the key that it is sealed with; None if it cannot be cached."""
        key = repr((self._settings, _surroundings(), variant)).encode()
        try:
            folder = code_directory() / self._folder
        except BuildError as error:
            notice(f"{error}: compiled code is not kept", once=True)
            return None
        return folder / f"{self._name}-{sha256(key).hexdigest()[:_DIGITS]}{SUFFIX}", key


_loaded: list[ctypes.CDLL] = []
"""Shared objects of this process."""


def load(content: bytes) -> ctypes.CDLL | None:
    """Load a shared object; return None if this system refuses it."""
    try:
        # The loader opens the file itself: what was verified is passed to it in memory.
        descriptor = os.memfd_create("code")
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            # The loader knows a file by its name, and the next one may have the same descriptor.
            library = ctypes.CDLL(f"/proc/self/fd/{'/' * len(_loaded)}{descriptor}")
    except OSError:
        return None
    _loaded.append(library)
    return library


def _is_bare() -> bool:
    """Return whether code may run without numba: it raises no exceptions."""
    return os.environ.get("NUMBA_BOUNDSCHECK", "0") in ("", "0")


class Intrinsic:
    """A function that generates code, imported and made known to numba when something that uses it is compiled.

    Parameters
    ----------
    module, name : str
        Where the function is, which numba's ``intrinsic`` takes.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    @property
    def file(self) -> str:
        """Its source file."""
        return str(import_module(self._module).__file__)

    @cached_property
    def _numba_type_(self) -> Any:
        """The type by which numba knows it."""
        from cyscc.sim.caching.compiler import type_of_intrinsic

        return type_of_intrinsic(getattr(import_module(self._module), self._name))

    def __call__(self, *arguments: Any) -> Any:
        """Refuse to run in Python."""
        raise NotImplementedError(f"{self._name} exists in compiled code only")


class Compiled:
    """A compiled function. Its other attributes are those of numba's dispatcher.

    Parameters
    ----------
    function : callable
        The function.
    kept : bool
        Cache the code.
    stamp : str, optional
        See `njit`.
    options : dict
        Options of numba.
    """

    def __init__(self, function: Callable[..., Any], *, kept: bool, stamp: str | None, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        if stamp is not None:
            self.stamp = stamp
        self._options = options
        self._code: KeptCode | None = None
        if kept:
            settings = (self.stamp, sorted(options.items()), function.__qualname__, function.__code__.co_firstlineno)
            self._code = KeptCode(function, function.__qualname__, settings)
        self._entries: dict[object, Callable[..., Any]] = {}

    @cached_property
    def stamp(self) -> str:
        """Digest of everything that the code depends on."""
        return _stamp(self.py_func)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiles it."""
        from cyscc.sim.caching.compiler import make_dispatcher

        return make_dispatcher(self.py_func, self._code, self._options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; it is compiled if there is no code for such arguments."""
        kinds = tuple([_fast_kind(argument) for argument in arguments])
        entry = self._entries.get(kinds)
        if entry is None:
            entry = self._entries[kinds] = self._entry(tuple(map(_kind, arguments)), arguments)
        return entry(*arguments)

    def _entry(self, kinds: tuple[Any, ...], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """Return what performs a call with arguments of these kinds."""
        signature = self.py_func.__code__
        # numba packs further arguments into a tuple, and fills in those that are left out.
        is_plain = len(kinds) == signature.co_argcount and not signature.co_flags & CO_VARARGS
        if self._code is None or None in kinds or not is_plain or not _is_bare():
            return self.dispatcher
        content = self._code.read(kinds)
        if content is None:
            from cyscc.sim.caching.compiler import bare_code

            content = bare_code(self.dispatcher, arguments)
            if content is None:
                return self.dispatcher
            self._code.write(kinds, content)
        results, _, code = content.partition(b"\n")
        library = load(code)
        return self.dispatcher if library is None else _caller(library.entry, int(results), arguments)


def _fast_kind(argument: Any) -> object:
    """Return what `_kind` depends on within a process."""
    kind = type(argument)
    if kind is np.ndarray:
        return argument.dtype, argument.ndim, argument.flags.num & _LAYOUT
    if isinstance(argument, tuple):
        return kind, *map(_fast_kind, argument)
    return kind


def _kind(argument: Any) -> object:
    """Return what of an argument's type code depends on; None for what bare code cannot take."""
    if isinstance(argument, np.ndarray):
        return argument.dtype.str, argument.ndim, argument.flags.c_contiguous, argument.flags.writeable
    if isinstance(argument, bool | int | float | np.integer):
        return type(argument).__name__
    if isinstance(argument, tuple):
        kinds = tuple(map(_kind, argument))
        return None if None in kinds else (type(argument).__name__, kinds)
    return None


def _parts(argument: Any) -> list[Any]:
    """Return the numbers in which compiled code takes an argument."""
    if isinstance(argument, np.ndarray):
        # No owner, since nothing is returned that refers to it.
        address = argument.__array_interface__["data"][0]
        return [0, 0, argument.size, argument.itemsize, address, *argument.shape, *argument.strides]
    if isinstance(argument, tuple):
        return [part for each in argument for part in _parts(each)]
    return [argument if isinstance(argument, float) else int(argument)]


def _caller(entry: Any, results: int, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """Return a function that calls code with arguments of the same kinds as these.

    It is called as numba calls it: with pointers to its results and to an exception, then the parts of the arguments.
    """
    numbers = ctypes.c_int64 * max(results, 1)
    kinds = [
        ctypes.c_double if isinstance(part, float) else ctypes.c_int64 for each in arguments for part in _parts(each)
    ]
    entry.argtypes = [numbers, ctypes.c_void_p, *kinds]
    entry.restype = ctypes.c_int32
    # What is raised is not read, so threads may share it.
    raised = ctypes.byref(ctypes.c_void_p())

    def call(*arguments: Any) -> Any:
        found = numbers()
        parts: list[Any] = []
        for each in arguments:
            if type(each) is int:
                parts.append(each)
            else:
                parts += _parts(each)
        if entry(found, raised, *parts) > 0:
            raise RuntimeError("compiled code failed")
        return found[0] if results == 1 else tuple(found) if results else None

    return call


def njit(*, cache: bool = False, stamp: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function like numba's ``njit``.

    Parameters
    ----------
    cache : bool
        Cache the code.
    stamp : str, optional
        Digest of everything that the function depends on. By default it covers the function's source file, its global
        constants, the global functions made by this decorator, as they are now, and the source files of intrinsics
        among its globals.
    **options
        Options of numba.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        return Compiled(function, kept=cache, stamp=stamp, options=options)

    return decorate


def _stamp(function: Callable[..., Any]) -> str:
    """Return a digest of everything that a function's code depends on."""
    code = function.__code__
    digest = sha256(_source_digest(code.co_filename))
    for name in sorted(set(code.co_names) & function.__globals__.keys()):
        value = function.__globals__[name]
        if isinstance(value, Compiled):
            digest.update(f"{name} {value.stamp};".encode())
        elif (file := _intrinsic_file(value)) is not None:
            digest.update(f"{name} {_source_digest(file).hex()};".encode())
        elif isinstance(value, _CONSTANTS):
            digest.update(f"{name} = {value!r};".encode())
    return digest.hexdigest()


def _intrinsic_file(value: Any) -> str | None:
    """Return the source file of an intrinsic, ours or numba's; None for everything else."""
    if isinstance(value, Intrinsic):
        return value.file
    # Without numba there is none of its own.
    internals = sys.modules.get("cyscc.sim.numba_internals")
    return None if internals is None else internals.intrinsic_file(value)


def functions_of(
    code: KeptCode,
    variant: object,
    make: Callable[[], Mapping[str, tuple[Callable[..., Any], Any]]],
    names: Sequence[str],
    options: dict[str, Any],
) -> dict[str, int]:
    """Return the addresses of functions for callers in C, compiled together, and cached.

    Parameters
    ----------
    code : KeptCode
        Their cached code.
    variant : object
        Which of it.
    make : callable
        Returns functions and their numba signatures by name, when they must be compiled.
    names : sequence of str
        The names.
    options : dict
        Options of numba.
    """
    content = code.read(variant) if _is_bare() else None
    if content is None:
        from cyscc.sim.caching.compiler import compile_functions

        content, addresses = compile_functions(make(), options, shared=_is_bare())
        if content is None:
            return addresses
        code.write(variant, content)
    library = load(content)
    if library is None:
        from cyscc.sim.caching.compiler import compile_functions

        return compile_functions(make(), options, shared=False)[1]
    return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names}
