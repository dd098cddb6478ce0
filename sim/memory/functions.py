"""The memory's entry points for executors, compiled for a profile, with types for Python, ctypes and C++."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from cyscc.sim.caching.code import KeptCode, functions_of
from cyscc.sim.memory.acceptance import accept
from cyscc.sim.memory.compiling import OPTIONS, apart, call, inlined
from cyscc.sim.memory.delivery import deliver, deliver_logged, deliver_recorded
from cyscc.sim.memory.profiles.profile import OUTSIDE
from cyscc.sim.memory.profiles.rules import compiling
from cyscc.sim.memory.recording import record_until
from cyscc.sim.memory.records import FLUSH, MAX_PORTS, READ, WRITE, Context, Error, Mailbox, context_of
from cyscc.sim.memory.service import serve, serve_recorded
from cyscc.sim.memory.visibility import next_event, prepare


@apart
def last_completion(context: Context) -> int:
    """Return the last cycle with an outstanding response or completion, see `Memory.last_completion`.

    Each port stores its latest response, write and flush. After that cycle, ports that waited for them are ready again.
    """
    last = -1
    for ae in range(context.engines):
        side = context.sides[ae]
        for number in range(side.width):
            port = side.ports[number]
            last = max(last, port.last_seen, port.last_written, port.last_flushed)
    return last


@inlined
def _served_before(context: Context, one: Error, other: Error) -> bool:
    """Return whether the request of an error is served before that of another, of the same cycle."""
    cycle, engines, ports = one.cycle, context.engines, context.ports
    ae, other_ae = (one.engine - cycle) % engines, (other.engine - cycle) % engines
    port, other_port = (one.port - cycle) % ports, (other.port - cycle) % ports
    if ae != other_ae:
        return ae < other_ae
    return port < other_port or (port == other_port and one.kind & 3 < other.kind & 3)


@inlined
def _keep_first(first: Error, other: Error) -> None:
    """Take over an error, unless there is one of the same or an earlier cycle."""
    if other.code != 0 and (first.code == 0 or other.cycle < first.cycle):
        first.code = 0
        first.note(other.code, other.kind, other.value, other.engine, other.port, other.cycle)


@apart
def _collect_errors(context: Context) -> int:
    """Set the memory's error to the first of those of the service and of all AEs; return its code."""
    first = 0
    for part in range(1, context.parts):
        error, least = context.services[part].error, context.services[first].error
        if error.code != 0:
            soonest = least.code == 0 or error.cycle < least.cycle
            if soonest or (error.cycle == least.cycle and _served_before(context, error, least)):
                first = part
    _keep_first(context.error, context.services[first].error)
    for ae in range(context.engines):
        _keep_first(context.error, context.sides[ae].error)
    return context.error.code


@inlined
def _sides_failed(context: Context) -> bool:
    """Return whether an AE's side has an error."""
    codes = 0
    for ae in range(context.engines):
        codes |= context.sides[ae].error.code
    return codes != 0


@inlined
def _serve_all(context: Context) -> None:
    """Perform all parts of a round."""
    for part in range(context.parts):
        serve(context, part)


@apart
def seal(context: Context, cycle: int) -> int:
    """End a round; see `cyscc.sim.memory.memory.Memory.seal`."""
    for ae in range(context.engines):
        deliver(context, ae)
    _serve_all(context)
    emptied = context.delivered
    context.delivered = context.served
    context.served = context.accepted
    context.accepted = emptied
    context.settled = cycle
    if _sides_failed(context):
        # Errors of the AEs may be later than errors found when these requests are served.
        _serve_all(context)
    return _collect_errors(context)


@inlined
def settle(context: Context, cycle: int) -> int:
    """Perform and deliver all requests up to a cycle; see `cyscc.sim.memory.memory.Memory.settle`."""
    seal(context, cycle)
    seal(context, cycle)
    for ae in range(context.engines):
        deliver(context, ae)
    if context.divisions != 1:
        for division in range(context.divisions):
            # From here on the parts can be others, each of which takes over what is of its addresses.
            context.rules.before_service(context.services[division].shared, cycle)
    if context.interval != 0:
        call(context.record_until, context, cycle + 1)
    return _collect_errors(context)


class Function(NamedTuple):
    """A function of the memory: its code, its integer arguments after the context, and whether it returns one."""

    compiled: Callable[..., Any]
    arguments: tuple[str, ...]
    returns: bool


