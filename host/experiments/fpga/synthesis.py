"""The synthesis report: area of each machine's AE on a Virtex-5 or Virtex-6; each module is synthesised once."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import reduce
from graphlib import TopologicalSorter
from operator import or_
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from cyscc.host.experiments.fpga.modules import merged, stub
from cyscc.host.experiments.fpga.tools import YOSYS, ToolError, ToolRequest, check_tool, run_yosys, version, work_folder
from cyscc.host.experiments.measuring.measurements import Measured, Measurements
from cyscc.host.experiments.studies.paper import BAR, DEVICES, PUBLISHED, PUBLISHED_BFS, PUBLISHED_LESS_VENDOR, Amounts
from cyscc.host.experiments.studies.study import Report
from cyscc.host.output.text import markdown_table
from cyscc.host.runs.sources import text_digest
from cyscc.host.specification.options import UsageError
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog

__all__ = [
    "Component",
    "Resources",
    "Usage",
    "component_table",
    "components",
    "parts",
    "synthesis_report",
    "usages",
]


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


def _unwrapped(hierarchy: Hierarchy, module: str) -> str:
    """Return the module inside wrappers that contain nothing else."""
    while hierarchy.own(module) == Resources() and len(hierarchy.modules[module]) == 1:
        [(_, module)] = hierarchy.modules[module]
    return module


def components(hierarchy: Hierarchy, top: str) -> tuple[Component, ...]:
    """Return the kinds of components of an engine, the largest first.

    Instances are of one kind if their names differ only in a final number and their resources are equal.

    Parameters
    ----------
    hierarchy : Hierarchy
        The engine with its kernels.
    top : str
        Module of the engine.
    """
    groups: dict[tuple[str, Resources], list[str]] = {}
    for instance, wrapper in hierarchy.modules[top]:
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


ENGINE = "application_engine"
"""Name of an AE's module."""


@dataclass(frozen=True, kw_only=True)
class ModuleRequest(ToolRequest):
    """A hierarchical synthesis of a module.

    Nothing is shared or simplified across the boundaries of modules. This takes a few LUTs more than a flattened
    netlist, but gives the resources of each part.

    Parameters
    ----------
    top, text : str
        Name of the module, and its Verilog with that of its submodules.
    boxes : tuple of (str, str)
        Name and Verilog of instantiated modules that are synthesised separately. Only their ports matter here, and
        these are in `text` too.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        Folder for Verilog, netlist and log.
    """

    tool: ClassVar[str] = YOSYS
    kind: ClassVar[Any] = Hierarchy

    top: str
    text: str
    boxes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    family: str

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.top} for {self.family}"

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Synthesise the module and return its hierarchy's document. There is nothing to verify.

        Raises
        ------
        ToolError
            Yosys is missing or failed, or its output is not understood.
        """
        # Other machines have modules of the same name, whose files go to the same folder.
        name = f"{self.top}.{self.family}.{text_digest(self.text)[:8]}"
        # Both save half of an AE's time, and change no result.
        stubs = (stub(verilog, box) for box, verilog in self.boxes)
        (self.folder / f"{name}.v").write_text("\n".join([merged(self.text), *stubs]))
        script = [
            f"read_verilog {name}.v",
            f"synth_xilinx -family {self.family} -noiopad -noclkbuf -top {self.top}",
            f"write_json {name}.json",
        ]
        run_yosys("\n".join([*script, ""]), folder=self.folder, log=name)
        return asdict(read_hierarchy(self.folder / f"{name}.json", elsewhere=dict(self.boxes)))

    def check(self, result: Measured) -> None:
        """Check that a stored result is one of this measurement: a hierarchy whose modules are all there."""
        super().check(result)
        inside = {name: [module for _, module in parts] for name, parts in result["modules"].items()}
        TopologicalSorter(inside).prepare()  # no module contains itself
        wanted = {self.top, *(module for modules in inside.values() for module in modules)}
        missing = wanted - dict(self.boxes).keys() - (result["cells"].keys() & inside.keys())
        if missing:
            raise ValueError(f"it has no module {min(missing)!r}")


def engine_requests(config: AcceleratorConfig, *, family: str, folder: Path) -> list[ModuleRequest]:
    """Return the syntheses of an AE's modules, whose hierarchies can be joined: the AE, and each kind of kernel.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine of the AE.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        Folder for Verilog, netlists and logs.
    """
    kernels = tuple((name, kernel_verilog(kind, config)) for kind, name in KERNEL_NAMES.items())
    return [
        ModuleRequest(top=ENGINE, text=application_engine_verilog(config), boxes=kernels, family=family, folder=folder),
        *(ModuleRequest(top=name, text=text, family=family, folder=folder) for name, text in kernels),
    ]


# In the order of `Resources.document`.
_COLUMNS = ("LUTs", "logic", "memory", "route-through", "registers", "block RAM (Kb)", "CARRY4", "DSP")


def comparable(config: AcceleratorConfig) -> bool:
    """Return whether an AE has as many kernels as the published one, so that table II is comparable."""
    paper = PRESETS["hc2"]
    return (config.bfs_kernels, config.intersection_kernels) == (paper.bfs_kernels, paper.intersection_kernels)


def _cells(resources: Resources) -> list[str]:
    return [f"{number:,}" for number in resources.document().values()]


def _shares(amounts: Amounts, device: Amounts) -> list[str]:
    return [f"{n:,} ({n / has:.1%})" for n, has in zip(amounts, device, strict=True)]


def _verdicts(amounts: Amounts) -> list[str]:
    return ["met" if met else "not met" for met in amounts.within(BAR)]


def comparison_table(total: Resources, *, config: AcceleratorConfig, family: str) -> str:
    """Return a table of an AE beside the published machine: amounts, and shares of the device.

    Parameters
    ----------
    total : Resources
        Resources of the AE.
    config : AcceleratorConfig
        Its configuration. If its number of kernels differs from the published machine's, that machine is left out.
    family : str
        ``xc5v``, that of the published machine, or ``xc6v``.
    """
    device = DEVICES[family].has
    mine = total.amounts()
    rows = [["this AE", *_shares(mine, device)]]
    if family == "xc5v" and comparable(config):
        rows += [
            ["published, with vendor interface", *_shares(PUBLISHED, device)],
            ["published, without it", *_shares(PUBLISHED_LESS_VENDOR, device)],
            ["published, BFS alone, with it", *_shares(PUBLISHED_BFS, device)],
            ["bar: half of published without it", *_shares(BAR, device)],
            ["bar", *_verdicts(mine)],
        ]
    return markdown_table(["one FPGA", "LUTs", "registers", "block RAM (Kb)"], rows)


def component_table(usage: Usage) -> str:
    """Return a table of the components' resources: of one, of all of a kind, and their sum."""
    rows = []
    for component in usage.components:
        rows.append([component.name, *_cells(component.each)])
        if component.count > 1:
            rows.append([f"{component.count} of them", *_cells(component.resources)])
    rows.append(["whole AE", *_cells(usage.total)])
    return markdown_table(["component", *_COLUMNS], rows)


