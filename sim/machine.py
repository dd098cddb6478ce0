"""The simulated coprocessor: an executor, the memory and the host's way to both."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from hw.interfaces import ReadRequest
from hw.kernel_control import Activity
from hw.registers import Counter, Instruction, KernelWord, Register, kernel_register
from sim.coprocessor import Coprocessor
from sim.errors import CycleLimitError, HangError, MemoryAccessError
from sim.executors import Command, CommandKind, Executor, RunState
from sim.memory import Memory, PayloadLayout, Profile
from sim.observation.diagnosis import diagnose
from sim.observation.statistics import summarise_activity, summarise_counters

__all__ = ["EXECUTORS", "Machine", "assemble_machine", "create_machine"]

EXECUTORS = ("compiled", "amaranth")
"""Names of the executors; the first is the default."""

_SLICE_SECONDS = 0.25
"""Wall time between two reports of progress, about."""


class Machine(Coprocessor):
    """A coprocessor simulated by an executor.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory.
    executor : Executor
        What executes the hardware.
    cycle_limit : int, optional
        Cycles of instructions in all, after which the simulation fails.
    on_progress : callable, optional
        Called with the cycle a few times a second while an instruction runs.
    build_seconds : float
        Wall time that it took to make the executor.
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
        self._config = config
        self._memory = memory
        self._executor = executor
        self._cycle_limit = cycle_limit
        self._on_progress = on_progress
        self._pending: list[Command] = []
        self._spent = 0
        self._lead = 0  # cycles of register writes before the instruction that runs
        self._slice = 20_000
        self.build_seconds = build_seconds

    @property
    def clock(self) -> float:
        """Clock frequency in hertz."""
        return self._config.clock_mhz * 1e6

    @property
    def reach_queue(self) -> bool:
        """Whether searches keep a reach queue."""
        return not self._config.bfs_only

    @property
    def engines(self) -> int:
        """Number of Application Engines."""
        return self._config.engines

    @property
    def cycle(self) -> int:
        """Cycles simulated since reset, those of register accesses included."""
        return self._executor.cycle

    @property
    def memory(self) -> Memory:
        """The memory model."""
        return self._memory

    def allocate(self, size: int) -> int:
        """Reserve `size` bytes of coprocessor memory and return their address."""
        return self._memory.allocate(size)

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        """Copy an array into coprocessor memory."""
        self._memory.write(address, values)

    def read(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Copy `count` elements out of coprocessor memory."""
        return self._memory.read(address, dtype, count)

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Return the memory itself as an array."""
        return self._memory.view(address, dtype, count)

    def set_registers(self, values: Mapping[Register, int]) -> None:
        """Write AEG registers of every AE; takes effect before the next dispatch or read, a cycle each."""
        self._pending += [Command(CommandKind.WRITE, register, value) for register, value in values.items()]

    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        """Read AEG registers of every AE; shape (registers, AEs)."""
        self._executor.begin([*self._pending, *(Command(CommandKind.READ, register) for register in registers)])
        self._pending = []
        self._finish(limited=False)
        return self._executor.answers

    def dispatch(self, instruction: Instruction) -> None:
        """Start an instruction on every AE."""
        self._executor.begin([*self._pending, Command(CommandKind.DISPATCH, instruction)])
        self._lead = len(self._pending)
        self._pending = []

    def wait(self) -> int:
        """Run until every AE is idle; return the cycles from the dispatch on.

        Raises
        ------
        CycleLimitError, HangError, MemoryAccessError
            As named; with the state of what is stuck.
        """
        self._finish(limited=True)
        cycles = self._executor.instruction_cycles
        self._spent += cycles
        if self._cycle_limit is not None and self._spent > self._cycle_limit:
            raise self._limit_error()
        return cycles

    def statistics(self) -> dict[str, Any]:
        """Return what hardware counters, kernel activity and memory have counted, JSON-able."""
        activity = self._executor.activity()
        kernels = self._config.bfs_kernels + self._config.intersection_kernels
        numbers = [
            kernel_register(kernel, KernelWord.COUNTER_0 + counter) for kernel in range(kernels) for counter in Counter
        ]
        counters = self.get_registers(numbers).reshape(kernels, len(Counter), self._config.engines)
        return {
            "counters": summarise_counters(counters, bfs_kernels=self._config.bfs_kernels),
            "activity": summarise_activity(activity, bfs_kernels=self._config.bfs_kernels),
            "memory": self._memory.statistics(),
        }

    def issued_requests(self) -> npt.NDArray[np.int64]:
        """Return the requests that each BFS kernel has issued since reset, of shape (AEs, kernels of an AE).

        Unlike `statistics`, which reads the hardware's registers, this takes no simulated cycle.
        """
        request = Activity.__members__["REQUEST"].value
        return self._executor.activity()[:, : self._config.bfs_kernels, request]

    def close(self) -> None:
        """Release the executor; completes waveform files."""
        self._executor.close()

    def _finish(self, *, limited: bool) -> None:
        """Run the list of commands to its end."""
        start = self._executor.cycle
        while True:
            budget = self._slice
            if limited and self._cycle_limit is not None:
                left = self._cycle_limit - self._spent - (self._executor.cycle - start - self._lead)
                if left < 0:
                    raise self._limit_error()
                budget = min(budget, max(left, 1))
            began = perf_counter()
            state = self._executor.run(budget)
            if state == RunState.DONE:
                return
            if state == RunState.MEMORY_ERROR:
                raise MemoryAccessError(str(self._memory.error()))
            if state == RunState.HUNG:
                raise HangError(
                    f"nothing moved until cycle {self._executor.cycle:,}: the machine hangs", self._diagnosis()
                )
            if budget == self._slice:
                pace = _SLICE_SECONDS / max(perf_counter() - began, 1e-3)
                self._slice = max(1000, int(self._slice * min(max(pace, 0.5), 2.0)))
            if self._on_progress is not None:
                self._on_progress(self._executor.cycle)

    def _limit_error(self) -> CycleLimitError:
        return CycleLimitError(f"cycle limit of {self._cycle_limit:,} cycles reached", self._diagnosis())

    def _diagnosis(self) -> str:
        return diagnose(self._config, self._memory, self._read_while_stuck)

    def _read_while_stuck(self, registers: list[int]) -> npt.NDArray[np.uint64] | None:
        """Read registers of a machine that does not come to an end; None if it does not answer."""
        self._executor.begin([Command(CommandKind.READ, register) for register in registers])
        state = self._executor.run(200 * len(registers) + 1000)
        return self._executor.answers if state == RunState.DONE else None


def assemble_machine(
    config: AcceleratorConfig,
    memory: Profile,
    make_executor: Callable[[Memory, int], Executor],
    *,
    cycle_limit: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Machine:
    """Make a simulated coprocessor of an executor of one's own.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Profile
        Memory profile.
    make_executor : callable
        Makes the executor, given the memory and the cycles without a request or a response after which a run hangs.
    cycle_limit, on_progress
        As for `create_machine`.
    """
    began = perf_counter()
    fields = ReadRequest
    model = Memory(
        memory,
        engines=config.engines,
        ports=config.ports,
        payload=PayloadLayout(
            address_bits=fields["address"].width,
            size_bit=fields["size"].offset,
            tag_shift=fields["tag"].offset,
            tag_bits=fields["tag"].width,
        ),
    )
    executor = make_executor(model, 20_000 + 4 * memory.unloaded_latency)
    build_seconds = perf_counter() - began
    return Machine(
        config, model, executor, cycle_limit=cycle_limit, on_progress=on_progress, build_seconds=build_seconds
    )


def create_machine(
    config: AcceleratorConfig,
    memory: Profile,
    *,
    executor: str = "compiled",
    threads: int = 1,
    cycle_limit: int | None = None,
    waves: Path | None = None,
    wave_window: tuple[int, int] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Machine:
    """Make a simulated coprocessor.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Profile
        Memory profile.
    executor : str
        ``"compiled"`` (built on first use, then cached) or ``"amaranth"``.
    threads : int
        Threads that the compiled executor may use; the results do not depend on it.
    cycle_limit : int, optional
        Cycles of instructions in all, after which the simulation fails.
    waves : Path, optional
        VCD file to write.
    wave_window : tuple of int, optional
        First and last cycle to write there; all by default.
    on_progress : callable, optional
        Called with the cycle a few times a second while an instruction runs.

    Raises
    ------
    ValueError
        Unknown executor.
    sim.errors.BuildError
        The compiled executor could not be built.
    """
    if executor not in EXECUTORS:
        raise ValueError(f"unknown executor {executor!r}: there are {', '.join(EXECUTORS)}")

    def make_executor(model: Memory, watchdog: int) -> Executor:
        if executor == "amaranth":
            from sim.executors.amaranth import AmaranthExecutor

            return AmaranthExecutor(config, model, watchdog=watchdog, waves=waves, wave_window=wave_window)
        from sim.executors.compiled.executor import CompiledExecutor

        return CompiledExecutor(config, model, watchdog=watchdog, threads=threads, waves=waves, wave_window=wave_window)

    return assemble_machine(config, memory, make_executor, cycle_limit=cycle_limit, on_progress=on_progress)
