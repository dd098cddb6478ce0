"""The synthesis report: what an AE of each machine takes, its modules synthesised by Yosys once each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, ClassVar

from host.measuring.measurements import Measurements
from host.measuring.requests import Measured
from host.results.table_text import markdown_table
from host.sources import text_digest
from host.studies.fpga.resources import Component, Hierarchy, Resources, Usage, components, read_hierarchy
from host.studies.fpga.tools import YOSYS, ToolRequest, check_tool, run_yosys, version
from host.studies.paper import BAR, DEVICES, PUBLISHED, PUBLISHED_BFS, PUBLISHED_LESS_VENDOR, Amounts
from host.studies.study import Report
from hw.config import PRESETS, AcceleratorConfig
from hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog

__all__ = [
    "ENGINE",
    "Machine",
    "ModuleRequest",
    "comparable",
    "document",
    "markdown",
    "synthesis_report",
    "usages",
    "with_depth",
]

ENGINE = "application_engine"
"""Module of an AE."""


@dataclass(frozen=True, kw_only=True)
class ModuleRequest(ToolRequest):
    """A module to be synthesised, its hierarchy kept.

    Nothing is shared or simplified across the borders of its modules, which costs a few LUTs that a flattened netlist
    would not have, and tells what each part takes.

    Parameters
    ----------
    top, text : str
        Its name, and its Verilog with that of its submodules.
    boxes : tuple of (str, str)
        Modules that it instantiates and that are synthesised elsewhere: name and Verilog, of which only the ports
        count, which are in the text too.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        For Verilog, netlist and log.
    """

    tool: ClassVar[str] = YOSYS

    top: str
    text: str
    boxes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    family: str

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.top} for {self.family}"

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Synthesise it, and return its hierarchy's document. There is nothing to verify.

        Raises
        ------
        ToolError
            Yosys is missing or failed, or wrote what is not understood.
        """
        # Modules of the same name of other machines go to the same folder.
        name = f"{self.top}.{self.family}.{text_digest(self.text)[:8]}"
        (self.folder / f"{name}.v").write_text(self.text)
        script = []
        for box, verilog in self.boxes:
            (self.folder / f"{name}.{box}.v").write_text(verilog)
            script += [f"read_verilog {name}.{box}.v", f"blackbox {box}"]
        script += [
            f"read_verilog {name}.v",
            f"synth_xilinx -family {self.family} -noiopad -noclkbuf -top {self.top}",
            f"write_json {name}.json",
        ]
        run_yosys("\n".join([*script, ""]), folder=self.folder, log=name)
        return read_hierarchy(self.folder / f"{name}.json", elsewhere=dict(self.boxes)).document()


def engine_requests(config: AcceleratorConfig, *, family: str, folder: Path) -> list[ModuleRequest]:
    """Return the modules whose hierarchies together are that of an AE: the AE itself, and each kind of kernel.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine whose AE it is.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        For Verilog, netlists and logs.
    """
    kernels = tuple((name, kernel_verilog(kind, config)) for kind, name in KERNEL_NAMES.items())
    return [
        ModuleRequest(top=ENGINE, text=application_engine_verilog(config), boxes=kernels, family=family, folder=folder),
        *(ModuleRequest(top=name, text=text, family=family, folder=folder) for name, text in kernels),
    ]


# As `Resources.document` has them.
_COLUMNS = ("LUTs", "logic", "memory", "route-through", "registers", "block RAM (Kb)", "CARRY4", "DSP")


def comparable(config: AcceleratorConfig) -> bool:
    """Whether an AE of a machine has as many kernels as the published one, so that table II says something of it."""
    paper = PRESETS["hc2"]
    return (config.bfs_kernels, config.intersection_kernels) == (paper.bfs_kernels, paper.intersection_kernels)


def _cells(resources: Resources) -> list[str]:
    return [f"{number:,}" for number in resources.document().values()]


def _shares(amounts: Amounts, device: Amounts) -> list[str]:
    return [f"{n:,} ({n / has:.1%})" for n, has in zip(amounts, device, strict=True)]


