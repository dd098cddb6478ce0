"""Tables of the synthesis report."""

from collections.abc import Mapping

from host.results.table_text import markdown_table
from host.studies.paper import BAR, DEVICES, PUBLISHED, PUBLISHED_BFS, PUBLISHED_LESS_VENDOR, Amounts
from host.studies.synthesis.cells import Resources
from host.studies.synthesis.engine import Usage
from hw.config import PRESETS, AcceleratorConfig

__all__ = ["comparable", "comparison_table", "component_table", "list_table", "part_tables"]

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
