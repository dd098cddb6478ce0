"""Records without a simulation: random, cheap, of any size, and with numbers that add up as those of a run do.

Every kernel has one cause in every cycle, and every request that it issues is one access with an array, a bank, a link
and, if it reads, a latency; the tables are sums of these. What a simulation would give besides (that the longest wait
is at the hottest bank, say) does not hold.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cyscc.host.output.documents import write_sealed
from cyscc.host.output.files import identity
from cyscc.host.record.document import DOCUMENT, RECORD_SCHEMA
from cyscc.host.record.tables import TABLES, schema_of
from cyscc.host.runs.recorder import kernel_cycles, machine_document
from cyscc.sim.configuration import PRESETS
from cyscc.sim.executors.samples import fifos
from cyscc.sim.memory import parse_profile
from cyscc.sim.observation.causes import CAUSE_NAMES

Integers = npt.NDArray[np.int64]

_WORKING = {
    "bfs": {"issue_1": 2, "issue_2": 8, "issue_3": 8, "write": 6, "refused": 12, "credit": 9, "slot": 2, "response": 8},
    "intersection": {"issue_1": 9, "issue_2": 16, "issue_3": 7, "write": 5, "refused": 5, "credit": 3, "response": 6},
}
"""Weights of the causes while a kernel works."""

_GOES_TO = {
    "bfs": {"issue_1": "queues", "issue_2": "neighbours", "issue_3": "words", "write": "queues"},
    "intersection": {"issue_1": "queues", "issue_2": "colours", "issue_3": "words", "write": "colours"},
}
"""The array that a request goes to; some of what is written goes to the words."""

_LATENCIES = np.array([75, 76, 78, 80, 84, 90, 100, 120, 160, 240, 400, 2047])


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Sizes of a record.

    Parameters
    ----------
    config, memory : str
        Preset and memory profile; a profile without banks has no links either.
    interval : int
        Cycles of an interval.
    levels : sequence of int
        Cycles of the levels of a search, the host's between them not counted.
    iterations : int
        0: the one search of ``bfs``. Otherwise an SCC run of so many, in which the phases forward and backward have
        these levels, longer and longer ones the earlier the iteration.
    sources : sequence of int
        Vertices at which the iterations begin their searches; by default the number of each.
    restarted : bool
        Whether an attempt was given up before.
    host : int
        Cycles of the host before each instruction.
    seed : int
        Of the generator.
    """

    config: str = "test"
    memory: str = "hc2"
    interval: int = 64
    levels: Sequence[int] = (150, 700, 1500, 400, 120)
    iterations: int = 0
    sources: Sequence[int] = ()
    restarted: bool = False
    host: int = 9
    seed: int = 1


class _Instruction(NamedTuple):
    attempt: int
    iteration: int
    source: int
    phase: str
    level: int
    cycles: int