FUNCTIONS = {
    "prepare": Function(prepare, ("ae", "cycle"), False),
    "accept": Function(accept, ("ae", "cycle"), False),
    "settle": Function(settle, ("cycle",), True),
    "seal": Function(seal, ("cycle",), True),
    "serve": Function(serve, ("part",), False),
    "deliver": Function(deliver, ("ae",), False),
    "next_event": Function(next_event, ("ae", "cycle"), True),
    "last_completion": Function(last_completion, (), True),
}
"""Functions by name; see the methods of `cyscc.sim.memory.memory.Memory`."""


PROTOTYPES = {
    name: ctypes.CFUNCTYPE(ctypes.c_int64 if each.returns else None, *[ctypes.c_int64] * (1 + len(each.arguments)))
    for name, each in FUNCTIONS.items()
}
"""ctypes prototypes; the first argument is the address of the context."""


class MemoryModel(ctypes.Structure):
    """Interface of a memory to native code: functions, context, mailboxes, and number of parts to serve in a round."""

    _fields_ = (
        *PROTOTYPES.items(),
        *((name, ctypes.c_int64) for name in ("context", "mailboxes", "parts")),
    )


_RECORDING = {
    "serve_recorded": Function(serve_recorded, ("part",), False),
    "deliver_kept": Function(deliver_recorded, ("ae",), False),
    "record_until": Function(record_until, ("cycle",), False),
}
"""Functions called only while recording, by field of the context."""

_LOGGING = {"deliver_kept": Function(deliver_logged, ("ae",), False)}
"""Functions called only while accesses are logged, by field of the context."""

_OPTIONS = {name: value for name, value in OPTIONS.items() if name != "nogil"}
"""Options of functions for callers in C, which have no GIL to release."""

_SETS = {"all": FUNCTIONS, "recording": _RECORDING, "logging": _LOGGING}


@cache
def compiled_for(profile: type[Any], functions: str = "all") -> dict[str, int]:
    """Return the addresses of functions for a profile, by name.

    Those for "recording" or "logging" are compiled for the first run that needs them, as most runs do not.
    """
    chosen = _SETS[functions]

    def signatures() -> dict[str, tuple[Callable[..., Any], Any]]:
        return {name: signature_of(function, profile) for name, function in chosen.items()}

    with compiling(profile):
        return functions_of(_code_of(profile, functions), functions, signatures, list(chosen), _OPTIONS)


def was_compiled_for(profile: type[Any]) -> bool:
    """Return whether the functions for a profile are in the cache."""
    return _code_of(profile, "all").read("all") is not None


def _code_of(profile: type[Any], functions: str) -> KeptCode:
    # Nothing but the profile distinguishes them, whose digest is of all sources. Rules from a file are checked.
    settings = (profile.digest, profile.__module__.startswith(OUTSIDE))
    return KeptCode(compiled_for.__wrapped__, f"{profile.__qualname__}.{functions}", settings)


def signature_of(function: Function, profile: type[Any]) -> tuple[Callable[..., Any], Any]:
    """Return the code of a function and its signature for a profile, as numba takes them."""
    from numba import types

    from cyscc.sim.memory.addresses import type_of

    _, _, context = context_of(profile)  # type: ignore[arg-type]
    result = types.int64 if function.returns else types.void
    arguments = [type_of(context.address), *[types.int64] * len(function.arguments)]
    return function.compiled.py_func, result(*arguments)  # type: ignore[attr-defined]


def memory_header() -> str:
    """Return a C++ header with the mailbox, and the functions of a memory as in `MemoryModel`."""
    constants = {"kMaxPorts": MAX_PORTS, "kReads": READ, "kWrites": WRITE, "kFlushes": FLUSH}
    fields = {name: "".join(f"[{count}]" for count in Mailbox.dtype[name].shape) for name in Mailbox.dtype.names or ()}
    functions = [
        f"    {'int64_t' if each.returns else 'void'} (*{name})"
        f"({', '.join(['void* context', *(f'int64_t {argument}' for argument in each.arguments)])});"
        for name, each in FUNCTIONS.items()
    ]
    return "\n".join(
        [
            "// Generated; see sim/memory/records.py for the meaning of the fields.",
            "#pragma once",
            "#include <cstdint>",
            "namespace cyscc {",
            *(f"inline constexpr int {name} = {value};" for name, value in constants.items()),
            "struct alignas(64) Mailbox {",
            *(f"    uint64_t {name}{shape};" for name, shape in fields.items()),
            "};",
            f"static_assert(sizeof(Mailbox) == {Mailbox.dtype.itemsize});",
            "struct MemoryModel {",
            *functions,
            "    void* context;",
            "    Mailbox* mailboxes;",
            "    int64_t parts;",
            "};",
            "}  // namespace cyscc",
            "",
        ]
    )
