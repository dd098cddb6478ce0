"""The hardware as RTLIL in which every component is one module, used wherever the machine has it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, ClockSignal, Elaboratable, Fragment, Instance
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from cyscc.hw.accelerator import Accelerator
from cyscc.hw.config import PRESETS
from cyscc.hw.verilog import port_names
from tests.alone.parts import component_of, file_of, optional_kernels
from tests.system.pinned import watched_accelerator

ALL = "all"
"""The module that has all machines in it, and the kernels that are in no machine."""

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class MachineModules:
    """The modules of a machine.

    Parameters
    ----------
    top : str
        The module of the whole machine.
    inside : frozenset of str
        It, and all that it has in it.
    """

    top: str
    inside: frozenset[str]


@dataclass
class Design:
    """Modules of RTLIL.

    Parameters
    ----------
    top : str
        The module that has all others in it.
    texts : dict of str to str
        The modules by name, each after those that it instantiates.
    files : dict of str to str
        By module, the file of the hardware that describes it: ``bfs/visitor``.
    components : dict of str to wiring.Component
        By module, a component that was turned into it.
    machines : dict of str to MachineModules
        The machines by their presets.
    """

    top: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    components: dict[str, Any] = field(default_factory=dict)
    machines: dict[str, MachineModules] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All modules."""
        return "\n".join(self.texts.values())

    def modules_of(self, file: str) -> list[str]:
        """Return the modules that a file describes, one for each set of its parameters."""
        return [module for module, other in self.files.items() if other == file]


class _Opened(Elaboratable):
    """A component that has been elaborated already."""

    def __init__(self, fragment: Fragment) -> None:
        self._fragment = fragment

    def elaborate(self, platform: object) -> Elaboratable:
        """Return the elaborated module."""
        return self._fragment


def _ports(component: Any) -> dict[str, Any]:
    """Return the ports of a component, and its other outputs."""
    seen = {"seen": (component.seen, PortDirection.Output)} if hasattr(component, "seen") else {}
    return {**port_names(component), **seen}


def _without_paths(text: str) -> str:
    """Return RTLIL whose source locations are relative: to the repository, or to where packages are installed."""
    # The package has links to the folders of sources.
    text = text.replace(f'"{_ROOT}/cyscc/', f'"{_ROOT}/').replace(f'"{_ROOT}/', '"')
    return re.sub(r'"[^"\n]*/site-packages/', '"', text)


class _Builder:
    """Makes a module of each component, from the innermost ones on."""

    def __init__(self) -> None:
        self.design = Design()
        self._names: dict[str, str] = {}
        self._inside: dict[str, frozenset[str]] = {}

    def add(self, fragment: Fragment, ports: dict[str, Any] | None = None) -> str:
        """Add a component with all that is in it; return the name of its module."""
        component = component_of(fragment)
        assert component is not None
        inside = self._replace_components(fragment)
        fragment.add_domains(domain := ClockDomain("sync", reset_less=True))
        clock = {"clk": (domain.clk, PortDirection.Input)}
        text = rtlil.convert(_Opened(fragment), name="self", ports={**(ports or _ports(component)), **clock})
        text = _without_paths(text)
        if text not in self._names:
            file = file_of(component)
            same = len(self.design.modules_of(file))
            name = file.replace("/", "_") + (f"_{same}" if same else "")
            self._names[text] = name
            self._inside[name] = inside | {name}
            self.design.files[name] = file
            self.design.components[name] = component
            self.design.texts[name] = re.sub(r"\\self\b", rf"\\{name}", text)
        return self._names[text]

    def add_machine(self, preset: str) -> str:
        """Add the whole machine of a preset, with what only simulation needs; return the name of its module."""
        accelerator = watched_accelerator(PRESETS[preset])
        ports = {**port_names(accelerator), **dict(_engine_ports(accelerator))}
        top = self.add(Fragment.get(accelerator, None), ports)
        self.design.machines[preset] = MachineModules(top, self._inside[top])
        return top

    def _replace_components(self, fragment: Fragment) -> frozenset[str]:
        """Replace each component by an instance of a module, also in parts of the library; return all of them."""
        found: frozenset[str] = frozenset()
        for number, (inner, name, location) in enumerate(fragment.subfragments):
            component = component_of(inner)
            if component is None:
                found |= self._replace_components(inner)
                continue
            kinds = {PortDirection.Input: "i", PortDirection.Output: "o"}
            pins = [(kinds[way], port, signal) for port, (signal, way) in _ports(component).items()]
            module = self.add(inner)
            instance = Instance(module, ("i", "clk", ClockSignal()), *pins, src_loc=inner.src_loc)
            fragment.subfragments[number] = (instance, name, location)
            found |= self._inside[module]
        return found


def _engine_ports(accelerator: Accelerator) -> Iterator[tuple[str, Any]]:
    """Yield the ports of the AEs that are the machine's boundary, named as in exported Verilog."""
    for number, engine in enumerate(accelerator.engines):
        for name, port in _ports(engine).items():
            if not name.startswith(("engine", "link_in", "link_out")):
                yield f"e{number}_{name}", port


def component_design(component: wiring.Component) -> Design:
    """Return a component as a design of its own.

    Parameters
    ----------
    component : wiring.Component
        It, with the clock domain ``sync`` alone.
    """
    builder = _Builder()
    builder.design.top = builder.add(Fragment.get(component, None))
    return builder.design


def machine_design(presets: Iterable[str]) -> Design:
    """Return whole machines, with what only simulation needs, and without reset; apart from them, optional kernels.

    Modules that are the same in several machines are there once.

    Parameters
    ----------
    presets : iterable of str
        The machines.
    """
    builder = _Builder()
    first, *others = presets
    tops = [builder.add_machine(first)]
    # Other machines come last, so that the modules of the first one and of the kernels keep their names.
    tops += [builder.add(Fragment.get(kernel, None)) for kernel in optional_kernels()]
    tops += [builder.add_machine(preset) for preset in others]
    cells = "".join(f"  attribute \\keep 1\n  cell \\{top} \\{top}\n  end\n" for top in tops)
    builder.design.texts[ALL] = f"module \\{ALL}\n{cells}end\n"
    builder.design.top = ALL
    return builder.design
