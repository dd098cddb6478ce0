"""Two records side by side: instruction by instruction, the cycles that one takes more, and the causes of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from host.explain.stacks import stacks
from host.explain.view import CAUSE_NAMES, View

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "compare"]

_OUTSIDE = {"host": ("host", "readout"), "restarted": ("restarted",)}


@dataclass(frozen=True)
class Comparison:
    """What the second of two records takes more than the first.

    Parameters
    ----------
    first, second : View
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

    first: View
    second: View
    levels: "pd.DataFrame"
    phases: "pd.DataFrame"
    outside: dict[str, int]

    @property
    def difference(self) -> int:
        """Cycles that the second takes more, as a whole."""
        return self.second.record.cycles - self.first.record.cycles

    @property
    def causes(self) -> dict[str, float]:
        """The whole difference by cause, in cycles of an average kernel; it adds up to `difference`."""
        sums = self.levels[CAUSE_NAMES].sum()
        return {name: float(sums[name]) + self.outside.get(name, 0) for name in CAUSE_NAMES}

    @property
    def same_graph(self) -> bool:
        """Whether both ran on the same graph."""
        first, second = (view.record.document["run"]["digest"] for view in (self.first, self.second))
        return bool(first == second)

    @property
    def settings(self) -> dict[str, tuple[object, object]]:
        """Parameters of machine, memory and run that are not the same, with both values."""
        found = {}
        for kind in ("configuration", "memory_profile"):
            one, other = (view.record.document[kind] for view in (self.first, self.second))
            for name in one | other:
                # A digest tells nobody anything.
                if name != "source" and one.get(name) != other.get(name):
                    found[name] = (one.get(name), other.get(name))
        return found


def compare(
    first: View,
    second: View,
    *,
    phase: str | None = None,
    level: int | None = None,
    iteration: int | None = None,
) -> Comparison:
    """Compare two records, aligned by iteration, phase and level.

    Parameters
    ----------
    first, second : View
        The records.
    phase, level, iteration : optional
        What instructions count, see `View.select`.

    Raises
    ------
    InputError
        One of them has no such instruction.
    """
    keys = ["iteration", "phase", "level"]
    one, other = (
        stacks(view, view.select(phase=phase, level=level, iteration=iteration), "level").set_index(keys)
        for view in (first, second)
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
    whole = (phase, level, iteration) == (None, None, None)
    outside = {
        cause: sum(second.record.document["cycles"][name] - first.record.document["cycles"][name] for name in names)
        if whole
        else 0
        for cause, names in _OUTSIDE.items()
    }
    return Comparison(first, second, levels, phases, outside)
