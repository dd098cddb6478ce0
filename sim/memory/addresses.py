"""Records in compiled code: numba's types of their addresses, imported only when something is compiled.

See `cyscc.sim.memory.structures`.
"""

import operator
from collections.abc import Callable
from functools import cache
from inspect import signature as inspect_signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import (
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    overload_method,
    register_model,
)

from cyscc.sim.memory.compiling import OPTIONS
from cyscc.sim.memory.structures import BYTES, DECLARED, WORDS, Address
from cyscc.sim.numba_internals import AbstractTemplate, AttributeTemplate, infer_global, signature

_WORD = ir.IntType(64)


class AddressType(types.Type):
    """Compiled type of an address.

    Parameters
    ----------
    layout : Address
        Layout of what is there.
    """

    def __init__(self, layout: Address) -> None:
        super().__init__(layout.name)
        self.layout = layout

    def __reduce__(self) -> Any:
        """Pickle by name, for numba's caches of signatures: a redeclared type compares equal."""
        return _declared, (self.name,)


def _declared(name: str) -> Any:
    return type_of(DECLARED[name])


@cache
def type_of(layout: Any) -> Any:
    """Return the type of an address with a layout in compiled code, or that of a number."""
    if not isinstance(layout, Address):
        return types.int64
    # A separate class for each record, since numba looks up methods by class.
    kind: Any = type("RecordAddress", (AddressType,), {}) if layout.fields or layout.methods else AddressType
    if kind is not AddressType:
        register_model(kind)(_AddressModel)
    # Before anything is compiled: numba looks for methods only then.
    for within in (layout.element, *(field for _, field, _ in layout.fields.values())):
        type_of(within)
    for method, function in layout.methods.items():
        options = OPTIONS | {"forceinline": not hasattr(function, "seldom")}
        overload_method(kind, method, jit_options=options)(_chooser(function))
    return kind(layout)


def _chooser(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an overload that selects a function for all argument types."""

    def choose(*arguments: Any) -> Callable[..., Any]:
        return function

    choose.__signature__ = inspect_signature(function)  # type: ignore[attr-defined]
    return choose


@register_model(AddressType)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: AddressType) -> None:
        super().__init__(manager, kind, _WORD)


@infer_getattr
class _Fields(AttributeTemplate):
    key = AddressType

    def generic_resolve(self, kind: AddressType, name: str) -> Any:
        return type_of(kind.layout.fields[name][1]) if name in kind.layout.fields else None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        row = arguments[0]
        if isinstance(row, AddressType) and row.layout.element is not None:
            return signature(type_of(row.layout.element), row, types.int64)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        row = arguments[0]
        return signature(types.none, row, types.int64, types.int64) if row == type_of(WORDS) else None


def _pointer(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.inttoptr(address, _WORD.as_pointer())


@lower_getattr_generic(AddressType)
def _lower_getattr(context: Any, builder: ir.IRBuilder, kind: AddressType, value: ir.Value, name: str) -> ir.Value:
    place, _, access = kind.layout.fields[name]
    address = builder.add(value, _WORD(place))
    if access == "inside":
        return address
    loaded = builder.load(_pointer(builder, address))
    if access == "constant":
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


@lower_setattr_generic(AddressType)
def _lower_setattr(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any, name: str) -> None:
    record, value = arguments
    place, _, access = signature.args[0].layout.fields[name]
    assert access == "variable", f"{name} cannot be assigned to"
    builder.store(value, _pointer(builder, builder.add(record, _WORD(place))))


@lower_builtin(operator.getitem, AddressType, types.Integer)
def _lower_getitem(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
    row, index = arguments
    if signature.args[0].layout is WORDS:
        return builder.load(builder.gep(_pointer(builder, row), [index]))
    if signature.args[0].layout is BYTES:
        byte = builder.inttoptr(builder.add(row, index), ir.IntType(8).as_pointer())
        return builder.zext(builder.load(byte), _WORD)
    return builder.add(row, builder.mul(index, _WORD(signature.args[0].layout.size)))


@lower_builtin(operator.setitem, AddressType, types.Integer, types.Integer)
def _lower_setitem(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
    row, index, value = arguments
    builder.store(value, builder.gep(_pointer(builder, row), [index]))
    return context.get_dummy_value()
