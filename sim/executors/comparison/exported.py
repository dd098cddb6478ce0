"""Executor on the exported Verilog in the simulator that cocotb drives, with the memory in Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cocotb.handle import HierarchyObject
from cocotb.task import resume
from cocotb.triggers import FallingEdge

from hw.config import AcceleratorConfig
from sim.executors.base import Command, CommandKind, Executor, RunState, meeting_interval
from sim.memory import FLUSH, Memory

__all__ = ["ExportedExecutor"]

_WORD = 2**64 - 1


class ExportedExecutor(Executor):
    """Plays memory and host to the AEs of a machine, as the executors do.

    Between calls the simulation stands at a falling edge of the clock, so that inputs change between the rising edges.
    The methods of `Executor` are called from a thread that `cocotb.task.bridge` started.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``accelerator``, with its clock running.
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without a request or a response after which a run counts as hung.
    bare : bool
        `dut` is the module ``application_engine`` itself, and the machine has one AE.
    """

    def __init__(
        self, dut: HierarchyObject, config: AcceleratorConfig, memory: Memory, *, watchdog: int, bare: bool = False
    ) -> None:
        self._pins = _Pins(dut, "")
        self._bare = bare
        prefixes = [""] if bare else [f"e{number}_" for number in range(config.engines)]
        self._hosts = [_Host(_Pins(dut, prefix)) for prefix in prefixes]
        self._clock: Any = dut.clk
        self._memory = memory
        self._interval = meeting_interval(config, memory)
        self._watchdog = watchdog
        self._cycle = 0
        self._moved = 0
        self._dispatched = -1

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
            host.begin(commands)
        self._dispatched = -1
        self._moved = self._cycle

    def run(self, budget: int) -> RunState:
        """Run until the list is done and all AEs are idle if it dispatched, or for about `budget` cycles."""
        return resume(self._run)(budget)

    def activity(self) -> npt.NDArray[np.int64]:
        """Refuse: the exported hardware has no outputs that only simulation needs.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("exported hardware does not tell what its kernels do")

    def close(self) -> None:
        """Do nothing: the simulator goes on with the next executor."""

    def reset(self) -> None:
        """Reset the AEs; the cycle that follows is cycle 0."""
        resume(self._reset)()

    async def _reset(self) -> None:
        if self._bare:
            self._pins.set("engine", 0)
        for host in self._hosts:
            for name in ("write_valid", "read_valid", "instruction_valid"):
                host.pins.set(name, 0)
            for port in range(self._memory.ports):
                for name in ("read_ready", "write_ready", "flushed", "response_valid"):
                    host.pins.set(f"port_{port}_{name}", 0)
        self._pins.set("rst", 1)
        for _ in range(2):
            await FallingEdge(self._clock)
        self._pins.set("rst", 0)

    async def _run(self, budget: int) -> RunState:
        end = self._cycle + budget
        while True:
            for _ in range(self._interval):
                for number, host in enumerate(self._hosts):
                    self._play_memory(number, host.pins)
                    if host.play(self._cycle, self._dispatched):
                        self._dispatched = self._cycle
                await FallingEdge(self._clock)
                self._cycle += 1
            if self._memory.settle(self._cycle - 1):
                return RunState.MEMORY_ERROR
            if all(host.done(self._dispatched) for host in self._hosts):
                return RunState.DONE
            if self._cycle - self._moved > self._watchdog:
                return RunState.HUNG
            if self._cycle >= end:
                return RunState.RUNNING

    def _play_memory(self, engine: int, pins: "_Pins") -> None:
        """Take the requests of a cycle and give the AE what the memory shows it."""
        box = self._memory.mailboxes[engine]
        self._memory.prepare(engine, self._cycle)
        read_ready, write_ready, responses, flushed = (
            int(box[name]) for name in ("read_ready", "write_ready", "responses", "flushed")
        )
        reads = writes = flushes = 0
        for port in range(self._memory.ports):
            prefix = f"port_{port}_"
            if read_ready >> port & 1 and pins.get(prefix + "read_valid"):
                reads |= 1 << port
                box["read_payloads"][port] = pins.get(prefix + "read_payload")
            if write_ready >> port & 1 and pins.get(prefix + "write_valid"):
                writes |= 1 << port
                payload = pins.get(prefix + "write_payload")
                box["write_payloads"][port] = payload >> 64
                box["write_data"][port] = payload & _WORD
            if pins.get(prefix + "flush"):
                flushes |= 1 << port
            pins.set(prefix + "read_ready", read_ready >> port & 1)
            pins.set(prefix + "write_ready", write_ready >> port & 1)
            pins.set(prefix + "flushed", flushed >> port & 1)
            pins.set(prefix + "response_valid", responses >> port & 1)
            if responses >> port & 1:
                data, tag = int(box["data"][port]), int(box["tags"][port])
                pins.set(prefix + "response_payload", data | tag << 64)
        box["requests"][: FLUSH + 1] = reads, writes, flushes
        if reads | writes | flushes | responses | flushed:
            self._moved = self._cycle
        self._memory.accept(engine, self._cycle)


class _Pins:
    """The ports of a module whose names begin alike; an input is touched only when its value changes."""

    def __init__(self, dut: HierarchyObject, prefix: str) -> None:
        self._dut = dut
        self._prefix = prefix
        self._handles: dict[str, Any] = {}
        self._driven: dict[str, int] = {}

    def get(self, name: str) -> int:
        return int(self._handle(name).value)

    def set(self, name: str, value: int) -> None:
        if self._driven.get(name) != value:
            self._driven[name] = value
            self._handle(name).value = value

    def _handle(self, name: str) -> Any:
        if name not in self._handles:
            self._handles[name] = getattr(self._dut, self._prefix + name)
        return self._handles[name]


class _Host:
    """Plays the host to an AE."""

    def __init__(self, pins: _Pins) -> None:
        self.pins = pins
        self.answers: list[int] = []
        self.idle_since = 0
        self._commands: Sequence[Command] = ()
        self._position = 0
        self._awaiting = False

    def begin(self, commands: Sequence[Command]) -> None:
        """Begin a list of commands."""
        self._commands = tuple(commands)
        self._position = 0
        self.answers = []

    def done(self, dispatched: int) -> bool:
        """Whether the list is done, and the AE idle since the dispatch if there was one."""
        return self._position == len(self._commands) and self.idle_since > dispatched

    def play(self, cycle: int, dispatched: int) -> bool:
        """Note what the AE says and give it the next command; return whether that is a dispatch."""
        pins = self.pins
        for name in ("write_valid", "instruction_valid", "read_valid"):
            pins.set(name, 0)
        if not pins.get("idle"):
            self.idle_since = 0
        elif self.idle_since <= dispatched:
            self.idle_since = cycle
        if self._awaiting and pins.get("data_valid"):
            self.answers.append(pins.get("data_payload"))
            self._awaiting = False
            self._position += 1
        if self._awaiting or self._position == len(self._commands):
            return False
        command = self._commands[self._position]
        if command.kind == CommandKind.READ:
            pins.set("read_valid", 1)
            pins.set("read_payload", command.index)
            self._awaiting = bool(pins.get("read_ready"))
            return False
        self._position += 1
        if command.kind == CommandKind.WRITE:
            pins.set("write_valid", 1)
            pins.set("write_payload", command.value | command.index << 64)
            return False
        pins.set("instruction_valid", 1)
        pins.set("instruction_payload", command.index)
        self.idle_since = 0
        return True
