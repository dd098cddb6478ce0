"""Executor on Amaranth's own simulator: no build, every signal at hand, slow."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Value
from amaranth.lib.wiring import PureInterface
from amaranth.sim import Simulator

from hw.accelerator import Accelerator
from hw.application_engine import ApplicationEngine
from hw.config import AcceleratorConfig
from hw.kernel_control import Activity
from sim.executors.base import Command, CommandKind, Executor, RunState, meeting_interval
from sim.memory import FLUSH, Memory
from sim.observation.signals import accelerator_signals
from sim.observation.waves import Waves

__all__ = ["AmaranthExecutor"]

_CYCLE = 4e-9
"""Period of the simulated clock in seconds; only waveforms show it, and quarters of it must be whole picoseconds."""

_FEMTOSECONDS = round(_CYCLE * 1e15)


class _Host:
    """Where an AE is in the list of commands."""

    def __init__(self) -> None:
        self.commands: Sequence[Command] = ()
        self.position = 0
        self.awaiting = False
        self.answers: list[int] = []
        self.idle_since = 0


class AmaranthExecutor(Executor):
    """Runs the whole accelerator in Amaranth's simulator.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without a request or a response after which a run counts as hung.
    waves : Path, optional
        VCD file to write.
    wave_window : tuple of int, optional
        First and last cycle to write there.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        waves: Path | None = None,
        wave_window: tuple[int, int] | None = None,
    ) -> None:
        self._memory = memory
        self._watchdog = watchdog
        self._interval = meeting_interval(config, memory)
        self._accelerator = Accelerator(config, instrument=True)
        self._engines = self._accelerator.engines
        self._hosts = [_Host() for _ in self._engines]
        kernels = config.bfs_kernels + config.intersection_kernels
        self._activity = np.zeros((config.engines, kernels, len(Activity)), np.int64)
        self._cycle = 0
        self._dispatched = -1
        self._moved = 0
        self._error = False
        self._simulator = Simulator(self._accelerator)
        self._simulator.add_clock(_CYCLE)
        self._simulator.add_testbench(self._bench, background=True)
        self._files = ExitStack()
        if waves is not None:
            recorder = Waves(waves, wave_window, locate=accelerator_signals(config), cycle_of=_cycle_of)
            self._files.callback(lambda: recorder.finish(self._cycle))
            self._files.enter_context(self._simulator.write_vcd(str(recorder.raw)))

    @property
    def cycle(self) -> int:
        """Cycles simulated so far."""
        return self._cycle

    @property
    def instruction_cycles(self) -> int:
        """Cycles from the last dispatch until the last AE was idle."""
        return max(host.idle_since for host in self._hosts) - self._dispatched

    @property
    def answers(self) -> npt.NDArray[np.uint64]:
        """Answers of the last list's reads, of shape (reads, AEs)."""
        return np.array([host.answers for host in self._hosts], np.uint64).T

    def begin(self, commands: Sequence[Command]) -> None:
        """Begin a list of commands."""
        for host in self._hosts:
            host.commands = tuple(commands)
            host.position = 0
            host.answers = []
        self._dispatched = -1
        self._moved = self._cycle

    def run(self, budget: int) -> RunState:
        """Run until the list is done and all AEs are idle if it dispatched, or for about `budget` cycles."""
        end = self._cycle + budget
        while True:
            boundary = self._cycle + self._interval
            while self._cycle < boundary:
                self._simulator.advance()
            if self._memory.settle(self._cycle - 1):
                return RunState.MEMORY_ERROR
            if self._done():
                return RunState.DONE
            if self._cycle - self._moved > self._watchdog:
                return RunState.HUNG
            if self._cycle >= end:
                return RunState.RUNNING

    def activity(self) -> npt.NDArray[np.int64]:
        """Cycles by AE, kernel (BFS kernels first) and `hw.kernel_control.Activity`, since reset."""
        return self._activity.copy()

    def close(self) -> None:
        """Complete the waveform file."""
        self._files.close()

    def _done(self) -> bool:
        for host in self._hosts:
            if host.position < len(host.commands):
                return False
            if self._dispatched >= 0 and host.idle_since <= self._dispatched:
                return False
        return True

    async def _bench(self, context: Any) -> None:
        while True:
            # Inputs are set between the clock edges, so that the host can add commands at a cycle's very beginning.
            await context.delay(_CYCLE / 4)
            for number, engine in enumerate(self._engines):
                self._drive(context, number, engine)
            await context.tick()
            self._cycle += 1

    def _drive(self, context: Any, number: int, engine: ApplicationEngine) -> None:
        """Play memory and host to an AE for a cycle."""
        box = self._memory.mailboxes[number]
        self._memory.prepare(number, self._cycle)
        read_ready, write_ready, responses, flushed = (
            int(box[name]) for name in ("read_ready", "write_ready", "responses", "flushed")
        )
        reads = writes = flushes = 0
        for index, port in enumerate(engine.port):
            if _get(context, port.read.valid) and read_ready >> index & 1:
                reads |= 1 << index
                box["read_payloads"][index] = _get(context, port.read.payload)
            if _get(context, port.write.valid) and write_ready >> index & 1:
                writes |= 1 << index
                payload = _get(context, port.write.payload)
                box["write_payloads"][index] = payload >> 64
                box["write_data"][index] = payload & 0xFFFF_FFFF_FFFF_FFFF
            if _get(context, port.flush):
                flushes |= 1 << index
            context.set(port.read.ready, read_ready >> index & 1)
            context.set(port.write.ready, write_ready >> index & 1)
            context.set(port.flushed, flushed >> index & 1)
            context.set(port.response.valid, responses >> index & 1)
            if responses >> index & 1:
                value = int(box["data"][index]) | int(box["tags"][index]) << 64
                context.set(Value.cast(port.response.payload), value)
        box["requests"][: FLUSH + 1] = reads, writes, flushes
        if reads | writes | flushes | responses | flushed:
            self._moved = self._cycle
        self._memory.accept(number, self._cycle)
        for kernel, activity in enumerate(engine.activity):
            self._activity[number, kernel, _get(context, activity)] += 1
        self._command(context, self._hosts[number], engine)

    def _command(self, context: Any, host: _Host, engine: ApplicationEngine) -> None:
        """Play the host's commands to an AE for a cycle."""
        channels: tuple[PureInterface, ...] = (engine.write, engine.instruction, engine.read)
        for channel in channels:
            context.set(channel.valid, 0)
        if _get(context, engine.idle):
            if host.idle_since <= self._dispatched:
                host.idle_since = self._cycle
        elif self._dispatched >= 0:
            host.idle_since = 0
        if host.awaiting and _get(context, engine.data.valid):
            host.answers.append(_get(context, engine.data.payload))
            host.awaiting = False
            host.position += 1
        if host.awaiting or host.position >= len(host.commands):
            return
        command = host.commands[host.position]
        channel = channels[command.kind]
        context.set(channel.valid, 1)
        if command.kind == CommandKind.WRITE:
            context.set(Value.cast(channel.payload), command.value | command.index << 64)
        else:
            context.set(channel.payload, command.index)
        if command.kind == CommandKind.READ:
            host.awaiting = _get(context, engine.read.ready) == 1
            return
        if command.kind == CommandKind.DISPATCH:
            self._dispatched = self._cycle
            host.idle_since = 0
        host.position += 1


def _cycle_of(femtoseconds: int) -> int:
    """Return the cycle that a time is in: the clock rises in the middle of its period."""
    return (2 * femtoseconds + _FEMTOSECONDS) // (2 * _FEMTOSECONDS)


def _get(context: Any, signal: Any) -> int:
    return int(context.get(Value.cast(signal)))
