"""Text and JSON of the comparison of two records."""

from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.comparison import Comparison
from cyscc.host.analysis.explain.page import head, rows_document, run_document
from cyscc.host.analysis.explain.terminal import Cell, letter, section, table
from cyscc.host.output.files import identity
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, cause_named

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = ["comparison_document", "difference_page"]

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
    parts = [*head(first, first.instructions), *head(second, second.instructions)]
    if not comparison.same_graph:
        parts.append(Text("the graphs are not the same: levels of one number may have little in common"))
    if comparison.settings:
        shown = [
            f"{printable(name)} {_value(one)} -> {_value(other)}" for name, (one, other) in comparison.settings.items()
        ]
        parts.append(Text(f"settings that differ: {', '.join(shown)}"))
    total = max(first.cycles, 1)
    parts.append(Text(f"difference: {comparison.difference:+,} cycles ({comparison.difference / total:+.1%})"))
    parts += section("by cause, in cycles of an average kernel", _causes(comparison, total))
    parts += section("by phase", _rows(comparison.phases, ["phase"], total))
    return parts + _levels(comparison, top, total)


def _value(value: object) -> str:
    return printable("none" if value is None else str(value).lower() if isinstance(value, bool) else str(value))


def _causes(comparison: Comparison, total: int) -> "RenderableType":
    ranked = sorted(comparison.causes.items(), key=lambda item: -abs(item[1]))
    rows: list[list[Cell]] = [
        [letter(name), name, cause_named(name).title, f"{cycles:+,.0f}", f"{cycles / total:+.1%}"]
        for name, cycles in ranked
        if abs(cycles) >= 0.5
    ]
    return table(["", "cause", "", "cycles", "of first"], rows, words=3)


def _rows(frame: "pd.DataFrame", keys: list[str], total: int) -> "RenderableType":
    rows: list[list[Cell]] = []
    for _, row in frame.iterrows():
        cells: list[Cell] = [str(row[name]) for name in keys]
        cells += [f"{row[name]:,}" for name in ("first_cycles", "second_cycles")]
        cells += [f"{row['difference']:+,}", f"{row['difference'] / total:+.1%}", _why(row)]
        rows.append(cells)
    return table([*keys, "first", "second", "difference", "of first", "why"], rows, last=True)


def _why(row: "pd.Series[Any]") -> str:
    """Return the causes that contribute most to a difference."""
    ranked = sorted(CAUSE_NAMES, key=lambda name: -abs(float(row[name])))
    return ", ".join(f"{name} {float(row[name]):+,.0f}" for name in ranked[:_FEW] if abs(float(row[name])) >= 0.5)


def _levels(comparison: Comparison, top: int, total: int) -> "list[RenderableType]":
    frame = comparison.levels
    chosen = frame.loc[frame["difference"].abs().nlargest(top).index].sort_index() if len(frame) > top else frame
    keys = [name for name in ("iteration", "phase", "level") if name == "level" or frame[name].nunique() > 1]
    which = f"the {top} of {len(frame):,} that differ most" if len(chosen) < len(frame) else "all"
    return section(f"by level: {which}", _rows(chosen, keys, total))


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison of two records as a JSON document."""
    return {
        **identity(),
        "first": run_document(comparison.first),
        "second": run_document(comparison.second),
        "same_graph": comparison.same_graph,
        "settings": {name: list(values) for name, values in comparison.settings.items()},
        "difference": comparison.difference,
        "causes": {name: round(cycles, 3) for name, cycles in comparison.causes.items()},
        "phases": rows_document(comparison.phases),
        "levels": rows_document(comparison.levels),
    }
