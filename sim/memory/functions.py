"""The functions that executors call, compiled for a profile: their types, for Python, ctypes and C++, said once."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import types

from sim.memory.acceptance import accept
from sim.memory.compiling import c_function
from sim.memory.delivery import deliver, deliver_recorded
from sim.memory.owed import owed_until
from sim.memory.recording import record_until
from sim.memory.records import context_of
from sim.memory.rounds import seal, settle
from sim.memory.seen import next_event, prepare
from sim.memory.service import serve, serve_recorded

__all__ = ["FUNCTIONS", "PROTOTYPES", "MemoryModel", "compiled_for", "recording_for"]


class Function(NamedTuple):
    """A function of the memory: what it runs, its integer arguments after the context, and whether it returns one."""

    compiled: Callable[..., Any]
    arguments: tuple[str, ...]
    returns: bool


FUNCTIONS = {
    "prepare": Function(prepare, ("ae", "cycle"), False),
    "accept": Function(accept, ("ae", "cycle"), False),
    "settle": Function(settle, ("cycle",), True),
    "seal": Function(seal, ("cycle",), True),
    "serve": Function(serve, (), False),
    "deliver": Function(deliver, ("ae",), False),
    "next_event": Function(next_event, ("ae", "cycle"), True),
    "owed_until": Function(owed_until, (), True),
}
"""By name; see the methods of `sim.memory.memory.Memory` for what they do."""


PROTOTYPES = {
    name: ctypes.CFUNCTYPE(ctypes.c_int64 if each.returns else None, *[ctypes.c_int64] * (1 + len(each.arguments)))
    for name, each in FUNCTIONS.items()
}
"""Their types for ctypes; the first argument is the address of the context."""


class MemoryModel(ctypes.Structure):
    """What native code gets of a memory: the functions, the context and the mailboxes."""

    _fields_ = (*PROTOTYPES.items(), ("context", ctypes.c_int64), ("mailboxes", ctypes.c_int64))


_RECORDING = {
    "serve_recorded": Function(serve_recorded, ("engines",), False),
    "deliver_recorded": Function(deliver_recorded, ("ae",), False),
    "record_until": Function(record_until, ("cycle",), False),
}
"""What those call where a record is kept: compiled for the first record, as most runs need none."""


@cache
def compiled_for(profile: type[Any]) -> dict[str, int]:
    """Return the addresses of the functions for a profile."""
    return _compiled(FUNCTIONS, profile)


@cache
def recording_for(profile: type[Any]) -> dict[str, int]:
    """Return the addresses of what a profile's functions call where a record is kept, by its name in the context."""
    return _compiled(_RECORDING, profile)


def _compiled(functions: dict[str, Function], profile: type[Any]) -> dict[str, int]:
    _, context = context_of(profile)  # type: ignore[arg-type]
    addresses = {}
    for name, function in functions.items():
        result = types.int64 if function.returns else types.void
        signature = result(context.address, *[types.int64] * len(function.arguments))
        addresses[name] = c_function(function.compiled.py_func, signature, profile.digest)  # type: ignore[attr-defined]
    return addresses
