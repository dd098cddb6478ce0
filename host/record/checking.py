"""Checks of a record's tables against its document: types and ranges of every column, and which rows there must be.

A digest says that a table is the one that was written; these checks say that analyses can rely on it whoever wrote it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cyscc.host.record.arrow import Integers, codes, numbers
from cyscc.host.record.document import LARGEST
from cyscc.host.record.tables import CATEGORIES, LONGEST_LATENCY, MODULES, PHASES
from cyscc.sim.observation.causes import CAUSE_NAMES

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["CHECKED_BY_INSTRUCTION", "TableChecks"]

CHECKED_BY_INSTRUCTION = ("instruction_kernels", "instruction_fifos")
"""Tables whose rows depend on the instructions."""

_COUNTED = {"accesses", "requests", ("instruction_latencies", "reads"), ("instructions", "cycles")}
"""Columns whose values are above 0; most are of tables that have rows only where there was something to count."""


class TableChecks:
    """Checks of the tables of a record.

    Parameters
    ----------
    machine : mapping
        The machine's sizes, from the record's document.
    interval, cycles : int
        Cycles of an interval, and of the record.
    instructions : int
        Number of instructions.
    """

    def __init__(self, machine: Mapping[str, Any], *, interval: int, cycles: int, instructions: int) -> None:
        self._interval, self._cycles = interval, cycles
        self._engines: int = machine["engines"]
        self._kernels: dict[str, int] = machine["kernels"]
        self._fifos = {module: [fifo["name"] for fifo in machine["fifos"][module]] for module in MODULES}
        memory = machine["memory"] or {"controllers": 0, "banks": 0, "links": 0}
        self._ends = {
            "cycle": cycles,
            "engine": self._engines,
            "kernel": max(self._kernels.values()),
            "controller": memory["controllers"],
            "bank": memory["banks"],
            "link": memory["links"],
            "instruction": instructions,
        }
        self._texts: dict[str, Sequence[str]] = {
            **CATEGORIES,
            "fifo": tuple(dict.fromkeys(name for own in self._fifos.values() for name in own)),
        }

    def columns(self, name: str, rows: "pa.Table") -> None:
        """Check the values of each column of a table by themselves.

        Raises
        ------
        ValueError
            One is missing or out of range.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        rows.validate(full=True)
        for column, values in zip(rows.column_names, rows.columns, strict=True):
            if values.null_count:
                raise ValueError(f"{column} lacks values")
            if pa.types.is_dictionary(values.type):
                texts = [text for chunk in values.chunks for text in chunk.dictionary.to_pylist()]
                if not set(texts) <= set(self._texts[column]):
                    raise ValueError(f"{column} has values that there are not")
            elif len(values):
                low = -1 if column == "level" else int(column in _COUNTED or (name, column) in _COUNTED)
                end = LONGEST_LATENCY + 1 if name == "instruction_latencies" and column == "latency" else LARGEST
                end = self._ends.get(column, end)
                least, most = (each.as_py() for each in pc.min_max(values).values())
                if least < low or most >= end:
                    raise ValueError(f"{column} goes from {least:,} to {most:,}, and there are {low} to {end - 1:,}")

    def rows(self, name: str, frame: "pd.DataFrame", instructions: "pd.DataFrame | None") -> None:
        """Check the rows of a whole table; of `instructions`, where its rows depend on these.

        Raises
        ------
        ValueError
            A row is missing, or there is one too many; causes do not add up.
        """
        if name == "instructions":
            self._check_instructions(frame)
        elif name in ("kernels", "fifos", "engines"):
            starts = self._interval * np.arange(-(-self._cycles // self._interval))
            self._check_keys(frame, "cycle", starts, self._units(name, MODULES))
            if name == "kernels":
                self._check_causes(frame, np.minimum(self._interval, self._cycles - numbers(frame["cycle"])))
        elif name in CHECKED_BY_INSTRUCTION and instructions is not None:
            searching = (instructions["phase"] != "intersection").to_numpy()
            for module in MODULES:
                mine = frame[(frame["module"] == module).to_numpy()]
                ran = np.flatnonzero(searching == (module == "bfs"))
                self._check_keys(mine, "instruction", ran, self._units(name, (module,)))
            if name == "instruction_kernels":
                self._check_causes(frame, numbers(instructions["cycles"])[numbers(frame["instruction"])])

    def _check_instructions(self, frame: "pd.DataFrame") -> None:
        start, cycles, working = (numbers(frame[name]) for name in ("start", "cycles", "working"))
        ends = start + cycles
        if not np.array_equal(numbers(frame["instruction"]), np.arange(len(frame))):
            raise ValueError("instructions are missing, or not in order")
        if (start[1:] < ends[:-1]).any() or (ends > self._cycles).any() or (working > cycles).any():
            raise ValueError("instructions overlap, or end after the run")
        searching = codes(frame["phase"]) != PHASES.index("intersection")
        if ((numbers(frame["level"]) >= 0) != searching).any() or (np.diff(numbers(frame["attempt"])) < 0).any():
            raise ValueError("levels and attempts are not those of a run")
        same = (np.diff(numbers(frame["iteration"])) == 0) & (np.diff(numbers(frame["attempt"])) == 0)
        if (same & (np.diff(numbers(frame["source"])) != 0)).any():
            raise ValueError("an iteration begins at two vertices")
        ran = {
            module for module, any_ran in zip(MODULES, (searching.any(), not searching.all()), strict=True) if any_ran
        }
        if any(not self._kernels[module] for module in ran):
            raise ValueError("instructions ran on kernels that there are not")

    def _units(self, name: str, modules: Sequence[str]) -> dict[str, Integers]:
        """Return the keys of the rows that a table has for each interval or instruction, in their order."""
        names: tuple[str, ...]
        keys: list[tuple[int, ...]]
        kernels = [(module, kernel) for module in modules for kernel in range(self._kernels[module])]
        if name == "engines":
            names, keys = ("engine",), [(engine,) for engine in range(self._engines)]
        elif name in ("kernels", "instruction_kernels"):
            names = ("engine", "module", "kernel")
            keys = [(e, MODULES.index(module), kernel) for e in range(self._engines) for module, kernel in kernels]
        elif name == "fifos":
            names = ("engine", "module", "kernel", "fifo")
            keys = [
                (engine, MODULES.index(module), kernel, self._texts["fifo"].index(fifo))
                for engine in range(self._engines)
                for module, kernel in kernels
                for fifo in self._fifos[module]
            ]
        else:
            names = ("fifo",)
            keys = [(self._texts["fifo"].index(fifo),) for module in modules for fifo in self._fifos[module]]
        columns = np.array(keys, np.int64).reshape(-1, len(names)).T
        return dict(zip(names, columns, strict=True))

    def _check_keys(self, frame: "pd.DataFrame", outer: str, values: Integers, units: Mapping[str, Integers]) -> None:
        """Check that a table has one row of each unit for each value of its first column, in order."""
        shape = values.size, len(next(iter(units.values())))
        right = len(frame) == shape[0] * shape[1]
        right = right and bool((frame[outer].to_numpy().reshape(shape) == values[:, np.newaxis]).all())
        for name, its in units.items():
            if right and name in self._texts:
                places = {text: place for place, text in enumerate(frame[name].cat.categories)}
                expected = np.array([places.get(self._texts[name][each], -1) for each in its], np.int64)
                right = bool((frame[name].cat.codes.to_numpy().reshape(shape) == expected).all())
            elif right:
                right = bool((frame[name].to_numpy().reshape(shape) == its).all())
        if not right:
            raise ValueError(f"rows are missing, or not in order: there must be {shape[1]} for each {outer}")

    @staticmethod
    def _check_causes(frame: "pd.DataFrame", cycles: npt.NDArray[np.int64]) -> None:
        total = np.zeros(len(frame), np.int64)
        for name in CAUSE_NAMES:
            total += frame[name].to_numpy()
        if not np.array_equal(total, cycles):
            raise ValueError("the cycles of the causes do not add up")
