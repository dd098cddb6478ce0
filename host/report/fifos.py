"""How full the FIFOs of a run were, and how deep they need to be."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from host.record.tables import MODULES
from host.report.activity import Activity
from host.report.columns import codes, numbers, sums
from host.report.traffic import Traffic

__all__ = ["Fifo", "Fill"]

_LEAST_DEPTH = 4
_FELT = 0.01
"""Share of a module's kernel-cycles from which on waiting for credits is called a limit."""
_FULL = 0.9
"""Share of a FIFO's depth from which on it is called full."""
_READS = {
    "frontier_depth": "issue_1",
    "neighbour_depth": "issue_2",
    "word_depth": "issue_3",
    "reach_depth": "issue_1",
    "colour_depth": "issue_2",
    "unvisit_depth": "issue_3",
}
"""Of each depth that reads in flight reserve places of: the cause in which such a read is issued."""


@dataclass(frozen=True, kw_only=True)
class Fifo:
    """A kind of FIFO in a run.

    Parameters
    ----------
    module, name, parameter : str
        Where it is; what it is called; the parameter of the configuration that is its depth.
    depth, most : int
        Its places; the most entries that one of its kind held.
    flight : int
        Places reserved besides for reads in flight, where most were issued: their rate times the mean latency.
    mean : float
        Entries held, on average over kernels and the cycles in which the module ran.
    credit : float
        Share of those kernel-cycles in which a kernel had no credit.
    """

    module: str
    name: str
    parameter: str
    depth: int
    most: int
    flight: int
    mean: float
    credit: float

    @property
    def needed(self) -> int:
        """Places that were taken at most: the reads that were in flight were not yet held."""
        return self.most + self.flight

    @property
    def limits(self) -> bool:
        """Whether kernels waited for its places, as far as can be told."""
        return self.parameter in _READS and self.needed >= _FULL * self.depth and self.credit >= _FELT

    @property
    def proposal(self) -> int:
        """The depth that holds what was held: a power of two; where it was itself the limit, the next one."""
        if self.limits:
            return 2 * self.depth
        return min(self.depth, max(_LEAST_DEPTH, 1 << max(self.needed - 1, 0).bit_length()))

    @property
    def words(self) -> str:
        """Why that depth."""
        if self.limits:
            return (
                f"Its places were taken, and kernels were out of credits for {self.credit:.0%} of their cycles: it may "
                f"be the limit itself. Try {self.proposal}; if the cycles stay, what answers it is the limit."
            )
        if not self.needed:
            return "Nothing was ever in it."
        if self.proposal < self.depth:
            return f"{self.proposal} places hold all that this run needed."
        if self.most >= _FULL * self.depth:
            return "It was full at its worst, and hardly anybody waited for credits: leave it."
        return "It needs this depth."


class Fill:
    """The FIFOs of a run.

    Parameters
    ----------
    activity : Activity
        What the kernels did.
    traffic : Traffic
        What they asked of the memory.
    """

    def __init__(self, activity: Activity, traffic: Traffic) -> None:
        self.activity, self.traffic = activity, traffic
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

    def _flight(self, module: int, parameter: str) -> int:
        """Return the reads in flight of the kernel and the column of time that have most; none, where none reserve."""
        if parameter not in _READS:
            return 0
        first = int(self.activity.lanes_of_module[:module].sum())
        lanes = slice(first, first + int(self.activity.lanes_of_module[module]))
        issued = self.activity.by_time[_READS[parameter]][lanes].max(axis=0) / self.activity.time.lengths
        reads, latency = (self.traffic.by_array[name].sum(axis=0) for name in ("reads", "latency"))
        return int(np.ceil((issued * latency / np.maximum(reads, 1)).max(initial=0)))

    @cached_property
    def kinds(self) -> list[Fifo]:
        """Each kind of FIFO in the whole run."""
        activity = self.activity
        table = activity.record.table("instruction_fifos")
        module, fill, most = codes(table, "module", MODULES), numbers(table, "fill"), numbers(table, "most")
        place = activity.instructions.places(numbers(table, "instruction"))
        fifo = codes(table, "fifo", self._names)
        phases = activity.by_phase
        found = []
        for kind, size in self.sizes:
            number = MODULES.index(kind)
            mine = (module == number) & (fifo == self._names.index(size["name"])) & (place >= 0)
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
                    flight=self._flight(number, size["parameter"]),
                    mean=float(fill[mine].sum()) / (cycles * lanes) if cycles else 0.0,
                    credit=float(phases["credit"][of_phases].sum()) / cycles if cycles else 0.0,
                )
            )
        return found
