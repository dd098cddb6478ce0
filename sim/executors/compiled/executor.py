"""The compiled executor: kernels as lanes, a shell for each AE, a native loop over cycles."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import OnStep
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.accesses import AccessRequest, AccessRows, reads_under_way
from cyscc.sim.executors.base import Command, RunState, sync_interval
from cyscc.sim.executors.compiled.drawing import Drawing
from cyscc.sim.executors.compiled.parts import build_library
from cyscc.sim.executors.samples import Samples, sample_dtype
from cyscc.sim.executors.shared_object import LibraryExecutor, Pieces
from cyscc.sim.executors.spells import SpellBuffer, SpellRequest
from cyscc.sim.memory import Memory
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.waves import ENDLESS, Waves

_LEAST_ROUND = 4
"""Least cycles of a round that pay for a sync point."""

_SPELL_CYCLES = 4096
"""Most cycles run at a time while spells are logged."""

_WAVE_CYCLES = 100
"""Most cycles run at a time in the window of waveforms: so interrupts are noticed in between."""


class CompiledExecutor(LibraryExecutor):
    """Runs the machine as compiled code.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without progress and without outstanding memory requests after which a run counts as hung.
    threads : int
        Threads that share the AEs and the memory, at most one for each of them. Results do not depend on it.
    waves : Waves, optional
        Waveform file to write.
    on_build : callable, optional
        Progress callback of a build, see `cyscc.sim.caching.tools.OnStep`.

    Raises
    ------
    cyscc.sim.errors.BuildError
        The library could not be built.
    ValueError
        The waveforms would be empty.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        threads: int = 1,
        waves: Waves | None = None,
        on_build: OnStep | None = None,
    ) -> None:
        self.waves = waves
        self._begun = 0  # first cycle that is simulated
        self._drawing: Drawing | None = None
        with ExitStack() as failing:
            if waves is not None:
                failing.callback(waves.discard)
            library = build_library(config, waves=waves is not None, on_step=on_build)
            round_ = _round(sync_interval(config, memory), memory)
            memory.divide(threads if round_ else 1)
            threads = min(threads, config.engines + 1)
            super().__init__(library, config, memory, watchdog=watchdog, round=round_, threads=threads)
            if waves is not None:
                failing.callback(super().close)
                self._drawing = Drawing(self._library, self._machine, waves)
            failing.pop_all()
        self._config = config
        self._interval = sync_interval(config, memory)
        self._spells: SpellBuffer | None = None
        self._accesses = AccessRows(self._library, self._machine, config.engines)
        self._request: AccessRequest | None = None
        self._log_begins = False
        self._rests = True  # nothing of the list of commands is under way yet
        self._row = sample_dtype(config)

    def record(self, interval: int, places: int) -> Samples:
        """Start sampling: every AE writes a row at each multiple of an interval, with FIFO occupancy."""
        self.samples = Samples(self._config, interval=interval, places=places, cycle=self.cycle)
        self._record()
        return self.samples

    def _record(self) -> None:
        if self.samples is not None:
            rows = self.samples.rows.ctypes.data
            self._library.cyscc_record(self._machine, self.samples.interval, self.samples.places, rows)

    def sample(self) -> npt.NDArray[np.void]:
        """Return the current row of each AE; call between two runs."""
        rows = np.zeros(self._config.engines, self._row)
        self._library.cyscc_sample(self._machine, rows.ctypes.data)
        return rows

    def begin_instruction_marks(self) -> None:
        """Reset the rows' ``instruction_most``; call between two runs."""
        self._library.cyscc_begin_instruction(self._machine)

    def log_spells(self, request: SpellRequest) -> None:
        """Start logging spells of kernels, instead of those logged before; call between two runs."""
        self._spells = SpellBuffer(self._config, request, cycles=_SPELL_CYCLES + self._interval)
        self._library.cyscc_log_spells(self._machine, self._spells.log.ctypes.data)

    def take_spells(self, *, under_way: bool = False) -> npt.NDArray[np.void]:
        """Return the logged spells that have ended since the last call, in no order; call between two runs."""
        assert self._spells is not None, "they are logged"
        self._library.cyscc_write_spells(self._machine, False)
        self._spells.drain()
        if under_way:
            self._library.cyscc_write_spells(self._machine, True)
        return self._spells.take()

    def begin(self, commands: Sequence[Command]) -> None:
        """Start a list of commands."""
        super().begin(commands)
        self._rests = True

    def log_accesses(self, request: AccessRequest) -> None:
        """Start logging accesses of kernels, instead of those logged before; call between two runs."""
        self._request = request
        self._log_begins = True

    def take_accesses(self) -> npt.NDArray[np.void]:
        """Return the logged accesses since the last call, in no order; call between two runs."""
        return self._accesses.take()

    def open_reads(self) -> int:
        """Return how many reads of the cycles that are logged are not answered yet; call between two runs."""
        return self._accesses.open()

    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until all AEs are idle), or for about `budget` cycles."""
        if self._log_begins:
            assert self._request is not None, "accesses are logged"
            self._log_begins = False
            save = None if self._rests else self._pieces.save
            self._accesses.want(self._request, reads_under_way(self._config, self._memory, save))
        self._rests = False
        end = self.cycle + budget
        while True:
            state = super().run(min(end - self.cycle, self._most_cycles()))
            if self._spells is not None:
                self._spells.drain()
            if self.waves is not None and self.cycle > self.waves.window[1]:
                self._finish_waves()
            if state != RunState.RUNNING or self.cycle >= end:
                return state

    def _most_cycles(self) -> int:
        """Return the most cycles to run at a time now."""
        most = ENDLESS if self._spells is None else _SPELL_CYCLES
        if self._drawing is not None and self.waves is not None:
            most = min(most, max(_WAVE_CYCLES, self.waves.window[0] - self.cycle))
        return most

    def _finish_waves(self) -> None:
        """Complete the waveform file."""
        drawing, self._drawing = self._drawing, None
        if drawing is None or self.waves is None:
            return
        try:
            drawing.finish()
        except SimulationError:
            self.waves.discard()
            raise
        self.waves.finish(self._begun, self.cycle)

    def save(self) -> NamedWords:
        """Return the state, after updating idle kernels that were skipped."""
        return self._pieces.save()

    def load(self, state: NamedWords) -> None:
        """Load a state, after `begin` with the same list of commands.

        Raises
        ------
        ValueError
            The state is of other hardware.
        """
        self._pieces.load(state)
        self._begun = self.cycle
        if self.samples is not None:
            self.samples.restart(self.cycle)
        if self._spells is not None:
            self._spells.restart()
        # Only once the memory has its state too, it is known what is under way.
        self._log_begins = self._request is not None
        self._rests = False

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self._library, self._machine)

    def close(self) -> None:
        """Stop the threads, and complete the waveform file."""
        try:
            self._finish_waves()
        finally:
            super().close()


def _round(interval: int, memory: Memory) -> int:
    """Return the most cycles of a round if requests can be performed one round late, otherwise 0.

    A response must not be due before the round after the next one, and a round must be long enough to pay for a
    sync point.
    """
    cycles = memory.quantum // 2
    return cycles if min(interval, cycles) >= _LEAST_ROUND else 0
