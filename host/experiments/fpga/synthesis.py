"""Syntheses: area of each machine's AE on a Virtex-5 or Virtex-6; each module is synthesised once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import reduce
from graphlib import TopologicalSorter
from operator import or_
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.fpga.hierarchy import Hierarchy, Resources, Usage, components, read_hierarchy
from cyscc.host.experiments.fpga.modules import merged, stub
from cyscc.host.experiments.fpga.tools import YOSYS, ToolRequest, check_tool, run_yosys, version, work_folder
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.plan.request import Measured
from cyscc.host.experiments.sheets import sheet_of
from cyscc.host.experiments.studies import paper
from cyscc.host.experiments.studies.paper import DEVICES, FAMILY, Amounts
from cyscc.host.runs.sources import text_digest
from cyscc.host.specification.ask import SpecError
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.verilog import (
    KERNEL_NAMES,
    SLICE_NAMES,
    application_engine_verilog,
    kernel_verilog,
    slice_kinds,
    slice_verilog,
)

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


def comparable(config: AcceleratorConfig) -> bool:
    """Return whether an AE has as many kernels as the published one, so that table II is comparable."""
    published = PRESETS["hc2"]
    return (config.bfs_kernels, config.intersection_kernels) == (published.bfs_kernels, published.intersection_kernels)


def component_rows(usage: Usage) -> list[dict[str, Any]]:
    """Return the resources of an AE's components: of one, of all of a kind, and their sum."""
    rows = [
        {"component": each.name, "number": count, **(each.each * count).document()}
        for each in usage.components
        for count in dict.fromkeys((1, each.count))
    ]
    return [*rows, {"component": "whole AE", "number": 1, **usage.total.document()}]


def part_rows(usage: Usage) -> list[dict[str, Any]]:
    """Return the resources of the parts of each component that has parts, their sum, and those of its queues."""
    rows = []
    for each in (each for each in usage.components if each.parts):
        queues = {} if each.queues == Resources() else {"of it queues": each.queues}
        parts = {**each.parts, "sum": each.each, **queues}
        rows += [{"component": each.name, "part": name, **part.document()} for name, part in parts.items()]
    return rows


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

    @property
    def bar(self) -> tuple[str, Amounts] | None:
        """The bar in words and amounts: what the published AE does not have may take more; None if there is none."""
        if self.family != FAMILY or not comparable(self.config):
            return None
        if self.config.link_queues or self.config.exchange_kernels:
            return "70% of the device", paper.FITTING
        return "half of published without it", paper.BAR


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
    measurements: Plan, engines: Sequence[tuple[AcceleratorConfig, str]], *, folder: Path
) -> dict[tuple[AcceleratorConfig, str], Usage]:
    """Synthesise AEs, common modules only once, and return the resources of each.

    Parameters
    ----------
    measurements : Plan
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


def synthesised(
    measurements: Plan,
    configs: Mapping[str, AcceleratorConfig],
    *,
    families: Sequence[str],
    depths: Sequence[int],
    keep: str | PathLike[str] | None,
) -> list[Machine]:
    """Synthesise the AEs of machines.

    Parameters
    ----------
    measurements : Plan
        Performs the measurements.
    configs : mapping of str to AcceleratorConfig
        Configurations by name or file.
    families : sequence of str
        Families, of ``xc5v`` and ``xc6v``.
    depths : sequence of int
        Depths of FIFOs; each AE is also synthesised with all its FIFOs of each depth.
    keep : str, path or None
        Folder for Verilog, netlists and logs; None to discard them.

    Raises
    ------
    SpecError, InputError
        A depth is impossible, or the folder cannot be created.
    SimulationError
        Yosys is missing or failed, or its output is not understood.
    """
    try:
        variants = {name: {depth: with_depth(config, depth) for depth in depths} for name, config in configs.items()}
    except ValueError as error:
        raise SpecError("depth", str(error)) from None
    check_tool(YOSYS)
    wanted = [
        (each, family) for name in configs for each in (configs[name], *variants[name].values()) for family in families
    ]
    with work_folder(keep) as folder:
        found = usages(measurements, wanted, folder=folder)
    return [
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


def _engine(name: str, family: str, amounts: Amounts, **more: Any) -> dict[str, Any]:
    """Return a row with amounts, and their shares of the family's device."""
    shares = zip(amounts._fields, amounts, DEVICES[family].has, strict=True)
    return {
        "engine": name,
        "family": family,
        **amounts._asdict(),
        **{f"{field}_share": mine / has for field, mine, has in shares},
        **more,
    }


