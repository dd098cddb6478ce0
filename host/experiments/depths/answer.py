"""The smallest depths as an answer."""

from typing import Any

from cyscc.host.analysis.report.facts import origin_facts
from cyscc.host.answer.answer import Answer, Column, Table
from cyscc.host.experiments.depths.search import Depths
from cyscc.host.experiments.depths.smallest import SmallestDepths
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sweep.recorded import cycles_of, settings_text
from cyscc.host.output.text import count_text
from cyscc.host.record.display import record_title, run_document, selection_facts
from cyscc.sim.notices import printable


def depths_answer(found: SmallestDepths) -> Answer:
    """Return the smallest depths as an answer: the run, the FIFOs, the area if it is known, and how to go on."""
    record, cycles = found.record, found.search.cycles
    depths = _depths(found)
    present, smallest = (_row(found, each) for each in (found.present, found.smallest))
    areas = []
    if found.areas:
        before, after = found.areas
        present, smallest = {**present, **before}, {**smallest, **after}
        more = {name: after[name] - number for name, number in before.items()}
        areas = [
            {"machine": name, **area} for name, area in (("present", before), ("smallest", after), ("difference", more))
        ]
    share = f"{100 * found.within:.3g} %"
    least = any(row["halved"] is None for row in depths)
    return Answer(
        title=record_title(record),
        facts={**selection_facts(record, record.instructions), **origin_facts(record)},
        said=_conclusion(found),
        tables={
            "depths": Table(
                title=f"smallest FIFOs within {share} of {cycles[found.present]:,} cycles",
                frame=depths,
                columns={
                    "parameter": Column("FIFO"),
                    "present": "{}",
                    "smallest": "{}",
                    "halved": Column("cycles with half of it", "{:,.0f}"),
                    "change": Column("", "{:+.2%}"),
                },
                most=None,
                note="without cycles: half of it is less than there can be" if least else "",
            ),
            "area": Table(
                title="area of all AEs",
                frame=areas,
                columns={"machine": Column(""), **{name: Column(head, "{:,}") for name, head in AREA.items()}},
            ),
            "checks": Table(
                title="checks",
                frame=[
                    {"graph": graph, "present": now, "smallest": then} for graph, (now, then) in found.checks.items()
                ],
                shown=False,
            ),
            "runs": Table(title="runs", frame=[_row(found, each) for each in cycles], shown=False),
        },
        fields={
            **run_document(record),
            "folder": str(found.plan.folder.resolve()),
            "within": found.within,
            "limit": found.search.limit,
            "present_cycles": cycles[found.present],
            "cycles": cycles[found.smallest],
            "present": present,
            "smallest": smallest,
            "as_small": [_row(found, each) for each in found.search.equals(found.smallest)],
            "settings": found.settings(found.smallest),
        },
    )


def _depths(found: SmallestDepths) -> list[dict[str, Any]]:
    """Return a row for each parameter, with the cycles of half of its smallest depth, if a machine may have that."""
    rows = []
    for place, name in enumerate(found.parameters):
        half = found.search.halved(found.smallest, place)
        rows.append(
            {
                "parameter": name,
                "present": found.present[place],
                "smallest": found.smallest[place],
                "halved": None if half is None else found.search.cycles[half],
                "change": None if half is None else _change(found, half),
            }
        )
    return rows


def _change(found: SmallestDepths, depths: Depths) -> float:
    return found.search.cycles[depths] / found.search.cycles[found.present] - 1


def _conclusion(found: SmallestDepths) -> list[str]:
    """Return the sentences of the conclusion."""
    search, settings = found.search, found.settings(found.smallest)
    cycles, change = search.cycles[found.smallest], _change(found, found.smallest)
    said = [f"{cycles:,} cycles with the smallest, {change:+.2%}; at most {search.limit:,} are within."]
    if not settings:
        said = [f"The present ones are the smallest; at most {search.limit:,} cycles are within."]
    if any(search.halved(found.smallest, place) for place in range(len(found.parameters))):
        said.append("Measured: with any one halved the run takes more; halving one and doubling another saves nothing.")
    recorded = cycles_of(found.record)
    if recorded != search.cycles[found.present]:
        said.append(f"The record has {recorded:,} cycles: it is that of another version of the program.")
    for depths in search.equals(found.smallest):
        other = settings_text(found.settings(depths))
        said.append(f"Not the only one: {other} is as small, and takes {search.cycles[depths]:,} cycles.")
    for graph, (now, then) in found.checks.items():
        change = then / max(now, 1) - 1
        said.append(
            f"On {printable(graph)}: {then:,} cycles with the smallest, {now:,} with the present ones ({change:+.2%}), "
            f"{'within' if change <= found.within else 'more than'} the limit."
        )
    if settings:
        said.append(f"Options: {' '.join(f'--set {name}={depth}' for name, depth in settings.items())}")
    said.append(f"Record: {found.plan.store.folder_of(found.points[found.smallest])}")
    said.append(f"{count_text(found.plan.made + found.plan.found, 'run')}: {found.plan.text}")
    return said


def _row(found: SmallestDepths, depths: Depths) -> dict[str, Any]:
    cycles = found.search.cycles[depths]
    return {
        **dict(zip(found.parameters, depths, strict=True)),
        "cycles": cycles,
        "change": _change(found, depths),
        "within": cycles <= found.search.limit,
        "point": found.points[depths].digest,
    }
