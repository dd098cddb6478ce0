"""The compiled executor with waveforms: Verilated kernels within the waveform window, lanes outside of it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import OnStep
from cyscc.sim.executors.base import Command, CommandKind, Executor, RunState, sync_interval
from cyscc.sim.executors.compiled.executor import CompiledExecutor
from cyscc.sim.executors.samples import Samples
from cyscc.sim.memory import Memory
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.waves import ENDLESS, Waves

_READ_CYCLES = 200
"""Most cycles of a register read, unless the machine hangs."""

_PIECE = 100
"""Cycles written to waveforms at a time; the whole machine takes some 0.1 s for them."""

_AHEAD = 1000
"""Cycles before the window at which the Verilated models take over, enough for links to deliver new tokens."""


class WindowedExecutor(Executor):
    """Runs the machine as lanes up to the window, then as models that write waveforms, then as lanes again.

    The state is transferred at sync points of all AEs. Cycles, results and counters do not depend on the switch.

    Parameters
    ----------
    config, memory, watchdog, threads, on_build
    See `CompiledExecutor`.
    waves : Waves
        The file.

    Raises
    ------
    cyscc.sim.errors.BuildError
        A library could not be built.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        threads: int,
        waves: Waves,
        on_build: OnStep | None = None,
    ) -> None:
        self.waves = waves
        self._first, self._last = waves.window
        self._interval = sync_interval(config, memory)
        self._commands: Sequence[Command] = ()
        self._played: dict[CommandKind, Command] = {}  # last command of each kind before the current list
        self._reading = False  # reading registers; no transfer of the state meanwhile
        self._fresh = True  # the current list has not started to run

        def make(drawn: Waves | None) -> CompiledExecutor:
            return CompiledExecutor(config, memory, watchdog=watchdog, threads=threads, waves=drawn, on_build=on_build)

        # Created now, so that errors show before anything slow.
        self._drawing: CompiledExecutor | None = make(waves)
        try:
            endless = self._first < self._interval + _AHEAD and self._last >= ENDLESS
            self._plain = None if endless else make(None)
        except BaseException:
            self._drawing.close()
            raise
        self._active = self._plain or self._drawing

    @property
    def cycle(self) -> int:
        """Cycles simulated so far."""
        return self._active.cycle

    @property
    def instruction_cycles(self) -> int:
        """Cycles from the last dispatch until the last AE was idle."""
        return self._active.instruction_cycles

    @property
    def answers(self) -> npt.NDArray[np.uint64]:
        """Answers to the last list's reads, of shape (reads, AEs)."""
        return self._active.answers

    def begin(self, commands: Sequence[Command]) -> None:
        """Start a list of commands."""
        self._played |= {command.kind: command for command in self._commands}
        self._commands = list(commands)
        self._reading = any(command.kind == CommandKind.READ for command in commands)
        self._fresh = True
        self._active.begin(commands)

    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until all AEs are idle), or for about `budget` cycles."""
        if self._fresh or not self._reading:
            self._choose()
        self._fresh = False
        if self._active is self._drawing:
            return self._draw(max(1, min(budget, self._last + 1 - self.cycle)))
        if self._drawing is None or self._reading:
            return self._active.run(budget)
        # Up to the last sync point before the window.
        whole = (self._first - _AHEAD - self.cycle) // self._interval * self._interval
        return self._active.run(min(budget, whole))

    def _draw(self, budget: int) -> RunState:
        """Run the models that write waveforms, in pieces, so that interrupts are noticed in between."""
        end = self.cycle + budget
        while True:
            state = self._active.run(min(_PIECE, end - self.cycle))
            if state != RunState.RUNNING or self.cycle >= end:
                return state

    def _choose(self) -> None:
        """Select lanes or models for the next cycles, and transfer the state if needed."""
        if self._drawing is None or self._plain is None:
            return
        reads = _READ_CYCLES * len(self._commands) if self._reading else 0
        if self.cycle > self._last:
            self._hand_over(self._plain)
            drawing, self._drawing = self._drawing, None
            drawing.close()
        elif self.cycle + self._interval + reads > self._first - _AHEAD:
            self._hand_over(self._drawing)

    def _hand_over(self, to: CompiledExecutor) -> None:
        if self._active is not to:
            to.take_over(self._active, self._commands, list(self._played.values()))
            self._active = to

    def record(self, interval: int, places: int) -> Samples:
        """Start sampling: every AE writes a row at each multiple of an interval, with FIFO occupancy."""
        self.samples = self._active.record(interval, places)
        return self.samples

    def sample(self) -> npt.NDArray[np.void]:
        """Return the current row of each AE; call between two runs."""
        return self._active.sample()

    def begin_instruction_marks(self) -> None:
        """Reset the rows' ``instruction_most``; call between two runs."""
        self._active.begin_instruction_marks()

    def save(self) -> NamedWords:
        """Return the state."""
        return self._active.save()

    def load(self, state: NamedWords) -> None:
        """Load a state, after `begin` with the same list of commands.

        Raises
        ------
        ValueError
            The state is of other hardware.
        """
        self._active.load(state)

    def close(self) -> None:
        """Release everything, and complete the waveform file."""
        plain, drawing, self._plain, self._drawing = self._plain, self._drawing, None, None
        if plain is not None:
            plain.close()
        if drawing is not None:
            drawing.close()
