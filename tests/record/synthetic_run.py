"""Synthetic runs: what kernels do in them, cut where intervals and instructions begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.host.record.tables import ARRAYS
from cyscc.sim.configuration import PRESETS
from cyscc.sim.memory import parse_profile
from cyscc.sim.observation.causes import CAUSES

Integers = npt.NDArray[np.int64]

NAMES = [cause.name for cause in CAUSES]
LATENCIES = np.array([75, 76, 78, 80, 84, 90, 100, 120, 160, 240, 400, 2047])
FIFOS = {
    "bfs": ("frontier", "neighbour", "word", "visit"),
    "intersection": ("reach", "colour", "word", "unvisit"),
}
PARAMETERS = {
    "bfs": ("frontier_depth", "neighbour_depth", "word_depth", "visit_depth"),
    "intersection": ("reach_depth", "colour_depth", "colour_depth", "unvisit_depth"),
}
ANSWERS = {
    "bfs": ("issue_1", "issue_2", "issue_3", None),
    "intersection": ("issue_1", "issue_2", "issue_2", "issue_3"),
}
# Weights of the causes while a kernel works, and the array that each request goes to.
_WORKING = {
    "bfs": {"issue_1": 2, "issue_2": 8, "issue_3": 8, "write": 6, "refused": 12, "credit": 9, "slot": 2, "response": 8},
    "intersection": {"issue_1": 9, "issue_2": 16, "issue_3": 7, "write": 5, "refused": 5, "credit": 3, "response": 6},
}
_READS = {"issue_1": "queues", "issue_2": "neighbours", "issue_3": "words"}


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
    busy : float
        Scales what kernels issue.
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
    busy: float = 1.0
    seed: int = 1


class Instruction(NamedTuple):
    attempt: int
    iteration: int
    source: int
    phase: str
    level: int
    cycles: int

    @property
    def module(self) -> str:
        return "intersection" if self.phase == "intersection" else "bfs"


def _instructions(shape: Shape) -> list[Instruction]:
    """Return the instructions in their order."""
    found = [Instruction(0, 0, 0, "forward", level, cycles) for level, cycles in enumerate(shape.levels)]
    if shape.iterations:
        found = []
        for iteration in range(1, shape.iterations + 1):
            source = shape.sources[iteration - 1] if shape.sources else iteration
            for phase in ("forward", "backward"):
                for level, cycles in enumerate(shape.levels):
                    found.append(Instruction(0, iteration, source, phase, level, max(40, cycles // iteration)))
            found.append(Instruction(0, iteration, source, "intersection", -1, max(60, shape.levels[0] // iteration)))
    if shape.restarted:
        given_up = found[: max(1, len(found) // 2)]
        found = given_up + [each._replace(attempt=1) for each in found]
    return found


def _sums(rows: npt.NDArray[Any], groups: Integers, count: int) -> npt.NDArray[Any]:
    """Return the sums of rows that are of one group each, in order."""
    sums = np.zeros((count, *rows.shape[1:]), np.int64)
    np.add.at(sums, groups, rows)
    return sums


class Run:
    """A record in the making: pieces of time that are cut where intervals, and where instructions, begin."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.random = shape, np.random.default_rng(shape.seed)
        self.config = PRESETS[shape.config]
        self.memory = parse_profile(shape.memory)
        self.contention = self.memory.contention
        self.instructions = _instructions(shape)
        lengths = np.array([each.cycles for each in self.instructions])
        self.starts = np.cumsum(shape.host + lengths) - lengths
        self.ends = self.starts + lengths
        self.readout = 5 * shape.host
        self.total = int(self.ends[-1]) + self.readout
        edges = np.unique(np.concatenate([np.arange(0, self.total, shape.interval), self.starts, self.ends]))
        self.first, self.last = edges, np.append(edges[1:], self.total)
        # -1: of no instruction.
        place = np.searchsorted(self.starts, edges, side="right") - 1
        self.of = np.where((place >= 0) & (edges < self.ends[np.maximum(place, 0)]), place, -1)
        self.interval_of = edges // shape.interval
        self.intervals = int(self.interval_of[-1]) + 1
        self.given_up = np.array([each.attempt < self.instructions[-1].attempt for each in self.instructions])
        self.working = self.starts + lengths - np.minimum(lengths // 8, 12)
        self.modules = {"bfs": self.config.bfs_kernels}
        if shape.iterations:
            self.modules["intersection"] = self.config.intersection_kernels
        kinds = [each.module for each in self.instructions]
        self.run_by = {name: np.array([kind == name for kind in kinds]) for name in self.modules}
        self.begun: dict[str, Integers] = {}
        self.done: dict[str, Integers] = {}
        self.causes: dict[str, npt.NDArray[np.int32]] = {}
        for name in self.modules:
            self._work(name)

    def _work(self, module: str) -> None:
        """Draw the causes of the kernels of a module: shape (pieces, AEs, kernels, causes)."""
        shape = (len(self.instructions), self.config.engines, self.modules[module])
        lengths = (self.ends - self.starts)[:, None, None]
        begun = self.starts[:, None, None] + np.minimum(lengths // 6, self.random.integers(2, 9, shape))
        span = self.working[:, None, None] - begun
        done = begun + (span * self.random.uniform(0.55, 1, shape)).astype(np.int64)
        done[:, 0, 0] = self.working  # the last one
        self.begun[module], self.done[module] = begun, done
        pieces = (self.first.size, *shape[1:])
        causes = np.zeros((*pieces, len(NAMES)), np.int32)

        def within(low: Integers, high: Integers) -> Integers:
            first, last = self.first[:, None, None], self.last[:, None, None]
            return np.clip(np.minimum(high[self.of], last) - np.maximum(low[self.of], first), 0, None)

        whole = np.broadcast_to((self.last - self.first)[:, None, None], pieces)
        ours = ((self.of >= 0) & self.run_by[module][self.of] & ~self.given_up[self.of])[:, None, None]
        outside = np.where(self.of < 0, "host", np.where(self.given_up[self.of], "restarted", "not_running"))
        for name in ("host", "restarted", "not_running"):
            causes[..., NAMES.index(name)] = np.where(ours, 0, whole * (outside == name)[:, None, None])
        bounds = (np.broadcast_to(self.starts[:, None, None], shape), begun, done)
        bounds = (*bounds, *(np.broadcast_to(each[:, None, None], shape) for each in (self.working, self.ends)))
        for name, low, high in zip(("starting", "", "no_work", "ending"), bounds[:-1], bounds[1:], strict=True):
            cycles = np.where(ours, within(low, high), 0)
            if name:
                causes[..., NAMES.index(name)] = cycles
                continue
            weights = {
                cause: weight * (self.shape.busy if cause in _READS or cause == "write" else 1.0)
                for cause, weight in _WORKING[module].items()
            }
            # Kernels and levels differ.
            drawn = self.random.gamma(6 * np.array([*weights.values()]), size=(*shape, len(weights)))
            share = drawn / drawn.sum(axis=-1, keepdims=True)
            split = self.random.multinomial(cycles, share[self.of])
            causes[..., [NAMES.index(cause) for cause in weights]] = split
        self.causes[module] = causes

    def of_instruction(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Sum pieces to instructions."""
        inside = self.of >= 0
        return _sums(rows[inside], self.of[inside], len(self.instructions))

    def of_interval(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Sum pieces to intervals."""
        return _sums(rows, self.interval_of, self.intervals)

    @property
    def cycle(self) -> Integers:
        """First cycle of each interval."""
        return np.arange(self.intervals) * self.shape.interval

    def accesses(self) -> tuple[Integers, Integers]:
        """Return reads and writes of each piece, AE and array."""
        reads = np.zeros((self.first.size, self.config.engines, len(ARRAYS)), np.int64)
        writes = np.zeros_like(reads)
        for module, causes in self.causes.items():
            by_engine = causes.sum(axis=2, dtype=np.int64)
            for cause, array in _READS.items():
                at = "colours" if (module, cause) == ("intersection", "issue_2") else array
                reads[..., ARRAYS.index(at)] += by_engine[..., NAMES.index(cause)]
            written = by_engine[..., NAMES.index("write")]
            words = written // 3 if module == "bfs" else written // 2
            writes[..., ARRAYS.index("words")] += words
            writes[..., ARRAYS.index("queues" if module == "bfs" else "colours")] += written - words
        return reads, writes
