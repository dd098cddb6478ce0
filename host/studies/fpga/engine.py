"""Synthesis of an Application Engine for a Virtex-5 or Virtex-6, each kind of component once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from host.studies.fpga.cells import Resources
from host.studies.fpga.hierarchy import Hierarchy, read_hierarchy
from host.studies.fpga.options import progress
from host.studies.fpga.tools import run_yosys
from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog

__all__ = ["Component", "Part", "Synthesiser", "Usage", "components", "parts", "queues", "synthesise"]

_ENGINE = "application_engine"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a component.

    Parameters
    ----------
    name : str
        Name of the instance; ``itself`` for the cells between the parts.
    resources : Resources
        What it takes.
    """

    name: str
    resources: Resources


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
    parts : tuple of Part
        What one consists of; empty if it has no parts.
    queues : Resources
        What the queues in one take, wherever they are.
    """

    name: str
    count: int
    each: Resources
    parts: tuple[Part, ...]
    queues: Resources

    @property
    def resources(self) -> Resources:
        """What all of them take."""
        return self.each * self.count


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What an AE takes.

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


def parts(hierarchy: Hierarchy, module: str) -> tuple[Part, ...]:
    """Return what a module consists of, in the order of names, then the cells between."""
    found = [Part(name=instance, resources=hierarchy.total(part)) for instance, part in hierarchy.children(module)]
    if not found:
        return ()
    return (*found, Part(name="itself", resources=hierarchy.own(module)))


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
        found.append(Component(name="between them", count=1, each=hierarchy.own(top), parts=(), queues=Resources()))
    return tuple(sorted(found, key=lambda component: (-component.resources.luts, component.name)))


def synthesise(
    top: str, text: str, *, family: str, folder: Path, name: str, boxes: Mapping[str, str] | None = None
) -> Hierarchy:
    """Synthesise a module, its hierarchy kept.

    Nothing is shared or simplified across the borders of its modules, which costs a few LUTs that a flattened netlist
    would not have, and tells what each part takes.

    Parameters
    ----------
    top : str
        The module.
    text : str
        Its Verilog, with that of its submodules.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        For Verilog, netlist and log.
    name : str
        Name of those files.
    boxes : mapping of str to str, optional
        Modules that it instantiates and that are synthesised elsewhere: name and Verilog.

    Raises
    ------
    ToolError
        Yosys is missing or failed, or wrote what is not understood.
    """
    boxes = boxes or {}
    (folder / f"{name}.v").write_text(text)
    script = []
    for box, verilog in boxes.items():
        (folder / f"{name}.{box}.v").write_text(verilog)
        script += [f"read_verilog {name}.{box}.v", f"blackbox {box}"]
    script += [
        f"read_verilog {name}.v",
        f"synth_xilinx -family {family} -noiopad -noclkbuf -top {top}",
        f"write_json {name}.json",
    ]
    run_yosys("\n".join([*script, ""]), folder=folder, log=name)
    return read_hierarchy(folder / f"{name}.json", elsewhere=boxes)


class Synthesiser:
    """Synthesises engines, and what several of them have in common once.

    Parameters
    ----------
    folder : Path
        For Verilog, netlists and logs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._done: dict[tuple[str, str, str], Hierarchy] = {}

    def _once(self, top: str, text: str, *, family: str, boxes: Mapping[str, str] | None = None) -> Hierarchy:
        key = (top, family, text)
        if key not in self._done:
            progress(f"synthesising {top} for {family}")
            number = 1 + sum(done[:2] == key[:2] for done in self._done)
            name = f"{top}.{family}.{number}"
            self._done[key] = synthesise(top, text, family=family, folder=self._folder, name=name, boxes=boxes)
        return self._done[key]

    def usage(self, config: AcceleratorConfig, *, family: str) -> Usage:
        """Return what an AE takes.

        Parameters
        ----------
        config : AcceleratorConfig
            The machine whose AE it is.
        family : str
            ``xc5v`` or ``xc6v``.

        Raises
        ------
        ToolError
            As `synthesise`.
        """
        texts = {name: kernel_verilog(kind, config) for kind, name in KERNEL_NAMES.items()}
        hierarchy = self._once(_ENGINE, application_engine_verilog(config), family=family, boxes=texts)
        for name, text in texts.items():
            hierarchy |= self._once(name, text, family=family)
        return Usage(components=components(hierarchy, _ENGINE), total=hierarchy.total(_ENGINE))
