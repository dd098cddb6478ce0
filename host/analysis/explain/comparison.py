"""Comparison of two records: the difference in cycles, by cause, phase and level."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from cyscc.host.analysis.explain.settings import settings_that_differ
from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import PHASES
from cyscc.host.specification.place import Place
from cyscc.sim.observation.causes import CAUSE_NAMES

TIMES = ("instructions", "host", "restarted", "unfinished", "total")
"""Parts into which the cycles of a record are divided for a comparison; `host` includes the reading of results."""

_WHOLE = Place()
_OUTSIDE = {"host": ("host", "readout"), "restarted": ("restarted",)}
_KEYS = ["iteration", "phase", "level"]


@dataclass(frozen=True)
class Comparison:
    """Difference in cycles between two records: of their instructions, without the time of the host.

    Parameters
    ----------
    first, second : Record
        The records.
    levels : pandas.DataFrame
        A row for each level and intersection of the searches that are paired: `iteration` and `second_iteration`, its
        number in each record; `phase`; `level`; `first_cycles`, `second_cycles`, their `difference`, and the difference
        by cause, in cycles of an average kernel, which adds up to it.
    unpaired : pandas.DataFrame
        The same, summed by phase, of iterations that only one of the records has, and `first_iterations` and
        `second_iterations`, their numbers.
    edges : (int, int)
        Edges that leave the vertices of the levels compared, in each record.
    selected : bool
        Whether only some instructions were selected.
    left_out : (int, int)
        Instructions of each record that are not compared since a record is of an interrupted run.
    """

    first: Record
    second: Record
    levels: pd.DataFrame
    unpaired: pd.DataFrame
    edges: tuple[int, int]
    selected: bool
    left_out: tuple[int, int]

    @cached_property
    def phases(self) -> pd.DataFrame:
        """The sums of `levels` and `unpaired` by phase."""
        columns = ["phase", "first_cycles", "second_cycles", "difference", *CAUSE_NAMES]
        every = pd.concat([self.levels[columns], self.unpaired[columns]])
        sums = every.groupby("phase", sort=False).sum()
        return sums.reindex([phase for phase in PHASES if phase in sums.index]).reset_index()

    @property
    def cycles(self) -> tuple[int, int]:
        """Cycles of the instructions compared, in each record."""
        return int(self.phases["first_cycles"].sum()), int(self.phases["second_cycles"].sum())

    @property
    def difference(self) -> int:
        """Difference of these: cycles that the second record takes more."""
        return self.cycles[1] - self.cycles[0]

    @property
    def seconds(self) -> tuple[float, float]:
        """The same cycles as simulated time."""
        first, second = (float(record.document["clock_hz"]) for record in (self.first, self.second))
        return self.cycles[0] / first, self.cycles[1] / second

    @property
    def causes(self) -> dict[str, float]:
        """Difference by cause, in cycles of an average kernel; it adds up to `difference`."""
        sums = self.phases[CAUSE_NAMES].sum()
        return {name: float(sums[name]) for name in CAUSE_NAMES}

    @property
    def times(self) -> dict[str, tuple[int, int]]:
        """Cycles of the whole runs by part, one of `TIMES`, in each record; only parts that one of them has."""
        one, other = (_times(record) for record in (self.first, self.second))
        return {name: (one[name], other[name]) for name in TIMES if one[name] or other[name]}

    @property
    def same_graph(self) -> bool:
        """Whether both records are of the same graph."""
        first, second = (record.document["run"]["digest"] for record in (self.first, self.second))
        return bool(first == second)

    @property
    def settings(self) -> dict[str, list[Any]]:
        """Settings that differ and can change cycles, by name, each with both values."""
        return settings_that_differ([self.first, self.second])


def _times(record: Record) -> dict[str, int]:
    cycles = record.document["cycles"]
    parts = {name: int(cycles.get(name, 0)) for name in ("instructions", "unfinished", "total")}
    return {**parts, **outside(record)}


def outside(record: Record) -> dict[str, int]:
    """Return the cycles outside of instructions, by cause."""
    cycles = record.document["cycles"]
    return {cause: sum(int(cycles[name]) for name in names) for cause, names in _OUTSIDE.items()}


def paired_iterations(first: Record, second: Record) -> dict[int, int]:
    """Return the iterations of the second record that begin at the same vertex as one of the first, with its number.

    The iterations of two machines differ in their order: the hardware offers the next start. Vertices of different
    graphs have nothing in common. The searches of two ``bfs`` runs are paired in any case, as their only ones.
    """
    commands = {record.document["command"] for record in (first, second)}
    if commands == {"bfs"}:
        return {0: 0}
    if len(commands) > 1 or not numbered_alike(first, second):
        return {}
    ours, theirs = (
        record.instructions.drop_duplicates("iteration").set_index("source")["iteration"].to_dict()
        for record in (first, second)
    )
    return {number: ours[source] for source, number in theirs.items() if source in ours}


def numbered_alike(first: Record, second: Record) -> bool:
    """Whether a vertex has the same number in both runs: one graph, perhaps once without its repeated edges."""
    one, other = (record.document["run"] for record in (first, second))
    simplified = one["options"]["simplify"] != other["options"]["simplify"]
    alike = all(one[name] == other[name] for name in ("graph", "folder", "vertices"))
    return bool(one["digest"] == other["digest"]) or (simplified and alike)


def compare(first: Record, second: Record, place: Place = _WHOLE) -> Comparison:
    """Compare two records, whose iterations are paired by the vertices at which they begin.

    If one of them is of an interrupted run, only instructions that both have are compared.

    Parameters
    ----------
    first, second : Record
        The records.
    place : Place
        The instructions that are compared: those of its phase, levels and iterations.

    Raises
    ------
    InputError
        A record has no such instruction.
    """
    selected = [record.select(place) for record in (first, second)]
    pairs = paired_iterations(first, second)
    one, other = (stacks(record, rows, "level") for record, rows in zip((first, second), selected, strict=True))
    for frame, rows in zip((one, other), selected, strict=True):
        frame["edges"] = rows.groupby(_KEYS, sort=False)["edges"].sum().to_numpy()  # the groups of `stacks`
    other["second_iteration"] = other["iteration"]
    other["iteration"] = other["iteration"].map(pairs)
    paired = [
        frame["iteration"].isin(its) for frame, its in ((one, set(other["iteration"])), (other, set(one["iteration"])))
    ]
    lone = [frame[~its] for frame, its in zip((one, other), paired, strict=True)]
    one, other = (frame[its].set_index(_KEYS) for frame, its in zip((one, other), paired, strict=True))
    numbers = {ours: theirs for theirs, ours in pairs.items()}
    left_out = (0, 0)
    if first.interrupted is not None or second.interrupted is not None:
        common = one.index.intersection(other.index, sort=False)
        left_out = (len(selected[0]) - len(common), len(selected[1]) - len(common))
        one, other = one.loc[common], other.loc[common]
        lone = [frame.iloc[:0] for frame in lone]
    edges = [int(frame["edges"].sum() + rest["edges"].sum()) for frame, rest in zip((one, other), lone, strict=True)]
    index = one.index.union(other.index, sort=False)
    levels = _difference(*(frame.reindex(index).fillna(0) for frame in (one, other))).reset_index()
    levels["iteration"] = levels["iteration"].astype("int64")
    levels.insert(1, "second_iteration", levels["iteration"].map(numbers).astype("int64"))
    levels = levels.sort_values(_KEYS, key=_in_order, kind="stable", ignore_index=True)
    return Comparison(
        first,
        second,
        levels,
        _unpaired(lone[0], lone[1]),
        edges=(edges[0], edges[1]),
        selected=bool(place.given),
        left_out=left_out,
    )


def _in_order(values: "pd.Series[Any]") -> "pd.Series[Any]":
    return values.map(PHASES.index) if values.name == "phase" else values


def _difference(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return both cycles, the difference, and the difference by cause of frames that have the same index."""
    found = (other - one)[CAUSE_NAMES]
    both = {"first_cycles": one["cycles"], "second_cycles": other["cycles"]}
    for place, (name, cycles) in enumerate({**both, "difference": other["cycles"] - one["cycles"]}.items()):
        found.insert(place, name, cycles.astype("int64"))
    return found


def _unpaired(*lone: pd.DataFrame) -> pd.DataFrame:
    """Return the sums by phase of the instructions that only the first and only the second record has."""
    sums = [frame.groupby("phase", sort=False)[["cycles", *CAUSE_NAMES]].sum() for frame in lone]
    numbers = ["iteration", "second_iteration"]
    counts = [frame.groupby("phase")[name].nunique() for frame, name in zip(lone, numbers, strict=True)]
    phases = [phase for phase in PHASES if any(phase in each.index for each in sums)]
    found = _difference(*(each.reindex(phases).fillna(0) for each in sums))
    for place, (name, count) in enumerate(zip(("first", "second"), counts, strict=True)):
        found.insert(place, f"{name}_iterations", count.reindex(phases).fillna(0).astype("int64"))
    return found.reset_index(names="phase")
