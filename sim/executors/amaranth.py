"""Executor on Amaranth's own simulator: no build, every signal at hand, slow."""

from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Value
from amaranth.sim import Simulator

from hw.accelerator import Accelerator
from hw.application_engine import ApplicationEngine
from hw.config import AcceleratorConfig
from sim.executors.amaranth_counts import KernelCounts
from sim.executors.amaranth_state import AmaranthState
from sim.executors.base import RunState
from sim.executors.player import Player
from sim.executors.samples import Samples
from sim.memory import Memory
from sim.named_words import NamedWords
from sim.observation.waves import Waves
from sim.observation.waves.conversion import Conversion

__all__ = ["AmaranthExecutor"]

_CYCLE = 4e-9
"""Period of the simulated clock in seconds; only waveforms show it, and quarters of it must be whole picoseconds."""

_FEMTOSECONDS = round(_CYCLE * 1e15)


class AmaranthExecutor(Player):
    """Runs the whole accelerator in Amaranth's simulator.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles in which nothing moves and the memory owes nothing, after which a run counts as hung.
    interval : int, optional
        Cycles of its steps, those of `meeting_interval` by default; others only to go on within an instruction.
    waves : Waves, optional
        Waveform file to write.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        interval: int | None = None,
        waves: Waves | None = None,
    ) -> None:
        super().__init__(config, memory, watchdog=watchdog, interval=interval)
        self._config = config
        accelerator = Accelerator(config, instrument=True)
        self._engines = [_Pins(engine) for engine in accelerator.engines]
        self._counts = KernelCounts(config)
        self._loaded: NamedWords | None = None  # a state that is taken before the next cycle
        self._begun = 0  # the cycle that the simulator began with
        self._simulator = Simulator(accelerator)
        design = self._simulator._design
        self._state = AmaranthState(design, engines=config.engines, link_cycles=config.link_cycles)
        self._simulator.add_clock(_CYCLE)
        self._simulator.add_testbench(self._bench, background=True)
        self._files = ExitStack()
        if waves is not None:
            conversion = Conversion(waves, cycle_of=self._cycle_of)
            self._files.callback(lambda: conversion.finish(self._cycle))
            self._files.enter_context(self._simulator.write_vcd(str(conversion.raw)))

    def run(self, budget: int) -> RunState:
        """Run until the list is done and all AEs are idle if it dispatched, or for about `budget` cycles."""
        end = self._cycle + budget
        while True:
            meeting = self._cycle + self._interval
            while self._cycle < meeting:
                self._simulator.advance()
            state = self._meet()
            if state != RunState.RUNNING or self._cycle >= end:
                return state

    def causes(self) -> npt.NDArray[np.int64]:
        """Cycles by AE, kernel (BFS kernels first) and `hw.causes.Cause`, since reset."""
        return self._counts.causes

    @property
    def samples(self) -> Samples | None:
        """What `record` has returned, if it was called."""
        return self._counts.samples

    def record(self, interval: int, places: int) -> Samples:
        """Have every AE write a row at each multiple of an interval from now on, and count how full FIFOs are."""
        self._counts.samples = Samples(self._config, interval=interval, places=places, cycle=self._cycle)
        return self._counts.samples

    def sample(self) -> npt.NDArray[np.void]:
        """Return the same numbers as of now, a row for each AE, between two runs."""
        return self._counts.sample(self._cycle)

    def begin_instruction_marks(self) -> None:
        """Let the rows' ``instruction_most`` begin anew, between two runs."""
        self._counts.begin_instruction_marks()

    def save(self) -> NamedWords:
        """Return the state."""
        if self._loaded is not None:
            return self._loaded
        while self._engines[0].context is None:
            self._simulator.advance()
        state = NamedWords.zeros([*self._fields(), *self._counts.fields(), *self._state.fields])
        self._save_play(state)
        self._counts.save(state)
        self._state.save(self._engines[0].context, state, self._cycle)
        return state

    def load(self, state: NamedWords) -> None:
        """Go on from a state, after `begin` with the same list of commands.

        Raises
        ------
        ValueError
            It is of other hardware.
        """
        self._state.check(state)
        before = self._cycle
        self._load_play(state)
        self._begun += self._cycle - before
        self._counts.load(state, self._cycle)
        self._loaded = state

    def close(self) -> None:
        """Complete the waveform file."""
        self._files.close()

    async def _bench(self, context: Any) -> None:
        for pins in self._engines:
            pins.context = context
        while True:
            # Inputs are set between the clock edges, so that the host can add commands at a cycle's very beginning.
            await context.delay(_CYCLE / 4)
            if self._loaded is not None:
                self._state.load(context, self._loaded, self._cycle)
                self._loaded = None
            self._play(self._engines)
            self._counts.arrive(self._engines)
            await context.tick()
            # A register shows it in the cycle after.
            self._counts.count(self._engines, self._cycle)
            self._cycle += 1

    def _cycle_of(self, femtoseconds: int) -> int:
        """Return the cycle that a time is in: the clock rises in the middle of its period."""
        return self._begun + (2 * femtoseconds + _FEMTOSECONDS) // (2 * _FEMTOSECONDS)


class _Pins:
    """The ports of an AE; an input is touched only when its value changes."""

    def __init__(self, engine: ApplicationEngine) -> None:
        self.context: Any = None
        self._values = {
            "_".join(map(str, path)): Value.cast(value) for path, _, value in engine.signature.flatten(engine)
        }
        self._driven: dict[str, int] = {}

    def get(self, name: str) -> int:
        return int(self.context.get(self._values[name]))

    def set(self, name: str, value: int) -> None:
        if self._driven.get(name) != value:
            self._driven[name] = value
            self.context.set(self._values[name], value)
