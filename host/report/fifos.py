"""How full the FIFOs of a run were, and how deep they need to be."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from host.record.tables import MODULES
from host.report.activity import Activity
from host.report.columns import codes, numbers, sums

__all__ = ["Fifo", "Fill"]

_LEAST_DEPTH = 4
_FELT = 0.01
"""Share of a module's kernel-cycles from which on waiting for credits is called a limit."""
_FULL = 0.9
"""Share of a FIFO's depth from which on it is called full."""


@dataclass(frozen=True, kw_only=True)
class Fifo:
    """A kind of FIFO in a run.

    Parameters
    ----------
    module, name, parameter : str
        Where it is; what it is called; the parameter of the configuration that is its depth.
    depth, most : int
        Its places; the most of them that were taken in one of its kind.
    mean : float
        Places taken, on average over kernels and the cycles in which the module ran.
    credit : float
        Share of those kernel-cycles in which a kernel had no credit.
    """

    module: str
    name: str
    parameter: str
    depth: int
    most: int
    mean: float
    credit: float

    @property
    def full(self) -> bool:
        """Whether it was, or nearly so."""
        return self.most >= _FULL * self.depth

    @property
    def limits(self) -> bool:
        """Whether kernels waited for its places, as far as can be told."""
        return self.full and self.credit >= _FELT

    @property
    def proposal(self) -> int:
        """The depth that holds what was held: a power of two; where it was itself the limit, the next one."""
        if self.limits:
            return 2 * self.depth
        return max(_LEAST_DEPTH, 1 << max(self.most - 1, 0).bit_length())

    @property
    def words(self) -> str:
        """Why that depth."""
        if self.limits:
            return (
                f"It was full, and kernels were out of credits for {self.credit:.0%} of their cycles: it may be the "
                f"limit itself. Try {self.proposal}; if the cycles stay, what answers it is the limit."
            )
        if self.full:
            return "It was full at its worst, but nobody waited for it to be felt: leave it."
        if not self.most:
            return "Nothing was ever in it."
        if self.proposal < self.depth:
            return f"At most {self.most} places were taken: {self.proposal} hold all that was held in this run."
        return "What it held needs this depth."


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
        ran = [count > 0 for count in activity.lanes_of_module.tolist()]
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
        table = activity.record.table("fifos")
        names = sorted({size["name"] for _, size in self.sizes})
        row_of = np.full((len(MODULES), len(names)), -1, np.int64)
        for row, (module, size) in enumerate(self.sizes):
            row_of[MODULES.index(module), names.index(size["name"])] = row
        row = row_of[codes(table, "module", MODULES), codes(table, "fifo", names)]
        column = activity.time.at(numbers(table, "cycle"))
        shape = (len(self.sizes), activity.time.columns)
        fill = sums(numbers(table, "fill"), shape, row, column)
        most = np.zeros(shape, np.int64)
        np.maximum.at(most, (row, column), numbers(table, "most"))
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
    def kinds(self) -> list[Fifo]:
        """Each kind of FIFO in the whole run."""
        activity = self.activity
        table = activity.record.table("instruction_fifos")
        module, fill, most = codes(table, "module", MODULES), numbers(table, "fill"), numbers(table, "most")
        place = activity.instructions.places(numbers(table, "instruction"))
        names = sorted({size["name"] for _, size in self.sizes})
        fifo = codes(table, "fifo", names)
        phases = activity.by_phase
        found = []
        for kind, size in self.sizes:
            number = MODULES.index(kind)
            mine = (module == number) & (fifo == names.index(size["name"])) & (place >= 0)
            of_phases = slice(2, 3) if kind == "intersection" else slice(0, 2)
            cycles = sum(float(each[of_phases].sum()) for each in phases.values())
            lanes = int(activity.lanes_of_module[number])
            found.append(
                Fifo(
                    module=kind,
                    name=size["name"],
                    parameter=size["parameter"],
                    depth=int(size["depth"]),
                    most=int(most[mine].max(initial=0)),
                    mean=float(fill[mine].sum()) / (cycles * lanes) if cycles else 0.0,
                    credit=float(phases["credit"][of_phases].sum()) / cycles if cycles else 0.0,
                )
            )
        return found
