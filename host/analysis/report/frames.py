"""Frames of a run as its charts show them: sums of its tables by time, level, kernel, bank and array."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from cyscc.host.analysis.explain.evidence import FifoUse, evidence_of
from cyscc.host.analysis.roofline.analysis import Roofline, recorded_bounds
from cyscc.host.answer.charts import Chart, Figure
from cyscc.host.answer.colours import STACK
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import MODULES

OUTSIDE = ["host", "restarted"]
"""Causes of cycles outside of instructions."""

LONE = 1 << 62
"""Iteration of the keys of instructions that are not paired, and therefore summed by phase."""


class Key(NamedTuple):
    """Key of an instruction within its run, by which runs are aligned."""

    iteration: int
    phase: str
    level: int


def key_title(key: Key) -> str:
    """Return the label of an instruction on an axis: ``level 3``, ``2 forward 3``, ``2 intersection``."""
    if key.iteration == 0:
        return f"level {key.level}"
    if key.iteration == LONE:
        return f"{key.phase}, not paired"
    return f"{key.iteration} {key.phase}" if key.level < 0 else f"{key.iteration} {key.phase} {key.level}"


def key_point(key: Key) -> str:
    """Return the point of the run at which an instruction begins: ``level=3``, ``iteration=2,phase=intersection``."""
    iteration = f"iteration={key.iteration},phase={key.phase}" if key.iteration else ""
    level = f"level={key.level}" if key.level >= 0 else ""
    return ",".join(part for part in (iteration, level) if part)


def keys_of(rows: pd.DataFrame) -> list[Key]:
    """Return the keys of instructions, which are rows of `Record.instructions`."""
    return list(map(Key._make, rows[list(Key._fields)].itertuples(index=False)))


class Frames:
    """Frames of a run, without abandoned attempts.

    Cycles of a group of kernels are the mean over its kernels, so that the cycles of all causes add up to the cycles of
    the run. Time is in columns of whole intervals, named by their first cycle.

    Parameters
    ----------
    record : Record
        The record.
    columns : int
        Most columns of time.
    levels : int
        Most levels that are shown.

    Attributes
    ----------
    width : int
        Cycles of a column of time; the last one may have fewer.
    lengths : pandas.Series
        Cycles of each column of time.
    instructions : pandas.DataFrame
        The instructions.
    levels : pandas.DataFrame
        Those that are shown: the longest, in the order in which they ran.
    modules : list of str
        Modules that ran.
    """

    def __init__(self, record: Record, *, columns: int, levels: int) -> None:
        self.record, self.instructions = record, record.instructions
        self.width = record.interval * max(1, -(-record.cycles // (record.interval * columns)))
        starts = np.arange(0, max(record.cycles, 1), self.width)
        self.lengths = pd.Series(np.diff([*starts, max(record.cycles, 1)]), index=starts)
        self.levels = self.instructions.nlargest(levels, "cycles").sort_index()
        self.modules = [name for name in MODULES if name in set(self.instructions["module"])]

    @property
    def titles(self) -> list[str]:
        """Names of the levels that are shown."""
        return list(map(key_title, keys_of(self.levels)))

    @property
    def others(self) -> str:
        """A sentence on the levels that are not shown; empty if all are."""
        rest = self.instructions["cycles"].sum() - self.levels["cycles"].sum()
        count = len(self.instructions) - len(self.levels)
        share = rest / max(self.record.cycles, 1)
        return (
            f" The longest {len(self.levels):,}; the other {count:,} take {share:.1%} of the cycles." if count else ""
        )

    def sums(self, table: str, columns: Sequence[str], *keys: str, rows: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return the sums of columns of a table by some keys.

        Parameters
        ----------
        table : str
            Name of the table.
        columns : sequence of str
            Its columns.
        *keys : str
            Columns of it; ``time``, and ``phase`` of the instruction.
        rows : pandas.DataFrame, optional
            The instructions that count; by default all.
        """
        frame = self.record.frame(table)
        if "instruction" in frame:
            frame = frame[frame["instruction"].isin((self.instructions if rows is None else rows).index)]
        if "time" in keys:
            frame["time"] = frame["cycle"] // self.width * self.width
        if "phase" in keys:
            frame["phase"] = frame["instruction"].map(self.instructions["phase"])
        return frame.groupby(list(keys), observed=True)[list(columns)].sum()

    def over_time(self, sums: pd.Series) -> pd.DataFrame:
        """Return sums by ``time`` and other keys as a frame with a column for each column of time."""
        return sums.unstack("time", fill_value=0).reindex(columns=self.lengths.index, fill_value=0)

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """Cycles by cause of each kernel that ran in each column of time."""
        found = self.sums("kernels", STACK, "module", "engine", "kernel", "time")
        return found[found.index.get_level_values("module").isin(self.modules)]

    @cached_property
    def machine(self) -> pd.DataFrame:
        """Cycles by cause of the module that runs in each column of time; they add up to the column's."""
        found = self.kernels.groupby(["module", "time"], observed=True).sum()
        total = pd.DataFrame(0.0, self.lengths.index, list(STACK))
        for place, module in enumerate(self.modules):
            own = found.loc[module].reindex(total.index, fill_value=0) / self.record.kernels(module)
            total += own.assign(**dict.fromkeys(OUTSIDE, 0.0)) if place else own
        return total.drop(columns="not_running")

    @cached_property
    def stacks(self) -> pd.DataFrame:
        """Cycles of each instruction by cause."""
        kernels = self.instructions["module"].map({name: self.record.kernels(name) for name in self.modules})
        every = self.record.stacks.reindex(self.instructions.index, fill_value=0)
        return every[list(STACK)].div(kernels.astype(float), axis=0)

    @cached_property
    def fifos(self) -> list[FifoUse]:
        """Use of each kind of FIFO over the whole run."""
        return [fifo for evidence in evidence_of(self.record) for fifo in evidence.fifos]

    @cached_property
    def roofline(self) -> Roofline | None:
        """Roofline of the levels; None if the run has searched none, or the limits of its machine are not known."""
        bounds = recorded_bounds(self.record)
        found = None if bounds is None else Roofline.of(self.record, bounds)
        return found if found is not None and found.cycles.size else None


class Told(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Texts of a chart in the sheet, and what kind of chart it is.

    Parameters
    ----------
    title, about : str
        Heading, and description; they may have words in braces.
    time, causes : bool
        Whether it is over the time of a run; whether its colours are those of the causes.
    """

    title: str
    about: str
    time: bool = False
    causes: bool = False


_SHEET = msgspec.toml.decode(Path(__file__).with_name("charts.toml").read_bytes(), type=dict[str, Told])


def chart(name: str, figure: Figure, *, points: tuple[str, ...] = (), **words: Any) -> Chart:
    """Return a figure as the chart of a name; `words` are those in braces in its texts."""
    told = _SHEET[name]
    title, about = told.title.format_map(words), told.about.format_map(words)
    time = "run" if told.time else ""
    return Chart(name=name, title=title, about=about, figure=figure, time_of=time, points=points, causes=told.causes)
