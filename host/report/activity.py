"""Where the kernel-cycles of a run went: by cause, over time, by kernel, by level and by phase."""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from host.record.arrow import Integers, codes, numbers, sums
from host.record.colours import STACK
from host.record.reader import Record
from host.record.tables import MODULES, PHASES
from host.report.levels import Instructions, Levels
from host.report.timeline import Timeline
from sim.observation.causes import WORK

__all__ = ["Activity"]

_MODULE_OF_PHASE = np.array([MODULES.index("intersection" if phase == "intersection" else "bfs") for phase in PHASES])
_OUTSIDE = ("host", "restarted")


class Activity:
    """What kernels did.

    A *lane* is a kernel of a module that ran: those of one module after those of the other, AE by AE. Cycles of a
    group of kernels are the mean over its kernels, so that those of all causes add up to cycles of the run.

    Parameters
    ----------
    record : Record
        The record.
    columns : int
        Most columns of time.
    levels : int
        Most levels that are shown by themselves.
    """

    def __init__(self, record: Record, *, columns: int, levels: int) -> None:
        self.record = record
        self.time = Timeline.of(record, most=columns)
        self.instructions = Instructions.of(record)
        self.levels = Levels.group(self.instructions.keys(), self.instructions.cycles, most=levels)
        machine = record.document["machine"]
        self.engines = int(machine["engines"])
        ran = set(_MODULE_OF_PHASE[self.instructions.phase].tolist())
        self.kernels = [int(machine["kernels"][name]) if place in ran else 0 for place, name in enumerate(MODULES)]
        self.machine: dict[str, Any] = machine

    @cached_property
    def lanes(self) -> list[str]:
        """What each kernel is called."""
        return [
            f"AE {engine} {module} {kernel}"
            for module, kernels in zip(MODULES, self.kernels, strict=True)
            for engine in range(self.engines)
            for kernel in range(kernels)
        ]

    @cached_property
    def lanes_of_module(self) -> Integers:
        """Kernels of each module in the whole machine; 0 for one that did not run."""
        return np.array([self.engines * kernels for kernels in self.kernels])

    @cached_property
    def by_time(self) -> dict[str, Integers]:
        """Cycles of each lane in each column of time, by cause; shape (lanes, columns) each."""
        table = self.record.table("kernels")
        module = codes(table, "module", MODULES)
        per_engine = np.array(self.kernels)[module]
        first = np.array([0, self.lanes_of_module[0]])[module]
        lane = first + numbers(table, "engine") * per_engine + numbers(table, "kernel")
        lane[per_engine == 0] = -1
        column = self.time.at(numbers(table, "cycle"))
        shape = (len(self.lanes), self.time.columns)
        return {cause: sums(numbers(table, cause), shape, lane, column) for cause in STACK}

    @cached_property
    def issued(self) -> Integers:
        """Cycles in which each lane issued a request in each column of time; shape (lanes, columns)."""
        return np.sum([self.by_time[cause] for cause in WORK], axis=0)

    @cached_property
    def by_lane(self) -> dict[str, Integers]:
        """Cycles of each lane in the whole run, by cause."""
        return {cause: cycles.sum(axis=1) for cause, cycles in self.by_time.items()}

    @cached_property
    def machine_by_time(self) -> dict[str, npt.NDArray[np.float64]]:
        """Cycles of the module that runs in each column of time, by cause; they add up to the column's."""
        split = int(self.lanes_of_module[0])
        found = {}
        for cause, cycles in self.by_time.items():
            if cause == "not_running":
                continue
            total = cycles[:split].sum(axis=0) / max(split, 1)
            if cause not in _OUTSIDE and split < len(cycles):
                total = total + cycles[split:].sum(axis=0) / (len(cycles) - split)
            found[cause] = total
        return found

    @cached_property
    def by_instruction(self) -> npt.NDArray[np.float64]:
        """Cycles of each instruction by cause, mean over the kernels that ran it; shape (instructions, causes)."""
        table = self.record.table("instruction_kernels")
        place = self.instructions.places(numbers(table, "instruction"))
        total = [sums(numbers(table, cause), (self.instructions.count,), place) for cause in STACK]
        lanes = self.lanes_of_module[_MODULE_OF_PHASE[self.instructions.phase]]
        return np.array(total).T / np.maximum(lanes, 1)[:, None]

    def by_group(self, groups: Integers, count: int) -> dict[str, npt.NDArray[np.float64]]:
        """Return the cycles of groups of instructions, by cause; a negative group is left out."""
        inside = groups >= 0
        found = {}
        for place, cause in enumerate(STACK):
            weights = self.by_instruction[inside, place]
            found[cause] = np.bincount(groups[inside], weights=weights, minlength=count).astype(np.float64)
        return found

    @cached_property
    def by_level(self) -> dict[str, npt.NDArray[np.float64]]:
        """Cycles of each level that is shown, by cause."""
        return self.by_group(self.levels.of, self.levels.count)

    @cached_property
    def by_phase(self) -> dict[str, npt.NDArray[np.float64]]:
        """Cycles of each phase, by cause."""
        return self.by_group(self.instructions.phase, len(PHASES))

    @cached_property
    def whole(self) -> dict[str, float]:
        """Cycles of the whole run by cause, which add up to those simulated."""
        return {cause: float(cycles.sum()) for cause, cycles in self.machine_by_time.items()}
