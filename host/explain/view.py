"""A record as explanations look at it: instructions in their groups, and where the cycles of each group went."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from host.errors import InputError
from host.explain.thresholds import DEPENDENT_WAITS
from host.record.reader import Record
from host.record.tables import PHASES
from sim.observation.causes import CAUSES, WORK

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CAUSE_NAMES", "ENDING", "GROWING", "PARTS", "SATURATED", "Group", "View"]

CAUSE_NAMES = [cause.name for cause in CAUSES]
GROWING, SATURATED, ENDING = "growing", "saturated", "ending"
"""Parts of a search: levels before, with and after enough work to hide a level's fixed cost."""
PARTS = (GROWING, SATURATED, ENDING, "")
"""All parts in their order; an intersection has none."""


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

    @property
    def short(self) -> str:
        """What a table calls them."""
        return f"{self.phase}, {self.part}" if self.part else self.phase

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

        self._frames: dict[str, pd.DataFrame] = {}

    def frame(self, name: str) -> "pd.DataFrame":
        """Return a table of the record, which is read once."""
        if name not in self._frames:
            self._frames[name] = self.record.frame(name)
        return self._frames[name]

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
        frame = self.frame("instructions")
        frame = frame[frame["attempt"] == frame["attempt"].max()].set_index("instruction")
        frame["phase"] = frame["phase"].astype(str)
        frame["module"] = np.where(frame["phase"] == "intersection", "intersection", "bfs")
        issued = self.stacks[list(WORK)].sum(axis=1)
        frame["requests"] = issued.reindex(frame.index).fillna(0).astype("int64")
        frame["part"] = self._parts(frame)
        return frame

    @cached_property
    def stacks(self) -> "pd.DataFrame":
        """Kernel-cycles of each instruction by cause, over all kernels of its module."""
        return self.frame("instruction_kernels").groupby("instruction")[CAUSE_NAMES].sum()

    @cached_property
    def least_latency(self) -> int:
        """The shortest time of a read in cycles: that of the memory without contention, as far as the run shows."""
        latencies = self.frame("instruction_latencies")
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

    def select(
        self, *, phase: str | None = None, level: int | None = None, iteration: int | None = None
    ) -> "pd.DataFrame":
        """Return the instructions of a phase, a level and an iteration, as far as they are given.

        Raises
        ------
        InputError
            There are none.
        """
        frame = self.instructions
        given = {"phase": phase, "level": level, "iteration": iteration}
        words = []
        for name, value in given.items():
            if value is not None:
                frame = frame[frame[name] == value]
                words.append(f"{name} {value}")
        if frame.empty:
            missing = f"has no {', '.join(words)}" if words else "ran no instruction: there is nothing to explain"
            raise InputError(missing, path=self.record.folder)
        return frame

    def groups_of(self, rows: "pd.DataFrame") -> "list[tuple[Group, pd.DataFrame]]":
        """Return the groups that some instructions fall into, each with its own, in the order of a run."""
        groups = [Group(phase, part) for phase in PHASES for part in PARTS]
        chosen = [(group, rows[(rows["phase"] == group.phase) & (rows["part"] == group.part)]) for group in groups]
        return [(group, its) for group, its in chosen if len(its)]
