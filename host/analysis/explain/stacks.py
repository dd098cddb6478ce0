"""Cycle stacks: cycles of an average kernel by cause, for each phase, iteration, level, kernel, AE or interval.

Also the comparison of two records: the difference in cycles, instruction by instruction.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyscc.host.record.reader import PARTS, Record
from cyscc.host.record.tables import PHASES
from cyscc.sim.observation.causes import CAUSE_NAMES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["STACKED", "Comparison", "Group", "compare", "groups_of", "outside", "stacks"]

_KEYS = {
    "phase": ["phase", "part"],
    "iteration": ["iteration", "phase"],
    "level": ["iteration", "phase", "level"],
    "engine": ["module", "engine"],
    "kernel": ["module", "engine", "kernel"],
    "interval": ["module", "cycle"],
}
STACKED = tuple(_KEYS)
"""Groupings that a stack can have."""


@dataclass(frozen=True)
class Group:
    """A group of instructions that findings are about: a phase, or a part of its levels.

    Parameters
    ----------
    phase : str
        forward, backward or intersection.
    part : str
        Part of the search; empty for intersections.
    """

    phase: str
    part: str

    @property
    def short(self) -> str:
        """Short name for tables."""
        return f"{self.phase}, {self.part}" if self.part else self.phase

    def __str__(self) -> str:
        return f"{self.phase}, {self.part} levels" if self.part else self.phase


def groups_of(rows: "pd.DataFrame") -> "list[tuple[Group, pd.DataFrame]]":
    """Return the groups that the instructions fall into, each with its rows, in the order of a run."""
    groups = [Group(phase, part) for phase in PHASES for part in PARTS]
    chosen = ((group, rows[(rows["phase"] == group.phase) & (rows["part"] == group.part)]) for group in groups)
    return [(group, its) for group, its in chosen if len(its)]


def stacks(record: Record, rows: "pd.DataFrame", by: str) -> "pd.DataFrame":
    """Return the stacks of a grouping.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The selected instructions, rows of `Record.instructions`. An interval counts as a whole if one of them ran in
        it.
    by : str
        One of `STACKED`.

    Returns
    -------
    pandas.DataFrame
        The keys of the grouping; `cycles`; `instructions`, their number, except for intervals; and the cycles of an
        average kernel by cause, which add up to `cycles`.
    """
    keys = _KEYS[by]
    if by == "interval":
        frame = record.frame("kernels")
        frame = frame[_ran(record, rows, frame["cycle"].to_numpy())]
        found = frame.groupby(keys, observed=True)[CAUSE_NAMES].mean().reset_index()
        found.insert(len(keys), "cycles", found[CAUSE_NAMES].sum(axis=1).round().astype("int64"))
        return found
    if by in ("engine", "kernel"):
        frame = record.frame("instruction_kernels")
        frame = frame[frame["instruction"].isin(rows.index)]
        sums = frame.groupby(keys, observed=True)[CAUSE_NAMES].sum()
        runs = frame.groupby(keys, observed=True)["instruction"].nunique()
        kernels = frame.groupby(keys, observed=True)["kernel"].nunique() if by == "engine" else runs * 0 + 1
        found = sums.div(kernels, axis=0)
        found.insert(0, "instructions", runs)
        found.insert(0, "cycles", found[CAUSE_NAMES].sum(axis=1).round().astype("int64"))
        return found.reset_index()
    kernels = rows["module"].map({module: record.kernels(module) for module in ("bfs", "intersection")})
    frame = record.stacks.reindex(rows.index).div(kernels.astype(float), axis=0)
    frame[["cycles", *keys]] = rows[["cycles", *keys]]
    if by == "phase":
        # Keep the order of a search.
        frame = frame.sort_values(keys, kind="stable", key=lambda names: names.map((*PHASES, *PARTS).index))
    grouped = frame.groupby(keys, sort=False)
    found = grouped[["cycles", *CAUSE_NAMES]].sum()
    found.insert(1, "instructions", grouped.size())
    return found.reset_index()


def _ran(record: Record, rows: "pd.DataFrame", cycles: "np.ndarray") -> "np.ndarray":
    """Return for each interval, given by its first cycle, whether one of the instructions ran in it."""
    starts = rows["start"].to_numpy()
    ends = starts + rows["cycles"].to_numpy()
    last = np.searchsorted(starts, cycles + record.interval) - 1  # the last one that began before the interval's end
    ran: np.ndarray = (last >= 0) & (ends[np.maximum(last, 0)] > cycles)
    return ran


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
