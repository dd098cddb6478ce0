"""What happens in a machine over time: every interval, and every instruction, cut exactly to the cycle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hw.causes import CAUSES, Cause, IdleCause
from hw.config import AcceleratorConfig
from hw.registers import Instruction
from sim.errors import SimulationError
from sim.executors.base import Executor
from sim.executors.samples import MODULES
from sim.memory import Memory, RecordedIntervals, RecordedSums

__all__ = ["InstructionCounts", "Intervals", "RanInstruction", "Recording", "RecordingState", "Sink"]

Counts = npt.NDArray[np.int64]

_DRAINED = 32
"""Intervals after which a recording looks after its rows, about."""

_TOGETHER = 128
"""Instructions whose counts are handed over together: each by itself costs as much as a short one takes to simulate."""

_START, _NO_WORK, _END, _NOT_RUNNING, _HOST, _READOUT, _RESTARTED, _KEPT = range(8)
"""How cycles in which a kernel has no run are told apart; `_READOUT` and `_KEPT`, that of attempts given up, are the
host's as well."""

_KINDS = {
    IdleCause.STARTING: [_START],
    IdleCause.NO_WORK: [_NO_WORK],
    IdleCause.ENDING: [_END],
    IdleCause.NOT_RUNNING: [_NOT_RUNNING],
    IdleCause.HOST: [_HOST, _READOUT, _KEPT],
    IdleCause.RESTARTED: [_RESTARTED],
}
"""Which of them each cause of a record stands for."""

_NEVER = 1 << 62
_MODULES = dict(zip((Instruction.BFS_LEVEL, Instruction.INTERSECTION), MODULES, strict=True))
_COLUMN = {cause.name: number for number, cause in enumerate(CAUSES)}
_TOLD = [_COLUMN[cause.row.name] for cause in Cause if cause != Cause.IDLE]


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """What was counted in some intervals, one after the other.

    Parameters
    ----------
    first : int
        Number of the first one, which begins at so many times the interval.
    causes : ndarray of int64, shape (intervals, AEs, kernels, len(CAUSES))
        Cycles by recorded cause, BFS kernels first.
    fills : ndarray of int64, shape (intervals, AEs, kernels, FIFOs)
        Entries held, summed over the cycles.
    marks : ndarray of int64, shape (intervals, AEs, kernels, FIFOs)
        Most entries held in a cycle.
    turns : ndarray of int64, shape (intervals, AEs, 2)
        Tokens that reached the first kernel of each module.
    memory : RecordedIntervals
        What the memory counted.
    """

    first: int
    causes: Counts
    fills: Counts
    marks: Counts
    turns: Counts
    memory: RecordedIntervals


@dataclass(frozen=True, kw_only=True)
class RanInstruction:
    """When an instruction ran.

    Parameters
    ----------
    attempt : int
        Attempts given up before.
    start, cycles, working : int
        Cycle of the dispatch; cycles from there until the last AE was idle, and until the last kernel was done.
    """

    attempt: int
    start: int
    cycles: int
    working: int


@dataclass(frozen=True, kw_only=True)
class InstructionCounts:
    """What was counted in some instructions of a module, by its kernels.

    Parameters
    ----------
    module : str
        The module.
    which : ndarray of int, shape (instructions,)
        Which of the instructions that are handed over together these are, ascending.
    begun, done : ndarray of int64, shape (instructions, AEs, kernels)
        Cycles from the dispatch until a kernel began and was done.
    causes : ndarray of int64, shape (instructions, AEs, kernels, len(CAUSES))
        Cycles by recorded cause.
    fills, marks : ndarray of int64, shape (instructions, AEs, kernels, FIFOs)
        Entries held, summed over the cycles; most entries held in a cycle.
    """

    module: str
    which: npt.NDArray[np.intp]
    begun: Counts
    done: Counts
    causes: Counts
    fills: Counts
    marks: Counts


