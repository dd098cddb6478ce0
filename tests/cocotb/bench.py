"""Test bench inside the simulator: the same host runs a suite on the exported hardware."""

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.task import bridge, resume
from cocotb.triggers import FallingEdge

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.base import RunState
from cyscc.sim.executors.pin_driver import PinDriver
from cyscc.sim.memory import Memory
from tests.cocotb.suites import SUITES, WATCHDOG, outcome


class ExportedExecutor(PinDriver):
    """Drives the only AE of a machine in cocotb as host and memory.

    Between calls the simulation is at a falling clock edge, so that inputs change between rising edges.
    The methods of `Executor` are called from a thread that `cocotb.task.bridge` started.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``application_engine``, with its clock running.
    config : AcceleratorConfig
        Sizes, of one AE.
    memory : Memory
        The memory, with as many ports.
    watchdog : int
        Cycles without progress and without outstanding memory requests after which a run counts as hung.
    """

    def __init__(self, dut: HierarchyObject, config: AcceleratorConfig, memory: Memory, *, watchdog: int) -> None:
        super().__init__(config, memory, watchdog=watchdog)
        self._pins = _Pins(dut)
        self._clock: Any = dut.clk

    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until the AE is idle), or for about `budget` cycles."""
        return resume(self._run)(budget)

    def close(self) -> None:
        """Do nothing; the simulator continues with the next executor."""

    def reset(self) -> None:
        """Reset the AE; the next cycle is cycle 0."""
        resume(self._reset)()

    async def _reset(self) -> None:
        for name in ("engine", "write_valid", "read_valid", "instruction_valid"):
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
            for _ in range(self._interval):
                self._drive([self._pins])
                await FallingEdge(self._clock)
                self._cycle += 1
            state = self._settle()
            if state != RunState.RUNNING or self._cycle >= end:
                return state


class _Pins:
    """Ports of a module; an input is written only when its value changes."""

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


SUITE = "CYSCC_TEST_SUITE"
"""Environment variable that names the suite."""

OUTCOMES = "CYSCC_TEST_OUTCOMES"
"""Environment variable that names the file for the outcomes."""


@cocotb.test()
async def make_runs(dut: HierarchyObject) -> None:
    clock: Any = dut.clk
    Clock(clock, 4, unit="ns").start()
    suite = SUITES[os.environ[SUITE]]

    def make_executor(memory: Memory) -> ExportedExecutor:
        executor = ExportedExecutor(dut, suite.config, memory, watchdog=WATCHDOG)
        executor.reset()
        return executor

    outcomes = [await bridge(outcome)(run, suite.config, make_executor) for run in suite.runs]
    Path(os.environ[OUTCOMES]).write_text(json.dumps(outcomes))
