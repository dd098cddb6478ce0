"""Tables of a record as stored in its files, and sums of them, for comparison with charts and texts."""

import json
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Numbers = npt.NDArray[np.float64]


class Plain:
    """A record, read by pandas alone.

    Parameters
    ----------
    folder : Path
        Its folder.
    """

    def __init__(self, folder: Path) -> None:
        self.document: dict[str, Any] = json.loads((folder / "record.json").read_text())
        self.machine = self.document["machine"]
        self.engines = self.machine["engines"]
        self.tables = {path.stem: pd.read_parquet(path) for path in folder.glob("*.parquet")}
        for table in self.tables.values():
            for name in table.columns:
                if isinstance(table[name].dtype, pd.CategoricalDtype):
                    table[name] = table[name].astype(str)
        every = self.tables["instructions"]
        self.instructions = every[every["attempt"] == every["attempt"].max()].copy()
        self.instructions["module"] = [
            "intersection" if phase == "intersection" else "bfs" for phase in self.instructions["phase"]
        ]
        self.modules = [name for name in ("bfs", "intersection") if name in set(self.instructions["module"])]
        self.total: int = self.document["cycles"]["total"]

    def kernels(self, module: str) -> int:
        """Return the kernels of a module in all AEs."""
        return int(self.machine["kernels"][module] * self.engines)

    def of(self, table: str, **fixed: object) -> pd.DataFrame:
        """Return rows of a table: of the last attempt, where it is one of instructions; with some columns as given."""
        rows = self.tables[table]
        if "instruction" in rows and table != "instructions":
            columns = ["instruction", "iteration", "phase", "level"]
            rows = rows.merge(self.instructions[columns], on="instruction")
        for name, value in fixed.items():
            rows = rows[rows[name] == value]
        return rows

    def columns(self, width: int) -> Numbers:
        """Return the cycles of each column of time."""
        starts = np.arange(0, self.total, width)
        return np.minimum(starts + width, self.total) - starts

    def over_time(self, rows: pd.DataFrame, name: str, width: int) -> Numbers:
        """Return the sums of a column of a table of intervals in each column of time."""
        found = rows.groupby(rows["cycle"] // width)[name].sum()
        return found.reindex(range(len(self.columns(width))), fill_value=0).to_numpy(np.float64)

    @cache  # noqa: B019
    def _averages(self, width: int) -> dict[str, pd.DataFrame]:
        """Return the cycles by cause in each column of time, of an average kernel of each module."""
        found = {}
        for module in self.modules:
            rows = self.of("kernels", module=module)
            sums = rows.drop(columns=["cycle", "engine", "module", "kernel"]).groupby(rows["cycle"] // width).sum()
            found[module] = sums / self.kernels(module)
        return found

    def average(self, cause: str, width: int) -> Numbers:
        """Return the cycles of a cause in each column of time: of an average kernel of the module that runs."""
        # What is outside of all runs is the same for both.
        modules = self.modules[:1] if cause in ("host", "restarted") else self.modules
        found: Numbers = np.sum([self._averages(width)[module][cause].to_numpy(float) for module in modules], axis=0)
        return found

    @cached_property
    def _stacks(self) -> pd.DataFrame:
        rows = self.of("instruction_kernels")
        sums = rows.select_dtypes("number").groupby("instruction").sum()
        return sums.reindex(self.instructions["instruction"], fill_value=0)

    def stack(self, cause: str) -> Numbers:
        """Return the cycles of a cause in each instruction: of an average kernel of its module."""
        kernels = np.array([self.kernels(module) for module in self.instructions["module"]])
        found: Numbers = self._stacks[cause].to_numpy(float) / kernels
        return found
