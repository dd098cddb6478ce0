"""How full the FIFOs of a run were over time."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from host.explain.evidence import Evidence, FifoUse
from host.explain.view import View
from host.record.arrow import codes, numbers, sums
from host.record.tables import MODULES
from host.report.activity import Activity

__all__ = ["Fill"]


class Fill:
    """The FIFOs of a run.

    Parameters
    ----------
    activity : Activity
        What the kernels did.
    """

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        machine = activity.machine
        ran = [count > 0 for count in activity.kernels]
        self.sizes = [
            (module, size)
            for place, module in enumerate(MODULES)
            if ran[place] and module in machine["fifos"]
            for size in machine["fifos"][module]
        ]
        self._names = sorted({size["name"] for sizes in machine["fifos"].values() for size in sizes})

    @cached_property
    def _table(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Mean and largest share of the places taken, by FIFO and column of time; shape (FIFOs, columns)."""
        activity = self.activity
        table = activity.record.table("fifos")
        row_of = np.full((len(MODULES), len(self._names)), -1, np.int64)
        for number, (module, size) in enumerate(self.sizes):
            row_of[MODULES.index(module), self._names.index(size["name"])] = number
        row = row_of[codes(table, "module", MODULES), codes(table, "fifo", self._names)]
        column = activity.time.at(numbers(table, "cycle"))
        shape = (len(self.sizes), activity.time.columns)
        fill = sums(numbers(table, "fill"), shape, row, column)
        most = np.zeros(shape, np.int64)
        shown = row >= 0
        np.maximum.at(most, (row[shown], column[shown]), numbers(table, "most")[shown])
        depths = np.array([size["depth"] for _, size in self.sizes])[:, None]
        lanes = np.array([activity.lanes_of_module[MODULES.index(module)] for module, _ in self.sizes])[:, None]
        return fill / (depths * lanes * activity.time.lengths), most / depths

    @property
    def titles(self) -> list[str]:
        """What each FIFO is called."""
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
        view = View(self.activity.record)
        return [
            fifo for _, rows in view.instructions.groupby("module", sort=False) for fifo in Evidence(view, rows).fifos
        ]
