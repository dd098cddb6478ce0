"""What the kernels of a run asked of the memory: by bank, link and array, over time and by level; latencies; tokens."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from host.record.arrow import Integers, codes, numbers, sums
from host.record.tables import ARRAYS, PHASES
from host.report.activity import Activity

__all__ = ["LONGEST_LATENCY", "Traffic"]

LONGEST_LATENCY = 2047
"""What a histogram of latencies calls this or more cycles."""


class Traffic:
    """What went to the memory.

    Parameters
    ----------
    activity : Activity
        What the kernels did; its columns of time and its levels hold here too.
    """

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        self.record, self.time, self.levels = activity.record, activity.time, activity.levels
        memory = activity.machine["memory"]
        self.controllers = int(memory["controllers"]) if memory else 0
        self.banks_each = int(memory["banks"]) if memory else 0
        self.links_each = int(memory["links"]) if memory else 0
        self.bank_busy = float(memory["bank_busy"]) if memory else 0.0

    @property
    def banks(self) -> int:
        """Banks of the memory; 0 where it has none."""
        return self.controllers * self.banks_each

    @cached_property
    def by_bank(self) -> tuple[Integers, Integers]:
        """Accesses and cycles waited by bank and column of time; shape (banks, columns) each."""
        table = self.record.table("banks")
        bank = numbers(table, "controller") * self.banks_each + numbers(table, "bank")
        return self._over_time(table, "accesses", self.banks, bank)

    @cached_property
    def by_link(self) -> tuple[Integers, Integers]:
        """Requests and cycles waited by link, AE by AE, and column of time; shape (links of all AEs, columns) each."""
        table = self.record.table("links")
        link = numbers(table, "engine") * self.links_each + numbers(table, "link")
        return self._over_time(table, "requests", self.activity.engines * self.links_each, link)

    def _over_time(self, table: object, noun: str, rows: int, row: Integers) -> tuple[Integers, Integers]:
        column = self.time.at(numbers(table, "cycle"))
        shape = (rows, self.time.columns)
        counts, waiting = (sums(numbers(table, name), shape, row, column) for name in (noun, "waiting"))
        return counts, waiting

    @cached_property
    def by_array(self) -> dict[str, Integers]:
        """`reads`, `writes` and the `latency` of the reads, by array and column of time; shape (arrays, columns)."""
        table = self.record.table("arrays")
        keys = codes(table, "array", ARRAYS), self.time.at(numbers(table, "cycle"))
        shape = (len(ARRAYS), self.time.columns)
        return {name: sums(numbers(table, name), shape, *keys) for name in ("reads", "writes", "latency")}

    @cached_property
    def by_instruction(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """Rows of accesses in instructions: place of the instruction, bank, array, accesses, cycles waited."""
        table = self.record.table("instruction_banks")
        place = self.activity.instructions.places(numbers(table, "instruction"))
        bank = numbers(table, "controller") * self.banks_each + numbers(table, "bank")
        array = codes(table, "array", ARRAYS)
        return place, bank, array, numbers(table, "accesses"), numbers(table, "waiting")

    @cached_property
    def by_level(self) -> tuple[Integers, Integers]:
        """Accesses to banks, and cycles waited for them, by array and level; shape (arrays, levels) each."""
        place, _, array, accesses, waiting = self.by_instruction
        level = np.where(place >= 0, self.levels.of[place], -1)
        shape = (len(ARRAYS), self.levels.count)
        return sums(accesses, shape, array, level), sums(waiting, shape, array, level)

    @cached_property
    def by_bank_and_array(self) -> tuple[Integers, Integers]:
        """Accesses and cycles waited by array and bank, over all instructions; shape (arrays, banks) each."""
        place, bank, array, accesses, waiting = self.by_instruction
        shape = (len(ARRAYS), max(self.banks, 1))
        bank = np.where(place >= 0, bank, -1)
        return sums(accesses, shape, array, bank), sums(waiting, shape, array, bank)

    def bank_title(self, bank: int) -> str:
        """Return what a bank is called."""
        return f"controller {bank // self.banks_each}, bank {bank % self.banks_each}"

    @cached_property
    def _latencies(self) -> tuple[Integers, Integers, Integers]:
        table = self.record.table("instruction_latencies")
        place = self.activity.instructions.places(numbers(table, "instruction"))
        return place, numbers(table, "latency"), numbers(table, "reads")

    @cached_property
    def latencies_by_phase(self) -> Integers:
        """Reads by phase and latency; shape (phases, `LONGEST_LATENCY` + 1)."""
        place, latency, reads = self._latencies
        phase = np.where(place >= 0, self.activity.instructions.phase[place], -1)
        return sums(reads, (len(PHASES), LONGEST_LATENCY + 1), phase, latency)

    @cached_property
    def latencies_by_level(self) -> Integers:
        """Reads by level that is shown and latency; shape (levels, `LONGEST_LATENCY` + 1)."""
        place, latency, reads = self._latencies
        level = np.where(place >= 0, self.levels.of[place], -1)
        return sums(reads, (self.levels.count, LONGEST_LATENCY + 1), level, latency)

    def percentile(self, share: float) -> npt.NDArray[np.float64]:
        """Return the latency that so large a share of each level's reads does not exceed; nan without reads."""
        counts = self.latencies_by_level
        below = counts.cumsum(axis=1)
        total = below[:, -1:]
        return np.where(total[:, 0] > 0, (below < share * total).sum(axis=1), np.nan)

    @cached_property
    def by_engine(self) -> dict[str, Integers]:
        """What the AEs count, by AE and column of time; shape (AEs, columns)."""
        table = self.record.table("engines")
        keys = numbers(table, "engine"), self.time.at(numbers(table, "cycle"))
        shape = (self.activity.engines, self.time.columns)
        names = ("bfs_turns", "intersection_turns", "ordering", "read_stalls", "write_stalls")
        return {name: sums(numbers(table, name), shape, *keys) for name in names}