def _engines(machines: Sequence[Machine]) -> list[dict[str, Any]]:
    """Return the AEs, those with all FIFOs of one depth too, and what the paper has of its own."""
    rows: list[dict[str, Any]] = []
    bars: dict[str, Amounts] = {}
    for machine in machines:
        words, most = machine.bar or ("", paper.FITTING)
        bars |= {f"bar: {words}": most} if words else {}
        for depth, usage in ((None, machine.usage), *machine.depths.items()):
            mine = usage.total.amounts()
            over = [name for name, met in zip(mine._fields, mine.within(most), strict=True) if not met]
            verdict = (f"not met: {', '.join(over)}" if over else "met") if words else None
            rows.append(
                _engine(machine.name, machine.family, mine, depth=depth, memory=usage.total.memory, bar=verdict)
            )
    published = {
        "published, with vendor interface": paper.PUBLISHED,
        "published, without it": paper.PUBLISHED_LESS_VENDOR,
        "published, BFS alone, with it": paper.PUBLISHED_BFS,
    }
    return rows + [_engine(name, FAMILY, most) for name, most in {**(published if bars else {}), **bars}.items()]


def synthesis_answer(machines: Sequence[Machine]) -> Answer:
    """Return the resources of AEs: whole ones beside the paper's, by component and by part."""

    def each(rows: Callable[[Usage], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        return [{"machine": one.name, "family": one.family, **row} for one in machines for row in rows(one.usage)]

    devices = {DEVICES[machine.family].name: DEVICES[machine.family].note for machine in machines}
    names = ", ".join(dict.fromkeys(machine.name for machine in machines))
    rows = {"engines": _engines(machines), "components": each(component_rows), "parts": each(part_rows)}
    facts = {f"compared with a {name}": note for name, note in devices.items()}
    return replace(sheet_of("synthesis").answer({"machines": names}, rows), facts=facts, fields=_document(machines))


def _usage(usage: Usage, machine: Machine) -> dict[str, Any]:
    """Return the resources of an AE, with the limits and verdicts of the bar if it applies."""
    bar = None
    if machine.bar is not None:
        _, most = machine.bar
        limits = zip(most._asdict().items(), usage.total.amounts().within(most), strict=True)
        bar = {name: {"limit": limit, "met": met} for (name, limit), met in limits}
    return {"engine": usage.total.document(), "bar": bar}


def _document(machines: Sequence[Machine]) -> dict[str, Any]:
    """Return the fields of the document.

    ``bar`` is null where it does not apply: for families other than Virtex-5, and AEs of another size than the
    published one. Block RAM is in Kb.
    """
    return {
        "yosys": version(YOSYS),
        "published": {
            "scc": paper.PUBLISHED._asdict(),
            "scc_less_vendor": paper.PUBLISHED_LESS_VENDOR._asdict(),
            "bfs": paper.PUBLISHED_BFS._asdict(),
        },
        "machines": [
            {
                "config": machine.name,
                "family": machine.family,
                "device": {"name": DEVICES[machine.family].name, **DEVICES[machine.family].has._asdict()},
                **_usage(machine.usage, machine),
                "components": [
                    {
                        "name": each.name,
                        "count": each.count,
                        "each": each.each.document(),
                        "queues": each.queues.document(),
                        "parts": {name: part.document() for name, part in each.parts.items()},
                    }
                    for each in machine.usage.components
                ],
                "depths": {str(depth): _usage(usage, machine) for depth, usage in machine.depths.items()},
            }
            for machine in machines
        ],
    }
