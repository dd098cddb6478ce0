"""Comparison of two records: the difference in cycles, by cause, phase and level."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.record.reader import Record
from cyscc.sim.observation.causes import CAUSE_NAMES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "compare", "outside"]

_OUTSIDE = {"host": ("host", "readout"), "restarted": ("restarted",)}


@dataclass(frozen=True)
class Comparison:
    """Difference in cycles between two records, aligned by level.

    Parameters
    ----------
    first, second : Record
        The records.
    levels : pandas.DataFrame
        A row for each iteration, phase and level of either record: these three keys, `first_cycles`,
        `second_cycles`, their `difference`, and the difference by cause, in cycles of an average kernel, which adds
        up to it.
    phases : pandas.DataFrame
        The same, summed by phase.
    outside : dict of str to int
        Differences in the cycles outside the selected instructions, by cause: `host`, `restarted`.
    """

    first: Record
    second: Record
    levels: "pd.DataFrame"
    phases: "pd.DataFrame"
    outside: dict[str, int]

    @property
    def difference(self) -> int:
        """Total difference: cycles that the second record takes more."""
        return self.second.cycles - self.first.cycles

    @property
    def causes(self) -> dict[str, float]:
        """Total difference by cause, in cycles of an average kernel; it adds up to `difference`."""
        sums = self.levels[CAUSE_NAMES].sum()
        return {name: float(sums[name]) + self.outside.get(name, 0) for name in CAUSE_NAMES}

    @property
    def same_graph(self) -> bool:
        """Whether both records are of the same graph."""
        first, second = (record.document["run"]["digest"] for record in (self.first, self.second))
        return bool(first == second)

    @property
    def settings(self) -> dict[str, tuple[object, object]]:
        """Parameters of machine, memory and run that differ, each with both values."""
        found = {}
        for kind in ("configuration", "memory_profile"):
            one, other = (record.document[kind] for record in (self.first, self.second))
            for name in one | other:
                # A digest means nothing to a reader.
                if name != "source" and one.get(name) != other.get(name):
                    found[name] = (one.get(name), other.get(name))
        return found


def outside(record: Record) -> dict[str, int]:
    """Return the cycles outside the selected instructions, by cause."""
    cycles = record.document["cycles"]
    return {cause: sum(int(cycles[name]) for name in names) for cause, names in _OUTSIDE.items()}


def compare(
    first: Record, second: Record, *, phase: str | None = None, level: int | None = None, iteration: int | None = None
) -> Comparison:
    """Compare two records, aligned by iteration, phase and level.

    Parameters
    ----------
    first, second : Record
        The records.
    phase, level, iteration : optional
        Selected instructions, see `Record.select`.

    Raises
    ------
    InputError
        A record has no such instruction.
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
