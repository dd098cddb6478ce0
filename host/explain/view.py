"""A record as explanations look at it: instructions in their groups, and where the cycles of each group went."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from host.explain.thresholds import DEPENDENT_WAITS
from host.record.reader import Record
from sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CAUSE_NAMES", "ENDING", "GROWING", "SATURATED", "Group", "View"]

CAUSE_NAMES = [cause.name for cause in CAUSES]
GROWING, SATURATED, ENDING = "growing", "saturated", "ending"
"""Parts of a search: levels before, with and after enough work to hide a level's fixed cost."""


@dataclass(frozen=True)
class Group:
    """Instructions that one thing is said about.

    Parameters
    ----------
    phase : str
        forward, backward or intersection.
    part : str
        Part of the search; empty for intersections.
    """

    phase: str
    part: str

    def __str__(self) -> str:
        return f"{self.phase}, {self.part} levels" if self.part else self.phase


class View:
    """A record's instructions and what belongs to each.

    Instructions of attempts that were given up are left out: their cycles are `restarted`.

    Parameters
    ----------
    record : Record
        The record.

    Attributes
    ----------
    record : Record
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    @cached_property
    def machine(self) -> dict[str, Any]:
        """The machine, as the record's document has it."""
        return dict(self.record.document["machine"])

    @cached_property
    def memory(self) -> dict[str, Any] | None:
        """Banks and links of the memory, None where it has none."""
        return self.machine["memory"]

    def kernels(self, module: str) -> int:
        """Return the kernels of a module in the whole machine."""
        return int(self.machine["kernels"][module]) * int(self.machine["engines"])

    @cached_property
    def instructions(self) -> "pd.DataFrame":
        """The instructions by number: their columns, `module`, `part`, and the `requests` that their kernels issued."""
        frame = self.record.frame("instructions")
        frame = frame[frame["attempt"] == frame["attempt"].max()].set_index("instruction")
        frame["phase"] = frame["phase"].astype(str)
        frame["module"] = np.where(frame["phase"] == "intersection", "intersection", "bfs")
        issued = self.stacks[["issue_1", "issue_2", "issue_3", "write"]].sum(axis=1)
        frame["requests"] = issued.reindex(frame.index).fillna(0).astype("int64")
        frame["part"] = self._parts(frame)
        return frame

    @cached_property
    def instruction_kernels(self) -> "pd.DataFrame":
        """The cycles of every kernel by cause, in each instruction."""
        return self.record.frame("instruction_kernels")

    @cached_property
    def stacks(self) -> "pd.DataFrame":
        """Kernel-cycles of each instruction by cause, over all kernels of its module."""
        return self.instruction_kernels.groupby("instruction")[CAUSE_NAMES].sum()

    @cached_property
    def least_latency(self) -> int:
        """The shortest time of a read in cycles: that of the memory without contention, as far as the run shows."""
        latencies = self.record.frame("instruction_latencies")
        return int(latencies["latency"].min()) if len(latencies) else 0

    def _parts(self, frame: "pd.DataFrame") -> "np.ndarray":
        """Return each instruction's part of its search."""
        enough = DEPENDENT_WAITS * max(self.least_latency, 1) * self.kernels("bfs")
        parts = np.full(len(frame), "", dtype=object)
        searching = (frame["module"] == "bfs").to_numpy()
        requests = frame["requests"].to_numpy()
        # A search's levels follow each other, from level 0 on.
        search = np.cumsum(frame["level"].to_numpy() <= 0)
        for number in np.unique(search[searching]):
            at = np.flatnonzero((search == number) & searching)
            full = np.flatnonzero(requests[at] >= enough)
            peak = int(np.argmax(requests[at]))
            first, last = (int(full[0]), int(full[-1])) if full.size else (peak + 1, peak)
            parts[at[:first]] = GROWING
            parts[at[first : last + 1]] = SATURATED
            parts[at[last + 1 :]] = ENDING
        return parts

    @cached_property
    def groups(self) -> "list[tuple[Group, pd.DataFrame]]":
        """The groups that occur, each with its instructions, in the order of a run."""
        frame = self.instructions
        order = [Group(phase, part) for phase in ("forward", "backward") for part in (GROWING, SATURATED, ENDING)] + [
            Group("intersection", "")
        ]
        chosen = [(group, frame[(frame["phase"] == group.phase) & (frame["part"] == group.part)]) for group in order]
        return [(group, rows) for group, rows in chosen if len(rows)]
