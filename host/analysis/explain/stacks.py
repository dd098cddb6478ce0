"""Cycle stacks: cycles of an average kernel by cause, for each phase, iteration, level, kernel, AE or interval."""

from dataclasses import dataclass

import pandas as pd

from cyscc.host.record.reader import PARTS, Record
from cyscc.host.record.tables import PHASES
from cyscc.sim.observation.causes import CAUSE_NAMES

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


def groups_of(rows: pd.DataFrame) -> "list[tuple[Group, pd.DataFrame]]":
    """Return the groups that the instructions fall into, each with its rows, in the order of a run."""
    groups = [Group(phase, part) for phase in PHASES for part in PARTS]
    chosen = ((group, rows[(rows["phase"] == group.phase) & (rows["part"] == group.part)]) for group in groups)
    return [(group, its) for group, its in chosen if len(its)]


def stacks(record: Record, rows: pd.DataFrame, by: str) -> pd.DataFrame:
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

    Raises
    ------
    ValueError
        There is no such grouping.
    """
    if by not in STACKED:
        raise ValueError(f"by must be {' or '.join(STACKED)}, not {by!r}")
    keys = _KEYS[by]
    if by == "interval":
        frame = record.frame("kernels")
        frame = frame[frame["cycle"].isin(record.ran_in(rows).index)]
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
