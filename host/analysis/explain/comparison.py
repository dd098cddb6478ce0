"""Two records side by side: the cycles that one takes more, instruction by instruction, and why; for people too."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from host.analysis.explain.page import head, rows_document, run_document
from host.analysis.explain.stacks import stacks
from host.analysis.explain.terminal import Cell, letter, section, table
from host.record.reader import CAUSE_NAMES, Record
from host.results.version import identity
from sim.notices import printable
from sim.observation.causes import cause_named

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = ["Comparison", "compare", "comparison_document", "difference_page", "outside"]

_NAMED = 3
"""Causes that a row names."""

_OUTSIDE = {"host": ("host", "readout"), "restarted": ("restarted",)}


@dataclass(frozen=True)
class Comparison:
    """What the second of two records takes more than the first.

    Parameters
    ----------
    first, second : Record
        The records.
    levels : pandas.DataFrame
        A row for each iteration, phase and level that one of them has: these three, the `first_cycles` and the
        `second_cycles`, their `difference`, and by cause the difference in cycles of an average kernel, which add up to
        it.
    phases : pandas.DataFrame
        The sums of these for each phase.
    outside : dict of str to int
        Differences in cycles in which no instruction that counts ran: `host`, `restarted`.
    """

    first: Record
    second: Record
    levels: "pd.DataFrame"
    phases: "pd.DataFrame"
    outside: dict[str, int]

    @property
    def difference(self) -> int:
        """Cycles that the second takes more, as a whole."""
        return self.second.cycles - self.first.cycles

    @property
    def causes(self) -> dict[str, float]:
        """The whole difference by cause, in cycles of an average kernel; it adds up to `difference`."""
        sums = self.levels[CAUSE_NAMES].sum()
        return {name: float(sums[name]) + self.outside.get(name, 0) for name in CAUSE_NAMES}

    @property
    def same_graph(self) -> bool:
        """Whether both ran on the same graph."""
        first, second = (record.document["run"]["digest"] for record in (self.first, self.second))
        return bool(first == second)

    @property
    def settings(self) -> dict[str, tuple[object, object]]:
        """Parameters of machine, memory and run that are not the same, with both values."""
        found = {}
        for kind in ("configuration", "memory_profile"):
            one, other = (record.document[kind] for record in (self.first, self.second))
            for name in one | other:
                # A digest tells nobody anything.
                if name != "source" and one.get(name) != other.get(name):
                    found[name] = (one.get(name), other.get(name))
        return found


def outside(record: Record) -> dict[str, int]:
    """Return the cycles by cause in which no instruction that counts ran."""
    cycles = record.document["cycles"]
    return {cause: sum(int(cycles[name]) for name in names) for cause, names in _OUTSIDE.items()}


def compare(
    first: Record,
    second: Record,
    *,
    phase: str | None = None,
    level: int | None = None,
    iteration: int | None = None,
) -> Comparison:
    """Compare two records, aligned by iteration, phase and level.

    Parameters
    ----------
    first, second : Record
        The records.
    phase, level, iteration : optional
        What instructions count, see `Record.select`.

    Raises
    ------
    InputError
        One of them has no such instruction.
    """
    keys = ["iteration", "phase", "level"]
    one, other = (
        stacks(record, record.select(phase=phase, level=level, iteration=iteration), "level").set_index(keys)
        for record in (first, second)
    )
    index = one.index.union(other.index, sort=False)
    one, other = (frame.reindex(index).fillna(0) for frame in (one, other))
    levels = (other - one)[CAUSE_NAMES]
    for place, (name, cycles) in enumerate(
        {
            "first_cycles": one["cycles"],
            "second_cycles": other["cycles"],
            "difference": other["cycles"] - one["cycles"],
        }.items()
    ):
        levels.insert(place, name, cycles.astype("int64"))
    levels = levels.reset_index()
    phases = levels.drop(columns=["iteration", "level"]).groupby("phase", sort=False).sum().reset_index()
    more = {cause: cycles - outside(first)[cause] for cause, cycles in outside(second).items()}
    if (phase, level, iteration) != (None, None, None):
        more = dict.fromkeys(more, 0)
    return Comparison(first, second, levels, phases, more)


def difference_page(comparison: Comparison, *, top: int) -> "list[RenderableType]":
    """Return where the second of two records takes more cycles than the first, and why.

    Parameters
    ----------
    comparison : Comparison
        The records.
    top : int
        Most rows of a table.
    """
    from rich.text import Text

    first, second = comparison.first, comparison.second
    parts = _runs(first, second)
    if not comparison.same_graph:
        parts.append(Text("the graphs are not the same: levels of one number may have little in common"))
    if comparison.settings:
        shown = [f"{name} {_value(one)} -> {_value(other)}" for name, (one, other) in comparison.settings.items()]
        parts.append(Text(f"settings that differ: {', '.join(shown)}"))
    total = max(first.cycles, 1)
    parts.append(Text(f"difference: {comparison.difference:+,} cycles ({comparison.difference / total:+.1%})"))
    parts += section("by cause, in cycles of an average kernel", _causes(comparison, total))
    parts += section("by phase", _rows(comparison.phases, ["phase"], total))
    return parts + _levels(comparison, top, total)


def _runs(first: Record, second: Record) -> "list[RenderableType]":
    return [*head(first, first.instructions), *head(second, second.instructions)]


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
    """Return the causes with most of a difference."""
    ranked = sorted(CAUSE_NAMES, key=lambda name: -abs(float(row[name])))
    return ", ".join(f"{name} {float(row[name]):+,.0f}" for name in ranked[:_NAMED] if abs(float(row[name])) >= 0.5)


def _levels(comparison: Comparison, top: int, total: int) -> "list[RenderableType]":
    frame = comparison.levels
    chosen = frame.loc[frame["difference"].abs().nlargest(top).index].sort_index() if len(frame) > top else frame
    keys = [name for name in ("iteration", "phase", "level") if name == "level" or frame[name].nunique() > 1]
    which = f"the {top} of {len(frame):,} that differ most" if len(chosen) < len(frame) else "all"
    return section(f"by level: {which}", _rows(chosen, keys, total))


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return what two records say together."""
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
