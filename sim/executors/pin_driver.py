"""Base of executors on hardware with pins accessible in Python: drives host and memory ports of each AE."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.base import Command, CommandKind, Executor, RunState, sync_interval
from cyscc.sim.memory import FLUSH, Memory
from cyscc.sim.named_words import NamedWords

Saved = Iterator[tuple[str, int, Sequence[int]]]
"""Saved values, as taken by `NamedWords.of`."""

_WORD = 2**64 - 1

_HOST_FIELDS = {"position": 32, "awaiting": 1, "dispatched": 64, "idle_since": 64, "moved": 64}
"""Saved fields of the host's progress in its list of commands to an AE, with their widths in bits."""


class Pins(Protocol):
    """The ports of an AE by their names in exported Verilog: ``idle``, ``port_0_read_valid``."""

    def get(self, name: str) -> int:
        """Return the value of a port."""

    def set(self, name: str, value: int) -> None:
        """Drive an input."""


class _Host:
    """Progress of the host in its list of commands to an AE."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.dispatched = -1
        self.idle_since = 0
        self.moved = 0  # the last cycle with a request or a response
        self._commands: Sequence[Command] = ()
        self._position = 0
        self._awaiting = False

    def begin(self, commands: Sequence[Command]) -> None:
        """Begin a list of commands."""
        self._commands = tuple(commands)
        self._position = 0
        self.answers = []
        self.dispatched = -1

    def saved(self, place: str) -> Saved:
        """Yield its state by name."""
        values = (self._position, self._awaiting, self.dispatched, self.idle_since, self.moved)
        for (name, width), value in zip(_HOST_FIELDS.items(), values, strict=True):
            yield f"{place}.{name}", width, [int(value)]

    def load(self, state: NamedWords, place: str) -> None:
        """Restore its state."""
        self._position, awaiting, self.dispatched, self.idle_since, self.moved = (
            state.signed(f"{place}.{name}") for name in _HOST_FIELDS
        )
        self._awaiting = bool(awaiting)

    @property
    def finished(self) -> bool:
        """Whether the list is done and, after a dispatch, the AE is idle."""
        return self._position == len(self._commands) and self.idle_since > self.dispatched

    def drive(self, pins: Pins, cycle: int) -> None:
        """Sample the AE's outputs, and issue the next command: one per cycle, but a read until it is answered."""
        for name in ("write_valid", "instruction_valid", "read_valid"):
            pins.set(name, 0)
        if not pins.get("idle"):
            self.idle_since = 0
        elif self.idle_since <= self.dispatched:
            self.idle_since = cycle
        if self._awaiting and pins.get("data_valid"):
            self.answers.append(pins.get("data_payload"))
            self._awaiting = False
            self._position += 1
        if self._awaiting or self._position == len(self._commands):
            return
        command = self._commands[self._position]
        if command.kind == CommandKind.READ:
            pins.set("read_valid", 1)
            pins.set("read_payload", command.index)
            self._awaiting = bool(pins.get("read_ready"))
            return
        self._position += 1
        if command.kind == CommandKind.WRITE:
            pins.set("write_valid", 1)
            pins.set("write_payload", command.value | command.index << 64)
            return
        pins.set("instruction_valid", 1)
        pins.set("instruction_payload", command.index)
        self.dispatched = cycle
        self.idle_since = 0


class PinDriver(Executor):
    """Drives the AEs of a machine as host and memory.

    A subclass calls `_drive` in each cycle, before the clock edge, and increments `_cycle`. Every `_interval` cycles
    the AEs synchronize, and `_settle` returns the status of the run.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without progress and without outstanding memory requests after which a run counts as hung.
    """

    def __init__(self, config: AcceleratorConfig, memory: Memory, *, watchdog: int) -> None:
        self._memory = memory
        self._watchdog = watchdog
        self._interval = sync_interval(config, memory)
        self._hosts = [_Host() for _ in range(config.engines)]
        self._cycle = 0
        self._listed = 0  # the cycle in which the list of commands began

    @property
    def cycle(self) -> int:
        """Cycles simulated so far."""
        return self._cycle

    @property
    def instruction_cycles(self) -> int:
        """Cycles from the last dispatch until the last AE was idle."""
        return max(host.idle_since for host in self._hosts) - self._hosts[0].dispatched

    @property
    def answers(self) -> npt.NDArray[np.uint64]:
        """Answers to the last list's reads, of shape (reads, AEs)."""
        return np.array([host.answers for host in self._hosts], np.uint64).T

    def _saved_progress(self) -> Saved:
        """Yield the state of hosts and cycle counters, by name."""
        yield "machine.cycle", 64, [self._cycle]
        yield "machine.begun", 64, [self._listed]
        for number, host in enumerate(self._hosts):
            yield from host.saved(f"engine{number}.host")

    def _load_progress(self, state: NamedWords) -> None:
        """Restore the state of hosts and cycle counters."""
        self._cycle = state.signed("machine.cycle")
        self._listed = state.signed("machine.begun")
        for number, host in enumerate(self._hosts):
            host.load(state, f"engine{number}.host")

    def begin(self, commands: Sequence[Command]) -> None:
        """Begin a list of commands."""
        for host in self._hosts:
            host.begin(commands)
        self._listed = self._cycle

    def _drive(self, engines: Sequence[Pins]) -> None:
        """Drive all AEs for a cycle."""
        for number, pins in enumerate(engines):
            self._drive_memory(number, pins)
            self._hosts[number].drive(pins, self._cycle)

    def _settle(self) -> RunState:
        """Settle the memory after an interval; return the status of the run."""
        if self._memory.settle(self._cycle - 1):
            return RunState.MEMORY_ERROR
        if all(host.finished for host in self._hosts):
            return RunState.DONE
        moved = max(self._listed, *(host.moved for host in self._hosts))
        if self._cycle - moved <= self._watchdog:
            return RunState.RUNNING
        # Not a hang while responses are outstanding, however long they take.
        owed = self._cycle - self._memory.last_completion() <= self._watchdog
        return RunState.RUNNING if owed else RunState.HUNG

    def _drive_memory(self, engine: int, pins: Pins) -> None:
        """Take an AE's requests of a cycle, and drive its memory ports from the mailbox."""
        memory, cycle = self._memory, self._cycle
        box = memory.mailboxes[engine]
        memory.prepare(engine, cycle)
        read_ready, write_ready, responses, flushed = (
            int(box[name]) for name in ("read_ready", "write_ready", "responses", "flushed")
        )
        reads = writes = flushes = 0
        for port in range(memory.ports):
            prefix, bit = f"port_{port}_", 1 << port
            if read_ready & bit and pins.get(prefix + "read_valid"):
                reads |= bit
                box["read_payloads"][port] = pins.get(prefix + "read_payload")
            if write_ready & bit and pins.get(prefix + "write_valid"):
                writes |= bit
                payload = pins.get(prefix + "write_payload")
                box["write_payloads"][port] = payload >> 64
                box["write_data"][port] = payload & _WORD
            if pins.get(prefix + "flush"):
                flushes |= bit
            pins.set(prefix + "read_ready", read_ready >> port & 1)
            pins.set(prefix + "write_ready", write_ready >> port & 1)
            pins.set(prefix + "flushed", flushed >> port & 1)
            pins.set(prefix + "response_valid", responses >> port & 1)
            if responses & bit:
                pins.set(prefix + "response_payload", int(box["data"][port]) | int(box["tags"][port]) << 64)
        box["requests"][: FLUSH + 1] = reads, writes, flushes
        if reads | writes | flushes | responses | flushed:
            self._hosts[engine].moved = cycle
        memory.accept(engine, cycle)
