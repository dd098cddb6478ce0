"""Recording of a machine over time: cycle-exact counts for every interval and every instruction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cyscc.hw.causes import CAUSES, Cause, IdleCause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.registers import Instruction
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.base import Executor
from cyscc.sim.executors.samples import MODULES
from cyscc.sim.memory import Memory, RecordedIntervals, RecordedSums

Counts = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint32]

_DRAINED = 64
"""Approximate number of intervals between two readouts of the sample rows."""

_TOGETHER = 128
"""Instructions whose counts are delivered together; one by one would cost as much as simulating a short one."""

_START, _NO_WORK, _END, _NOT_RUNNING, _HOST, _READOUT, _RESTARTED, _KEPT = range(8)
"""Kinds of cycles in which a kernel has no run; `_READOUT`, and `_KEPT` for readouts of abandoned attempts, are also
cycles of the host."""

_KINDS = {
    IdleCause.STARTING: [_START],
    IdleCause.NO_WORK: [_NO_WORK],
    IdleCause.ENDING: [_END],
    IdleCause.NOT_RUNNING: [_NOT_RUNNING],
    IdleCause.HOST: [_HOST, _READOUT, _KEPT],
    IdleCause.RESTARTED: [_RESTARTED],
}
"""Kind of cycles for each idle cause of a record."""

_NEVER = 1 << 62
_MODULES = dict(zip((Instruction.BFS_LEVEL, Instruction.INTERSECTION), MODULES, strict=True))
_COLUMN = {cause.name: number for number, cause in enumerate(CAUSES)}
_TOLD = [_COLUMN[cause.row.name] for cause in Cause if cause != Cause.IDLE]


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Counts of consecutive intervals.

    Parameters
    ----------
    first : int
        Number of the first one, which begins at this multiple of the interval.
    causes : ndarray of uint32, shape (len(CAUSES), intervals, AEs, kernels)
        Cycles by recorded cause, BFS kernels first.
    fills : ndarray of uint32, shape (intervals, AEs, FIFOs)
        Occupancy of each kernel's FIFOs, summed over the cycles.
    marks : ndarray of uint32, shape (intervals, AEs, FIFOs)
        Maximum FIFO occupancy.
    turns : ndarray of uint32, shape (intervals, AEs, 2)
        Tokens that reached the first kernel of each module.
    memory : RecordedIntervals
        What the memory counted.
    """

    first: int
    causes: Words
    fills: Words
    marks: Words
    turns: Words
    memory: RecordedIntervals


@dataclass(frozen=True, kw_only=True)
class RanInstruction:
    """Timing of an instruction.

    Parameters
    ----------
    attempt : int
        Number of abandoned attempts before it.
    start, cycles, working : int
        Cycle of the dispatch; cycles from there until the last AE was idle, and until the last kernel was done.
    """

    attempt: int
    start: int
    cycles: int
    working: int


@dataclass(frozen=True, kw_only=True)
class InstructionCounts:
    """Counts of some instructions of a module, by kernel.

    Parameters
    ----------
    module : str
        The module.
    which : ndarray of int, shape (instructions,)
        Indices of these instructions among those delivered together, ascending.
    begun, done : ndarray of int64, shape (instructions, AEs, kernels)
        Cycles from the dispatch until a kernel began and was done.
    causes : ndarray of int64, shape (len(CAUSES), instructions, AEs, kernels)
        Cycles by recorded cause.
    fills, marks : ndarray of int64, shape (instructions, AEs, kernels, FIFOs)
        FIFO occupancy, summed over the cycles; its maximum.
    """

    module: str
    which: npt.NDArray[np.intp]
    begun: Counts
    done: Counts
    causes: Counts
    fills: Counts
    marks: Counts


