"""Engine on the exported Verilog: an Application Engine in the simulator that cocotb drives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cocotb.handle import HierarchyObject
from cocotb.task import resume
from cocotb.triggers import FallingEdge

from sim.engines import Command, CommandKind, Engine, RunState
from sim.memory import Memory, accept, as_word, mailbox_layout, prepare, settle

__all__ = ["ExportedEngine"]

_WORD = 2**64 - 1


class ExportedEngine(Engine):
    """Plays memory and host to the only AE of a machine, as the engines do.

    Between calls the simulation stands at a falling edge of the clock, so that inputs change between the rising edges.
    The methods of `Engine` are called from a thread that `cocotb.task.bridge` started.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``application_engine``, with its clock running.
    memory : Memory
        The memory of one AE.
    watchdog : int
        Cycles without a request or a response after which a run counts as hung.
    """

    def __init__(self, dut: HierarchyObject, memory: Memory, *, watchdog: int) -> None:
        self._pins = _Pins(dut)
        self._clock: Any = dut.clk
        self._memory = memory
        self._watchdog = watchdog
        self._layout = mailbox_layout(memory.ports)
        self._cycle = 0
        self._moved = 0
        self._commands: Sequence[Command] = ()
        self._position = 0
        self._awaiting = False
        self._answers: list[int] = []
        self._dispatched = -1
        self._idle_since = 0

    @property
    def cycle(self) -> int:
        return self._cycle

    @property
    def instruction_cycles(self) -> int:
        return self._idle_since - self._dispatched

    @property
    def answers(self) -> npt.NDArray[np.uint64]:
        return np.array(self._answers, np.uint64).reshape(-1, 1)

    def begin(self, commands: Sequence[Command]) -> None:
        self._commands = tuple(commands)
        self._position = 0
        self._answers = []
        self._dispatched = -1
        self._moved = self._cycle

    def run(self, budget: int) -> RunState:
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
        """Do nothing: the simulator goes on with the next engine."""

    def reset(self) -> None:
        """Reset the AE; the cycle that follows is cycle 0."""
        resume(self._reset)()

    async def _reset(self) -> None:
        for name in ("write_valid", "read_valid", "instruction_valid", "engine"):
            self._pins.set(name, 0)
        for port in range(self._memory.ports):
            for name in ("read_ready", "write_ready", "flushed", "response_valid"):
                self._pins.set(f"port_{port}_{name}", 0)
        self._pins.set("rst", 1)
        for _ in range(2):
            await FallingEdge(self._clock)
        self._pins.set("rst", 0)

    async def _run(self, budget: int) -> RunState:
        end = self._cycle + budget
        while True:
            for _ in range(self._memory.quantum):
                self._play_memory()
                self._play_host()
                await FallingEdge(self._clock)
                self._cycle += 1
            if settle(self._memory.context, self._cycle - 1):
                return RunState.MEMORY_ERROR
            if self._position == len(self._commands) and self._idle_since > self._dispatched:
                return RunState.DONE
            if self._cycle - self._moved > self._watchdog:
                return RunState.HUNG
            if self._cycle >= end:
                return RunState.RUNNING

    def _play_memory(self) -> None:
        """Take the requests of a cycle and give the AE what the memory shows it."""
        pins, layout, box = self._pins, self._layout, self._memory.mailbox[0]
        prepare(self._memory.context, 0, self._cycle)
        read_ready, write_ready, responses, flushed = (
            int(box[word]) for word in (layout.read_ready, layout.write_ready, layout.responses, layout.flushed)
        )
        reads = writes = flushes = 0
        for port in range(self._memory.ports):
            prefix = f"port_{port}_"
            if read_ready >> port & 1 and pins.get(prefix + "read_valid"):
                reads |= 1 << port
                box[layout.read_payloads + port] = as_word(pins.get(prefix + "read_payload"))
            if write_ready >> port & 1 and pins.get(prefix + "write_valid"):
                writes |= 1 << port
                payload = pins.get(prefix + "write_payload")
                box[layout.write_payloads + port] = as_word(payload >> 64)
                box[layout.write_data + port] = as_word(payload)
            if pins.get(prefix + "flush"):
                flushes |= 1 << port
            pins.set(prefix + "read_ready", read_ready >> port & 1)
            pins.set(prefix + "write_ready", write_ready >> port & 1)
            pins.set(prefix + "flushed", flushed >> port & 1)
            pins.set(prefix + "response_valid", responses >> port & 1)
            if responses >> port & 1:
                data, tag = int(box[layout.data + port]), int(box[layout.tags + port])
                pins.set(prefix + "response_payload", data & _WORD | tag << 64)
        box[layout.reads], box[layout.writes], box[layout.flushes] = reads, writes, flushes
        if reads | writes | flushes | responses | flushed:
            self._moved = self._cycle
        accept(self._memory.context, 0, self._cycle)

    def _play_host(self) -> None:
        """Note what the AE says, and give it the next command."""
        pins = self._pins
        for name in ("write_valid", "instruction_valid", "read_valid"):
            pins.set(name, 0)
        if not pins.get("idle"):
            self._idle_since = 0
        elif self._idle_since <= self._dispatched:
            self._idle_since = self._cycle
        if self._awaiting and pins.get("data_valid"):
            self._answers.append(pins.get("data_payload"))
            self._awaiting = False
            self._position += 1
        if self._awaiting or self._position == len(self._commands):
            return
        command = self._commands[self._position]
        if command.kind == CommandKind.WRITE:
            pins.set("write_valid", 1)
            pins.set("write_payload", command.value | command.index << 64)
        elif command.kind == CommandKind.DISPATCH:
            pins.set("instruction_valid", 1)
            pins.set("instruction_payload", command.index)
            self._dispatched = self._cycle
            self._idle_since = 0
        else:
            pins.set("read_valid", 1)
            pins.set("read_payload", command.index)
            self._awaiting = bool(pins.get("read_ready"))
            return
        self._position += 1


class _Pins:
    """The ports of a module by name; an input is touched only when its value changes."""

    def __init__(self, dut: HierarchyObject) -> None:
        self._dut = dut
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
            self._handles[name] = getattr(self._dut, name)
        return self._handles[name]