class Sink(Protocol):
    """Who takes what was recorded."""

    def take_intervals(self, make: Callable[[], Intervals], count: int) -> None:
        """Take so many intervals, which follow those before; to make them takes time, and may be done at any time."""

    def take_instruction(self, ran: RanInstruction) -> None:
        """Take an instruction that is complete; what was counted in it comes later."""

    def take_counts(self, counts: Sequence[InstructionCounts], memory: Sequence[RecordedSums]) -> None:
        """Take what was counted, by modules, and what the memory counted, in all instructions that wait for it."""

    def take_restart(self, cycle: int, readouts: list[tuple[int, int]]) -> None:
        """Learn that all before a cycle, but for the cycles of some readouts, was an attempt that was given up."""


@dataclass(kw_only=True)
class RecordingState:
    """Where a recording is.

    Parameters
    ----------
    position : int
        Number of the next interval to be handed out.
    closed : int
        Cycle up to which it is known what kernels without a run waited for.
    attempt : int
        Attempts given up.
    readouts : list of tuple of int
        First cycle, and the cycle after the last, of each readout of event counters.
    instruction, start : int
        The instruction that runs, -1 if none does, and the cycle of its dispatch.
    split : ndarray of int64, shape (intervals, AEs, kernels, 8)
        Cycles without a run, told apart, in the intervals from `position` on.
    causes, fills, turns : ndarray
        Counters of the hardware at the last boundary.
    causes_before, fills_before : dict of ndarray
        Counters of each module's hardware at the end of its last instruction.
    """

    position: int = 0
    closed: int = 0
    attempt: int = 0
    readouts: list[tuple[int, int]] = field(default_factory=list)
    instruction: int = -1
    start: int = 0
    split: npt.NDArray[np.int64]
    causes: npt.NDArray[np.int64]
    fills: npt.NDArray[np.int64]
    turns: npt.NDArray[np.int64]
    causes_before: dict[str, npt.NDArray[np.int64]]
    fills_before: dict[str, npt.NDArray[np.int64]]


class _Counters:
    """Numbers of rows of samples, by row, AE, kernel (BFS kernels first) and FIFO, 0 where a kernel has fewer.

    Parameters
    ----------
    rows : ndarray of `sim.executors.samples.sample_dtype`, shape (AEs, rows)
        The rows.
    """

    def __init__(self, rows: npt.NDArray[np.void]) -> None:
        self._rows = rows.T
        self.causes = self._of("causes")
        self.fills = self._of("fill")
        self.marks = self._of("interval_most")
        self.turns = np.stack([self._rows["turns"][module] for module in MODULES], axis=-1)

    def _of(self, name: str) -> Counts:
        parts = [self._rows[module][name] for module in MODULES]
        kernels = np.cumsum([0, *(part.shape[2] for part in parts)])
        joined = np.zeros((*parts[0].shape[:2], kernels[-1], max(part.shape[3] for part in parts)), np.int64)
        for part, begin, end in zip(parts, kernels[:-1], kernels[1:], strict=True):
            joined[:, :, begin:end, : part.shape[3]] = part
        return joined


class _Ended(NamedTuple):
    """An instruction that has ended: what the hardware and the memory had counted then."""

    instruction: Instruction
    ran: RanInstruction
    now: npt.NDArray[np.void]
    memory: RecordedSums


