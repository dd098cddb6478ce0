"""Data of the charts: sums of a record's tables by time, kernel, level, phase, bank and array."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.analysis.explain.evidence import evidence_of
from cyscc.host.analysis.roofline.analysis import Roofline, recorded_bounds
from cyscc.host.answer.colours import STACK
from cyscc.host.record.arrow import Integers, codes, numbers, sums
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import ARRAYS, LONGEST_LATENCY, MODULES, PHASES

OUTSIDE = ("host", "restarted")
"""Causes of cycles outside of instructions."""

LONE = 1 << 62
"""Iteration of the keys of instructions that are not paired, and therefore summed by phase."""


class Key(NamedTuple):
    """Key of an instruction within its run, by which runs are aligned."""

    iteration: int
    phase: int
    level: int


def key_title(key: Key) -> str:
    """Return the label of an instruction on an axis: ``level 3``, ``2 forward 3``, ``2 intersection``."""
    if key.iteration == 0:
        return f"level {key.level}"
    phase = PHASES[key.phase]
    if key.iteration == LONE:
        return f"{phase}, not paired"
    return f"{key.iteration} {phase}" if key.level < 0 else f"{key.iteration} {phase} {key.level}"


def key_point(key: Key) -> str:
    """Return the point of the run at which an instruction begins: ``level=3``, ``iteration=2,phase=intersection``."""
    iteration = f"iteration={key.iteration},phase={PHASES[key.phase]}" if key.iteration else ""
    level = f"level={key.level}" if key.level >= 0 else ""
    return ",".join(part for part in (iteration, level) if part)


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Groups of instructions, in the order in which they are shown.

    Parameters
    ----------
    titles : tuple of str
        Label of each group.
    of : ndarray of int64, shape (instructions,)
        The group of each instruction.
    sizes : ndarray of int64, shape (groups,)
        Number of instructions in each group.
    alone : int
        Number of groups of a single instruction that come first; groups of all others follow.
    """

    titles: tuple[str, ...]
    of: Integers
    sizes: Integers
    alone: int

    @classmethod
    def group(cls, keys: Sequence[Key], weights: Integers, *, most: int) -> Self:
        """Return a group for each key; with more than `most` keys, only for those of the largest weights.

        The other instructions are grouped by phase.
        """
        count = len(keys)
        if count <= most:
            return cls(
                titles=tuple(map(key_title, keys)), of=np.arange(count), sizes=np.ones(count, np.int64), alone=count
            )
        longest = np.sort(np.argsort(-weights, kind="stable")[:most])
        of = np.full(count, -1, np.int64)
        of[longest] = np.arange(longest.size)
        titles = [key_title(keys[place]) for place in longest]
        phases = np.array([key.phase for key in keys])
        for number, name in enumerate(PHASES):
            rest = (of < 0) & (phases == number)
            if rest.any():
                of[rest] = len(titles)
                what = "levels" if any(key.iteration == 0 for key in keys[:1]) else name
                titles.append(f"other {what} ({int(rest.sum()):,})")
        return cls(titles=tuple(titles), of=of, sizes=np.bincount(of, minlength=len(titles)), alone=longest.size)

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.titles)

    @property
    def detailed(self) -> bool:
        """Whether every instruction has a group of its own."""
        return bool((self.sizes == 1).all())


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """The columns of a time axis.

    Parameters
    ----------
    width : int
        Cycles in a column; the last one may have fewer.
    cycles : int
        Cycles of the run.
    """

    width: int
    cycles: int

    @classmethod
    def of(cls, record: Record, *, most: int) -> Self:
        """Return a timeline of at most so many columns, each of whole intervals."""
        intervals = -(-record.cycles // record.interval)
        return cls(width=record.interval * max(1, -(-intervals // most)), cycles=record.cycles)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return max(1, -(-self.cycles // self.width))

    @property
    def starts(self) -> Integers:
        """First cycle of each column."""
        return np.arange(self.columns) * self.width

    @property
    def lengths(self) -> Integers:
        """Number of cycles of each column."""
        return np.minimum(self.starts + self.width, max(1, self.cycles)) - self.starts

    @property
    def middles(self) -> Integers:
        """Middle cycle of each column."""
        return self.starts + self.lengths // 2

    def at(self, cycles: Integers) -> Integers:
        """Return the columns into which the cycles fall."""
        return cycles // self.width


class Activity:
    """Activity of a run: sums of its tables by what the charts show.

    A *track* is a kernel of a module that ran. Tracks are sorted by module, then by AE. Cycles of a group of kernels
    are the mean over its kernels, so that the cycles of all causes add up to the cycles of the run.

    Parameters
    ----------
    record : Record
        The record.
    columns : int
        Most columns of time.
    levels : int
        Most levels that are shown individually.
    """

    def __init__(self, record: Record, *, columns: int, levels: int) -> None:
        self.record = record
        self.instructions = record.instructions
        self.time = Timeline.of(record, most=columns)
        self.keys = [
            Key(*key) for key in zip(*(self.of_instructions(name).tolist() for name in Key._fields), strict=True)
        ]
        self.levels = Levels.group(self.keys, self.of_instructions("cycles"), most=levels)
        self.engines = int(record.machine["engines"])
        ran = set(self.instructions["module"])
        self.kernels = [int(record.machine["kernels"][name]) if name in ran else 0 for name in MODULES]
        memory = record.memory or {"controllers": 0, "banks": 0, "links": 0, "bank_busy": 0}
        self.controllers, self.banks_each, self.links_each = (
            int(memory[name]) for name in ("controllers", "banks", "links")
        )
        self.bank_busy = float(memory["bank_busy"])
        self._bounds = recorded_bounds(record)
        self._sums: dict[tuple[str, ...], list[Integers]] = {}

    @property
    def banks(self) -> int:
        """Number of banks of the memory; 0 if it has none."""
        return self.controllers * self.banks_each

    @cached_property
    def fill(self) -> "Fill":
        """Occupancy of the FIFOs."""
        return Fill(self)

    @property
    def has_roofline(self) -> bool:
        """Whether the run has searched levels, and the limits of its machine are known."""
        return self._bounds is not None and bool(self.roofline.cycles.size)

    @cached_property
    def roofline(self) -> Roofline:
        """Roofline of the levels."""
        assert self._bounds is not None
        return Roofline.of(self.record, self._bounds)

    def of_instructions(self, column: str) -> Integers:
        """Return a column of the instructions; phases as indices into `cyscc.host.record.tables.PHASES`."""
        values = self.instructions[column]
        return np.array([PHASES.index(each) for each in values], np.int64) if column == "phase" else numbers(values)

    def places(self, instructions: Integers) -> Integers:
        """Return the rows of these instructions; -1 for those of abandoned attempts."""
        return np.asarray(self.instructions.index.get_indexer(instructions), np.int64)

    def sums(self, table: str, columns: Sequence[str], *keys: str) -> list[Integers]:
        """Return the sums of columns of a table by some keys, without abandoned attempts; kept for the next time.

        Parameters
        ----------
        table : str
            Name of the table.
        columns : sequence of str
            Its columns.
        *keys : str
            ``track``, ``time`` (column of the time axis), ``level`` (group of levels), ``phase``, ``bank`` (over all
            controllers), ``link`` (AE by AE), or else a column.

        Returns
        -------
        list of ndarray of int64
            The sums of each column; the dimensions are those of the keys.
        """
        wanted = (table, *columns, *keys)
        if wanted not in self._sums:
            frame = self.record.frame(table)
            places, sizes = zip(*(self._key(frame, key) for key in keys), strict=True)
            self._sums[wanted] = [sums(numbers(frame[name]), sizes, *places) for name in columns]
        return self._sums[wanted]

    def _key(self, frame: pd.DataFrame, key: str) -> tuple[Integers, int]:
        """Return the place of each row of a table by a key, negative for rows that are left out, and their number."""
        match key:
            case "track":
                module = codes(frame["module"])
                each = np.array(self.kernels)[module]
                first = np.array([0, self.tracks_of_module[0]])[module]
                track = first + numbers(frame["engine"]) * each + numbers(frame["kernel"])
                return np.where(each, track, -1), len(self.tracks)
            case "time":
                return self.time.at(numbers(frame["cycle"])), self.time.columns
            case "phase" | "level":
                of = self.of_instructions("phase") if key == "phase" else self.levels.of
                row = self.places(numbers(frame["instruction"]))
                return np.where(row >= 0, of[row], -1), len(PHASES) if key == "phase" else self.levels.count
            case "bank":
                bank = numbers(frame["controller"]) * self.banks_each + numbers(frame["bank"])
                if "instruction" in frame:
                    bank[self.places(numbers(frame["instruction"])) < 0] = -1
                return bank, max(self.banks, 1)
            case "link":
                link = numbers(frame["engine"]) * self.links_each + numbers(frame["link"])
                return link, self.engines * self.links_each
            case "array":
                return codes(frame["array"]), len(ARRAYS)
            case _:
                return numbers(frame[key]), {"engine": self.engines, "latency": LONGEST_LATENCY + 1}[key]

    @cached_property
    def tracks(self) -> list[str]:
        """Name of each kernel."""
        return [
            f"AE {engine} {module} {kernel}"
            for module, kernels in zip(MODULES, self.kernels, strict=True)
            for engine in range(self.engines)
            for kernel in range(kernels)
        ]

    @cached_property
    def tracks_of_module(self) -> Integers:
        """Number of kernels of each module in the machine; 0 for a module that did not run."""
        return np.array([self.engines * kernels for kernels in self.kernels])

    @cached_property
    def by_time(self) -> dict[str, Integers]:
        """Cycles of each track in each column of time, by cause; shape (tracks, columns) each."""
        return dict(zip(STACK, self.sums("kernels", STACK, "track", "time"), strict=True))

    @cached_property
    def machine_by_time(self) -> dict[str, npt.NDArray[np.float64]]:
        """Cycles of the module that runs in each column of time, by cause; they add up to the column's."""
        split = int(self.tracks_of_module[0])
        found = {}
        for cause, cycles in self.by_time.items():
            if cause == "not_running":
                continue
            total = cycles[:split].sum(axis=0) / max(split, 1)
            if cause not in OUTSIDE and split < len(cycles):
                total = total + cycles[split:].sum(axis=0) / (len(cycles) - split)
            found[cause] = total
        return found

    @cached_property
    def by_instruction(self) -> npt.NDArray[np.float64]:
        """Cycles of each instruction by cause, mean over the kernels that ran it; shape (instructions, causes)."""
        kernels = [max(1, self.record.kernels(module)) for module in self.instructions["module"]]
        stacks = self.record.stacks.reindex(self.instructions.index, fill_value=0)
        return np.asarray(stacks[list(STACK)].to_numpy(np.float64) / np.array(kernels).reshape(-1, 1))

    def by_group(self, groups: Integers, count: int) -> dict[str, npt.NDArray[np.float64]]:
        """Return the cycles of groups of instructions, by cause."""
        return {
            cause: np.bincount(groups, weights=self.by_instruction[:, place], minlength=count).astype(np.float64)
            for place, cause in enumerate(STACK)
        }

    @cached_property
    def whole(self) -> dict[str, float]:
        """Cycles of the whole run by cause; they add up to the simulated cycles."""
        return {cause: float(cycles.sum()) for cause, cycles in self.machine_by_time.items()}

    def percentile(self, share: float) -> npt.NDArray[np.float64]:
        """Return the percentile of each level's read latencies for a share; nan without reads."""
        (counts,) = self.sums("instruction_latencies", ("reads",), "level", "latency")
        below = counts.cumsum(axis=1)
        total = below[:, -1:]
        return np.where(total[:, 0] > 0, (below < share * total).sum(axis=1), np.nan)


class Fill:
    """Occupancy of the FIFOs of a run.

    Parameters
    ----------
    activity : Activity
        Activity of the kernels.

    Attributes
    ----------
    kinds : list of FifoUse
        Use of each kind of FIFO over the whole run.
    titles : list of str
        Their names.
    """

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        self.kinds = [fifo for evidence in evidence_of(activity.record) for fifo in evidence.fifos]
        self.titles = [f"{'int.' if kind.module == 'intersection' else kind.module} {kind.name}" for kind in self.kinds]

    @cached_property
    def shares(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Mean and maximum occupancy as a share of the depth; shape (FIFOs, columns of time) each."""
        record, time = self.activity.record, self.activity.time
        frame = record.frame("fifos")
        grouped = frame.groupby([frame["module"], frame["fifo"], time.at(frame["cycle"])], observed=True)
        found = grouped.agg({"fill": "sum", "most": "max"})
        mean, most = (np.zeros((len(self.kinds), time.columns)) for _ in range(2))
        for row, kind in enumerate(self.kinds):
            its = found.loc[(kind.module, kind.name)].reindex(range(time.columns), fill_value=0)
            mean[row] = its["fill"] / (kind.depth * record.kernels(kind.module) * time.lengths)
            most[row] = its["most"] / kind.depth
        return mean, most
