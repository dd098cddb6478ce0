"""The synthesis report: area of each machine's AE on a Virtex-5 or Virtex-6; each module is synthesised once."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import reduce
from graphlib import TopologicalSorter
from operator import or_
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from cyscc.host.experiments.fpga.hierarchy import Component, Hierarchy, Resources, Usage, components, read_hierarchy
from cyscc.host.experiments.fpga.modules import merged, stub
from cyscc.host.experiments.fpga.tools import YOSYS, ToolRequest, check_tool, run_yosys, version, work_folder
from cyscc.host.experiments.measuring.measurements import Measured, Measurements
from cyscc.host.experiments.studies.paper import (
    BAR,
    DEVICES,
    FITTING,
    PUBLISHED,
    PUBLISHED_BFS,
    PUBLISHED_LESS_VENDOR,
    Amounts,
)
from cyscc.host.experiments.studies.study import Report
from cyscc.host.output.text import markdown_table
from cyscc.host.runs.sources import text_digest
from cyscc.host.specification.options import UsageError
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.verilog import (
    KERNEL_NAMES,
    SLICE_NAMES,
    application_engine_verilog,
    kernel_verilog,
    slice_kinds,
    slice_verilog,
)

__all__ = ["component_table", "synthesis_report", "usages"]

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
    """Return the syntheses of an AE's modules, whose hierarchies can be joined: the AE, each kind of kernel and slice.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine of the AE.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        Folder for Verilog, netlists and logs.
    """
    boxes = (
        *((name, kernel_verilog(kind, config)) for kind, name in KERNEL_NAMES.items()),
        *((SLICE_NAMES[kind], slice_verilog(kind, config)) for kind in slice_kinds(config)),
    )
    text = application_engine_verilog(config, slices=False)
    return [
        ModuleRequest(top=ENGINE, text=text, boxes=boxes, family=family, folder=folder),
        *(ModuleRequest(top=name, text=inside, family=family, folder=folder) for name, inside in boxes),
    ]


# In the order of `Resources.document`.
_COLUMNS = ("LUTs", "logic", "memory", "route-through", "registers", "block RAM (Kb)", "CARRY4", "DSP")


def comparable(config: AcceleratorConfig) -> bool:
    """Return whether an AE has as many kernels as the published one, so that table II is comparable."""
    paper = PRESETS["hc2"]
    return (config.bfs_kernels, config.intersection_kernels) == (paper.bfs_kernels, paper.intersection_kernels)


def bar_of(config: AcceleratorConfig) -> tuple[str, Amounts]:
    """Return the bar of an AE, in words and amounts: what the published one does not have may take more."""
    if config.link_queues or config.exchange_kernels:
        return "70% of the device", FITTING
    return "half of published without it", BAR


def _cells(resources: Resources) -> list[str]:
    return [f"{number:,}" for number in resources.document().values()]


def _shares(amounts: Amounts, device: Amounts) -> list[str]:
    return [f"{n:,} ({n / has:.1%})" for n, has in zip(amounts, device, strict=True)]


def _verdicts(amounts: Amounts, bar: Amounts) -> list[str]:
    return ["met" if met else "not met" for met in amounts.within(bar)]


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
        words, bar = bar_of(config)
        rows += [
            ["published, with vendor interface", *_shares(PUBLISHED, device)],
            ["published, without it", *_shares(PUBLISHED_LESS_VENDOR, device)],
            ["published, BFS alone, with it", *_shares(PUBLISHED_BFS, device)],
            [f"bar: {words}", *_shares(bar, device)],
            ["bar", *_verdicts(mine, bar)],
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
        verdict = ("met" if all(mine.within(bar_of(config)[1])) else "not met") if comparable(config) else "-"
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
        _, most = bar_of(machine.config)
        limits = zip(most._asdict().items(), usage.total.amounts().within(most), strict=True)
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
