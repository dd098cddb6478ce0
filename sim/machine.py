"""The simulated coprocessor: an executor, the memory, and the host's interface to both."""

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.interfaces import port_tag_bits, read_request
from cyscc.hw.kernel import Fifo
from cyscc.hw.registers import Counter, Instruction, KernelWord, Register, kernel_register
from cyscc.sim.caching.tools import OnStep, workers
from cyscc.sim.coprocessor import ArrayKind, Coprocessor
from cyscc.sim.errors import CycleLimitError, HangError, MemoryAccessError
from cyscc.sim.executors.base import Command, CommandKind, Executor, RunState
from cyscc.sim.executors.factory import check_scopes, make_executor, watchdog_cycles
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.executors.samples import fifos
from cyscc.sim.memory import Memory, PayloadLayout, Profile
from cyscc.sim.observation.diagnosis import diagnose
from cyscc.sim.observation.state import MachineState, Tally
from cyscc.sim.recording import PartRecording, Recording, RecordingState, Sink
from cyscc.sim.stored_state import check_state

_REPORT_SECONDS = 0.1
"""Approximate least wall time in seconds between two progress reports."""

_SHORTEST_SLICE = 100
"""Least cycles run at a time; a slow executor takes about as long for them as a report."""


class Machine(Coprocessor):
    """A coprocessor simulated by an executor.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory.
    executor : Executor
        The executor of the hardware.
    cycle_limit : int, optional
        Total cycles of instructions after which the simulation fails.
    on_progress : callable, optional
        Called with the cycle about ten times a second while the machine runs, even if instructions are short.
    build_seconds : float
        Wall time of creating the executor.

    Attributes
    ----------
    config, memory, build_seconds
        As given.
    on_sync : callable or None
        Called with the cycle at sync points of the AEs within an instruction, at the latest after the number of cycles
        that it returned. It may `save`.
    on_close : callable or None
        Called before the executor is released.
    reached : int
        Cycle that the run has reached, without register reads for the diagnosis of a failure.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        executor: Executor,
        *,
        cycle_limit: int | None = None,
        on_progress: Callable[[int], None] | None = None,
        build_seconds: float = 0.0,
    ) -> None:
        self.config = config
        self.memory = memory
        self._executor = executor
        self._cycle_limit = cycle_limit
        self._on_progress = on_progress
        self._pending: list[Command] = []
        self._spent = 0
        self._lead = 0  # cycles of register writes before the running instruction
        self._running: list[Command] = []  # commands of the running instruction
        self._began = 0  # the cycle in which they started
        self._slice = _SHORTEST_SLICE
        self._due = 0.0  # time of the next progress report
        self._readout = 0  # cycles spent reading event counters
        self._actions: list[tuple[int, int, Callable[[], None]]] = []  # a heap: cycle, number, action
        self._scheduled = 0  # number of actions scheduled so far
        self._attempts = 0  # abandoned attempts
        self._attempt: Tally | None = None  # counts at the start of the current attempt
        self.build_seconds = build_seconds
        self.on_sync: Callable[[int], int] | None = None
        self.on_close: Callable[[], None] | None = None
        self._recording: Recording | None = None
        self.reached = 0

    @property
    def fifos(self) -> Mapping[str, tuple[Fifo, ...]]:
        """The FIFOs of a kernel by module."""
        return fifos(self.config)

    @property
    def executor(self) -> Executor:
        """The executor of the hardware, for inspection in `on_sync`."""
        return self._executor

    @property
    def cycle(self) -> int:
        """Cycles simulated since reset, including those of register accesses."""
        return self._executor.cycle

    @property
    def instruction(self) -> Instruction | None:
        """The instruction dispatched last; None before the first."""
        return Instruction(self._running[-1].index) if self._running else None

    def allocate(self, size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        """Allocate `size` bytes of coprocessor memory and return their address."""
        return self.memory.allocate(size, holds=holds)

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Return a view of the memory as an array."""
        return self.memory.view(address, dtype, count)

    def schedule(self, cycle: int, action: Callable[[], None]) -> None:
        """Schedule an action at the first sync point of all AEs in or after a cycle, even within an instruction.

        All accepted writes have then taken effect in memory. An action that changes nothing does not affect cycles and
        results of the run. Actions of the same cycle run in the order in which they were scheduled. Actions after the
        end of the run are dropped.

        Parameters
        ----------
        cycle : int
            Cycle, counted from reset; a past one means the next sync point.
        action : callable
            The action. It may read and write the memory, and schedule further actions.
        """
        heapq.heappush(self._actions, (cycle, self._scheduled, action))
        self._scheduled += 1

    def set_registers(self, values: Mapping[Register, int]) -> None:
        """Write AEG registers of every AE, one cycle each, before the next dispatch or read."""
        self._pending += [Command(CommandKind.WRITE, register, value) for register, value in values.items()]

    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        """Read AEG registers of every AE; shape (registers, AEs)."""
        self._executor.begin([*self._pending, *(Command(CommandKind.READ, register) for register in registers)])
        self._pending = []
        self._run_commands(limited=False)
        return self._executor.answers

    def dispatch(self, instruction: Instruction) -> int:
        """Start an instruction on every AE; return the cycle of the dispatch."""
        self._running = [*self._pending, Command(CommandKind.DISPATCH, instruction)]
        self._executor.begin(self._running)
        self._began = self._executor.cycle
        self._lead = len(self._pending)
        self._pending = []
        if self._recording is not None:
            self._recording.on_dispatch(instruction, self._began + self._lead)
        return self._began + self._lead

    def wait(self) -> int:
        """Run until every AE is idle; return the cycles from the dispatch on.

        Raises
        ------
        CycleLimitError, HangError, MemoryAccessError
            The simulation failed; with a diagnosis.
        """
        self._run_commands(limited=True)
        cycles = self._executor.instruction_cycles
        if self._recording is not None:
            self._recording.on_completion(cycles, self._executor.cycle)
        self._spent += cycles
        if self._cycle_limit is not None and self._spent > self._cycle_limit:
            raise self._limit_error()
        return cycles

    def stray_writes(self) -> list[int]:
        """Return the addresses of words outside of all allocations that were written to."""
        return self.memory.stray_writes()

    def begin_attempt(self) -> None:
        """Start a new attempt in the statistics; reads the event counters, which takes simulated cycles."""
        if self._recording is not None:
            self._recording.on_restart(self.cycle)
        self._attempt = self._tally()
        self._attempts += 1
        self.memory.reset_statistics()

    def statistics(self) -> dict[str, Any]:
        """Return the statistics of the current attempt, JSON-able.

        Event counters are read through the hardware's registers, which takes simulated cycles.

        Returns
        -------
        dict
            ``cycles``: ``instructions`` (each from its dispatch until the last AE was idle) and ``host`` (register
            accesses, and waiting for the AEs' next sync point) of this attempt, ``restarted`` (both, for earlier
            attempts), ``readout`` (reading event counters) and ``total``, the sum of these, which equals `cycle`
            afterwards. ``counters`` and ``causes`` by module; the causes of a module add up to its kernels times
            ``cycles.instructions``. ``memory``: its ``cycles`` are those of instructions and host. ``restarted``:
            ``attempts``, and their ``instructions``, ``counters`` and ``causes``.
        """
        memory = self.memory.statistics()
        now = self._tally()
        before = now - now if self._attempt is None else self._attempt
        own = now - before
        return {
            "cycles": {
                "instructions": own.instructions,
                "host": own.host,
                "restarted": before.instructions + before.host,
                "readout": self._readout,
                "total": self.cycle,
            },
            **own.summary(bfs_kernels=self.config.bfs_kernels),
            "memory": memory,
            "restarted": {
                "attempts": self._attempts,
                "instructions": before.instructions,
                **before.summary(bfs_kernels=self.config.bfs_kernels),
            },
        }

    def attempt_causes(self) -> tuple[int, npt.NDArray[np.int64]]:
        """Return the cycles of the current attempt so far, and its causes by AE, kernel and `cyscc.hw.causes.Cause`."""
        cycle, causes, before = self.cycle, self._executor.causes(), self._attempt
        return (cycle, causes) if before is None else (cycle - before.cycle, causes - before.causes)

    def _tally(self) -> Tally:
        """Return the counts up to this cycle."""
        cycle, readout, causes = self.cycle, self._readout, self._executor.causes()
        if self._recording is not None:
            self._recording.begin_readout(cycle)
        kernels = self.config.bfs_kernels + self.config.intersection_kernels
        numbers = [
            kernel_register(kernel, KernelWord.COUNTER_0 + counter) for kernel in range(kernels) for counter in Counter
        ]
        counters = self.get_registers(numbers).reshape(kernels, len(Counter), self.config.engines)
        self._readout += self.cycle - cycle
        if self._recording is not None:
            self._recording.end_readout(cycle, self.cycle)
        return Tally(cycle=cycle, instructions=self._spent, readout=readout, causes=causes, counters=counters)

    def record(self, interval: int, sink: Sink, state: RecordingState | None = None) -> Recording:
        """Start recording, before the first instruction, or before `load` to continue from a recording's state."""
        self._recording = Recording(self.config, self._executor, self.memory, interval=interval, sink=sink, state=state)
        return self._recording

    def record_part(
        self, interval: int, sink: Sink, *, begin: int, end: int, on_end: Callable[[int], None]
    ) -> PartRecording:
        """Start recording a part of the run; call only in `on_sync`. See `PartRecording`."""
        self._recording = part = PartRecording(
            self.config,
            self._executor,
            self.memory,
            interval=interval,
            sink=sink,
            instruction=Instruction(self._running[-1].index),
            start=self._began + self._lead,
            begin=begin,
            end=end,
            on_end=on_end,
        )
        return part

    def save(self, *, without: Collection[int] = ()) -> MachineState:
        """Return the state within an instruction; call only in `on_sync`.

        Parameters
        ----------
        without : collection of int
            Addresses of allocations to leave out, because a resumed run writes them again.
        """
        return MachineState(
            hardware=self._executor.save(),
            memory=self.memory.save(without=without),
            commands=[(int(command.kind), int(command.index), command.value) for command in self._running],
            began=self._began,
            lead=self._lead,
            spent=self._spent,
            readout=self._readout,
            attempts=self._attempts,
            attempt=self._attempt,
        )

    def load(self, state: MachineState) -> None:
        """Load a state on a machine with the same sizes and allocations; call `wait` next.

        Raises
        ------
        ValueError
            It is the state of another machine.
        """
        check_state(state, self.config)
        self._running = [Command(CommandKind(kind), index, value) for kind, index, value in state.commands]
        self._executor.begin(self._running)
        self._executor.load(state.hardware)
        self.memory.load(state.memory)
        self.memory.check(self.cycle)
        self.reached = self.cycle
        self._pending = []
        self._began, self._lead, self._spent = state.began, state.lead, state.spent
        if self._recording is not None:
            self._recording.check(self.cycle, Instruction(self._running[-1].index), self._began + self._lead)
        self._readout, self._attempts, self._attempt = state.readout, state.attempts, state.attempt

    def close(self) -> None:
        """Release the executor, and complete waveform files."""
        try:
            if self.on_close is not None:
                self.on_close()
        finally:
            self._executor.close()

    def _run_commands(self, *, limited: bool) -> None:
        """Run the list of commands to completion."""
        while True:
            budget = self._slice
            if limited and self.on_sync is not None:
                budget = max(1, min(budget, self.on_sync(self._executor.cycle)))
            if limited and self._cycle_limit is not None:
                left = self._cycle_limit - self._spent - (self._executor.cycle - self._began - self._lead)
                if left < 0:
                    raise self._limit_error()
                budget = min(budget, max(left, 1))
            if self._recording is not None:
                budget = min(budget, self._recording.budget(self._executor.cycle))
            if self._actions:
                budget = min(budget, max(self._actions[0][0] - self._executor.cycle, 1))
            began = perf_counter()
            state = self._executor.run(budget)
            now = perf_counter()
            self.reached = self._executor.cycle
            if self._on_progress is not None and now >= self._due:
                self._due = now + _REPORT_SECONDS
                self._on_progress(self._executor.cycle)
            if state == RunState.MEMORY_ERROR:
                raise MemoryAccessError(str(self.memory.error()))
            if state == RunState.HUNG:
                raise HangError(
                    f"nothing moved until cycle {self._executor.cycle:,}: the machine hangs", self._diagnosis()
                )
            self._run_actions()
            done = state == RunState.DONE
            # The end of an instruction is recorded with its result.
            if self._recording is not None and not (limited and done):
                self._recording.on_sync(self._executor.cycle)
            if done:
                return
            if budget == self._slice:
                pace = _REPORT_SECONDS / max(now - began, 1e-3)
                self._slice = max(_SHORTEST_SLICE, int(self._slice * min(max(pace, 0.5), 4.0)))

    def _run_actions(self) -> None:
        """Perform the actions that are due."""
        due = []
        while self._actions and self._actions[0][0] <= self._executor.cycle:
            due.append(heapq.heappop(self._actions))
        for _, _, action in due:
            action()

    def _limit_error(self) -> CycleLimitError:
        return CycleLimitError(f"cycle limit of {self._cycle_limit:,} reached", self._diagnosis())

    def _diagnosis(self) -> str:
        return diagnose(self.config, self.memory, self._read_when_hung)

    def _read_when_hung(self, registers: list[int]) -> npt.NDArray[np.uint64] | None:
        """Read registers of a hung machine; return None if it does not answer."""
        self._executor.begin([Command(CommandKind.READ, register) for register in registers])
        state = self._executor.run(200 * len(registers) + 1000)
        return self._executor.answers if state == RunState.DONE else None