class Sink(Protocol):
    """Receiver of recorded data."""

    def take_intervals(self, intervals: Intervals) -> None:
        """Take the next intervals."""

    def take_instruction(self, ran: RanInstruction) -> None:
        """Take a completed instruction; its counts follow later."""

    def take_counts(self, counts: Sequence[InstructionCounts], memory: Sequence[RecordedSums]) -> None:
        """Take the counts, by module, and the memory's sums of all instructions since the last call."""

    def take_restart(self, cycle: int, readouts: list[tuple[int, int]]) -> None:
        """Take a restart: everything before a cycle, except for readouts, belongs to an abandoned attempt."""


@dataclass(kw_only=True)
class RecordingState:
    """State of a recording.

    Parameters
    ----------
    position : int
        Number of the next interval to deliver.
    closed : int
        Cycle up to which cycles without a run are classified.
    attempt : int
        Number of abandoned attempts.
    readouts : list of tuple of int
        First cycle, and the cycle after the last, of each readout of event counters.
    instruction, start : int
        The running instruction, or -1, and the cycle of its dispatch.
    split : ndarray of int64, shape (intervals, AEs, kernels, 8)
        Cycles without a run by kind, in the intervals from `position` on.
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


def _shapes(state: RecordingState) -> dict[str, Any]:
    """Return the shapes of the arrays of a state."""
    return {
        name: {key: array.shape for key, array in value.items()} if isinstance(value, dict) else value.shape
        for name, value in vars(state).items()
        if isinstance(value, dict | np.ndarray)
    }


class _Counters:
    """Counters in sample rows, by row and AE; those of BFS kernels come first.

    Parameters
    ----------
    rows : ndarray of `cyscc.sim.executors.samples.sample_dtype`, shape (AEs, rows)
        The rows.
    kind : type
        Type of the counters; their differences are exact in 32 bits, too.
    """

    def __init__(self, rows: npt.NDArray[np.void], kind: type[np.int64 | np.uint32]) -> None:
        parts = [rows.T[module] for module in MODULES]
        joined = partial(np.concatenate, axis=2, dtype=kind, casting="unsafe")
        self.causes = joined([part["causes"] for part in parts])
        self.fills, self.marks = (
            joined([part[name].reshape(*part.shape[:2], -1) for part in parts]) for name in ("fill", "interval_most")
        )
        self.turns = joined([rows.T["turns"][module][..., np.newaxis] for module in MODULES])


class _Ended(NamedTuple):
    """An instruction that has ended, with the counters of hardware and memory at its end."""

    instruction: Instruction
    ran: RanInstruction
    now: npt.NDArray[np.void]
    memory: RecordedSums


class Recording:
    """Records a machine, which calls it at sync points, dispatches and completions.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    executor : Executor
        The executor; it has not run yet.
    memory : Memory
        The memory.
    interval : int
        Cycles of an interval.
    sink : Sink
        Receiver of recorded data.
    state : RecordingState, optional
        State to continue from, before executor and memory are loaded.

    Attributes
    ----------
    state : RecordingState
        Current state, up to date after `catch_up`.
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
        # A run of the executor ends at the sync point after its last cycle.
        beyond = -(-memory.quantum // interval)
        self._samples = executor.record(interval, 1 << (_DRAINED + beyond).bit_length())
        memory.record(interval)
        self._most_cycles = min(_DRAINED * interval, memory.record_span)
        self._outside = _HOST
        now = executor.sample()
        counters = _Counters(now[:, np.newaxis], np.int64)
        fresh = RecordingState(
            split=np.zeros((self._samples.places, *counters.causes.shape[1:3], 8), np.int64),
            causes=counters.causes[0],
            fills=counters.fills[0],
            turns=counters.turns[0],
            causes_before={module: now[module]["causes"].copy() for module in MODULES},
            fills_before={module: now[module]["fill"].copy() for module in MODULES},
        )
        if state is not None and _shapes(state) != _shapes(fresh):
            raise ValueError("the state of the record is that of another machine, or of other intervals")
        self.state = state or fresh

    def check(self, cycle: int, instruction: Instruction, start: int) -> None:
        """Refuse a state to continue from that is not up to date at a cycle, or impossible.

        Parameters
        ----------
        cycle : int
            The cycle.
        instruction : Instruction
            The running instruction.
        start : int
            Cycle of its dispatch, which may be to come.

        Raises
        ------
        ValueError
            It is impossible.
        """
        state = self.state
        if (
            state.position != cycle // self._interval
            or state.closed != cycle
            or (state.instruction, state.start) != (instruction, start)
            or state.attempt < 0
            or any(not 0 <= begin <= end <= cycle for begin, end in state.readouts)
        ):
            raise ValueError("the state of the record is impossible")

    def on_dispatch(self, instruction: Instruction, cycle: int) -> None:
        """Handle the dispatch of an instruction in this or a later cycle."""
        self.state.instruction, self.state.start = int(instruction), cycle

    def budget(self, cycle: int) -> int:
        """Return the most cycles that may be simulated from a sync point to the next call of `on_sync`."""
        return max(1, self.state.position * self._interval + self._most_cycles - cycle)

    def on_sync(self, cycle: int) -> None:
        """Read out the sample rows at a sync point of all AEs, before an instruction has completed."""
        if self.budget(cycle) == 1:
            self.catch_up(cycle)

    def catch_up(self, cycle: int) -> None:
        """Deliver everything up to a sync point of all AEs."""
        state = self.state
        self._deliver_counts()
        if state.instruction < 0 or cycle <= state.start:
            self._close(cycle, self._outside)
        else:
            self._close_running(cycle)
        self._deliver_intervals(cycle // self._interval)

    def _close_running(self, cycle: int) -> None:
        """Classify the cycles of kernels without a run up to a cycle of the running instruction."""
        state = self.state
        self._close(state.start, _HOST)
        instruction = Instruction(state.instruction)
        now = self._executor.sample()[_MODULES[instruction]]
        start, end = (np.array([each]) for each in (state.start, cycle))
        self._classify_idle(instruction, start, end, now["begun"][np.newaxis], now["ended"][np.newaxis])
        state.closed = max(state.closed, cycle)

    def on_completion(self, cycles: int, cycle: int) -> None:
        """Handle the completion of the instruction, `cycles` after its dispatch; all AEs synchronized at `cycle`."""
        state = self.state
        instruction = Instruction(state.instruction)
        now = self._executor.sample()
        last = int(now[_MODULES[instruction]]["ended"].max())
        ran = RanInstruction(attempt=state.attempt, start=state.start, cycles=cycles, working=last - state.start)
        self._sink.take_instruction(ran)
        self._ended.append(_Ended(instruction, ran, now, self._memory.take()))
        self._executor.begin_instruction_marks()
        state.instruction = -1
        self.on_sync(cycle)
        if len(self._ended) == _TOGETHER:
            self._deliver_counts()

    def begin_readout(self, cycle: int) -> None:
        """Handle the begin of a readout of event counters."""
        self._deliver_counts()
        self._close(cycle, _HOST)
        self._outside = _READOUT

    def end_readout(self, begin: int, end: int) -> None:
        """Handle the end of the readout that began in a cycle."""
        self._close(end, _READOUT)
        self._outside = _HOST
        self.state.readouts.append((begin, end))

    def on_restart(self, cycle: int) -> None:
        """Handle a restart: the attempt is abandoned, and everything from now on belongs to the next one."""
        state = self.state
        self.catch_up(cycle)
        # The remainder belongs to the interval in which the next attempt begins.
        row = state.split[0]
        spent = cycle - state.position * self._interval - row[..., _KEPT] - row[..., _READOUT]
        kept = row[..., _KEPT] + row[..., _READOUT]
        row[:] = 0
        row[..., _RESTARTED], row[..., _KEPT] = spent, kept
        state.causes = _Counters(self._executor.sample()[:, np.newaxis], np.int64).causes[0]
        state.attempt += 1
        self._sink.take_restart(cycle, state.readouts)

    def finish(self, cycle: int) -> None:
        """Deliver everything, including the incomplete last interval."""
        self.catch_up(cycle)
        if cycle % self._interval:
            rows = self._executor.sample()[:, np.newaxis]
            self._emit(cycle // self._interval, rows, self._memory.drain(cycle, partial=True))

    def _deliver_counts(self) -> None:
        """Deliver the counts of the instructions that have ended."""
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
                # As plain integers, since structured arrays would be concatenated field by field.
                numbers = np.stack([ended[place].now.view(np.int64) for place in which])
                rows = numbers.view(ended[0].now.dtype)[_MODULES[instruction]]
                self._classify_idle(instruction, starts[which], ends[which], rows["begun"], rows["ended"])
                counts.append(self._counts(_MODULES[instruction], which, [ended[place].ran for place in which], rows))
        state.closed = max(state.closed, int(ends[-1]))
        self._sink.take_counts(counts, [each.memory for each in ended])

    def _counts(
        self, module: str, which: Counts, ran: list[RanInstruction], rows: npt.NDArray[np.void]
    ) -> InstructionCounts:
        """Return the counts of instructions of a module, given the sample rows at their ends."""
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
            causes[_COLUMN[cause.row.name]] = counts
        wrong = np.any(causes.sum(axis=0) != cycles, axis=(1, 2))
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
        """Classify the cycles of kernels without a run up to a cycle, with the same kind for all."""
        begin = self.state.closed
        if end > begin:
            begins, ends = np.array([begin]), np.array([end])
            self._spread(kind, slice(None), begins, begins, ends)
            self.state.closed = end

    def _classify_idle(self, instruction: Instruction, start: Counts, end: Counts, begun: Counts, done: Counts) -> None:
        """Classify the cycles of kernels without a run during instructions, each from its start up to a cycle.

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
            The kernels.
        first : ndarray of int64, shape (spans,)
            Ascending lower bounds of the spans: each span lies between its own bound and the next one's.
        begin, end : ndarray of int64, shape (spans,) or (spans, AEs or 1, kernels or 1)
            First cycle of each span, and the cycle after its last; empty if `end` is not after `begin`.
        """
        state, interval = self.state, self._interval
        begin, end = (each.reshape(*each.shape, *[1] * (3 - each.ndim)) for each in (begin, end))
        rows = int(first[0]) // interval, -(-int(end.max()) // interval)
        if rows[1] <= rows[0]:
            return
        bounds = interval * np.arange(rows[0], rows[1] + 1)
        # Number of span cycles before each interval boundary: those of the span at or before it, and of all earlier
        # spans.
        span = np.maximum(np.searchsorted(first, bounds, "right") - 1, 0)
        lengths = np.maximum(end - begin, 0)
        before = np.cumsum(lengths, axis=0) - lengths
        of_span = np.minimum(bounds[:, np.newaxis, np.newaxis], end[span]) - begin[span]
        passed = before[span] + np.maximum(of_span, 0)
        state.split[rows[0] - state.position : rows[1] - state.position, :, kernels, kind] += np.diff(passed, axis=0)

    def _deliver_intervals(self, position: int) -> None:
        """Deliver the intervals before a number."""
        count = position - self.state.position
        if count:
            cycle = position * self._interval
            self._emit(position, self._samples.take(cycle), self._memory.drain(cycle))

    def _emit(self, position: int, rows: npt.NDArray[np.void], memory: RecordedIntervals) -> None:
        """Deliver the intervals that end with some rows."""
        state = self.state
        count = rows.shape[1]
        intervals = self._intervals(rows, memory)
        last = _Counters(rows[:, -1:], np.int64)
        state.causes, state.fills, state.turns = last.causes[0], last.fills[0], last.turns[0]
        # Beyond the cycles that are classified, there are none.
        left = max(-(-state.closed // self._interval) - position, 0)
        state.split[:left] = state.split[count : count + left].copy()
        state.split[left : count + left] = 0
        state.position = position
        self._sink.take_intervals(intervals)

    def _intervals(self, rows: npt.NDArray[np.void], memory: RecordedIntervals) -> Intervals:
        """Return the counts between consecutive rows, starting from the current state."""
        state = self.state
        counters = _Counters(rows, np.uint32)
        causes, fills, turns = (
            np.diff(getattr(counters, name), axis=0, prepend=getattr(state, name)[np.newaxis].astype(np.uint32))
            for name in ("causes", "fills", "turns")
        )
        # One after another, since numpy is slow where it sums over a short axis.
        split = np.moveaxis(state.split[: rows.shape[1]], -1, 0)
        if not np.array_equal(sum(split[: _READOUT + 1]), causes[..., Cause.IDLE]):
            raise self._inconsistent(f"the intervals from cycle {state.position * self._interval:,} on")
        recorded = self._recorded(causes)
        for cause, kinds in _KINDS.items():
            recorded[_COLUMN[cause.row.name]] = sum(split[kind] for kind in kinds)
        return Intervals(
            first=state.position, causes=recorded, fills=fills, marks=counters.marks, turns=turns, memory=memory
        )

    @staticmethod
    def _recorded(told: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Convert counts by hardware cause to counts by recorded cause, without idle cycles."""
        causes = np.zeros((len(CAUSES), *told.shape[:-1]), told.dtype)
        causes[_TOLD] = np.moveaxis(told[..., Cause.IDLE + 1 :], -1, 0)
        return causes

    @staticmethod
    def _inconsistent(where: str) -> SimulationError:
        return SimulationError(f"the cycles of the kernels by cause do not add up in {where}")


class PartRecording(Recording):
    """Records a part of a run, which begins at a sync point of all AEs within an instruction.

    The first interval is that of the current cycle, without the cycles before. An instruction that was running is not
    delivered. The part ends at the first sync point at or after a cycle, and at the end of the attempt that its begin
    is in.

    Parameters
    ----------
    config, executor, memory, interval, sink
        See `Recording`.
    instruction : Instruction
        The running instruction.
    start : int
        Cycle of its dispatch, which may be to come.
    begin, end : int
        The cycles at which the part begins, this one or a later one, and ends.
    on_end : callable
        Called with the cycle at which it has ended; raises an exception that ends the run.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        executor: Executor,
        memory: Memory,
        *,
        interval: int,
        sink: Sink,
        instruction: Instruction,
        start: int,
        begin: int,
        end: int,
        on_end: Callable[[int], None],
    ) -> None:
        super().__init__(config, executor, memory, interval=interval, sink=sink)
        cycle = executor.cycle
        self._begin, self._end, self._on_end = begin, end, on_end
        self._joined = start < cycle
        self.state.position, self.state.closed = cycle // interval, cycle
        self.state.instruction, self.state.start = int(instruction), start
        executor.begin_instruction_marks()

    def budget(self, cycle: int) -> int:
        """Return the most cycles that may be simulated from a sync point to the next call of `on_sync`."""
        return max(1, min(super().budget(cycle), self._end - cycle))

    def on_sync(self, cycle: int) -> None:
        """Read out the sample rows at a sync point of all AEs, or end the part there."""
        if cycle >= self._end:
            self.stop(cycle)
        super().on_sync(cycle)

    def on_completion(self, cycles: int, cycle: int) -> None:
        """Handle the completion of the instruction; that of the first one, whose counts are not whole, is dropped."""
        if not self._joined:
            super().on_completion(cycles, cycle)
            return
        state = self.state
        self._joined = False
        self._close_running(state.start + cycles)
        now = self._executor.sample()
        for module in MODULES:
            state.causes_before[module], state.fills_before[module] = now[module]["causes"], now[module]["fill"]
        self._memory.take()
        self._executor.begin_instruction_marks()
        state.instruction = -1
        self.on_sync(cycle)

    def begin_readout(self, cycle: int) -> None:
        """Handle the begin of a readout of event counters; that at the end of the run ends the part."""
        if cycle > self._begin:
            self.stop(cycle)
        super().begin_readout(cycle)

    def on_restart(self, cycle: int) -> None:
        """Handle a restart, which ends the part."""
        if cycle > self._begin:
            self.stop(cycle)
        super().on_restart(cycle)

    def stop(self, cycle: int) -> None:
        """End the part at a sync point of all AEs."""
        self.finish(cycle)
        self._on_end(cycle)
