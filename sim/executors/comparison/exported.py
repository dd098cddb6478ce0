"""Executor on the exported Verilog in the simulator that cocotb drives, with the memory in Python."""

from typing import Any

from cocotb.handle import HierarchyObject
from cocotb.task import resume
from cocotb.triggers import FallingEdge

from hw.config import AcceleratorConfig
from sim.executors.base import RunState
from sim.executors.player import Player
from sim.memory import Memory

__all__ = ["ExportedExecutor"]


class ExportedExecutor(Player):
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
        Cycles in which nothing moves and the memory owes nothing, after which a run counts as hung.
    bare : bool
        `dut` is the module ``application_engine`` itself, and the machine has one AE.
    """

    def __init__(
        self, dut: HierarchyObject, config: AcceleratorConfig, memory: Memory, *, watchdog: int, bare: bool = False
    ) -> None:
        super().__init__(config, memory, watchdog=watchdog)
        self._pins = _Pins(dut, "")
        self._bare = bare
        self._engines = [_Pins(dut, "" if bare else f"e{number}_") for number in range(config.engines)]
        self._clock: Any = dut.clk

    def run(self, budget: int) -> RunState:
        """Run until the list is done and all AEs are idle if it dispatched, or for about `budget` cycles."""
        return resume(self._run)(budget)

    def close(self) -> None:
        """Do nothing: the simulator goes on with the next executor."""

    def reset(self) -> None:
        """Reset the AEs; the cycle that follows is cycle 0."""
        resume(self._reset)()

    async def _reset(self) -> None:
        if self._bare:
            self._pins.set("engine", 0)
        for engine in self._engines:
            for name in ("write_valid", "read_valid", "instruction_valid"):
                engine.set(name, 0)
            for port in range(self._memory.ports):
                for name in ("read_ready", "write_ready", "flushed", "response_valid"):
                    engine.set(f"port_{port}_{name}", 0)
        self._pins.set("rst", 1)
        for _ in range(2):
            await FallingEdge(self._clock)
        self._pins.set("rst", 0)

    async def _run(self, budget: int) -> RunState:
        end = self._cycle + budget
        while True:
            for _ in range(self._interval):
                self._play(self._engines)
                await FallingEdge(self._clock)
                self._cycle += 1
            state = self._meet()
            if state != RunState.RUNNING or self._cycle >= end:
                return state


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