class Recording:
    """Records what happens in a machine; the machine tells it where it is.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    executor : Executor
        What executes the hardware; it has run no cycle yet.
    memory : Memory
        The memory.
    interval : int
        Cycles of an interval.
    sink : Sink
        Who takes what was recorded.
    state : RecordingState, optional
        Where to go on from, before executor and memory are loaded.

    Attributes
    ----------
    state : RecordingState
        Where it is; after `catch_up` up to date.
    most_cycles : int
        Cycles that the executor may run until `meet` is called.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        executor: Executor,
        memory: Memory,
        *,
        interval: int,
        sink: Sink,
        state: RecordingState | None = None,
    ) -> None:
        self._executor = executor
        self._memory = memory
        self._interval = interval
        self._sink = sink
        self._ended: list[_Ended] = []
        self._kernels = {
            Instruction.BFS_LEVEL: slice(config.bfs_kernels),
            Instruction.INTERSECTION: slice(config.bfs_kernels, None),
        }
        # A run of the executor ends at the meeting after its last cycle.
        beyond = -(-memory.quantum // interval)
        self._samples = executor.record(interval, 1 << (2 * _DRAINED + beyond).bit_length())
        memory.record(interval)
        self.most_cycles = min(_DRAINED * interval, memory.record_span)
        now = executor.sample()
        counters = _Counters(now[:, np.newaxis])
        self.state = state or RecordingState(
            split=np.zeros((self._samples.places, *counters.causes.shape[1:3], 8), np.int64),
            causes=counters.causes[0],
            fills=counters.fills[0],
            turns=counters.turns[0],
            causes_before={module: now[module]["causes"].copy() for module in MODULES},
            fills_before={module: now[module]["fill"].copy() for module in MODULES},
        )

    def dispatched(self, instruction: Instruction, cycle: int) -> None:
        """Learn that an instruction is dispatched in a cycle to come, or this one."""
        self.state.instruction, self.state.start = int(instruction), cycle

    def meet(self, cycle: int) -> None:
        """Look after the rows, in the middle of an instruction, where all AEs have met."""
        if cycle - self.state.position * self._interval >= self.most_cycles:
            self.catch_up(cycle)

    def catch_up(self, cycle: int) -> None:
        """Hand out everything up to a cycle in which all AEs have met."""
        state = self.state
        self._hand_over()
        if state.instruction < 0 or cycle <= state.start:
            self._close(cycle, _HOST)
        else:
            self._close(state.start, _HOST)
            instruction = Instruction(state.instruction)
            now = self._executor.sample()[_MODULES[instruction]]
            start, end = (np.array([each]) for each in (state.start, cycle))
            self._tell_apart(instruction, start, end, now["begun"][np.newaxis], now["ended"][np.newaxis])
            state.closed = max(state.closed, cycle)
        self._hand_out(cycle // self._interval)

    def ended(self, cycles: int, cycle: int) -> None:
        """Learn that the instruction is complete, so many cycles after its dispatch; all AEs have met at `cycle`."""
        state = self.state
        instruction = Instruction(state.instruction)
        now = self._executor.sample()
        last = int(now[_MODULES[instruction]]["ended"].max())
        ran = RanInstruction(attempt=state.attempt, start=state.start, cycles=cycles, working=last - state.start)
        self._sink.take_instruction(ran)
        self._ended.append(_Ended(instruction, ran, now, self._memory.take()))
        self._executor.begin_instruction_marks()
        state.instruction = -1
        if cycle - state.position * self._interval >= self.most_cycles:
            self.catch_up(cycle)
        elif len(self._ended) == _TOGETHER:
            self._hand_over()

    def readout(self, begin: int, end: int) -> None:
        """Learn that event counters were read from one cycle to another."""
        self._hand_over()
        self._close(begin, _HOST)
        self._close(end, _READOUT)
        self.state.readouts.append((begin, end))
        if end - self.state.position * self._interval >= self.most_cycles:
            self.catch_up(end)

    def restart(self, cycle: int) -> None:
        """Learn that an attempt has been given up, and that all that follows belongs to another."""
        state = self.state
        self.catch_up(cycle)
        # What remains is of the interval that the next attempt begins in.
        row = state.split[0]
        spent = cycle - state.position * self._interval - row[..., _KEPT] - row[..., _READOUT]
        kept = row[..., _KEPT] + row[..., _READOUT]
        row[:] = 0
        row[..., _RESTARTED], row[..., _KEPT] = spent, kept
        state.causes = _Counters(self._executor.sample()[:, np.newaxis]).causes[0]
        state.attempt += 1
        self._sink.take_restart(cycle, state.readouts)

    def finish(self, cycle: int) -> None:
        """Hand out everything, the last interval as far as it has come."""
        self.catch_up(cycle)
        if cycle % self._interval:
            rows = self._executor.sample()[:, np.newaxis]
            self._emit(cycle // self._interval, rows, self._memory.drain(cycle, partial=True))

    def _hand_over(self) -> None:
        """Hand over what was counted in the instructions that have ended."""
        ended, self._ended = self._ended, []
        if not ended:
            return
        state = self.state
        starts = np.array([each.ran.start for each in ended])
        cycles = np.array([each.ran.cycles for each in ended])
        ends = starts + cycles
        between = np.concatenate([[state.closed], ends[:-1]])
        self._spread(_HOST, slice(None), between, between, starts)
        counts = []
        for instruction in self._kernels:
            which = np.array([place for place, each in enumerate(ended) if each.instruction == instruction], np.intp)
            if which.size:
                # As bare numbers, since columns would be joined one by one.
                numbers = np.stack([ended[place].now.view(np.int64) for place in which])
                rows = numbers.view(ended[0].now.dtype)[_MODULES[instruction]]
                self._tell_apart(instruction, starts[which], ends[which], rows["begun"], rows["ended"])
                counts.append(self._counts(_MODULES[instruction], which, [ended[place].ran for place in which], rows))
        state.closed = max(state.closed, int(ends[-1]))
        self._sink.take_counts(counts, [each.memory for each in ended])

    def _counts(
        self, module: str, which: Counts, ran: list[RanInstruction], rows: npt.NDArray[np.void]
    ) -> InstructionCounts:
        """Return what was counted in instructions of a module, at the ends of which there were some rows."""
        state = self.state
        start, cycles, working = (
            np.array([getattr(each, name) for each in ran])[:, np.newaxis, np.newaxis]
            for name in ("start", "cycles", "working")
        )
        begun, done = rows["begun"] - start, rows["ended"] - start
        causes = self._recorded(np.diff(rows["causes"], axis=0, prepend=state.causes_before[module][np.newaxis]))
        for cause, counts in (
            (IdleCause.STARTING, begun),
            (IdleCause.NO_WORK, working - done),
            (IdleCause.ENDING, cycles - working),
        ):
            causes[..., _COLUMN[cause.row.name]] = counts
        wrong = np.any(causes.sum(axis=-1) != cycles, axis=(1, 2))
        if np.any(wrong):
            raise self._inconsistent(f"the instruction of cycle {ran[int(np.argmax(wrong))].start:,}")
        fills = np.diff(rows["fill"], axis=0, prepend=state.fills_before[module][np.newaxis])
        state.causes_before[module], state.fills_before[module] = rows["causes"][-1].copy(), rows["fill"][-1].copy()
        return InstructionCounts(
            module=module,
            which=which,
            begun=begun,
            done=done,
            causes=causes,
            fills=fills,
            marks=rows["instruction_most"],
        )

    def _close(self, end: int, kind: int) -> None:
        """Say what kernels without a run wait for up to a cycle, the same for all."""
        begin = self.state.closed
        if end > begin:
            begins, ends = np.array([begin]), np.array([end])
            self._spread(kind, slice(None), begins, begins, ends)
            self.state.closed = end

    def _tell_apart(self, instruction: Instruction, start: Counts, end: Counts, begun: Counts, done: Counts) -> None:
        """Say what kernels wait for that have no run while instructions run, each from its start up to a cycle.

        Parameters
        ----------
        instruction : Instruction
            Which one.
        start, end : ndarray of int64, shape (instructions,)
            Its start, and the cycle.
        begun, done : ndarray of int64, shape (instructions, AEs, kernels)
            Where its kernels' last runs began and ended, or those before.
        """
        own = self._kernels[instruction]
        first = np.maximum(start, self.state.closed)
        start, end, begin = (each[:, np.newaxis, np.newaxis] for each in (start, end, first))
        begun = np.where(begun >= start, begun, _NEVER)
        done = np.where((begun < _NEVER) & (done > begun), done, _NEVER)
        working = done.max(axis=(1, 2), keepdims=True)
        for other, kernels in self._kernels.items():
            if other != instruction:
                self._spread(_NOT_RUNNING, kernels, first, begin, end)
        self._spread(_START, own, first, begin, np.minimum(begun, end))
        self._spread(_NO_WORK, own, first, np.maximum(done, begin), np.minimum(working, end))
        self._spread(_END, own, first, np.maximum(working, begin), end)

    def _spread(self, kind: int, kernels: slice, first: Counts, begin: Counts, end: Counts) -> None:
        """Add cycles to those of a kind, in the intervals that they are in.

        Parameters
        ----------
        kind : int
            The kind.
        kernels : slice
            Whose cycles.
        first : ndarray of int64, shape (spans,)
            Cycles that part the spans, ascending: each span lies from its own on, and before the next one's.
        begin, end : ndarray of int64, shape (spans,) or (spans, AEs or 1, kernels or 1)
            First cycle of each span, and the cycle after its last, which may be before the first.
        """
        state, interval = self.state, self._interval
        begin, end = (each.reshape(*each.shape, *[1] * (3 - each.ndim)) for each in (begin, end))
        rows = int(first[0]) // interval, -(-int(end.max()) // interval)
        if rows[1] <= rows[0]:
            return
        bounds = interval * np.arange(rows[0], rows[1] + 1)
        # How many cycles lie before each bound: of the span that it is in, or follows, and of all before that.
        span = np.maximum(np.searchsorted(first, bounds, "right") - 1, 0)
        lengths = np.maximum(end - begin, 0)
        before = np.cumsum(lengths, axis=0) - lengths
        of_span = np.minimum(bounds[:, np.newaxis, np.newaxis], end[span]) - begin[span]
        passed = before[span] + np.maximum(of_span, 0)
        state.split[rows[0] - state.position : rows[1] - state.position, :, kernels, kind] += np.diff(passed, axis=0)

    def _hand_out(self, position: int) -> None:
        """Hand out the intervals before a number."""
        count = position - self.state.position
        if count:
            cycle = position * self._interval
            self._emit(position, self._samples.take(cycle), self._memory.drain(cycle))

    def _emit(self, position: int, rows: npt.NDArray[np.void], memory: RecordedIntervals) -> None:
        """Hand out the intervals that end with some rows."""
        state = self.state
        count = rows.shape[1]
        before = replace(state, split=state.split[:count].copy())
        last = _Counters(rows[:, -1:])
        state.causes, state.fills, state.turns = last.causes[0], last.fills[0], last.turns[0]
        state.split = np.roll(state.split, -count, axis=0)
        state.split[-count:] = 0
        state.position = position
        self._sink.take_intervals(partial(self._block, before, rows, memory), count)

    def _block(self, before: RecordingState, rows: npt.NDArray[np.void], memory: RecordedIntervals) -> Intervals:
        """Return what was counted between rows, the first of which follows a state."""
        counters = _Counters(rows)
        causes, fills, turns = (
            np.diff(getattr(counters, name), axis=0, prepend=getattr(before, name)[np.newaxis])
            for name in ("causes", "fills", "turns")
        )
        split = before.split
        if not np.array_equal(split[..., : _READOUT + 1].sum(axis=-1), causes[..., Cause.IDLE]):
            raise self._inconsistent(f"the intervals from cycle {before.position * self._interval:,} on")
        recorded = self._recorded(causes)
        for cause, kinds in _KINDS.items():
            recorded[..., _COLUMN[cause.row.name]] = split[..., kinds].sum(axis=-1)
        return Intervals(
            first=before.position, causes=recorded, fills=fills, marks=counters.marks, turns=turns, memory=memory
        )

    @staticmethod
    def _recorded(told: Counts) -> Counts:
        """Return counts by recorded cause of those by cause of the hardware, cycles without a run left out."""
        causes = np.zeros((*told.shape[:-1], len(CAUSES)), np.int64)
        causes[..., _TOLD] = told[..., Cause.IDLE + 1 :]
        return causes

    @staticmethod
    def _inconsistent(where: str) -> SimulationError:
        return SimulationError(f"the cycles of the kernels by cause do not add up in {where}")
