"""The comparison of groups of runs as an answer, and its conclusion in sentences."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from cyscc.host.analysis.explain.comparison import Comparison
from cyscc.host.analysis.explain.difference import FORMS, difference_causes, settings_text
from cyscc.host.analysis.explain.explanation import causes_table
from cyscc.host.analysis.explain.groups import FEWEST, GroupComparison, RunGroup, compare_groups, input_text
from cyscc.host.analysis.explain.settings import INPUTS, settings_that_differ
from cyscc.host.answer.answer import ROWS, Answer, Table
from cyscc.host.answer.colours import STACK
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, cause_named

_NAMED = 3
"""Most causes named in a sentence."""
_SHOWN = 0.0005
"""Least share of the cycles with which a cause is listed."""


def grouped(groups: Sequence[RunGroup], *, top: int | None = None) -> Answer:
    """Return the comparison of each further group of runs with the first; the summary of an only one.

    Parameters
    ----------
    groups : sequence of RunGroup
        The groups.
    top : int, optional
        Most inputs that are shown.
    """
    comparisons = compare_groups(groups)
    differing = settings_that_differ([group.records[0] for group in groups])
    settings = {name: values for name, values in differing.items() if name not in INPUTS}
    said = groups_conclusion(groups, comparisons)
    return Answer(
        title=said[0],
        facts={"settings that differ": settings_text(settings)} if settings else {},
        said=said[1:],
        tables={
            "groups": _groups(groups),
            "comparisons": _comparisons(comparisons),
            "runs": _runs(groups, top or ROWS, shown=not comparisons),
            "inputs": _inputs(comparisons, top or ROWS),
            "causes": causes_table(
                {group.name: {name: group.causes[name].mean for name in STACK} for group in groups}, of=": mean"
            ),
        },
        fields={"conclusion": " ".join(said), "settings": settings},
    )


def groups_conclusion(groups: Sequence[RunGroup], comparisons: Sequence[GroupComparison]) -> list[str]:
    """Return the conclusion as sentences: of each comparison with the first group, or of the only group."""
    if comparisons:
        return [sentence for comparison in comparisons for sentence in _compared(comparison)]
    (group,) = groups
    cycles, rate = group.cycles, group.gteps
    return [
        f"{group.name}: {count_text(len(group.records), 'run')} of {cycles.least:,.0f} to {cycles.most:,.0f} cycles, "
        f"on average {cycles.text(',.0f')}; {rate.least:.3f} to {rate.most:.3f} GTEPS, on average {rate.text('.3f')}."
    ]


def _compared(comparison: GroupComparison) -> list[str]:
    """Return the sentences on two groups: how much longer the second takes, and whether that is beyond the spread."""
    first, second, ratios = comparison.first.name, comparison.second.name, comparison.ratios
    slower = comparison.ratio > 1
    interval = comparison.interval

    def times(ratio: float) -> float:
        return ratio if slower else 1 / ratio

    within = ""
    if interval is not None:
        low, high = sorted(map(times, interval))
        within = f"95 % interval {low:.3f} to {high:.3f}"
    if not ratios:
        runs = [count_text(len(group.records), "run") for group in (comparison.first, comparison.second)]
        how = f"{times(comparison.ratio):.3f} times as {'slow' if slower else 'fast'}"
        found = [
            f"{second} traverses edges {how} as {first} (geometric means of {runs[1]} and {runs[0]}"
            f"{f'; {within}' if within else ''}). They have no input in common, so rates are compared."
        ]
    elif all(ratio == 1 for ratio in ratios):
        return [f"{second} takes as long as {first} on {_all(len(ratios), len(ratios))}.", *_left_out(comparison)]
    else:
        agree = sum(ratio > 1 if slower else ratio < 1 for ratio in ratios)
        low, high = sorted(times(ratio) for ratio in (min(ratios), max(ratios)))
        parts = ["geometric mean", f"{low:.3f} to {high:.3f}", within] if len(ratios) > 1 else []
        told = f" ({', '.join(filter(None, parts))})" if parts else ""
        found = [
            f"{second} is {'slower' if slower else 'faster'} than {first} on {_all(agree, len(ratios))}: "
            f"{times(comparison.ratio):.3f} times as {'long' if slower else 'fast'}{told}."
        ]
    if interval is None:
        found.append(f"The spread is not known: that takes {FEWEST} inputs or more.")
    elif comparison.beyond_spread:
        found.append("The difference is larger than the spread.")
    else:
        found.append("The difference is not larger than the spread: the interval contains 1.")
    return [*found, *_left_out(comparison), *_why(comparison)]


def _all(agree: int, count: int) -> str:
    if count == 1:
        return "the one input that both have"
    return f"all {count} inputs" if agree == count else f"{agree} of {count} inputs"


def _left_out(comparison: GroupComparison) -> list[str]:
    first, second = comparison.left_out
    if not (first or second):
        return []
    groups = f"{count_text(first, 'run')} of {comparison.first.name} and {second} of {comparison.second.name}"
    return [f"Left out are {groups}, whose inputs the other has not."]


def _why(comparison: GroupComparison) -> list[str]:
    ranked = sorted(comparison.causes.items(), key=lambda cause: -abs(cause[1].mean))
    named = [
        f"{cause_named(name).title} {share.text('.1%', sign='+')}"
        for name, share in ranked[:_NAMED]
        if abs(share.mean) >= _SHOWN
    ]
    return [f"By cause, of the cycles of {comparison.first.name}: {', '.join(named)}."] if named else []


def _groups(groups: Sequence[RunGroup]) -> Table:
    frame = pd.DataFrame(
        [
            {
                "group": group.name,
                "runs": len(group.records),
                **{"cycles" if name == "mean" else name: value for name, value in asdict(group.cycles).items()},
                "gteps": group.gteps.mean,
                "gteps_deviation": group.gteps.deviation,
            }
            for group in groups
        ]
    )
    return FORMS.table("groups", frame)


def _comparisons(comparisons: Sequence[GroupComparison]) -> Table:
    frame = pd.DataFrame(
        [
            {
                "first": each.first.name,
                "second": each.second.name,
                "ratio": each.ratio,
                "low": None if each.interval is None else each.interval[0],
                "high": None if each.interval is None else each.interval[1],
                "beyond_spread": each.beyond_spread,
                "left_out": list(each.left_out),
                **{name: share.mean for name, share in each.causes.items()},
            }
            for each in comparisons
        ]
    )
    return FORMS.table("comparisons", frame)


def _runs(groups: Sequence[RunGroup], most: int, *, shown: bool) -> Table:
    frame = pd.DataFrame([_run_row(group, record) for group in groups for record in group.records])
    return FORMS.table("runs", frame, most=most, shown=shown)


def _run_row(group: RunGroup, record: Record) -> dict[str, Any]:
    result = record.result
    return {
        "group": group.name,
        "record": printable(str(record.folder)),
        **_input(record),
        "cycles": result["cycles"]["total"],
        "seconds": result["seconds"],
        "gteps": result["gteps"],
    }


def _input(record: Record) -> dict[str, Any]:
    run = record.document["run"]
    return {"input": input_text(record), "graph": run["graph"], "source": run["options"].get("source")}


def _inputs(comparisons: Sequence[GroupComparison], most: int) -> Table:
    rows = [_pair_row(each, pair) for each in comparisons for pair in each.pairs]
    against = f"{comparisons[0].second.name} against {comparisons[0].first.name}, " if len(comparisons) == 1 else ""
    several = [] if len(comparisons) > 1 else ["group"]
    return FORMS.table("inputs", pd.DataFrame(rows), {"against": against}, without=several, most=most)


def _pair_row(comparison: GroupComparison, pair: Comparison) -> dict[str, Any]:
    return {
        "group": comparison.second.name,
        **_input(pair.first),
        "first": printable(str(pair.first.folder)),
        "second": printable(str(pair.second.folder)),
        "first_cycles": pair.cycles[0],
        "second_cycles": pair.cycles[1],
        "ratio": pair.seconds[1] / pair.seconds[0],
        "why": difference_causes(pair.causes),
        **{name: pair.causes[name] for name in CAUSE_NAMES},
    }
