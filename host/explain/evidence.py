"""What a record says about some of its instructions: causes, banks, links, FIFOs, latencies, token."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from host.explain.view import CAUSE_NAMES, View

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BankUse", "Evidence", "FifoUse", "LatencyUse", "LinkUse"]


@dataclass(frozen=True, kw_only=True)
class BankUse:
    """The busiest bank, and all of them.

    Parameters
    ----------
    controller, bank : int
        The bank.
    array : str
        The array that most of its accesses were to.
    array_share : float
        Their share of its accesses.
    use : float
        Share of the cycles in which it was busy.
    mean : float
        The same of all banks together.
    accesses : int
        Its accesses.
    multiple : float
        Its accesses as a multiple of the mean bank's.
    """

    controller: int
    bank: int
    array: str
    array_share: float
    use: float
    mean: float
    accesses: int
    multiple: float


@dataclass(frozen=True, kw_only=True)
class LinkUse:
    """The crossbar's links.

    Parameters
    ----------
    mean, most : float
        Requests a cycle of all links together, and of the busiest one.
    engine, link : int
        The busiest one.
    waiting : float
        Cycles that a request waited at its port for its link, on average.
    """

    mean: float
    most: float
    engine: int
    link: int
    waiting: float


@dataclass(frozen=True, kw_only=True)
class FifoUse:
    """A kind of FIFO, over the kernels that have one.

    Parameters
    ----------
    name : str
        Its name.
    parameter : str
        What the configuration calls its depth.
    depth : int
        Its places.
    most : int
        Most entries that one of them held.
    mean : float
        Entries held on average.
    """

    name: str
    parameter: str
    depth: int
    most: int
    mean: float


@dataclass(frozen=True, kw_only=True)
class LatencyUse:
    """Reads' times, in cycles.

    Parameters
    ----------
    least, median, high, most : int
        The shortest, the middle one, that which 1 % exceed, the longest.
    mean : float
        On average.
    """

    least: int
    median: int
    high: int
    most: int
    mean: float


class Evidence:
    """What a record says about some instructions of one module.

    Parameters
    ----------
    view : View
        The record.
    rows : pandas.DataFrame
        The instructions, rows of `View.instructions`; at least one, all of one module.

    Attributes
    ----------
    view : View
    rows : pandas.DataFrame
    module : str
    cycles : int
        From dispatch to end, summed.
    kernels : int
        Kernels that ran them.
    stack : dict of str to float
        Cycles by cause, of an average kernel; they add up to `cycles`.
    """

    def __init__(self, view: View, rows: "pd.DataFrame") -> None:
        self.view = view
        self.rows = rows
        self.module = str(rows["module"].iloc[0])
        self.cycles = int(rows["cycles"].sum())
        self.kernels = view.kernels(self.module)
        sums = view.stacks.reindex(rows.index).sum()
        self.stack = {name: float(sums[name]) / self.kernels for name in CAUSE_NAMES}

    def share(self, *causes: str) -> float:
        """Return the share of the kernel-cycles that causes have."""
        return sum(self.stack[cause] for cause in causes) / max(self.cycles, 1)

    def _mine(self, table: str) -> "pd.DataFrame":
        frame = self.view.record.frame(table)
        return frame[frame["instruction"].isin(self.rows.index)]

    def weights(self, cycles: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return of each interval, given by its first cycle, the share that these instructions ran.

        What tables of intervals say about instructions is what was counted, times this: exact where an interval belongs
        to one instruction or none, and an even division where several share it.
        """
        starts = self.rows["start"].to_numpy()
        lengths = self.rows["cycles"].to_numpy()
        edges = np.column_stack([starts, starts + lengths]).ravel()
        covered = np.column_stack([np.cumsum(lengths) - lengths, np.cumsum(lengths)]).ravel()
        ends = np.minimum(cycles + self.view.record.interval, self.view.record.cycles)
        both = np.interp(ends, edges, covered) - np.interp(cycles, edges, covered)
        return both / np.maximum(ends - cycles, 1)

    @cached_property
    def bank(self) -> BankUse | None:
        """The busiest bank; None where the memory has none, or none was accessed."""
        memory = self.view.memory
        frame = self._mine("instruction_banks")
        if memory is None or frame.empty:
            return None
        sums = frame.groupby(["controller", "bank"], observed=True)["accesses"].sum()
        controller, bank = (int(number) for number in sums.idxmax())
        most = int(sums.max())
        its = frame[(frame["controller"] == controller) & (frame["bank"] == bank)]
        arrays = its.groupby("array", observed=True)["accesses"].sum()
        banks = int(memory["controllers"]) * int(memory["banks"])
        mean = float(sums.sum()) / banks
        busy = int(memory["bank_busy"]) / max(self.cycles, 1)
        return BankUse(
            controller=controller,
            bank=bank,
            array=str(arrays.idxmax()),
            array_share=float(arrays.max()) / most,
            use=most * busy,
            mean=mean * busy,
            accesses=most,
            multiple=most / mean,
        )

    @cached_property
    def links(self) -> LinkUse | None:
        """The links; None where the memory has none, or none was used."""
        memory = self.view.memory
        frame = self.view.record.frame("links")
        if memory is None or frame.empty:
            return None
        weights = self.weights(frame["cycle"].to_numpy())
        frame = frame.assign(requests=frame["requests"] * weights, waiting=frame["waiting"] * weights)
        sums = frame.groupby(["engine", "link"], observed=True)[["requests", "waiting"]].sum()
        engine, link = (int(number) for number in sums["requests"].idxmax())
        requests = float(sums["requests"].sum())
        links = int(memory["links"]) * int(self.view.machine["engines"])
        return LinkUse(
            mean=requests / links / max(self.cycles, 1),
            most=float(sums["requests"].max()) / max(self.cycles, 1),
            engine=engine,
            link=link,
            waiting=float(sums["waiting"].sum()) / max(requests, 1.0),
        )

    @cached_property
    def fifos(self) -> list[FifoUse]:
        """The module's FIFOs, in the order of the document."""
        frame = self._mine("instruction_fifos")
        frame = frame[frame["module"] == self.module]
        most = frame.groupby("fifo", observed=True)["most"].max()
        fill = frame.groupby("fifo", observed=True)["fill"].sum()
        return [
            FifoUse(
                name=fifo["name"],
                parameter=fifo["parameter"],
                depth=int(fifo["depth"]),
                most=int(most.get(fifo["name"], 0)),
                mean=float(fill.get(fifo["name"], 0)) / self.kernels / max(self.cycles, 1),
            )
            for fifo in self.view.machine["fifos"][self.module]
        ]

    @cached_property
    def latency(self) -> LatencyUse | None:
        """The reads' times; None where nothing was read."""
        sums = self._mine("instruction_latencies").groupby("latency")["reads"].sum().sort_index()
        if sums.empty:
            return None
        values, reads = sums.index.to_numpy().astype("int64"), sums.to_numpy().astype("int64")
        below = np.cumsum(reads)
        median, high = (int(values[np.searchsorted(below, share * below[-1])]) for share in (0.5, 0.99))
        mean = float((values * reads).sum() / below[-1])
        return LatencyUse(least=int(values[0]), median=median, high=high, most=int(values[-1]), mean=mean)

    @cached_property
    def turn(self) -> float | None:
        """Cycles of a turn of the token; None where none was seen to turn."""
        frame = self.view.record.frame("engines")
        turns = float((frame[f"{self.module}_turns"] * self.weights(frame["cycle"].to_numpy())).sum())
        turns /= int(self.view.machine["engines"])
        return self.cycles / turns if turns else None

    @cached_property
    def unevenness(self) -> float:
        """How long the last kernel worked, as a multiple of the mean one: instruction by instruction, by their time."""
        frame = self._mine("instruction_kernels")
        done = frame.groupby("instruction")["done"]
        longest, mean = done.max().sum(), done.mean().sum()
        return float(longest / mean) if mean else 1.0

    @property
    def frontier(self) -> float:
        """Entries of the queues that an instruction read, on average."""
        return float(self.rows["frontier"].mean())