def part_tables(usage: Usage) -> list[str]:
    """Return a table of the parts' resources for each component that has parts."""
    return [
        markdown_table(
            [f"in one {component.name}", *_COLUMNS],
            [
                *([name, *_cells(part)] for name, part in component.parts.items()),
                ["sum", *_cells(component.each)],
                *([["of it queues", *_cells(component.queues)]] if component.queues != Resources() else []),
            ],
        )
        for component in usage.components
        if component.parts
    ]


def list_table(head: str, rows: Mapping[str, tuple[AcceleratorConfig, Usage]], *, family: str) -> str:
    """Return a table of several AEs' resources, one AE per row.

    Parameters
    ----------
    head : str
        Head of the first column.
    rows : mapping of str to (AcceleratorConfig, Usage)
        Configuration and resources of each AE by name.
    family : str
        See `comparison_table`.
    """
    judged = family == "xc5v" and any(comparable(config) for config, _ in rows.values())
    cells = []
    for name, (config, usage) in rows.items():
        mine = usage.total.amounts()
        luts, registers, block_ram = _shares(mine, DEVICES[family].has)
        verdict = ("met" if all(mine.within(BAR)) else "not met") if comparable(config) else "-"
        row = [name, luts, f"{usage.total.memory:,}", registers, block_ram]
        cells.append([*row, verdict] if judged else row)
    columns = [head, "LUTs", "of them memory", "registers", "block RAM (Kb)"]
    return markdown_table([*columns, "bar"] if judged else columns, cells)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """An AE of a configuration, synthesised for a family.

    Parameters
    ----------
    name : str
        Name or file of the configuration.
    config : AcceleratorConfig
        The configuration.
    family : str
        ``xc5v`` or ``xc6v``.
    usage : Usage
        Resources of an AE.
    depths : dict of int to Usage
        Resources of an AE with all FIFOs of each of these depths.
    """

    name: str
    config: AcceleratorConfig
    family: str
    usage: Usage
    depths: dict[int, Usage]


def with_depth(config: AcceleratorConfig, depth: int) -> AcceleratorConfig:
    """Return a configuration with all FIFOs of the given depth.

    Raises
    ------
    ConfigError
        The depth is impossible.
    """
    names = [field.name for field in fields(config) if field.name.endswith("_depth")]
    return config.replace(**dict.fromkeys(names, depth))