def _instructions(shape: Shape) -> list[_Instruction]:
    """Return the instructions in their order."""
    found = [_Instruction(0, 0, 0, "forward", level, cycles) for level, cycles in enumerate(shape.levels)]
    if shape.iterations:
        found = []
        for iteration in range(1, shape.iterations + 1):
            source = shape.sources[iteration - 1] if shape.sources else iteration
            for phase in ("forward", "backward"):
                for level, cycles in enumerate(shape.levels):
                    found.append(_Instruction(0, iteration, source, phase, level, max(40, cycles // iteration)))
            found.append(_Instruction(0, iteration, source, "intersection", -1, max(60, shape.levels[0] // iteration)))
    if shape.restarted:
        given_up = found[: max(1, len(found) // 2)]
        found = given_up + [each._replace(attempt=1) for each in found]
    return found


class _Run:
    """A record in the making: when its instructions run, and its tables."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.random = shape, np.random.default_rng(shape.seed)
        self.config, self.memory = PRESETS[shape.config], parse_profile(shape.memory)
        self.fifos = fifos(self.config)
        self.instructions = _instructions(shape)
        lengths = np.array([each.cycles for each in self.instructions])
        self.ends = np.cumsum(shape.host + lengths)
        self.starts = self.ends - lengths
        self.working = lengths - np.minimum(lengths // 8, 12)
        self.readout = 5 * shape.host
        self.total = int(self.ends[-1]) + self.readout
        self.given_up = np.array([each.attempt < self.instructions[-1].attempt for each in self.instructions])
        self.interval_of = np.arange(self.total) // shape.interval
        self.instruction_of = np.full(self.total, -1)
        for number, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            self.instruction_of[start:end] = number
        self.kernels = {"bfs": self.config.bfs_kernels, "intersection": self.config.intersection_kernels}
        self.tables: dict[str, list[pd.DataFrame]] = {table.name: [] for table in TABLES}
        self.tables["instructions"].append(self._instruction_table())
        self.tables["engines"].append(self._engines())
        accesses = [self._work(module) for module in self.kernels]
        self._access(pd.concat(accesses, ignore_index=True))

    def _instruction_table(self) -> pd.DataFrame:
        """Return the table of instructions; what a level pushes the next one reads."""
        frontier = []
        for each in self.instructions:
            rank = len(self.shape.levels) - 1 - each.level
            frontier.append(1 if each.level == 0 else 0 if each.level < 0 else 1 + each.cycles // 3 * min(rank, 2))
        read = np.array(frontier)
        follows = [a.phase == b.phase and b.level == a.level + 1 for a, b in pairwise(self.instructions)]
        pushed = np.where([*follows, False], np.append(read[1:], 0), 0)
        duplicates = self.random.binomial(pushed, 0.03)
        counts = {"frontier": read, "pushed": pushed, "edges": 4 * read, "duplicates": duplicates}
        times = {"instruction": range(len(read)), "start": self.starts, "working": self.working}
        return pd.DataFrame(self.instructions).assign(**counts, **times)

    def _engines(self) -> pd.DataFrame:
        cycle = np.unique(self.interval_of) * self.shape.interval
        lengths = np.minimum(self.shape.interval, self.total - cycle)
        rows = _rows({"cycle": cycle, "engine": range(self.config.engines)})
        turns = np.repeat(lengths, self.config.engines) // 20
        rows = rows.assign(bfs_turns=turns, intersection_turns=turns * bool(self.shape.iterations))
        most = {"ordering": 50, "read_stalls": 30, "write_stalls": 30}
        return rows.assign(**{name: self.random.integers(0, end, len(rows)) for name, end in most.items()})

    def _work(self, module: str) -> pd.DataFrame:
        """Add the tables of the kernels of a module; return their accesses, by cycle, AE, cause and array."""
        kernels = (self.config.engines, self.kernels[module])
        causes = np.full((self.total, *kernels), CAUSE_NAMES.index("host"), np.uint8)
        depths = np.array([getattr(self.config, fifo.parameter) for fifo in self.fifos[module]])
        fills = np.zeros((*causes.shape, len(depths)), np.uint16)
        times = []
        for number, (each, start, end) in enumerate(zip(self.instructions, self.starts, self.ends, strict=True)):
            if (each.phase == "intersection") != (module == "intersection"):
                causes[start:end] = CAUSE_NAMES.index("restarted" if self.given_up[number] else "not_running")
                continue
            begun = np.minimum(each.cycles // 6, self.random.integers(2, 9, kernels))
            last = self.working[number]
            done = begun + ((last - begun) * self.random.uniform(0.55, 1, kernels)).astype(np.int64)
            done[0, 0] = last
            times.append((number, begun, done))
            if self.given_up[number]:
                causes[start:end] = CAUSE_NAMES.index("restarted")
                continue
            cycle = np.arange(each.cycles)[:, None, None]
            weights = self.random.gamma(6 * np.array([*_WORKING[module].values()]))
            drawn = self.random.choice(
                [CAUSE_NAMES.index(name) for name in _WORKING[module]],
                cycle.shape[:1] + kernels,
                p=weights / sum(weights),
            )
            idle = [CAUSE_NAMES.index(name) for name in ("starting", "ending", "no_work")]
            causes[start:end] = np.select([cycle < begun, cycle >= last, cycle >= done], idle, drawn)
            level = 1 + depths * self.random.random((*kernels, len(depths))) ** 2
            active = ((cycle >= begun) & (cycle < done))[..., None]
            fills[start:end] = active * level * self.random.random((*drawn.shape, len(depths)))
        self._kernel_tables(module, causes, fills, times)
        at = np.nonzero(np.isin(causes, [CAUSE_NAMES.index(name) for name in _GOES_TO[module]]))
        cause = np.array(CAUSE_NAMES)[causes[at]]
        array = pd.Series(cause).map(_GOES_TO[module]).to_numpy()
        array[(cause == "write") & (self.random.random(cause.size) < 0.4)] = "words"
        return pd.DataFrame({"at": at[0], "engine": at[1], "writes": cause == "write", "array": array})

    def _kernel_tables(
        self, module: str, causes: npt.NDArray[np.uint8], fills: npt.NDArray[np.uint16], times: list[Any]
    ) -> None:
        """Add the sums of causes and fill levels, by interval and by instruction."""
        ran = np.array([number for number, *_ in times], int)
        axes: dict[str, Any] = {"engine": range(causes.shape[1]), "kernel": range(causes.shape[2])}
        slots = {"fifo": [fifo.name for fifo in self.fifos[module]]}
        starts = np.arange(0, self.total, self.shape.interval)
        bounds = np.stack([self.starts[ran], self.ends[ran]], axis=1).ravel()
        begun, done = (np.array([each[place] for each in times]).ravel() for place in (1, 2))
        of_interval = {name: np.add.reduceat(causes == place, starts, 0, np.int64) for place, name in _numbered()}
        of_run = {name: np.add.reduceat(causes == place, bounds, 0, np.int64)[::2] for place, name in _numbered()}
        filled, most = (np.add.reduceat(fills, starts, 0, np.int64), np.maximum.reduceat(fills, starts))
        in_run, most_in_run = (
            np.add.reduceat(fills, bounds, 0, np.int64)[::2],
            np.maximum.reduceat(fills, bounds)[::2],
        )
        intervals, runs = {"cycle": starts}, {"instruction": ran}
        for table, rows in {
            "kernels": _rows(intervals | axes, **of_interval),
            "instruction_kernels": _rows(runs | axes, begun=begun, done=done, **of_run),
            "fifos": _rows(intervals | axes | slots, fill=filled, most=most),
            "instruction_fifos": _rows(runs | slots, fill=in_run.sum(axis=(1, 2)), most=most_in_run.max(axis=(1, 2))),
        }.items():
            self.tables[table].append(rows.assign(module=module))

    def _access(self, accesses: pd.DataFrame) -> None:
        """Add the tables of the memory."""
        count, contention, random = len(accesses), self.memory.contention, self.random
        accesses["cycle"] = self.interval_of[accesses["at"]] * self.shape.interval
        accesses["instruction"] = self.instruction_of[accesses["at"]]
        accesses["reads"] = ~accesses["writes"]
        weights = 0.5 ** np.arange(_LATENCIES.size)
        accesses["latency"] = random.choice(_LATENCIES, count, p=weights / weights.sum()) * accesses["reads"]
        accesses["accesses"] = accesses["requests"] = 1

        def add(table: str, keys: Sequence[str], *sums: str) -> None:
            self.tables[table].append(accesses.groupby(list(keys))[list(sums)].sum().reset_index())

        add("arrays", ("cycle", "engine", "array"), "reads", "writes", "latency")
        read = accesses[accesses["reads"]].groupby(["instruction", "latency"])["reads"].sum()
        self.tables["instruction_latencies"].append(read.reset_index())
        if contention is None:
            return
        accesses["link"] = random.integers(0, contention.links, count)
        accesses["waiting"] = random.binomial(9, 0.3, count)
        add("links", ("cycle", "engine", "link"), "requests", "waiting")
        add("instruction_links", ("instruction", "engine", "link"), "reads", "writes")
        # A few banks have the words of hubs.
        hubs = random.permutation(1 / np.arange(1, contention.banks + 1))
        hub = (accesses["array"] == "words") & (random.random(count) < 0.4)
        bank = np.where(
            hub,
            random.choice(contention.banks, count, p=hubs / hubs.sum()),
            random.integers(0, contention.banks, count),
        )
        accesses["controller"], accesses["bank"] = np.divmod(bank, contention.banks // contention.controllers)
        accesses["waiting"] = random.binomial(90, 0.1 * (1 + hub))
        add("banks", ("cycle", "controller", "bank"), "accesses", "waiting")
        add("instruction_banks", ("instruction", "controller", "bank", "array"), "accesses", "waiting")

    def write(self, folder: Path) -> tuple[dict[str, int], dict[str, str]]:
        """Write the tables with the columns that they are to have; return their rows and digests."""
        rows, digests = {}, {}
        for table in TABLES:
            names = [column.name for column in table.columns]
            empty = pd.DataFrame(dict.fromkeys(names, ()), dtype=object)
            keys = [name for name in ("cycle", "instruction", "engine", "module", "kernel") if name in names]
            ordered = pd.concat([empty, *self.tables[table.name]])[names].sort_values(keys, kind="stable")
            file = folder / f"{table.name}.parquet"
            columns = pa.Table.from_pandas(ordered, schema_of(table.name), preserve_index=False)
            pq.write_table(columns.replace_schema_metadata(None), file, compression="zstd")
            rows[table.name], digests[table.name] = len(ordered), hashlib.sha256(file.read_bytes()).hexdigest()
        return rows, digests

    def document(self, folder: Path, rows: dict[str, int], digests: dict[str, str]) -> dict[str, Any]:
        """Return the record's document."""
        shape, config = self.shape, self.config
        lengths = self.ends - self.starts
        restarted, counted = int(lengths[self.given_up].sum()), int(lengths[~self.given_up].sum())
        host = self.total - self.readout - counted - restarted
        cycles = {"instructions": counted, "host": host, "restarted": restarted, "readout": self.readout}
        cycles["total"] = self.total
        scc = bool(shape.iterations)
        found = {"components": {"count": 3000}, "iterations": shape.iterations} if scc else {"source": 1}
        sizes = {"vertices": 5000, "edges": 40_000}
        result = {
            **identity(),
            "cycles": {"total": counted},
            "seconds": counted / (config.clock_mhz * 1e6),
            "edges_traversed": 40_000,
            "gteps": 40_000 / max(1, counted) * config.clock_mhz / 1e3,
            "verified": True,
            "statistics": {},
            **found,
        }
        options = {"source": None if scc else 1, "config": shape.config, "memory": shape.memory, "executor": "compiled"}
        options |= {"threads": 1, "queue_slack": None, "cycle_limit": None, "simplify": False}
        statistics = {"bank_busy_cycles": 0, "banks": []}
        memory = SimpleNamespace(profile=self.memory, statistics=lambda: statistics)
        machine: Any = SimpleNamespace(config=config, fifos=self.fifos, memory=memory)
        return {
            "record": RECORD_SCHEMA,
            "schema": result["schema"],
            "version": result["version"],
            "program": "0" * 64,
            "command": "scc" if scc else "bfs",
            "run": {"graph": "synthetic.gr", "folder": "/somewhere", "digest": "0" * 64, **sizes, "options": options},
            "interval": shape.interval,
            "clock_hz": config.clock_mhz * 1e6,
            "configuration": asdict(config),
            "memory_profile": {"profile": shape.memory, **asdict(self.memory), "source": "0" * 64},
            "machine": machine_document(machine),
            "cycles": cycles,
            "causes": kernel_cycles(folder),
            "tables": rows,
            "digests": digests,
            "result": result,
        }


def _numbered() -> Any:
    return enumerate(CAUSE_NAMES)


def _rows(axes: Mapping[str, Any], **values: Any) -> pd.DataFrame:
    """Return the rows of all combinations, the first axis slowest, given the values of each."""
    every = pd.MultiIndex.from_product([*axes.values()], names=[*axes])
    return pd.DataFrame({name: np.ravel(value) for name, value in values.items()}, index=every).reset_index()


def write_record(folder: Path, shape: Shape | None = None) -> Path:
    """Write a record.

    Parameters
    ----------
    folder : Path
        Where; made if it is not there.
    shape : Shape, optional
        Its sizes.

    Returns
    -------
    Path
        The folder.
    """
    run = _Run(shape or Shape())
    folder.mkdir(parents=True, exist_ok=True)
    write_sealed(folder / DOCUMENT, run.document(folder, *run.write(folder)))
    return folder
