"""The modules of a synthesised netlist, what each takes by itself, and with everything below it."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from host.studies.fpga_tools import ToolError
from host.studies.synthesis.cells import Resources, cell_resources

__all__ = ["Hierarchy", "read_hierarchy"]


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