def usages(
    measurements: Measurements, engines: Sequence[tuple[AcceleratorConfig, str]], *, folder: Path
) -> dict[tuple[AcceleratorConfig, str], Usage]:
    """Synthesise AEs, common modules only once, and return the resources of each.

    Parameters
    ----------
    measurements : Measurements
        Performs the measurements.
    engines : sequence of (AcceleratorConfig, str)
        Configuration and family of each AE.
    folder : Path
        Folder for Verilog, netlists and logs.

    Raises
    ------
    SimulationError
        Yosys is missing or failed, or its output is not understood.
    """
    requests = {(config, family): engine_requests(config, family=family, folder=folder) for config, family in engines}
    results = measurements.measure(each for modules in requests.values() for each in modules)
    found = {}
    for engine, modules in requests.items():
        hierarchy = reduce(or_, (msgspec.convert(results[each], Hierarchy) for each in modules))
        found[engine] = Usage(components=components(hierarchy, ENGINE), total=hierarchy.total(ENGINE))
    return found


def synthesis_report(
    measurements: Measurements,
    configs: Mapping[str, AcceleratorConfig],
    *,
    families: Sequence[str],
    depths: Sequence[int],
    keep: str | None,
) -> Report:
    """Synthesise the AEs of machines, and return the report of their resources.

    Parameters
    ----------
    measurements : Measurements
        Performs the measurements.
    configs : mapping of str to AcceleratorConfig
        Configurations by name or file.
    families : sequence of str
        Families, of ``xc5v`` and ``xc6v``.
    depths : sequence of int
        Depths of FIFOs; each AE is also synthesised with all its FIFOs of each depth.
    keep : str or None
        Folder for Verilog, netlists and logs; None to discard them.

    Raises
    ------
    UsageError, InputError
        A depth is impossible, or the folder cannot be created.
    SimulationError
        Yosys is missing or failed, or its output is not understood.
    """
    try:
        variants = {name: {depth: with_depth(config, depth) for depth in depths} for name, config in configs.items()}
    except ValueError as error:
        raise UsageError(f"--depth: {error}") from None
    check_tool(YOSYS)
    wanted = [
        (each, family) for name in configs for each in (configs[name], *variants[name].values()) for family in families
    ]
    with work_folder(keep) as folder:
        found = usages(measurements, wanted, folder=folder)
    machines = [
        Machine(
            name=name,
            config=config,
            family=family,
            usage=found[config, family],
            depths={depth: found[each, family] for depth, each in variants[name].items()},
        )
        for name, config in configs.items()
        for family in families
    ]
    return Report(document=document(machines), markdown=markdown(machines))


def _section(machine: Machine) -> str:
    """Return the tables of one machine."""
    name, family = machine.name, machine.family
    lines = [
        f"## One AE of {name} on {family}\n",
        f"Compared with a {DEVICES[family].name}: {DEVICES[family].note}.\n",
        comparison_table(machine.usage.total, config=machine.config, family=family),
        component_table(machine.usage),
        *part_tables(machine.usage),
    ]
    if machine.depths:
        rows = {str(depth): (machine.config, usage) for depth, usage in machine.depths.items()}
        lines += [f"All FIFOs of {name} of one depth, on {family}:\n", list_table("depth", rows, family=family)]
    return "\n".join(lines)


def markdown(machines: Sequence[Machine]) -> str:
    """Return the report as Markdown: the tables of each machine, then a list of all."""
    sections = [_section(machine) for machine in machines]
    for family in dict.fromkeys(machine.family for machine in machines):
        rows = {one.name: (one.config, one.usage) for one in machines if one.family == family}
        if len(rows) > 1:
            sections.append(f"## One AE of each on {family}\n\n{list_table('machine', rows, family=family)}")
    return "\n".join(sections)


def _usage(usage: Usage, machine: Machine) -> dict[str, Any]:
    """Return the resources of an AE, with the limits and verdicts of the bar if it applies."""
    bar = None
    if machine.family == "xc5v" and comparable(machine.config):
        verdicts = usage.total.amounts().within(BAR)
        limits = zip(BAR._asdict().items(), verdicts, strict=True)
        bar = {name: {"limit": limit, "met": met} for (name, limit), met in limits}
    return {"engine": usage.total.document(), "bar": bar}


def _component(component: Component) -> dict[str, Any]:
    return {
        "name": component.name,
        "count": component.count,
        "each": component.each.document(),
        "queues": component.queues.document(),
        "parts": {name: part.document() for name, part in component.parts.items()},
    }


def document(machines: Sequence[Machine]) -> dict[str, Any]:
    """Return the report as a JSON document.

    ``bar`` is null where it does not apply: for families other than Virtex-5, and AEs of another size than the
    published one. Block RAM is in Kb.
    """
    return {
        "yosys": version(YOSYS),
        "published": {
            "scc": PUBLISHED._asdict(),
            "scc_less_vendor": PUBLISHED_LESS_VENDOR._asdict(),
            "bfs": PUBLISHED_BFS._asdict(),
        },
        "machines": [
            {
                "config": machine.name,
                "family": machine.family,
                "device": {"name": DEVICES[machine.family].name, **DEVICES[machine.family].has._asdict()},
                **_usage(machine.usage, machine),
                "components": [_component(component) for component in machine.usage.components],
                "depths": {str(depth): _usage(usage, machine) for depth, usage in machine.depths.items()},
            }
            for machine in machines
        ],
    }
