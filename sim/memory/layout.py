"""The layout of the memory's records as C++, generated from their declarations in Python."""

import sys
from collections.abc import Callable
from enum import IntEnum
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.caching.headers import constants, header
from cyscc.sim.memory import recording, records
from cyscc.sim.memory.profiles.profile import INHERITED, OUTSIDE, RULES, rules_of
from cyscc.sim.memory.records import ErrorCode, Kept, context_of
from cyscc.sim.memory.structures import LINE_WORDS, Bytes, Halves, Words, element_of, is_link

_CONSTANTS = (
    *("BASE_ADDRESS", "NEVER", "LATEST", "READ", "WRITE", "FLUSH", "BATCHES", "NEAR", "FLUSH_DEPTH"),
    *("HISTOGRAM_BINS", "MAX_PORTS", "MAX_ENGINES", "MAX_PARTS"),
)
_OF_RECORDING = ("KINDS", "KIND_WORDS", "ENGINE_WORDS", "ACCESSES", "REQUESTS", "SEVERAL")
_NAMESPACE = "cyscc::memory"

_ELEMENTS = {int: "int64_t", Words: "int64_t", Halves: "uint32_t", Bytes: "const uint8_t"}
"""Numbers in C++."""


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
    side, service, context = context_of(profile)  # type: ignore[arg-type]
    structs: dict[type[Any], str] = {}
    names = {profile: "Parameters"}
    _declare(context, structs, names)
    own, shared = (_declare(state, structs, names) for state in (side.members["own"], service.members["shared"]))
    numbers = {name: getattr(records, name) for name in _CONSTANTS}
    numbers |= {name: getattr(recording, name) for name in _OF_RECORDING}
    numbers |= {"LINE_WORDS": LINE_WORDS, "ENGINES": engines, "PORTS": ports, "ROW": records.in_lines(ports)}
    return header(
        [
            *constants(numbers, kind="int64_t"),
            _enumeration(ErrorCode, "Code"),
            _enumeration(ArrayKind, "Array"),
            _enumeration(Kept, "Kept"),
            *structs.values(),
            *(f"using {role} = {name};" for role, name in (("Own", own), ("Shared", shared)) if role != name),
        ],
        namespace=_NAMESPACE,
        before=[
            "// Generated from the declarations in sim/memory; see there for the meaning of the fields.",
            "#include <cstddef>",
            "#include <cstdint>",
        ],
    )


def rules_header(profile: type[Any]) -> str:
    """Return the C++ header with the rules of a profile, `Rules`; those of a user's call Python's by address."""
    inherited = next(kind for kind in profile.__mro__ if not kind.__module__.startswith(OUTSIDE))
    include = f'#include "profiles/{inherited.__module__.rpartition(".")[2]}.h"'
    name, more = inherited.__name__, []
    if profile.header:
        name = profile.__name__
        own = Path(str(sys.modules[profile.__module__].__file__)).with_name(profile.header)
        more = [f'#line 1 "{own}"', own.read_text(), '#line 1 "rules.h"']
    outside = str(profile.__module__.startswith(OUTSIDE)).lower()
    rules = [_rule(rule, function, profile) for rule, function in rules_of(profile).items()]
    return header(
        [
            f"struct Rules : {name}<Rules> {{",
            f"    using Inherited = {name}<Rules>;",
            f"    static constexpr bool kOutside = {outside};",
            *rules,
            "};",
        ],
        namespace=_NAMESPACE,
        before=[include, *more],
    )


_RETURNED = {"nothing": "void", "an integer": "int64_t", "whether": "int64_t", "two masks, integers": "Stalled"}
"""The type that a rule returns in C++. Python's pairs of numbers are passed as structs of two are, in registers."""


def _rule(name: str, function: Callable[..., Any], profile: type[Any]) -> str:
    """Return the C++ of a rule that calls Python's."""
    rule = RULES[name]
    requested = rule.numbers[-2:] == ("cycle", "time")
    numbers = [each for each in rule.numbers if not (rule.state == "own" and each == "ae")]
    words = {each: each for each in numbers} | {"self": "&p"}
    taken, given = ["const Parameters& p"], ["p"]
    if rule.state:
        variable = "side" if rule.state == "own" else "shared"
        taken.append(f"{variable.capitalize()}& {variable}")
        given.append(variable)
        words |= {"own": "&side.own", "ae": "side.number"} if rule.state == "own" else {"shared": "&shared"}
    for number in numbers[: -2 if requested else None]:
        taken.append(f"int64_t {number}")
        given.append(number)
    if requested:
        taken.append("const Request& request")
        given.append("request")
        words |= {"cycle": "cycle_of(request)", "time": "request.time"}
    kind = _RETURNED[rule.answer]
    inherited = f"Inherited::{name}({', '.join(given)})"
    words[INHERITED] = f"{kind}({inherited})"
    passed = [f"p.rules[{list(RULES).index(name)}]", *(words[each] for each in signature(function).parameters)]
    lines = [f"    static {kind} {name}({', '.join(taken)}) {{"]
    if rule.answer == "nothing":
        lines.append(f"        {inherited};")
    lines += [f"        return call<{kind}>({', '.join(passed)});", "    }"]
    return "\n".join(lines)


def _declare(record: type[Any], structs: dict[type[Any], str], names: dict[type[Any], str]) -> str:
    """Add the struct of a record after those that it uses; return its name."""
    name = names.get(record, record.__name__)
    if record in structs:
        return name
    lines, checks, place, pads = [], [], 0, 0
    for field, (format_, offset) in (record.dtype.fields or {}).items():
        if offset > place:
            lines.append(f"    int64_t unused{pads}[{(offset - place) // 8}];")
            pads += 1
        lines.append(f"    {_member(field, record.members[field], format_, structs, names)};")
        # A record without fields has a size of 0 in Python, and no address in any other record.
        if format_.itemsize:
            checks.append(f"static_assert(offsetof({name}, {field}) == {offset});")
        place = offset + format_.itemsize
    if (size := record.dtype.itemsize) > place:
        lines.append(f"    int64_t unused{pads}[{(size - place) // 8}];")
    if size:
        checks.append(f"static_assert(sizeof({name}) == {size});")
    structs[record] = "\n".join([f"struct {name} {{", *lines, "};", *checks])
    return name


def _member(
    field: str, kind: Any, format_: np.dtype[Any], structs: dict[type[Any], str], names: dict[type[Any], str]
) -> str:
    """Return a field as C++."""
    element = element_of(kind)
    type_ = _ELEMENTS.get(element) or _declare(element, structs, names)
    if is_link(kind):
        return f"{type_}* {field}"
    if not format_.itemsize:
        return f"[[no_unique_address]] {type_} {field}"
    return f"{type_} {field}" + "".join(f"[{count}]" for count in format_.shape)


def _enumeration(kind: type[IntEnum], prefix: str) -> str:
    members = ", ".join(f"{member.name} = {member.value}" for member in kind)
    return f"namespace {prefix} {{ enum : int64_t {{ {members} }}; }}"
