"""Text and JSON of the smallest depths."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.page import head, run_document
from cyscc.host.analysis.explain.terminal import Cell, section, table
from cyscc.host.analysis.report.facts import origin_text
from cyscc.host.experiments.depths.search import Depths
from cyscc.host.experiments.depths.smallest import Depth, SmallestDepths
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sweep.recorded import cycles_of, settings_text
from cyscc.host.output.files import identity
from cyscc.host.output.text import count_text
from cyscc.sim.notices import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["depths_document", "depths_page", "depths_rows"]


def depths_page(found: SmallestDepths) -> "list[RenderableType]":
    """Return the page of the smallest depths: the run, the FIFOs, the area if it is known, and how to go on."""
    from rich.text import Text

    record = found.record
    title = f"smallest FIFOs within {100 * found.within:.3g} % of {found.cycles[found.present]:,} cycles"
    heads = ["FIFO", "present", "smallest", "cycles with half of it", ""]
    parts = [*head(record, record.instructions), Text(origin_text(record))]
    parts += section(title, table(heads, [_cells(each, found) for each in found.depths]))
    if found.areas:
        heads = ["", *(AREA[name] for name in found.areas[found.present])]
        parts += section("area of all AEs", table(heads, _area(found)))
    parts += section("conclusion", *(Text(line) for line in _conclusion(found)))
    return parts


def _cells(depth: Depth, found: SmallestDepths) -> list[Cell]:
    numbers = [depth.parameter, f"{depth.present}", f"{depth.smallest}"]
    if depth.halved is None:
        return [*numbers, "the least there is", ""]
    return [*numbers, f"{depth.halved:,}", f"{_change(depth.halved, found):+.2%}"]


def _change(cycles: int, found: SmallestDepths) -> float:
    return cycles / found.cycles[found.present] - 1


def _area(found: SmallestDepths) -> list[list[Cell]]:
    present, smallest = found.areas[found.present], found.areas[found.smallest]
    rows: list[list[Cell]] = [["present", *(f"{number:,}" for number in present.values())]]
    rows.append(["smallest", *(f"{number:,}" for number in smallest.values())])
    return [*rows, ["difference", *(f"{smallest[name] - number:+,}" for name, number in present.items())]]


def _conclusion(found: SmallestDepths) -> list[str]:
    """Return the sentences of the conclusion."""
    cycles = found.cycles[found.smallest]
    said = [f"{cycles:,} cycles with the smallest, {_change(cycles, found):+.2%}; at most {found.limit:,} are within."]
    if not found.settings:
        said = [f"The present ones are the smallest; at most {found.limit:,} cycles are within."]
    if any(each.halved is not None for each in found.depths):
        said.append("Measured: with any one halved the run takes more; halving one and doubling another saves nothing.")
    recorded = cycles_of(found.record)
    if recorded != found.cycles[found.present]:
        said.append(f"The record has {recorded:,} cycles: it is that of another version of the program.")
    for depths in found.equals:
        settings = settings_text(found.settings_of(depths))
        said.append(f"Not the only one: {settings} is as small, and takes {found.cycles[depths]:,} cycles.")
    for check in found.checks:
        change = check.smallest / max(check.present, 1) - 1
        said.append(
            f"On {printable(check.graph)}: {check.smallest:,} cycles with the smallest, {check.present:,} with the "
            f"present ones ({change:+.2%}), {'within' if change <= found.within else 'more than'} the limit."
        )
    if found.settings:
        said.append(f"Options: {' '.join(f'--set {name}={depth}' for name, depth in found.settings.items())}")
    said.append(f"Record: {found.smallest_record}")
    said.append(f"{count_text(found.made + found.found, 'run')}: {found.made} made, {found.found} from before")
    return said


def depths_rows(found: SmallestDepths) -> list[dict[str, Any]]:
    """Return every measured run as a row, JSON-able: its depths, cycles, and whether they are within the limit."""
    return [_row(found, depths) for depths in found.cycles]


def _row(found: SmallestDepths, depths: Depths) -> dict[str, Any]:
    cycles = found.cycles[depths]
    names = (each.parameter for each in found.depths)
    return {
        **dict(zip(names, depths, strict=True)),
        "cycles": cycles,
        "change": _change(cycles, found),
        "within": cycles <= found.limit,
        "point": found.points[depths].digest,
    }


def depths_document(found: SmallestDepths) -> dict[str, Any]:
    """Return the smallest depths as a JSON document."""
    return {
        **identity(),
        **run_document(found.record),
        "folder": str(found.folder.path),
        "within": found.within,
        "limit": found.limit,
        "depths": [
            {"parameter": each.parameter, "present": each.present, "smallest": each.smallest, "halved": each.halved}
            for each in found.depths
        ],
        "present": {**_row(found, found.present), **found.areas.get(found.present, {})},
        "smallest": {**_row(found, found.smallest), **found.areas.get(found.smallest, {})},
        "as_small": [_row(found, depths) for depths in found.equals],
        "checks": [asdict(check) for check in found.checks],
        "settings": found.settings,
        "runs": depths_rows(found),
    }
