"""Checks of a record's tables against its document: types and ranges of every column, and which rows there must be.

A digest says that a table is the one that was written; these checks say that analyses can rely on it whoever wrote it.
What must hold is in `cyscc.host.record.tables`, and what the machine limits in the record's document.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cyscc.host.record.arrow import Integers, codes, numbers
from cyscc.host.record.tables import CATEGORIES, MODULES, PHASES, Units, table_of
from cyscc.sim.observation.causes import CAUSE_NAMES

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


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
        self._kernels: dict[str, int] = machine["kernels"]
        fifos = {module: [fifo["name"] for fifo in machine["fifos"][module]] for module in MODULES}
        self._units = Units(machine["engines"], self._kernels, fifos)
        memory = machine["memory"] or {}
        self._ends = {
            "cycle": cycles,
            "engine": machine["engines"],
            "kernel": max(self._kernels.values()),
            **{name: memory.get(f"{name}s", 0) for name in ("controller", "bank", "link")},
            "instruction": instructions,
        }
        self._texts: dict[str, Sequence[str]] = {**CATEGORIES, "fifo": self._units.fifos}

    def columns(self, name: str, rows: "pa.Table") -> None:
        """Check the values of each column of a table by themselves.

        Raises
        ------
        ValueError
            One is missing or out of range.
        """
        import pyarrow.compute as pc

        rows.validate(full=True)
        every = {column.name: column for column in table_of(name).columns}
        for column, values in zip(rows.column_names, rows.columns, strict=True):
            if values.null_count:
                raise ValueError(f"{column} lacks values")
            if column in self._texts:
                texts = [text for chunk in values.chunks for text in chunk.dictionary.to_pylist()]
                if not set(texts) <= set(self._texts[column]):
                    raise ValueError(f"{column} has values that there are not")
            elif len(values):
                low, end = every[column].low, self._ends.get(column, every[column].high + 1)
                least, most = (each.as_py() for each in pc.min_max(values).values())
                if least < low or most >= end:
                    raise ValueError(f"{column} goes from {least:,} to {most:,}, and there are {low} to {end - 1:,}")

    def rows(self, name: str, frame: "pd.DataFrame", instructions: "pd.DataFrame") -> None:
        """Check the rows of a whole table, given those of `instructions`.

        Raises
        ------
        ValueError
            A row is missing, or there is one too many; causes do not add up.
        """
        table = table_of(name)
        if name == "instructions":
            self._check_instructions(frame)
        elif table.units and "cycle" in frame:
            starts = self._interval * np.arange(-(-self._cycles // self._interval))
            self._check_keys(frame, "cycle", starts, self._units.of(name))
        elif table.units:
            searching = (instructions["phase"] != "intersection").to_numpy()
            for module in MODULES:
                mine = frame[(frame["module"] == module).to_numpy()]
                ran = np.flatnonzero(searching == (module == "bfs"))
                self._check_keys(mine, "instruction", ran, self._units.of(name, module))
        if CAUSE_NAMES[0] in frame:
            lengths = (
                np.minimum(self._interval, self._cycles - numbers(frame["cycle"]))
                if "cycle" in frame
                else numbers(instructions["cycles"])[numbers(frame["instruction"])]
            )
            if not np.array_equal(sum(numbers(frame[cause]) for cause in CAUSE_NAMES), lengths):
                raise ValueError("the cycles of the causes do not add up")

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
        for module, ran in zip(MODULES, (searching.any(), not searching.all()), strict=True):
            if ran and not self._kernels[module]:
                raise ValueError("instructions ran on kernels that there are not")

    def _check_keys(
        self, frame: "pd.DataFrame", outer: str, values: Integers, units: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Check that a table has one row of each unit for each value of its first column, in order."""
        count = len(next(iter(units.values())))
        keys = {name: np.tile(its, values.size) for name, its in units.items()}
        for name, expected in {outer: np.repeat(values, count), **keys}.items():
            column = frame[name]
            if name in self._texts:
                column = column.cat.set_categories(self._texts[name]).cat.codes
            if not np.array_equal(column.to_numpy(), expected):
                raise ValueError(f"rows are missing, or not in order: there must be {count} for each {outer}")
