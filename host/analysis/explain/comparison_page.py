"""Text and JSON of the comparison of two records."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.comparison import Comparison
from cyscc.host.analysis.explain.conclusion import conclusion, share_text
from cyscc.host.analysis.explain.page import head, rows_document, run_document
from cyscc.host.analysis.explain.terminal import Cell, letter, section, table
from cyscc.host.output.files import identity
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, cause_named

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = ["comparison_document", "difference_causes", "difference_page", "settings_text"]

_FEW = 3
"""Most causes named in a row."""


def difference_page(comparison: Comparison, *, top: int) -> "list[RenderableType]":
    """Return the page on where and why the second of two records takes more cycles than the first.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    top : int
        Most rows of a table.
    """
    from rich.text import Text

    first, second = comparison.first, comparison.second
    parts: list[RenderableType] = [Text(" ".join(conclusion(comparison)))]
    if comparison.settings:
        parts.append(Text(f"settings that differ: {settings_text(comparison.settings)}"))
    for record in (first, second):
        parts += [Text(""), *head(record, record.instructions)]
    if not comparison.selected:
        parts += section("cycles of the runs", _times(comparison))
    parts += section("by cause, in cycles of an average kernel", _causes(comparison))
    parts += section("by phase", _rows(comparison.phases, ["phase"], comparison, "phase"))
    if not comparison.unpaired.empty:
        keys = ["phase", "first_iterations", "second_iterations"]
        parts += section("iterations that only one run has", _rows(comparison.unpaired, keys, comparison, "phase"))
    return parts if comparison.levels.empty else parts + _levels(comparison, top)


def settings_text(settings: Mapping[str, Sequence[Any]]) -> str:
    """Return settings that differ with the values of each run: ``issue_interval 1 -> 2, memory hc2 -> fixed:75``."""
    return ", ".join(f"{printable(name)} {' -> '.join(map(_value, values))}" for name, values in settings.items())


def _value(value: object) -> str:
    return printable("none" if value is None else str(value).lower() if isinstance(value, bool) else str(value))


_PARTS = {
    "instructions": "instructions",
    "host": "the host",
    "restarted": "attempts given up",
    "unfinished": "instructions that are not complete in the record",
    "total": "total",
}


def _times(comparison: Comparison) -> "RenderableType":
    rows: list[list[Cell]] = [
        [_PARTS[name], f"{one:,}", f"{other:,}", f"{other - one:+,}", share_text(other - one, one)]
        for name, (one, other) in comparison.times.items()
    ]
    return table(["", "first", "second", "difference", "of first"], rows)


def _causes(comparison: Comparison) -> "RenderableType":
    ranked = sorted(comparison.causes.items(), key=lambda item: -abs(item[1]))
    rows: list[list[Cell]] = [
        [letter(name), name, cause_named(name).title, f"{cycles:+,.0f}", share_text(cycles, comparison.cycles[0])]
        for name, cycles in ranked
        if abs(cycles) >= 0.5
    ]
    return table(["", "cause", "", "cycles", "of run"], rows, words=3)


def _rows(frame: "pd.DataFrame", keys: list[str], comparison: Comparison, unit: str) -> "RenderableType":
    """Return the rows of a frame, with each difference as a share of the unit's cycles and of those of the run."""
    rows: list[list[Cell]] = []
    for _, row in frame.iterrows():
        cells: list[Cell] = [row[name] if isinstance(row[name], str) else f"{row[name]:,}" for name in keys]
        cells += [f"{row[name]:,}" for name in ("first_cycles", "second_cycles")]
        shares = [share_text(row["difference"], whole) for whole in (row["first_cycles"], comparison.cycles[0])]
        rows.append([*cells, f"{row['difference']:+,}", *shares, difference_causes(row)])
    heads = [name.replace("_", " ") for name in keys]
    return table([*heads, "first", "second", "difference", f"of {unit}", "of run", "why"], rows, last=True)


def difference_causes(causes: "Mapping[str, float] | pd.Series[Any]") -> str:
    """Return the causes that contribute most to a difference: ``refused +312, slot -40``."""
    ranked = sorted(CAUSE_NAMES, key=lambda name: -abs(float(causes[name])))
    return ", ".join(f"{name} {float(causes[name]):+,.0f}" for name in ranked[:_FEW] if abs(float(causes[name])) >= 0.5)


def _levels(comparison: Comparison, top: int) -> "list[RenderableType]":
    frame = comparison.levels
    chosen = frame.loc[frame["difference"].abs().nlargest(top).index].sort_index() if len(frame) > top else frame
    keys = [name for name in ("iteration", "phase", "level") if name == "level" or frame[name].nunique() > 1]
    if (frame["iteration"] != frame["second_iteration"]).any():
        keys.insert(1, "second_iteration")
    which = f"the {top} of {len(frame):,} that differ most" if len(chosen) < len(frame) else "all"
    return section(f"by level: {which}", _rows(chosen, keys, comparison, "level"))


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison of two records as a JSON document."""
    return {
        **identity(),
        "conclusion": conclusion(comparison),
        "first": run_document(comparison.first),
        "second": run_document(comparison.second),
        "same_graph": comparison.same_graph,
        "settings": comparison.settings,
        "difference": comparison.difference,
        "cycles": {name: list(both) for name, both in comparison.times.items()},
        "compared": {
            "cycles": list(comparison.cycles),
            "seconds": list(comparison.seconds),
            "edges": list(comparison.edges),
            "left_out": list(comparison.left_out),
        },
        "causes": {name: round(cycles, 3) for name, cycles in comparison.causes.items()},
        "phases": rows_document(comparison.phases),
        "unpaired": rows_document(comparison.unpaired),
        "levels": rows_document(comparison.levels),
    }
