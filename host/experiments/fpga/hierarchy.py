"""Hierarchical netlists for a Virtex-5 or Virtex-6: resources of modules, and the kinds of components of an AE."""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from cyscc.host.experiments.fpga.tools import ToolError
from cyscc.host.experiments.studies.paper import Amounts
from cyscc.hw.verilog import KERNEL_NAMES, SLICE_NAMES


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Amounts of an FPGA's resources, which can be added, and multiplied by a number of instances.

    Parameters
    ----------
    logic : int
        LUTs as logic: LUT1 to LUT6, and inverters, which take a LUT unless a later step absorbs them.
    memory : int
        LUTs as memory: LUT RAM and shift registers.
    route_through : int
        LUTs that only pass a signal into a carry chain; an upper bound.
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
        """LUTs in total."""
        return self.logic + self.memory + self.route_through

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def __mul__(self, count: int) -> "Resources":
        return Resources(**{f.name: getattr(self, f.name) * count for f in fields(self)})

    def amounts(self) -> Amounts:
        """Return the amounts that are compared with the paper and with a device."""
        return Amounts(luts=self.luts, registers=self.registers, block_ram=self.block_ram)

    def document(self) -> dict[str, int]:
        """Return the amounts as a dictionary for JSON, with ``luts`` first."""
        return {"luts": self.luts, **asdict(self)}


def _cells() -> dict[str, Resources]:
    """Return the resources of each type of cell: numbers by resource and cell, and the ``free`` cells, of the file."""
    amounts = tomllib.loads(Path(__file__).with_name("cells.toml").read_text(encoding="utf-8"))
    found = dict.fromkeys(amounts.pop("free"), Resources())
    return found | {kind: Resources(**{name: count}) for name, own in amounts.items() for kind, count in own.items()}


_CELLS = _cells()


def cell_resources(kind: str, *, module: str) -> Resources:
    """Return the resources of a cell.

    Parameters
    ----------
    kind : str
        Type of the cell, of the vendor's library.
    module : str
        The module that contains it, for the message.

    Raises
    ------
    ToolError
        The type is unknown; its cost is not ignored silently.
    """
    if kind not in _CELLS:
        raise ToolError(f"no resources are known for the cell {kind!r} in {module}")
    return _CELLS[kind]


@dataclass(frozen=True)
class Hierarchy:
    """Modules of a hierarchical netlist.

    Parameters
    ----------
    cells : dict of str to Resources
        Resources of each module's own cells, without its submodules.
    modules : dict of str to list of (str, str)
        Submodules of each module: name of the instance, name of the module. A module of another netlist may be named.
    """

    cells: dict[str, Resources]
    modules: dict[str, list[tuple[str, str]]]

    def __or__(self, other: "Hierarchy") -> "Hierarchy":
        """Return two netlists joined, of which one instantiates modules of the other."""
        return Hierarchy(self.cells | other.cells, self.modules | other.modules)

    def own(self, module: str) -> Resources:
        """Return the resources of a module without its submodules.

        Raises
        ------
        ToolError
            The module is missing.
        """
        if module not in self.cells:
            raise ToolError(f"the netlist has no module {module!r}")
        return self.cells[module]

    def total(self, module: str) -> Resources:
        """Return the resources of a module with all submodules.

        Raises
        ------
        ToolError
            The module or one below it is missing.
        """
        return sum((self.total(part) for _, part in self.modules.get(module, ())), start=self.own(module))


def _route_through(cells: Mapping[str, Any]) -> int:
    """Return the number of carry-chain inputs that need a LUT as a route-through.

    A chain's propagate inputs come from the LUTs of its slice. An input that is driven by anything but a LUT of the
    same module takes up such a LUT, unless the tools after synthesis do better.
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
        File written by Yosys' ``write_json`` after ``synth_xilinx``.
    elsewhere : collection of str
        Instantiated modules that are in other netlists.

    Raises
    ------
    ToolError
        The file is not such a netlist, or has a cell of unknown cost.
    """
    try:
        modules = json.loads(path.read_text())["modules"]
        # The file also contains the cell library.
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
    """A kind of component of an AE, and its resources.

    Parameters
    ----------
    name : str
        Its name.
    count : int
        Number of its instances in the AE.
    each : Resources
        Resources of one instance.
    parts : dict of str to Resources
        Resources of one instance's parts by name, and ``itself`` for the cells between them; empty without parts.
    queues : Resources
        Resources of the queues in one instance, at any depth.
    """

    name: str
    count: int
    each: Resources
    parts: dict[str, Resources]
    queues: Resources

    @property
    def resources(self) -> Resources:
        """Resources of all instances."""
        return self.each * self.count


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Resources of an AE by component.

    Parameters
    ----------
    components : tuple of Component
        The kinds of components, the largest first.
    total : Resources
        Their sum.
    """

    components: tuple[Component, ...]
    total: Resources


def queues(hierarchy: Hierarchy, module: str) -> Resources:
    """Return the resources of the queues below a module: the instances whose names end in ``fifo``."""
    total = Resources()
    for instance, part in hierarchy.modules[module]:
        total += hierarchy.total(part) if instance.endswith("fifo") else queues(hierarchy, part)
    return total


def parts(hierarchy: Hierarchy, module: str) -> dict[str, Resources]:
    """Return the resources of a module's parts by name, and last, those of the cells between them."""
    found = {instance: hierarchy.total(part) for instance, part in hierarchy.modules[module]}
    return {**found, "itself": hierarchy.own(module)} if found else {}


_OPENED = "switch"
"""Instance in an engine that is told by its parts, slices that are placed one by one."""

_NAMED = {*KERNEL_NAMES.values(), *SLICE_NAMES.values()}
"""Modules whose name is that of the component; other components have the name of their instances."""


def _instances(hierarchy: Hierarchy, top: str) -> Iterator[tuple[str, str]]:
    """Yield name and module of each instance in an engine that is a component."""
    for instance, wrapper in hierarchy.modules[top]:
        if instance == _OPENED:
            yield from _instances(hierarchy, wrapper)
        else:
            module = wrapper
            while hierarchy.own(module) == Resources() and len(hierarchy.modules[module]) == 1:
                [(_, module)] = hierarchy.modules[module]
            yield instance, module


def components(hierarchy: Hierarchy, top: str) -> tuple[Component, ...]:
    """Return the kinds of components of an engine, the largest first.

    Instances are of one kind if their names differ only in a final number and their resources are equal. The slices of
    a switch are components.

    Parameters
    ----------
    hierarchy : Hierarchy
        The engine with its kernels.
    top : str
        Module of the engine.
    """
    groups: dict[tuple[str, Resources], list[str]] = {}
    for instance, module in _instances(hierarchy, top):
        name = module if module in _NAMED else re.sub(r"\d+$", "", instance)
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
    opened = [module for instance, module in hierarchy.modules[top] if instance == _OPENED]
    between = sum((hierarchy.own(module) for module in opened), start=hierarchy.own(top))
    if between != Resources():
        found.append(Component(name="between them", count=1, each=between, parts={}, queues=Resources()))
    return tuple(sorted(found, key=lambda component: (-component.resources.luts, component.name)))