def _verdicts(amounts: Amounts) -> list[str]:
    return ["met" if met else "not met" for met in amounts.within(BAR)]


def comparison_table(total: Resources, *, config: AcceleratorConfig, family: str) -> str:
    """Return an AE beside the published machine: numbers, and shares of the device.

    Parameters
    ----------
    total : Resources
        What the AE takes.
    config : AcceleratorConfig
        Its configuration. With another number of kernels than the published machine's it stands alone.
    family : str
        ``xc5v`` or ``xc6v``; only the first is the published machine's.
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
    """Return what each kind of component takes, one of it and all of it, and their sum."""
    rows = []
    for component in usage.components:
        rows.append([component.name, *_cells(component.each)])
        if component.count > 1:
            rows.append([f"{component.count} of them", *_cells(component.resources)])
    rows.append(["whole AE", *_cells(usage.total)])
    return markdown_table(["component", *_COLUMNS], rows)


def part_tables(usage: Usage) -> list[str]:
    """Return, for each component that has parts, what they take."""
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
    """Return what several AEs take, a row for each.

    Parameters
    ----------
    head : str
        What the first column says.
    rows : mapping of str to (AcceleratorConfig, Usage)
        The AEs.
    family : str
        As of `comparison_table`.
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
        What an AE takes.
    depths : dict of int to Usage
        The same with all FIFOs of each of these depths.
    """

    name: str
    config: AcceleratorConfig
    family: str
    usage: Usage
    depths: dict[int, Usage]


def with_depth(config: AcceleratorConfig, depth: int) -> AcceleratorConfig:
    """Return a configuration with all FIFOs of one depth.

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
    """Synthesise AEs, what they have in common once, and return what each takes.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    engines : sequence of (AcceleratorConfig, str)
        Machines whose AEs they are, and families.
    folder : Path
        For Verilog, netlists and logs.

    Raises
    ------
    SimulationError
        Yosys is missing or failed, or wrote what is not understood.
    """
    requests = {(config, family): engine_requests(config, family=family, folder=folder) for config, family in engines}
    results = measurements.measure(each for modules in requests.values() for each in modules)
    found = {}
    for engine, modules in requests.items():
        hierarchy = reduce(or_, (Hierarchy.of(results[each]) for each in modules))
        found[engine] = Usage(components=components(hierarchy, ENGINE), total=hierarchy.total(ENGINE))
    return found


def synthesis_report(
    measurements: Measurements,
    configs: Mapping[str, AcceleratorConfig],
    *,
    families: Sequence[str],
    depths: Sequence[int],
    folder: Path,
) -> Report:
    """Synthesise the AEs of machines, and report what they take.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    configs : mapping of str to AcceleratorConfig
        Machines by the name or file of their configuration.
    families : sequence of str
        Of ``xc5v`` and ``xc6v``.
    depths : sequence of int
        Also with all FIFOs of each of these depths.
    folder : Path
        For Verilog, netlists and logs.

    Raises
    ------
    ConfigError
        A depth is impossible.
    SimulationError
        Yosys is missing or failed, or wrote what is not understood.
    """
    variants = {name: {depth: with_depth(config, depth) for depth in depths} for name, config in configs.items()}
    check_tool(YOSYS)
    wanted = [
        (each, family) for name in configs for each in (configs[name], *variants[name].values()) for family in families
    ]
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
    """Return the tables of the report as Markdown: those of each machine, then a list of all."""
    sections = [_section(machine) for machine in machines]
    for family in dict.fromkeys(machine.family for machine in machines):
        rows = {one.name: (one.config, one.usage) for one in machines if one.family == family}
        if len(rows) > 1:
            sections.append(f"## One AE of each on {family}\n\n{list_table('machine', rows, family=family)}")
    return "\n".join(sections)


def _usage(usage: Usage, machine: Machine) -> dict[str, Any]:
    """Return what an AE takes, with limits and verdicts of the bar where it applies."""
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
    """Return the figures of the report for JSON.

    ``bar`` is null where the bar does not apply: to another family than Virtex-5, or an AE of another size than the
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
