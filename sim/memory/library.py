"""The memory's code in C++, built for a profile's class and a machine's shape; its functions for ctypes and C++."""

import ctypes
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cyscc.sim.caching.headers import constants, header
from cyscc.sim.errors import BuildError, SimulationError
from cyscc.sim.memory.layout import layout_header, rules_header
from cyscc.sim.memory.records import FLUSH, MAX_PORTS, READ, WRITE, Mailbox

_OF_HEADER = re.compile(r"^(.*\.h):(\d+):\d+: (error: .*)$", re.MULTILINE)
"""The compiler's first line on an error in a header."""

NATIVE = Path(__file__).parent / "native"
"""Sources of the memory."""

_FLAGS = ("-I", str(NATIVE), "-fno-tree-slp-vectorize")
"""Options of the compiler, which otherwise gathers a request's words in a vector one by one to store them at once."""

_LEVEL = "-O3"


class Function(NamedTuple):
    """A function of the memory: its words after the context, numbers or addresses, and whether it returns one."""

    arguments: tuple[str, ...]
    returns: bool


FUNCTIONS = {
    "prepare": Function(("ae", "cycle"), False),
    "accept": Function(("ae", "cycle"), False),
    "settle": Function(("cycle",), True),
    "seal": Function(("cycle",), True),
    "serve": Function(("part",), False),
    "deliver": Function(("ae",), False),
    "next_event": Function(("ae", "cycle"), True),
    "last_completion": Function((), True),
}
"""Functions of every executor by name; see the methods of `cyscc.sim.memory.memory.Memory`."""

_FURTHER = {
    "drain_banks": Function(("first", "stop", "bank_by_word", "banks", "of_row"), False),
    "take_banks": Function(("taken", "bank_by_word", "sums", "banks", "found"), True),
    "take_latencies": Function(("taken", "found"), True),
    "link_of": Function(("address",), True),
    "place_of": Function(("address", "last"), True),
    "play": Function(("count", "addresses", "reads", "outstanding", "come", "done"), True),
}
"""Functions of `Memory` and `Recorder` alone."""


def _prototype(function: Function) -> Any:
    returned = ctypes.c_int64 if function.returns else None
    return ctypes.CFUNCTYPE(returned, *[ctypes.c_int64] * (1 + len(function.arguments)))


PROTOTYPES = {name: _prototype(function) for name, function in (FUNCTIONS | _FURTHER).items()}
"""ctypes prototypes; the first argument is the address of the context."""


class MemoryModel(ctypes.Structure):
    """Interface of a memory to native code: functions, context, mailboxes, and number of parts to serve in a round."""

    _fields_ = (
        *((name, PROTOTYPES[name]) for name in FUNCTIONS),
        *((name, ctypes.c_int64) for name in ("context", "mailboxes", "parts")),
    )


@cache
def functions_of(profile: type[Any], *, engines: int, ports: int) -> dict[str, Any]:
    """Return the functions of a memory under a profile, by name, built now if they are not in the cache.

    Parameters
    ----------
    profile : type of Profile
        The profile's class. Its parameters are no part of the code.
    engines, ports : int
        Application Engines, and memory ports of each.

    Raises
    ------
    BuildError
        They cannot be built.
    """
    from cyscc.sim.caching.building import cached, load_library
    from cyscc.sim.caching.tools import Steps, Toolchain

    headers = {"layout.h": layout_header(profile, engines=engines, ports=ports), "rules.h": rules_header(profile)}
    tools = Toolchain.find(verilator=False)

    def build(folder: Path) -> Path:
        for name, text in headers.items():
            (folder / name).write_text(text)
        unit, library = NATIVE / "memory.cpp", folder / "memory.so"
        try:
            made = tools.compile_object(unit, folder=folder, flags=_FLAGS, level=_LEVEL, steps=Steps(None))
        except BuildError as error:
            found = _OF_HEADER.search(error.diagnosis) if profile.header else None
            if found is not None:
                raise SimulationError(f"{found[1]}: cannot be compiled: line {found[2]}: {found[3]}") from None
            raise
        tools.link([made], library)
        return library

    inputs = repr((_LEVEL, _FLAGS[2:], sorted(headers.items()))).encode() + _digest_of_sources()
    library = load_library(cached("memory", tools, inputs=inputs, build=build, suffix=".so"))
    return {name: prototype((f"cyscc_memory_{name}", library)) for name, prototype in PROTOTYPES.items()}


@cache
def _digest_of_sources() -> bytes:
    digest = hashlib.sha256()
    for source in sorted(NATIVE.rglob("*.*")):
        digest.update(source.name.encode() + source.read_bytes())
    return digest.digest()


def memory_header() -> str:
    """Return a C++ header with the mailbox, and the functions of a memory as in `MemoryModel`."""
    numbers = {"MAX_PORTS": MAX_PORTS, "READS": READ, "WRITES": WRITE, "FLUSHES": FLUSH}
    fields = {name: "".join(f"[{count}]" for count in Mailbox.dtype[name].shape) for name in Mailbox.dtype.names or ()}
    functions = [
        f"    {'int64_t' if each.returns else 'void'} (*{name})"
        f"({', '.join(['void* context', *(f'int64_t {argument}' for argument in each.arguments)])});"
        for name, each in FUNCTIONS.items()
    ]
    return header(
        [
            *constants(numbers),
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
        ],
        before=[
            "// Generated; see sim/memory/records.py for the meaning of the fields.",
            "#include <cstdint>",
        ],
    )
