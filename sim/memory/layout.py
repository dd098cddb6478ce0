"""The layout of the memory's records as C++, generated from their declarations in Python."""

from enum import IntEnum
from typing import Any

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.memory import records
from cyscc.sim.memory.records import ErrorCode, context_of
from cyscc.sim.memory.recording import CONSTANTS as RECORDING
from cyscc.sim.memory.structures import BYTES, LINE_WORDS, WORDS, Address

_CONSTANTS = (
    *("BASE_ADDRESS", "NEVER", "LATEST", "READ", "WRITE", "FLUSH", "BATCHES", "NEAR", "FLUSH_DEPTH"),
    *("HISTOGRAM_BINS", "MAX_PORTS", "MAX_ENGINES", "MAX_PARTS"),
)


def layout_header(profile: type[Any], *, engines: int, ports: int) -> str:
    """Return the C++ header with the records of a memory under a profile, and their constants.

    Each record is a struct of 64-bit words, a link a pointer, and an embedded array an array. The profile's parameters
    are `Parameters`, its states `Own` and `Shared`.

    Parameters
    ----------
    profile : type of Profile
        The profile's class.
    engines, ports : int
        Application Engines, and memory ports of each.
    """
    _, _, context = context_of(profile)
    structs: dict[str, str] = {}
    names = {profile.address.name: "Parameters"}
    _declare(context.address, structs, names)
    own, shared = (_declare(kind.address, structs, names) for kind in (profile.Own, profile.Shared))
    numbers = {name: getattr(records, name) for name in _CONSTANTS} | {"LINE_WORDS": LINE_WORDS} | RECORDING
    numbers |= {"ENGINES": engines, "PORTS": ports, "ROW": records.in_lines(ports)}
    return "\n".join(
        [
            "// Generated from the declarations in sim/memory; see there for the meaning of the fields.",
            "#pragma once",
            "#include <cstddef>",
            "#include <cstdint>",
            "namespace cyscc::memory {",
            *(f"inline constexpr int64_t {_constant(name)} = {value};" for name, value in numbers.items()),
            _enumeration(ErrorCode, "Code"),
            _enumeration(ArrayKind, "Array"),
            *structs.values(),
            *(f"using {role} = {name};" for role, name in (("Own", own), ("Shared", shared)) if role != name),
            "}  // namespace cyscc::memory",
            "",
        ]
    )


def _declare(record: Address, structs: dict[str, str], names: dict[str, str]) -> str:
    """Add the struct of a record after those that it uses; return its name."""
    name = names.get(record.name, record.name.rpartition(".")[2])
    if record.name in structs:
        return name
    lines, place, pads = [], 0, 0
    for field, (offset, kind, access) in record.fields.items():
        if offset > place:
            lines.append(f"    int64_t unused{pads}[{(offset - place) // 8}];")
            pads += 1
        text, size = _member(field, kind, access, record, structs, names)
        lines.append(f"    {text};")
        place = offset + size
    if record.size > place:
        lines.append(f"    int64_t unused{pads}[{(record.size - place) // 8}];")
    # A record without fields has a size of 0 in Python, and no address in any other record.
    checks = [f"static_assert(sizeof({name}) == {record.size});"] if record.size else []
    for field, (offset, kind, _) in record.fields.items():
        if isinstance(kind, Address) and not kind.size:
            continue
        checks.append(f"static_assert(offsetof({name}, {field}) == {offset});")
    structs[record.name] = "\n".join([f"struct {name} {{", *lines, "};", *checks])
    return name


def _member(
    field: str, kind: Any, access: str, record: Address, structs: dict[str, str], names: dict[str, str]
) -> tuple[str, int]:
    """Return a field as C++, and its size in bytes."""
    if not isinstance(kind, Address):
        return f"int64_t {field}", 8
    if kind is WORDS or kind is BYTES:
        element, size = ("int64_t" if kind is WORDS else "const uint8_t"), 8
    else:
        of = kind.element if isinstance(kind.element, Address) else kind
        element, size = _declare(of, structs, names), of.size
    if access != "inside":
        return f"{element}* {field}", 8
    if kind.element is None:
        return (f"{element} {field}", size) if size else (f"[[no_unique_address]] {element} {field}", 0)
    count = record.counts[field]
    return f"{element} {field}[{count}]", count * size


def _enumeration(kind: type[IntEnum], prefix: str) -> str:
    members = ", ".join(f"{member.name} = {member.value}" for member in kind)
    return f"namespace {prefix} {{ enum : int64_t {{ {members} }}; }}"


def _constant(name: str) -> str:
    return "k" + "".join(map(str.capitalize, name.lower().split("_")))
