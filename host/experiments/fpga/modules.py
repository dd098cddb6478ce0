"""Modules in the text of the exported Verilog: their ports, empty ones for black boxes, equal ones merged."""

import re

_MODULE = re.compile(r"(?:^\(\* [^\n]* \*\)\n)*^module (\S+) ?\((.*?)\);\n(.*?)^endmodule\n", re.DOTALL | re.MULTILINE)
"""A module with its attributes: its name, the names of its ports, and its body, which declares the ports."""

_INSTANTIATED = re.compile(r"(?<=^  )\S+(?= +\S+ +\($)", re.MULTILINE)
"""The name of a module at an instance of it."""

_PORT = re.compile(r"^ *(input|output) +(?:wire +)?(?:\[(\d+):0\] +)?(\w+) *;", re.MULTILINE)


def ports_of(text: str, module: str) -> list[tuple[str, int, str]]:
    """Return direction, number of bits and name of each port of a module; none if there is no such module."""
    bodies = {name: body for name, _, body in _MODULE.findall(text)}
    return [(direction, int(last or 0) + 1, name) for direction, last, name in _PORT.findall(bodies.get(module, ""))]


def stub(text: str, module: str) -> str:
    """Return a black box with the ports of a module."""
    ports = ports_of(text, module)
    lines = [f"(* blackbox *) module {module}({', '.join(name for *_, name in ports)});"]
    lines += [f"  {direction} [{bits - 1}:0] {name};" for direction, bits, name in ports]
    return "\n".join([*lines, "endmodule", ""])


def merged(text: str) -> str:
    """Return Verilog in which modules that differ only in name and order of ports are one; the first of them stays.

    Instances keep their names, and so the hierarchy of instances stays the same. Connections are by name.
    """
    first: dict[str, str] = {}
    names = {name: first.setdefault(body, name) for name, _, body in _MODULE.findall(text)}
    if all(name == kept for name, kept in names.items()):
        return text
    text = _MODULE.sub(lambda module: module[0] if names[module[1]] == module[1] else "", text)
    # Modules that instantiate them may be equal now.
    return merged(_INSTANTIATED.sub(lambda instance: names.get(instance[0], instance[0]), text))
