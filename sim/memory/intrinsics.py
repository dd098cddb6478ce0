"""Functions that generate code, for the memory's code; imported only when something is compiled."""

from typing import Any

from llvmlite import ir
from numba import types

_INT = ir.IntType(32)
_BIT = ir.IntType(1)


def call(typing: Any, address: Any, record: Any, number: Any) -> Any:
    """Call a function of the memory for callers in C, for a record and a number; it can be compiled on first use."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [word, word])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, record, types.int64), generate


def out_of_line(typing: Any) -> Any:
    """Keep the function that calls this out of its callers, whose registers it would take, and away from hot code."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        builder.function.attributes.add("noinline")
        builder.function.attributes.add("cold")
        return context.get_dummy_value()

    return types.void(), generate


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


def rarely(typing: Any, condition: Any) -> Any:
    """Return a condition, marked as unlikely."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        kind = ir.FunctionType(_BIT, [_BIT, _BIT])
        hint = builder.module.globals.get("llvm.expect.i1") or ir.Function(builder.module, kind, "llvm.expect.i1")
        return builder.call(hint, [arguments[0], _BIT(0)])

    return types.boolean(types.boolean), generate


def trailing_zeros(typing: Any, value: Any) -> Any:
    """Return the index of the lowest set bit of a nonzero 64-bit word."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate
