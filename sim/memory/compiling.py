"""Compilation of the memory's code: options and caching."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from cyscc.sim import arrays
from cyscc.sim.caching.code import Intrinsic, njit

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": False, "nogil": True}
"""Options of numba for all code here: without bounds checks, exceptions and the GIL."""

# Computed at import: this process does not run later changes of the files.
_FILES = (*sorted(Path(__file__).parent.rglob("*.py")), Path(str(arrays.__file__)))
_SOURCES = sha256(b"".join(source.read_bytes() for source in _FILES))


def digest_of(*more: Path) -> str:
    """Return a digest of all sources in this package, and of further files."""
    digest = _SOURCES.copy()
    for source in more:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def jit(function: Function) -> Function:
    """Compile a function of numbers and arrays that depends only on this package; its code is cached."""
    stamp = digest_of(Path(function.__code__.co_filename))
    compiled: Function = njit(cache=True, stamp=stamp, **OPTIONS)(function)
    return compiled


def apart(function: Function) -> Function:
    """Compile a function of records that is not inlined on principle; what is rare also calls `out_of_line`."""
    # Said expressly: otherwise numba takes the option over from the caller.
    compiled: Function = njit(forceinline=False, **OPTIONS)(function)
    return compiled


def inlined(function: Function) -> Function:
    """Compile a function of records, inlined into its callers."""
    compiled: Function = njit(forceinline=True, **OPTIONS)(function)
    return compiled


def _intrinsic(name: str) -> Any:
    return Intrinsic("cyscc.sim.memory.intrinsics", name)


call, out_of_line, prefetch, rarely, trailing_zeros = map(
    _intrinsic, ("call", "out_of_line", "prefetch", "rarely", "trailing_zeros")
)
