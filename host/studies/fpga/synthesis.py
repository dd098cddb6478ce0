"""The synthesis report: ``python -m host.studies.fpga.synthesis``, `make synth`."""

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

from host.studies.fpga.engine import Component, Synthesiser, Usage
from host.studies.fpga.options import (
    Parser,
    UsageError,
    add_output_options,
    at_least,
    check_outputs,
    configuration,
    ended_by_errors,
    work_folder,
    write_report,
)
from host.studies.fpga.paper import BAR, DEVICES, PUBLISHED, PUBLISHED_BFS, PUBLISHED_LESS_VENDOR, Amounts, comparable
from host.studies.fpga.synthesis_tables import comparison_table, component_table, list_table, part_tables
from host.studies.fpga.tools import YOSYS, check_tool, version
from hw.config import AcceleratorConfig

__all__ = ["Machine", "document", "main", "report", "with_depth"]

_PROG = "host.studies.fpga.synthesis"


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
    depths : mapping of int to Usage
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


def report(machines: Sequence[Machine]) -> str:
    """Return the tables of the report as Markdown: those of each machine, then a list of all."""
    sections = [_section(machine) for machine in machines]
    for family in dict.fromkeys(machine.family for machine in machines):
        rows = {one.name: (one.config, one.usage) for one in machines if one.family == family}
        if len(rows) > 1:
            sections.append(f"## One AE of each on {family}\n\n{list_table('machine', rows, family=family)}")
    return "\n".join(sections)


def _bar(usage: Usage, *, config: AcceleratorConfig, family: str) -> dict[str, Any] | None:
    """Return limit and verdict, or nothing where the bar does not apply."""
    if family != "xc5v" or not comparable(config):
        return None
    names = [field.name for field in fields(Amounts)]
    verdicts = Amounts.of(usage.total).within(BAR)
    limits = zip(names, BAR.values(), verdicts, strict=True)
    return {name: {"limit": limit, "met": met} for name, limit, met in limits}


def _usage(usage: Usage, *, config: AcceleratorConfig, family: str) -> dict[str, Any]:
    return {"engine": usage.total.document(), "bar": _bar(usage, config=config, family=family)}


def _component(component: Component) -> dict[str, Any]:
    return {
        "name": component.name,
        "count": component.count,
        "each": component.each.document(),
        "queues": component.queues.document(),
        "parts": {part.name: part.resources.document() for part in component.parts},
    }


def _amounts(amounts: Amounts) -> dict[str, int]:
    return {field.name: getattr(amounts, field.name) for field in fields(amounts)}


def document(machines: Sequence[Machine]) -> dict[str, Any]:
    """Return the figures of the report for JSON.

    ``bar`` is null where the bar does not apply: to another family than Virtex-5, or an AE of another size than the
    published one. Block RAM is in Kb.
    """
    return {
        "yosys": version(YOSYS),
        "published": {
            "scc": _amounts(PUBLISHED),
            "scc_less_vendor": _amounts(PUBLISHED_LESS_VENDOR),
            "bfs": _amounts(PUBLISHED_BFS),
        },
        "machines": [
            {
                "config": machine.name,
                "family": machine.family,
                "device": {"name": DEVICES[machine.family].name, **_amounts(DEVICES[machine.family].has)},
                **_usage(machine.usage, config=machine.config, family=machine.family),
                "components": [_component(component) for component in machine.usage.components],
                "depths": {
                    str(depth): _usage(usage, config=machine.config, family=machine.family)
                    for depth, usage in machine.depths.items()
                },
            }
            for machine in machines
        ],
    }


def _parser() -> Parser:
    parser = Parser(
        prog=f"python -m {_PROG}",
        description="Synthesise one Application Engine with Yosys and report what it takes.",
        epilog="exit status: 0 done, 2 bad usage, 3 a tool is missing or failed",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--config", action="append", metavar="NAME|FILE.toml", help="machine (default: hc2); may be repeated"
    )
    parser.add_argument(
        "--family", action="append", choices=tuple(DEVICES), help="FPGA family (default: both); may be repeated"
    )
    parser.add_argument(
        "--depth",
        action="append",
        default=[],
        type=at_least(1),
        metavar="N",
        help="also with all FIFOs of this depth; may be repeated",
    )
    add_output_options(parser)
    return parser


def _run(argv: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(argv)
    check_outputs(arguments)
    configs = {name: configuration(name) for name in arguments.config or ["hc2"]}
    depths: dict[str, dict[int, AcceleratorConfig]] = {}
    for name, config in configs.items():
        try:
            depths[name] = {depth: with_depth(config, depth) for depth in arguments.depth}
        except ValueError as error:
            raise UsageError(f"--depth: {error}") from None
    check_tool(YOSYS)
    families = dict.fromkeys(arguments.family or DEVICES)
    with work_folder(arguments.keep) as folder:

        def synthesised(family: str) -> list[Machine]:
            synthesiser = Synthesiser(folder)
            return [
                Machine(
                    name=name,
                    config=config,
                    family=family,
                    usage=synthesiser.usage(config, family=family),
                    depths={
                        depth: synthesiser.usage(variant, family=family) for depth, variant in depths[name].items()
                    },
                )
                for name, config in configs.items()
            ]

        # Families have nothing in common, and each runs the tool in a process of its own.
        with ThreadPoolExecutor(len(families)) as pool:
            by_family = list(pool.map(synthesised, families))
    machines = [machine for same in zip(*by_family, strict=True) for machine in same]
    if arguments.json is not None:
        write_report(arguments.json, json.dumps(document(machines), indent=2) + "\n")
    write_report(arguments.output, report(machines))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, those of the process when absent.

    Returns
    -------
    int
        Exit status: 0 done, 2 bad usage, 3 a tool is missing or failed.
    """
    return ended_by_errors(_PROG, lambda: _run(argv))


if __name__ == "__main__":
    sys.exit(main())
