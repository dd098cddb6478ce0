"""Resources of the cells of a synthesised netlist on a Virtex-5 or Virtex-6: by module, by kind of component."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from host.studies.fpga.tools import ToolError
from host.studies.paper import Amounts
from hw.verilog import KERNEL_NAMES

__all__ = [
    "Component",
    "Hierarchy",
    "Resources",
    "Usage",
    "cell_resources",
    "components",
    "parts",
    "queues",
    "read_hierarchy",
]


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Amounts of an FPGA's resources. They add up, and multiply by a number of instances.

    Parameters
    ----------
    logic : int
        LUTs that compute: LUT1 to LUT6, and inverters, which take a LUT unless a later step absorbs them.
    memory : int
        LUTs that store: LUT RAM and shift registers.
    route_through : int
        LUTs that only pass a signal into a carry chain. An upper bound.
    registers : int
        Flip-flops and latches.
    block_ram : int
        Block RAM in Kb (1024 bits): 36 per whole one, 18 per half.
    carries : int
        CARRY4 cells, of four bits each.
    dsps : int
        DSP blocks.
    """

    logic: int = 0
    memory: int = 0
    route_through: int = 0
    registers: int = 0
    block_ram: int = 0
    carries: int = 0
    dsps: int = 0

    @property
    def luts(self) -> int:
        """LUTs in all."""
        return self.logic + self.memory + self.route_through

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def __mul__(self, count: int) -> "Resources":
        return Resources(**{f.name: getattr(self, f.name) * count for f in fields(self)})

    def amounts(self) -> Amounts:
        """Return what is compared with the paper and with a device."""
        return Amounts(luts=self.luts, registers=self.registers, block_ram=self.block_ram)

    def document(self) -> dict[str, int]:
        """Return the amounts as a dictionary for JSON, with ``luts`` first."""
        return {"luts": self.luts, **asdict(self)}


_LUT_RAM = {
    # Each port of a two-port RAM has its own copy; the four-port ones are four LUTs wide by name.
    "RAM16X1S": 1,
    "RAM16X1D": 2,
    "RAM32X1S": 1,
    "RAM32X1D": 2,
    "RAM32M": 4,
    "RAM64X1S": 1,
    "RAM64X1D": 2,
    "RAM64M": 4,
    "RAM128X1S": 2,
    "RAM128X1D": 4,
    "RAM256X1S": 4,
    "SRL16": 1,
    "SRL16E": 1,
    "SRLC16E": 1,
    "SRLC32E": 1,
}
_FREE = ("$scopeinfo", "BUFG", "GND", "MUXF7", "MUXF8", "VCC")

_CELLS: dict[str, Resources] = {
    **{f"LUT{inputs}": Resources(logic=1) for inputs in range(1, 7)},
    # Two functions of the same five inputs in one LUT.
    "LUT6_2": Resources(logic=1),
    "INV": Resources(logic=1),
    **{name: Resources(memory=luts) for name, luts in _LUT_RAM.items()},
    **{f"FD{kind}{edge}": Resources(registers=1) for kind in ("RE", "SE", "CE", "PE") for edge in ("", "_1")},
    **dict.fromkeys(("LDCE", "LDPE"), Resources(registers=1)),
    **dict.fromkeys(("RAMB18", "RAMB18SDP", "RAMB18E1"), Resources(block_ram=18)),
    **dict.fromkeys(("RAMB36", "RAMB36SDP", "RAMB36E1"), Resources(block_ram=36)),
    "CARRY4": Resources(carries=1),
    **dict.fromkeys(("DSP48E", "DSP48E1"), Resources(dsps=1)),
    **dict.fromkeys(_FREE, Resources()),
}


def cell_resources(kind: str, *, module: str) -> Resources:
    """Return what a cell takes.

    Parameters
    ----------
    kind : str
        Type of the cell, of the vendor's library.
    module : str
        Where it stands, for the message.

    Raises
    ------
    ToolError
        The type is unknown: nothing is left out in silence.
    """
    if kind not in _CELLS:
        raise ToolError(f"no resources are known for the cell {kind!r} in {module}")
    return _CELLS[kind]


class Hierarchy:
    """Modules of a netlist that kept its hierarchy.

    Parameters
    ----------
    own : mapping of str to Resources
        What the cells of each module take, without those of its submodules.
    children : mapping of str to list of (str, str)
        Submodules of each module: name of the instance, name of the module. A module of another netlist may be named.
    """

    def __init__(self, own: Mapping[str, Resources], children: Mapping[str, list[tuple[str, str]]]) -> None:
        self._own = dict(own)
        self._children = {name: list(parts) for name, parts in children.items()}
        self._totals: dict[str, Resources] = {}

    def __or__(self, other: "Hierarchy") -> "Hierarchy":
        """Join netlists of which one instantiates modules of the other."""
        return Hierarchy(self._own | other._own, self._children | other._children)

    def document(self) -> dict[str, Any]:
        """Return modules and submodules, JSON-able."""
        own = {name: resources.document() for name, resources in self._own.items()}
        return {"own": own, "children": self._children}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Hierarchy":
        """Return the hierarchy that `document` returned."""
        own = msgspec.convert(document["own"], dict[str, Resources])
        return cls(own, msgspec.convert(document["children"], dict[str, list[tuple[str, str]]]))

    def _find(self, module: str) -> None:
        if module not in self._own:
            raise ToolError(f"the netlist has no module {module!r}")

    def own(self, module: str) -> Resources:
        """Return what a module takes without its submodules."""
        self._find(module)
        return self._own[module]

    def children(self, module: str) -> list[tuple[str, str]]:
        """Return instance and module names of a module's submodules, in the order of the instances."""
        self._find(module)
        return self._children[module]

    def total(self, module: str) -> Resources:
        """Return what a module takes with everything below it.

        Raises
        ------
        ToolError
            It or a module below it is not there.
        """
        if module not in self._totals:
            total = self.own(module)
            for _, part in self.children(module):
                total += self.total(part)
            self._totals[module] = total
        return self._totals[module]


