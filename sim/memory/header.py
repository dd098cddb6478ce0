"""What C++ needs to know of the memory, generated from the records and functions that Python declares."""

from sim.memory.functions import FUNCTIONS
from sim.memory.records import FLUSH, MAX_PORTS, READ, WRITE, Mailbox

__all__ = ["memory_header"]


def memory_header() -> str:
    """Return a C++ header with the mailbox, and the functions of a memory as in `sim.memory.functions.MemoryModel`."""
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
            "};",
            "}  // namespace cyscc",
            "",
        ]
    )