def create_machine(
    config: AcceleratorConfig,
    memory: Profile,
    *,
    executor: str | Callable[[Memory, int], Executor] = "compiled",
    threads: int = 1,
    cycle_limit: int | None = None,
    waves: Path | None = None,
    wave_window: tuple[int, int] | None = None,
    scopes: Sequence[str] = (),
    wave_view: bool = False,
    on_progress: Callable[[int], None] | None = None,
    on_build: OnStep | None = None,
) -> Machine:
    """Create a simulated coprocessor.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Profile
        Memory profile.
    executor : str or callable
        ``"compiled"`` (built on first use, then cached) or ``"amaranth"``; or a function that makes another one, given
        the memory and the watchdog's cycles (without progress and outstanding memory requests, a run then counts as
        hung).
    threads : int
        Threads that the compiled executor may use; the results do not depend on it.
    cycle_limit : int, optional
        Total cycles of instructions after which the simulation fails.
    waves : Path, optional
        Waveform file to write, in the format of its suffix: ``.vcd`` or ``.fst``.
    wave_window : tuple of int, optional
        First and last cycle to write there; all by default.
    scopes : sequence of str
        Signals to write there: globs over dotted paths as shown in the waveform; all by default.
    wave_view : bool
        Write saved views for viewers beside it.
    on_progress : callable, optional
        See `Machine`.
    on_build : callable, optional
        Progress callback of the executor's build, called from its threads one at a time.

    Raises
    ------
    ValueError
        Unknown executor, unknown suffix of a waveform file, or a scope without signals; the memory is for a machine
        with another clock.
    cyscc.sim.errors.BuildError
        The compiled executor could not be built.
    """
    if isinstance(executor, str) and executor not in EXECUTORS:
        raise ValueError(f"unknown executor {executor!r}: there are {', '.join(EXECUTORS)}")
    memory.check_clock(config.clock_mhz)
    began = perf_counter()
    if on_build is not None:
        on_build(0, 1, "memory model")

    def make_memory() -> Memory:
        payload = PayloadLayout.of(read_request(port_tag_bits(config)))
        return Memory(memory, engines=config.engines, ports=config.ports, payload=payload)

    if executor == "compiled" and waves is None:
        # On the first run, most of both is done by compilers, side by side.
        from cyscc.sim.executors.compiled.parts import build_library

        with workers() as pool:
            building = pool.submit(build_library, config, waves=False, on_step=on_build)
            model = make_memory()
            building.result()
    else:
        model = make_memory()
    watchdog = watchdog_cycles(memory)
    if callable(executor):
        made = executor(model, watchdog)
    else:
        drawn = None
        if waves is not None:
            # Imported here because most runs have none.
            from cyscc.sim.observation.waves import Waves

            check_scopes(scopes, name=executor, config=config)
            drawn = Waves(waves, wave_window, scopes=scopes, view=wave_view)
        made = make_executor(
            model, watchdog, name=executor, config=config, threads=threads, waves=drawn, on_build=on_build
        )
    build_seconds = perf_counter() - began
    return Machine(config, model, made, cycle_limit=cycle_limit, on_progress=on_progress, build_seconds=build_seconds)
