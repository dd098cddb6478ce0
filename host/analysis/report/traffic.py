"""Requests of the kernels of a run: by bank, link and array; latencies; tokens; how full FIFOs were."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from host.analysis.explain.evidence import FifoUse, evidence_of
from host.analysis.report.activity import Activity
from host.record.arrow import Integers, codes, numbers, sums
from host.record.tables import ARRAYS, MODULES, PHASES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LONGEST_LATENCY", "Fill", "Traffic"]

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
        memory = self.record.memory
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
        frame = self.record.frame("banks")
        bank = numbers(frame["controller"]) * self.banks_each + numbers(frame["bank"])
        return self._over_time(frame, "accesses", self.banks, bank)

    @cached_property
    def by_link(self) -> tuple[Integers, Integers]:
        """Requests and cycles waited by link, AE by AE, and column of time; shape (links of all AEs, columns) each."""
        frame = self.record.frame("links")
        link = numbers(frame["engine"]) * self.links_each + numbers(frame["link"])
        return self._over_time(frame, "requests", self.activity.engines * self.links_each, link)

    def _over_time(self, frame: "pd.DataFrame", noun: str, rows: int, row: Integers) -> tuple[Integers, Integers]:
        column = self.time.at(numbers(frame["cycle"]))
        shape = (rows, self.time.columns)
        counts, waiting = (sums(numbers(frame[name]), shape, row, column) for name in (noun, "waiting"))
        return counts, waiting

    @cached_property
    def by_array(self) -> dict[str, Integers]:
        """`reads`, `writes` and the `latency` of the reads, by array and column of time; shape (arrays, columns)."""
        frame = self.record.frame("arrays")
        keys = codes(frame["array"]), self.time.at(numbers(frame["cycle"]))
        shape = (len(ARRAYS), self.time.columns)
        return {name: sums(numbers(frame[name]), shape, *keys) for name in ("reads", "writes", "latency")}

    @cached_property
    def by_instruction(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """Rows of accesses in instructions: place of the instruction, bank, array, accesses, cycles waited."""
        frame = self.record.frame("instruction_banks")
        place = self.activity.places(numbers(frame["instruction"]))
        bank = numbers(frame["controller"]) * self.banks_each + numbers(frame["bank"])
        array = codes(frame["array"])
        return place, bank, array, numbers(frame["accesses"]), numbers(frame["waiting"])

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
        frame = self.record.frame("instruction_latencies")
        place = self.activity.places(numbers(frame["instruction"]))
        return place, numbers(frame["latency"]), numbers(frame["reads"])

    @cached_property
    def latencies_by_phase(self) -> Integers:
        """Reads by phase and latency; shape (phases, `LONGEST_LATENCY` + 1)."""
        place, latency, reads = self._latencies
        phase = np.where(place >= 0, self.activity.of_instructions("phase")[place], -1)
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
        frame = self.record.frame("engines")
        keys = numbers(frame["engine"]), self.time.at(numbers(frame["cycle"]))
        shape = (self.activity.engines, self.time.columns)
        names = ("bfs_turns", "intersection_turns", "ordering", "read_stalls", "write_stalls")
        return {name: sums(numbers(frame[name]), shape, *keys) for name in names}


class Fill:
    """The FIFOs of a run.

    Parameters
    ----------
    activity : Activity
        What the kernels did.
    """

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        machine = activity.record.machine
        ran = [count > 0 for count in activity.kernels]
        self.sizes = [
            (module, size)
            for place, module in enumerate(MODULES)
            if ran[place] and module in machine["fifos"]
            for size in machine["fifos"][module]
        ]

    @cached_property
    def _table(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Mean and largest share of the places taken, by FIFO and column of time; shape (FIFOs, columns)."""
        activity = self.activity
        frame = activity.record.frame("fifos")
        names = frame["fifo"].cat.categories.tolist()
        row_of = np.full((len(MODULES), len(names)), -1, np.int64)
        for number, (module, size) in enumerate(self.sizes):
            if size["name"] in names:
                row_of[MODULES.index(module), names.index(size["name"])] = number
        row = row_of[codes(frame["module"]), codes(frame["fifo"])]
        column = activity.time.at(numbers(frame["cycle"]))
        shape = (len(self.sizes), activity.time.columns)
        fill = sums(numbers(frame["fill"]), shape, row, column)
        most = np.zeros(shape, np.int64)
        shown = row >= 0
        np.maximum.at(most, (row[shown], column[shown]), numbers(frame["most"])[shown])
        depths = np.array([size["depth"] for _, size in self.sizes])[:, None]
        kernels = np.array([activity.tracks_of_module[MODULES.index(module)] for module, _ in self.sizes])[:, None]
        return fill / (depths * kernels * activity.time.lengths), most / depths

    @property
    def titles(self) -> list[str]:
        """Names of the FIFOs."""
        return [f"{'int.' if module == 'intersection' else module} {size['name']}" for module, size in self.sizes]

    @property
    def mean(self) -> npt.NDArray[np.float64]:
        """Mean share of the places taken; shape (FIFOs, columns of time)."""
        return self._table[0]

    @property
    def most(self) -> npt.NDArray[np.float64]:
        """Largest share of the places taken; shape (FIFOs, columns of time)."""
        return self._table[1]

    @cached_property
    def kinds(self) -> list[FifoUse]:
        """Each kind of FIFO in the whole run."""
        return [fifo for evidence in evidence_of(self.activity.record) for fifo in evidence.fifos]
