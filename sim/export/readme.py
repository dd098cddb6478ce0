"""README of an export: its files and its ports."""

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import NamedTuple

from hw.axi import AxiLimits
from hw.axi.registers import ControlRegister, engine_register
from hw.config import AcceleratorConfig
from hw.registers import Instruction, Register
from sim.export.meanings import meaning

__all__ = ["Port", "readme"]


class Port(NamedTuple):
    """A port of an exported top: name, direction (``input`` or ``output``), width in bits."""

    name: str
    direction: str
    width: int


_ABOUT = {
    "ae": """\
One Application Engine with its native ports: ready/valid streams. A stream's transfer happens in each cycle in which
`valid` and `ready` are high; a payload stays as it is while it waits; what has no `ready` is always taken.""",
    "convey": """\
One Application Engine as a personality of the Convey HC-2. The ports have the names and the meaning of the vendor's
`cae_pers`, behind the vendor's instruction decoder (`instdec`), which is not included.""",
    "axi": """\
One Application Engine with an AXI4 master for each memory port, and an AXI4-Lite slave for its registers: AEG register
r at byte addresses 8 r (low half) and 8 r + 4 (high half), the slave's own from 0x4000 on.""",
}


def _registers(top: str) -> list[str]:
    """Return the tables of registers and instructions."""
    axi = top == "axi"
    lines = [
        "## Registers",
        "",
        "docs/register-map.md of the project says what they mean.",
        "",
        "| AEG register | name |" + (" address of its low half |" if axi else ""),
        "|---|---|" + ("---|" if axi else ""),
    ]
    for register in Register:
        lines.append(
            f"| {register.value} | `{register.name}` |" + (f" {engine_register(register):#x} |" if axi else "")
        )
    if axi:
        lines += ["", "| address | register of the slave |", "|---|---|"]
        lines += [f"| {register.value:#x} | `{register.name}` |" for register in ControlRegister]
    lines += ["", "| instruction | name |", "|---|---|"]
    return [*lines, *(f"| {instruction.value} | `{instruction.name}` |" for instruction in Instruction), ""]


def _number(text: str) -> str:
    return re.sub(r"(?<=^m)\d\d(?=_axi_)|(?<=^mc)\d(?=_)|(?<=^port_)\d+(?=_)", "<n>", text)


def readme(
    top: str, *, config: AcceleratorConfig, limits: AxiLimits, files: Iterable[str], ports: Iterable[Port]
) -> str:
    """Return the text of the README, Markdown.

    Parameters
    ----------
    top : str
        Kind of top.
    config : AcceleratorConfig
        The machine.
    limits : AxiLimits
        Limits of the AXI masters.
    files : iterable of str
        Verilog files, in an order in which they can be read; the last is the top's.
    ports : iterable of Port
        The top's ports.

    Raises
    ------
    KeyError
        A port has no meaning.
    """
    listed = list(files)
    module = listed[-1].removesuffix(".v")
    rows: dict[str, tuple[str, int, str]] = {}
    for port in ports:
        rows.setdefault(_number(port.name), (port.direction, port.width, meaning(top, port.name)))
    settings = {field.name: getattr(config, field.name) for field in fields(config)}
    if top == "axi":
        settings |= {field.name: getattr(limits, field.name) for field in fields(limits)}
    return "\n".join(
        [
            f"# {module}",
            "",
            _ABOUT[top],
            "",
            f"Generated; top module `{module}`. `files.f` lists the sources in an order in which they can be read:",
            "",
            *(f"- `{name}`" for name in listed),
            "",
            "## Ports",
            "",
            f"`<n>` stands for the number of a memory port, 0 to {config.ports - 1}"
            + (", two for each memory controller: even and odd." if top == "convey" else "."),
            "",
            "| port | direction | bits | meaning |",
            "|---|---|---|---|",
            *(f"| `{name}` | {direction} | {width} | {text} |" for name, (direction, width, text) in rows.items()),
            "",
            *_registers(top),
            "## Configuration",
            "",
            "| setting | value |",
            "|---|---|",
            *(f"| `{name}` | {str(value).lower()} |" for name, value in settings.items()),
            "",
        ]
    )
