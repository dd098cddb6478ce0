"""Text and JSON of the comparison of groups of runs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.comparison import Comparison
from cyscc.host.analysis.explain.comparison_page import difference_causes, settings_text
from cyscc.host.analysis.explain.conclusion import share_text, time_text
from cyscc.host.analysis.explain.groups import GroupComparison, RunGroup, Spread, input_text
from cyscc.host.analysis.explain.settings import INPUTS, settings_that_differ
from cyscc.host.analysis.explain.terminal import Cell, letter, section, table
from cyscc.host.output.files import identity
from cyscc.host.output.text import count_text
from cyscc.host.record.colours import STACK
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, cause_named

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["groups_conclusion", "groups_document", "groups_page", "pair_row", "run_row"]

_NAMED = 3
"""Most causes named in a sentence."""
_SHOWN = 0.0005
"""Least share of the cycles with which a cause is listed."""


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
        found.append("The spread is not known: that takes two inputs or more.")
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


def groups_page(
    groups: Sequence[RunGroup], comparisons: Sequence[GroupComparison], *, top: int
) -> "list[RenderableType]":
    """Return the page on groups of runs.

    Parameters
    ----------
    groups : sequence of RunGroup
        The groups.
    comparisons : sequence of GroupComparison
        Those with the first group.
    top : int
        Most rows of a table of inputs.
    """
    from rich.text import Text

    parts: list[RenderableType] = [Text(" ".join(groups_conclusion(groups, comparisons)))]
    differing = _settings(groups)
    if differing:
        parts.append(Text(f"settings that differ: {settings_text(differing)}"))
    parts += section("groups: mean ± standard deviation", _group_table(groups))
    if not comparisons:
        (group,) = groups
        rows: list[list[Cell]] = [
            [input_text(record), f"{record.result['cycles']['total']:,}", f"{record.result['gteps']:.3f}"]
            for record in group.records[:top]
        ]
        parts += section(f"runs{_shown(len(rows), len(group.records))}", table(["input", "cycles", "GTEPS"], rows))
    for comparison in comparisons:
        if comparison.pairs:
            shown = comparison.pairs[:top]
            title = f"{comparison.second.name} against {comparison.first.name}, by input"
            parts += section(f"{title}{_shown(len(shown), len(comparison.pairs))}", _pair_table(shown))
    return parts + section(
        "causes, of the instructions' kernel-cycles: mean ± standard deviation", _cause_table(groups)
    )


def _shown(shown: int, count: int) -> str:
    return f": the first {shown} of {count:,}" if shown < count else ""


def _settings(groups: Sequence[RunGroup]) -> dict[str, list[Any]]:
    differing = settings_that_differ([group.records[0] for group in groups])
    return {name: values for name, values in differing.items() if name not in INPUTS}


def _group_table(groups: Sequence[RunGroup]) -> "RenderableType":
    rows: list[list[Cell]] = [
        [
            group.name,
            f"{len(group.records)}",
            group.cycles.text(",.0f"),
            f"{group.cycles.least:,.0f}",
            f"{group.cycles.most:,.0f}",
            group.gteps.text(".3f"),
        ]
        for group in groups
    ]
    return table(["group", "runs", "cycles", "least", "most", "GTEPS"], rows)


def _pair_table(pairs: Sequence[Comparison]) -> "RenderableType":
    clocks = any(pair.first.document["clock_hz"] != pair.second.document["clock_hz"] for pair in pairs)
    rows: list[list[Cell]] = []
    for pair in pairs:
        both = [time_text(seconds) for seconds in pair.seconds] if clocks else [f"{cycles:,}" for cycles in pair.cycles]
        share = share_text(pair.seconds[1] - pair.seconds[0], pair.seconds[0])
        rows.append([input_text(pair.first), *both, share, difference_causes(pair.causes)])
    return table(["input", "first", "second", "of first", "why, in cycles"], rows, last=True)


def _cause_table(groups: Sequence[RunGroup]) -> "RenderableType":
    rows: list[list[Cell]] = [
        [
            letter(name),
            name,
            cause_named(name).title,
            *(group.causes[name].text(".1%") for group in groups),
        ]
        for name in STACK
        if max(group.causes[name].mean for group in groups) >= _SHOWN
    ]
    return table(["", "cause", "", *(group.name for group in groups)], rows, words=3)


def groups_document(groups: Sequence[RunGroup], comparisons: Sequence[GroupComparison]) -> dict[str, Any]:
    """Return groups of runs and their comparisons as a JSON document."""
    return {
        **identity(),
        "conclusion": groups_conclusion(groups, comparisons),
        "settings": _settings(groups),
        "groups": [
            {
                "name": group.name,
                "runs": [run_row(record) for record in group.records],
                "cycles": asdict(group.cycles),
                "gteps": asdict(group.gteps),
                "causes": _spreads(group.causes),
            }
            for group in groups
        ],
        "comparisons": [
            {
                "first": each.first.name,
                "second": each.second.name,
                "ratio": each.ratio,
                "interval": each.interval,
                "beyond_spread": each.beyond_spread,
                "left_out": list(each.left_out),
                "causes": _spreads(each.causes),
                "inputs": [pair_row(pair) for pair in each.pairs],
            }
            for each in comparisons
        ],
    }


def _spreads(causes: dict[str, Spread]) -> dict[str, dict[str, float]]:
    return {name: asdict(share) for name, share in causes.items()}


def run_row(record: Record) -> dict[str, Any]:
    """Return a run of a group as a row."""
    result, run = record.result, record.document["run"]
    return {
        "record": printable(str(record.folder)),
        "graph": run["graph"],
        "source": run["options"].get("source"),
        "cycles": result["cycles"]["total"],
        "seconds": result["seconds"],
        "gteps": result["gteps"],
    }


def pair_row(pair: Comparison) -> dict[str, Any]:
    """Return the runs of two groups on one input as a row."""
    run = pair.first.document["run"]
    return {
        "graph": run["graph"],
        "source": run["options"].get("source"),
        "first": printable(str(pair.first.folder)),
        "second": printable(str(pair.second.folder)),
        "first_cycles": pair.cycles[0],
        "second_cycles": pair.cycles[1],
        "ratio": pair.seconds[1] / pair.seconds[0],
        **{name: round(pair.causes[name], 3) for name in CAUSE_NAMES},
    }
