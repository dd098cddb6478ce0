"""Compilation of the memory's code: options, caching, and intrinsics."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from cyscc.sim import arrays
from cyscc.sim.caching.code import cfunc, njit

__all__ = [
    "OPTIONS",
    "apart",
    "c_function",
    "call",
    "digest_of",
    "inlined",
    "jit",
    "prefetch",
    "rarely",
    "trailing_zeros",
]

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": False, "nogil": True}
"""Options of numba for all code here: without bounds checks, exceptions and the GIL."""

_INT = ir.IntType(32)
_BIT = ir.IntType(1)


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
    """Compile a function of records without inlining, for rare cases that would slow down its callers."""
    compiled: Function = njit(**OPTIONS)(function)
    return compiled


def inlined(function: Function) -> Function:
    """Compile a function of records, inlined into its callers."""
    compiled: Function = njit(forceinline=True, **OPTIONS)(function)
    return compiled


def c_function(function: Callable[..., Any], signature: Any, digest: str) -> int:
    """Compile a function for callers in C, and return its address; its code is cached under a digest."""
    options = {name: value for name, value in OPTIONS.items() if name != "nogil"}
    return cfunc(signature, stamp=digest, **options)(function)


@intrinsic
def call(typing: Any, address: Any, record: Any, number: Any) -> Any:
    """Call a function compiled by `c_function`, for a record and a number; it can be compiled on first use."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [word, word])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, record, types.int64), generate


@intrinsic
def prefetch(typing: Any, words: Any, index: Any) -> Any:
    """Prefetch the cache line of a word; any index is allowed, since the hint never faults."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        word = builder.gep(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), [arguments[1]])
        line = builder.bitcast(word, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [line.type, _INT, _INT, _INT])
        hint = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(hint, [line, _INT(0), _INT(3), _INT(1)])
        return context.get_dummy_value()

    return types.void(words, types.int64), generate


@intrinsic
def rarely(typing: Any, condition: Any) -> Any:
    """Return a condition, marked as unlikely."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        kind = ir.FunctionType(_BIT, [_BIT, _BIT])
        hint = builder.module.globals.get("llvm.expect.i1") or ir.Function(builder.module, kind, "llvm.expect.i1")
        return builder.call(hint, [arguments[0], _BIT(0)])

    return types.boolean(types.boolean), generate


@intrinsic
def trailing_zeros(typing: Any, value: Any) -> Any:
    """Return the index of the lowest set bit of a nonzero 64-bit word."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate
