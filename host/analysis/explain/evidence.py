"""Evidence from a record for a set of instructions: causes, banks, links, FIFOs, latencies, token."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.hardware import ring_turn
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK

SAID_OF_RUN = 0.03
"""Share of a run from which on a cause gets a finding; removing a smaller one would not be noticed."""

NEAR_FULL = 0.9
"""High-water mark of a FIFO, as a share of its depth, from which on it counts as having been full."""
_BURSTS = 2
"""Peak of the outstanding reads as a multiple of their mean; a FIFO's depth is chosen for the peak."""


@dataclass(frozen=True, kw_only=True)
class BankUse:
    """Use of a memory bank, compared with that of all banks.

    Parameters
    ----------
    controller, bank : int
        Controller and number of the bank.
    accesses : int
        Its accesses.
    waiting : float
        Mean cycles that an access waited.
    arrays : dict of str to int
        Its accesses by array, in descending order.
    use : float
        Utilisation: share of the cycles in which it was busy.
    multiple : float
        Its accesses as a multiple of the mean bank's.
    instruction : int
        The instruction with most accesses to it.
    cycle : int
        First cycle of the interval with most accesses to it, over the whole run.
    peak : float
        Utilisation in that interval; above 1 where accesses arrived faster than the bank serves them.
    """

    controller: int
    bank: int
    accesses: int
    waiting: float
    arrays: dict[str, int]
    use: float
    multiple: float
    instruction: int
    cycle: int
    peak: float

    @property
    def array(self) -> str:
        """The array with most of its accesses."""
        return next(iter(self.arrays))


@dataclass(frozen=True, kw_only=True)
class LinkUse:
    """Use of the crossbar's links.

    Parameters
    ----------
    mean, most : float
        Requests per cycle: mean over all links, and of the busiest link.
    engine, link : int
        The busiest link.
    waiting : float
        Mean cycles that a request waited at its port for its link.
    """

    mean: float
    most: float
    engine: int
    link: int
    waiting: float


@dataclass(frozen=True, kw_only=True)
class FifoUse:
    """Occupancy of one kind of FIFO, over all kernels that have it.

    Parameters
    ----------
    module, name : str
        Its module and its name.
    parameter : str
        The configuration's parameter for its depth.
    depth : int
        Its capacity in entries.
    most : int
        High-water mark: most entries that one of these FIFOs held. Its registers hold some beyond its depth.
    mean : float
        Mean occupancy in entries.
    instruction : int
        The first instruction in which the high-water mark was reached.
    under_way : float or None
        Places reserved for outstanding reads, on average while a kernel works; None if it holds no responses.
    """

    module: str
    name: str
    parameter: str
    depth: int
    most: int
    mean: float
    instruction: int
    under_way: float | None = None

    @property
    def promised(self) -> int:
        """Places reserved for outstanding reads at the peak, taken as twice the mean."""
        return math.ceil(_BURSTS * (self.under_way or 0.0))

    @property
    def needed(self) -> int:
        """Least depth with which the run would have gone on exactly as it did; with a smaller one it may be as fast."""
        return max(self.most, self.promised)

    @property
    def full(self) -> bool:
        """Whether one of these FIFOs was full, or nearly so."""
        return self.most >= NEAR_FULL * self.depth


@dataclass(frozen=True, kw_only=True)
class LatencyUse:
    """Latency of reads, in cycles.

    Parameters
    ----------
    least, median, high, most : int
        Minimum, median, 99th percentile and maximum.
    mean : float
        Mean.
    """

    least: int
    median: int
    high: int
    most: int
    mean: float


class Evidence:
    """Evidence from a record for instructions of one module.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The instructions, rows of `Record.instructions`; at least one, all of one module.

    Attributes
    ----------
    record : Record
    rows : pandas.DataFrame
    module : str
    cycles : int
        Cycles from dispatch to end, summed over the instructions.
    kernels : int
        Number of kernels that ran them.
    stack : dict of str to float
        Cycles by cause, mean over the kernels; the sum is `cycles`.
    """

    def __init__(self, record: Record, rows: pd.DataFrame) -> None:
        self.record = record
        self.rows = rows
        self.module = str(rows["module"].iloc[0])
        self.cycles = int(rows["cycles"].sum())
        self.kernels = record.kernels(self.module)
        sums = record.stacks.reindex(rows.index).sum()
        self.stack = {name: float(sums[name]) / self.kernels for name in CAUSE_NAMES}

    def share(self, *causes: str) -> float:
        """Return the share of the kernel-cycles with one of these causes."""
        return sum(self.stack[cause] for cause in causes) / max(self.cycles, 1)

    @cached_property
    def _shared(self) -> "pd.Series[float]":
        """Share of each interval, by its first cycle, in which these instructions ran.

        Counts of an interval are multiplied by this share to attribute them to the instructions. This is exact where an
        interval overlaps one instruction only; where several share an interval, its counts are divided by time.
        """
        ran = self.record.ran_in(self.rows)
        return ran / np.minimum(self.record.cycles - ran.index, self.record.interval)

    def _sums(self, table: str, columns: list[str], keys: list[str]) -> pd.DataFrame:
        """Return the sums of columns of a table of intervals by some keys, attributed to these instructions."""
        frame = self.record.frame(table)
        frame = frame[frame["cycle"].isin(self._shared.index)]
        weights = self._shared.reindex(frame["cycle"]).to_numpy()
        return frame[columns].mul(weights, axis=0).groupby([frame[key] for key in keys], observed=True).sum()

    @cached_property
    def _bank_rows(self) -> pd.DataFrame:
        return self.record.of_instructions("instruction_banks", self.rows)

    @cached_property
    def banks_use(self) -> float:
        """Mean utilisation of the banks; 0 if the memory has none."""
        memory = self.record.memory
        if memory is None:
            return 0.0
        banks = int(memory["controllers"]) * int(memory["banks"])
        return float(self._bank_rows["accesses"].sum()) / banks * float(memory["bank_busy"]) / max(self.cycles, 1)

    def hottest(self, count: int) -> list[BankUse]:
        """Return the banks with most accesses; an empty list if the memory has no banks."""
        memory, frame = self.record.memory, self._bank_rows
        if memory is None or frame.empty:
            return []
        sums = frame.groupby(["controller", "bank"], observed=True)[["accesses", "waiting"]].sum()
        mean = float(sums["accesses"].sum()) / (int(memory["controllers"]) * int(memory["banks"]))
        busy = float(memory["bank_busy"])
        found = []
        for (controller, bank), row in sums.nlargest(count, "accesses").iterrows():
            its = frame[(frame["controller"] == controller) & (frame["bank"] == bank)]
            arrays = its.groupby("array", observed=True)["accesses"].sum().sort_values(ascending=False)
            peak = self.record.bank_peak(int(controller), int(bank))
            if peak is None:
                raise InputError(
                    f"its tables do not agree: bank {controller}.{bank} was accessed in instructions alone",
                    path=self.record.folder,
                )
            cycle, most = peak
            length = min(self.record.interval, self.record.cycles - cycle)
            accesses = int(row["accesses"])
            found.append(
                BankUse(
                    controller=int(controller),
                    bank=int(bank),
                    accesses=accesses,
                    waiting=float(row["waiting"]) / accesses,
                    arrays={str(name): int(number) for name, number in arrays.items() if number},
                    use=accesses * busy / max(self.cycles, 1),
                    multiple=accesses / mean,
                    instruction=int(its.groupby("instruction")["accesses"].sum().idxmax()),
                    cycle=cycle,
                    peak=most * busy / max(length, 1),
                )
            )
        return found

    @cached_property
    def bank(self) -> BankUse | None:
        """The bank with most accesses; None if the memory has no banks or none was accessed."""
        return next(iter(self.hottest(1)), None)

    @cached_property
    def links(self) -> LinkUse | None:
        """Use of the links; None if the memory has no links or none was used."""
        memory = self.record.memory
        sums = self._sums("links", ["requests", "waiting"], ["engine", "link"])
        if memory is None or sums.empty:
            return None
        engine, link = (int(number) for number in sums["requests"].idxmax())
        requests = float(sums["requests"].sum())
        links = int(memory["links"]) * int(self.record.machine["engines"])
        return LinkUse(
            mean=requests / links / max(self.cycles, 1),
            most=float(sums["requests"].max()) / max(self.cycles, 1),
            engine=engine,
            link=link,
            waiting=float(sums["waiting"].sum()) / max(requests, 1.0),
        )

    @cached_property
    def fifos(self) -> list[FifoUse]:
        """Occupancy of the module's FIFOs, in the order of the record's document."""
        frame = self.record.of_instructions("instruction_fifos", self.rows)
        frame = frame[frame["module"] == self.module]
        found = []
        for fifo in self.record.machine["fifos"][self.module]:
            its = frame[frame["fifo"] == fifo["name"]]
            if its.empty:
                continue
            deepest = its.loc[its["most"].idxmax()]
            under_way = self._under_way(fifo["answers"])
            found.append(
                FifoUse(
                    module=self.module,
                    name=fifo["name"],
                    parameter=fifo["parameter"],
                    depth=int(fifo["depth"]),
                    most=int(deepest["most"]),
                    mean=float(its["fill"].sum()) / self.kernels / max(self.cycles, 1),
                    instruction=int(deepest["instruction"]),
                    under_way=under_way,
                )
            )
        return found

    @cached_property
    def latency(self) -> LatencyUse | None:
        """Latency of the reads; None if there were no reads."""
        sums = (
            self.record.of_instructions("instruction_latencies", self.rows)
            .groupby("latency")["reads"]
            .sum()
            .sort_index()
        )
        if sums.empty:
            return None
        values, reads = sums.index.to_numpy().astype("int64"), sums.to_numpy().astype("int64")
        below = np.cumsum(reads)
        median, high = (int(values[np.searchsorted(below, share * below[-1])]) for share in (0.5, 0.99))
        mean = float((values * reads).sum() / below[-1])
        return LatencyUse(least=int(values[0]), median=median, high=high, most=int(values[-1]), mean=mean)

    @cached_property
    def ordering(self) -> float:
        """Mean cycles that a read's response waited for those before it, which arrive in order; part of the latency."""
        reads = int(self.record.of_instructions("instruction_latencies", self.rows)["reads"].sum())
        waited = self._sums("engines", ["ordering"], ["engine"])["ordering"]
        return float(waited.sum()) / max(reads, 1)

    @property
    def turn(self) -> int:
        """Cycles of one turn of the token around the kernels."""
        config = AcceleratorConfig.from_mapping(self.record.document["configuration"])
        if self.module != "bfs":
            # The same ring, past each of its kernels, whatever options the BFS kernels have.
            kernels = int(self.record.machine["kernels"][self.module])
            ring = {name: getattr(config, name) for name in ("engines", "ring_stages", "link_cycles")}
            config = AcceleratorConfig(bfs_kernels=kernels, intersection_kernels=1, **ring)
        return ring_turn(config)

    @cached_property
    def unevenness(self) -> float:
        """Working time of the last kernel as a multiple of the mean kernel's, instructions weighted by their time."""
        frame = self.record.of_instructions("instruction_kernels", self.rows)
        done = frame.groupby("instruction")["done"]
        longest, mean = done.max().sum(), done.mean().sum()
        return float(longest / mean) if mean else 1.0

    def each(self, *causes: str) -> float:
        """Return the cycles of an average kernel with one of these causes in the mean instruction."""
        return self.cycles * self.share(*causes) / max(len(self.rows), 1)

    @cached_property
    def requests(self) -> tuple[float, float]:
        """Requests of the kernel with most of them, and of the mean kernel, in the mean instruction."""
        frame = self.record.of_instructions("instruction_kernels", self.rows)
        issued = frame[list(WORK)].sum(axis=1).groupby(frame["instruction"])
        return float(issued.max().mean()), float(issued.sum().mean()) / self.kernels

    @property
    def ids(self) -> int | None:
        """Neighbours' ids that were read; None if a read may bring two of them."""
        if self.module != "bfs" or self.record.document["configuration"]["pair_reads"]:
            return None
        return round(self.stack["issue_2"] * self.kernels)

    @property
    def ids_per_edge(self) -> float | None:
        """Ids read for each edge that leaves the vertices of these levels; above 1 where vertices were pushed again."""
        edges = int(self.rows["edges"].sum())
        return None if self.ids is None or not edges else self.ids / edges

    def _under_way(self, cause: str | None) -> float | None:
        """Return the mean number of outstanding reads whose responses a FIFO will hold, while a kernel works.

        By Little's law: the reads issued per cycle, counted by the given cause, times the mean latency.
        """
        working = self.cycles * (1 - self.share("starting", "ending", "no_work", "ids", "flush"))
        if cause is None or self.latency is None or working <= 0:
            return None
        return self.stack[cause] * self.latency.mean / working


def evidence_of(record: Record, rows: pd.DataFrame | None = None) -> list[Evidence]:
    """Return the evidence for some instructions (default: all), one item for each module that ran any of them."""
    chosen = record.instructions if rows is None else rows
    return [Evidence(record, its) for _, its in chosen.groupby("module", sort=False)]
