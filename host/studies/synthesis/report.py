"""The synthesis report: what an AE of each machine takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from host.measuring.measurements import Measurements
from host.studies.fpga_tools import YOSYS, check_tool, version
from host.studies.paper import BAR, DEVICES, PUBLISHED, PUBLISHED_BFS, PUBLISHED_LESS_VENDOR
from host.studies.report import Report
from host.studies.synthesis.engine import Component, Usage, components
from host.studies.synthesis.hierarchy import Hierarchy
from host.studies.synthesis.netlists import ENGINE, engine_requests
from host.studies.synthesis.tables import comparable, comparison_table, component_table, list_table, part_tables
from hw.config import AcceleratorConfig

__all__ = ["Machine", "document", "markdown", "synthesis_report", "usages", "with_depth"]


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