def _route_through(cells: Mapping[str, Any]) -> int:
    """Return how many inputs of carry chains need a LUT that only passes a signal.

    A chain's propagate inputs come from the LUTs beside it. One that is driven by anything but a LUT of the same module
    takes such a LUT, unless the tools after synthesis do better.
    """
    computed = {
        bit
        for cell in cells.values()
        if cell["type"].startswith("LUT") or cell["type"] == "INV"
        for bit in cell["connections"].get("O", [])
    }
    return sum(
        not isinstance(bit, str) and bit not in computed  # a constant is written as a string
        for cell in cells.values()
        if cell["type"] == "CARRY4"
        for bit in cell["connections"]["S"]
    )


def read_hierarchy(path: Path, *, elsewhere: Collection[str] = ()) -> Hierarchy:
    """Return the hierarchy of a netlist for a Virtex-5 or Virtex-6.

    Parameters
    ----------
    path : Path
        What Yosys' ``write_json`` wrote after ``synth_xilinx``.
    elsewhere : collection of str
        Modules that it instantiates and that other netlists have.

    Raises
    ------
    ToolError
        The file is not such a netlist, or has a cell of unknown cost.
    """
    try:
        modules = json.loads(path.read_text())["modules"]
        # The library of cells is in the file, too.
        inside = {
            name: module["cells"]
            for name, module in modules.items()
            if not {"blackbox", "whitebox"} & module["attributes"].keys()
        }
        known = {*inside, *elsewhere}
        own: dict[str, Resources] = {}
        children: dict[str, list[tuple[str, str]]] = {}
        for name, cells in inside.items():
            resources = Resources(route_through=_route_through(cells))
            parts = []
            for instance, cell in cells.items():
                if cell["type"] in known:
                    parts.append((instance, cell["type"]))
                else:
                    resources += cell_resources(cell["type"], module=name)
            own[name] = resources
            children[name] = sorted(parts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"{path.name}: not a netlist of yosys: {type(error).__name__}: {error}") from None
    return Hierarchy(own, children)


@dataclass(frozen=True, kw_only=True)
class Component:
    """A kind of component of an AE.

    Parameters
    ----------
    name : str
        Its name.
    count : int
        How many the AE has.
    each : Resources
        What one takes.
    parts : dict of str to Resources
        What one consists of, by names of instances, and ``itself`` for the cells between; empty if it has no parts.
    queues : Resources
        What the queues in one take, wherever they are.
    """

    name: str
    count: int
    each: Resources
    parts: dict[str, Resources]
    queues: Resources

    @property
    def resources(self) -> Resources:
        """Resources of all of them."""
        return self.each * self.count


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Resources of an AE.

    Parameters
    ----------
    components : tuple of Component
        Its kinds of components, the largest first.
    total : Resources
        Their sum.
    """

    components: tuple[Component, ...]
    total: Resources


def queues(hierarchy: Hierarchy, module: str) -> Resources:
    """Return what the queues below a module take: the instances whose names end in ``fifo``."""
    total = Resources()
    for instance, part in hierarchy.children(module):
        total += hierarchy.total(part) if instance.endswith("fifo") else queues(hierarchy, part)
    return total


def parts(hierarchy: Hierarchy, module: str) -> dict[str, Resources]:
    """Return what a module consists of, in the order of names, then the cells between."""
    found = {instance: hierarchy.total(part) for instance, part in hierarchy.children(module)}
    return {**found, "itself": hierarchy.own(module)} if found else {}


def _unwrapped(hierarchy: Hierarchy, module: str) -> str:
    """Return the module inside one that only connects it."""
    while hierarchy.own(module) == Resources() and len(hierarchy.children(module)) == 1:
        [(_, module)] = hierarchy.children(module)
    return module


def components(hierarchy: Hierarchy, top: str) -> tuple[Component, ...]:
    """Return the kinds of components of an engine, the largest first.

    Instances whose names differ in a final number alone are of one kind if they also take the same.

    Parameters
    ----------
    hierarchy : Hierarchy
        Engine and kernels.
    top : str
        Module of the engine.
    """
    groups: dict[tuple[str, Resources], list[str]] = {}
    for instance, wrapper in hierarchy.children(top):
        module = _unwrapped(hierarchy, wrapper)
        name = module if module in KERNEL_NAMES.values() else re.sub(r"\d+$", "", instance)
        groups.setdefault((name, hierarchy.total(module)), []).append(module)
    found = [
        Component(
            name=name,
            count=len(modules),
            each=each,
            parts=parts(hierarchy, modules[0]),
            queues=queues(hierarchy, modules[0]),
        )
        for (name, each), modules in groups.items()
    ]
    if hierarchy.own(top) != Resources():
        found.append(Component(name="between them", count=1, each=hierarchy.own(top), parts={}, queues=Resources()))
    return tuple(sorted(found, key=lambda component: (-component.resources.luts, component.name)))
