"""The smallest depths as an answer."""

from typing import Any

import pandas as pd

from cyscc.host.analysis.report.facts import origin_facts
from cyscc.host.answer.answer import Answer, Column, Table
from cyscc.host.experiments.depths.search import Depths
from cyscc.host.experiments.depths.smallest import SmallestDepths
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sweep.recorded import cycles_of, settings_text
from cyscc.host.output.text import count_text
from cyscc.host.record.display import record_title, run_document, selection_facts
from cyscc.sim.notices import printable

__all__ = ["depths_answer"]


def depths_answer(found: SmallestDepths) -> Answer:
    """Return the smallest depths as an answer: the run, the FIFOs, the area if it is known, and how to go on."""
    record = found.record
    depths = pd.DataFrame([vars(each) for each in found.depths])
    depths["change"] = [None if each.halved is None else _change(each.halved, found) for each in found.depths]
    depths["halved"] = depths["halved"].astype("Int64")
    machines = {"present": found.present, "smallest": found.smallest}
    return Answer(
        title=record_title(record),
        facts={**selection_facts(record, record.instructions), **origin_facts(record)},
        said=_conclusion(found),
        tables={
            "depths": Table(
                title=f"smallest FIFOs within {100 * found.within:.3g} % of {found.cycles[found.present]:,} cycles",
                frame=depths,
                columns={
                    "parameter": Column("FIFO"),
                    "present": "{}",
                    "smallest": "{}",
                    "halved": Column("cycles with half of it", "{:,}"),
                    "change": Column("", "{:+.2%}"),
                },
                most=None,
                note="without cycles: half of it is less than there can be" if depths["halved"].isna().any() else "",
            ),
            "area": _area(found),
            "checks": Table(
                title="checks",
                frame=pd.DataFrame([vars(each) for each in found.checks], columns=["graph", "present", "smallest"]),
                shown=False,
            ),
            "runs": Table(title="runs", frame=pd.DataFrame([_row(found, each) for each in found.cycles]), shown=False),
        },
        fields={
            **run_document(record),
            "folder": str(found.folder.path),
            "within": found.within,
            "limit": found.limit,
            "present_cycles": found.cycles[found.present],
            "cycles": found.cycles[found.smallest],
            **{name: {**_row(found, each), **found.areas.get(each, {})} for name, each in machines.items()},
            "as_small": [_row(found, each) for each in found.equals],
            "settings": found.settings,
        },
    )


def _area(found: SmallestDepths) -> Table:
    """Return the area of both machines and their difference, if it is known."""
    rows = []
    if found.areas:
        present, smallest = found.areas[found.present], found.areas[found.smallest]
        more = {name: smallest[name] - number for name, number in present.items()}
        rows = [
            {"machine": "present", **present},
            {"machine": "smallest", **smallest},
            {"machine": "difference", **more},
        ]
    columns = {name: Column(head, "{:,}") for name, head in AREA.items()}
    return Table(title="area of all AEs", frame=pd.DataFrame(rows), columns={"machine": Column(""), **columns})


def _change(cycles: int, found: SmallestDepths) -> float:
    return cycles / found.cycles[found.present] - 1


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
