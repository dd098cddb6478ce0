"""What the compiled memory code is built from: decorators and raw access to memory.

The functions that engines call get one address, the context, and reach everything else through addresses kept in it.
`load` and `store` are therefore plain machine loads and stores, without array headers, bounds or reference counts.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from llvmlite import ir
from numba import cfunc, config, njit, types
from numba.extending import intrinsic

__all__ = ["c_function", "inlined", "jit", "load", "prefetch", "store", "trailing_zeros"]

Function = TypeVar("Function", bound=Callable[..., Any])

_WORD = ir.IntType(64)
_INT = ir.IntType(32)


def _cache_directory() -> str:
    """Return the directory for compiled code: named by all sources here, beside them unless the user set another.

    Numba's own cache looks at the date of one file only, and would miss a changed constant in another.
    """
    digest = sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    parent = os.environ.get("NUMBA_CACHE_DIR") or str(Path(__file__).parent / "__pycache__")
    return os.path.join(parent, f"memory-{digest.hexdigest()[:16]}")


_CACHE_DIRECTORY = _cache_directory()


@contextmanager
def _own_cache() -> Iterator[None]:
    before = config.CACHE_DIR
    config.CACHE_DIR = _CACHE_DIRECTORY
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _compile(function: Function, *, forceinline: bool) -> Function:
    with _own_cache():
        decorate = njit(cache=True, nogil=True, error_model="numpy", boundscheck=False, forceinline=forceinline)
        compiled: Function = decorate(function)
    return compiled


def jit(function: Function) -> Function:
    """Compile a function with numba; it runs without the interpreter lock and its code is cached."""
    return _compile(function, forceinline=False)


def inlined(function: Function) -> Function:
    """Compile a function as `jit` does, and copy it into each of its callers."""
    return _compile(function, forceinline=True)


def c_function(signature: str, function: Callable[..., Any]) -> int:
    """Compile a function for callers in C, and return its address; its code is cached."""
    with _own_cache():
        return int(cfunc(signature, cache=True, error_model="numpy", boundscheck=False)(function).address)


def _pointer(builder: ir.IRBuilder, base: ir.Value, index: ir.Value) -> ir.Value:
    return builder.gep(builder.inttoptr(base, _WORD.as_pointer()), [index])


@intrinsic
def load(typing: Any, base: Any, index: Any) -> Any:
    """Return the 64-bit word number `index` after the address `base`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.load(_pointer(builder, *arguments))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def store(typing: Any, base: Any, index: Any, value: Any) -> Any:
    """Make `value` the 64-bit word number `index` after the address `base`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        base, index, value = arguments
        builder.store(value, _pointer(builder, base, index))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def prefetch(typing: Any, address: Any) -> Any:
    """Ask for the cache line at an address, which may be any: a hint that never faults."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        line = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [line.type, _INT, _INT, _INT])
        hint = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(hint, [line, _INT(0), _INT(3), _INT(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def trailing_zeros(typing: Any, value: Any) -> Any:
    """Return the number of the lowest set bit of a 64-bit word that is not zero."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate
