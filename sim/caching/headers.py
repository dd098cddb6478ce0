"""Text of generated C++ headers."""

from collections.abc import Iterable, Mapping


def header(parts: Iterable[str], *, namespace: str = "cyscc", before: Iterable[str] = ()) -> str:
    """Return a header.

    Parameters
    ----------
    parts : iterable of str
        Its declarations in a namespace.
    namespace : str
        The namespace.
    before : iterable of str
        Lines before that: comments, includes, macros.
    """
    lines = ["#pragma once", *before, f"namespace {namespace} {{", *parts, f"}}  // namespace {namespace}"]
    return "\n".join(lines) + "\n"


def constants(numbers: Mapping[str, int], *, kind: str = "int") -> list[str]:
    """Return the definitions of constants of a type, given their names in Python."""
    return [f"inline constexpr {kind} {constant_name(name)} = {value};" for name, value in numbers.items()]


def constant_name(name: str) -> str:
    """Return the name in C++ of a constant in Python."""
    return "k" + "".join(map(str.capitalize, name.lower().split("_")))
