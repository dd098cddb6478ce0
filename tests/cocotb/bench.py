"""Test bench inside the simulator: the same host runs a suite on the exported hardware as on an executor elsewhere."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.task import bridge, resume
from cocotb.triggers import FallingEdge

from cyscc.host.graph.reference import check_levels
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.registers import Counter, KernelWord, kernel_register
from cyscc.sim.executors.base import Executor, RunState
from cyscc.sim.executors.pin_driver import PinDriver
from cyscc.sim.machine import Machine
from cyscc.sim.memory import Memory, PayloadLayout, parse_profile
from tests.system.graphs import messy_graph
from tests.system.runs import check_scc, search

WATCHDOG = 20_000
"""Cycles without a request or a response after which a run counts as hung."""


class Run(NamedTuple):
    """Random graphs, one after the other on one machine: their components, or searches of them."""

    vertices: int
    edges: int
    seeds: range
    memory: str
    source: int | None = None


class Suite(NamedTuple):
    """A machine of one AE and what runs on it, each run after a reset."""

    config: AcceleratorConfig
    runs: tuple[Run, ...]


_SMALL = PRESETS["test"].replace(engines=1)

SUITES = {
    "small": Suite(
        _SMALL,
        (
            Run(8, 14, range(6), "fixed:9"),
            Run(16, 32, range(6, 13), "fixed:9", source=0),
            Run(8, 18, range(13, 16), "fixed:1"),
            Run(6, 10, range(16, 18), "hc2", source=1),
            Run(4, 8, range(18, 19), "stress:1", source=0),
            Run(8, 16, range(19, 20), "fixed:75", source=0),
        ),
    ),
    "larger graphs": Suite(
        _SMALL,
        (
            Run(30, 70, range(100, 108), "fixed:9"),
            Run(100, 300, range(108, 112), "fixed:75", source=0),
            Run(30, 90, range(112, 118), "hc2", source=0),
            Run(5, 10, range(118, 120), "stress:3"),
        ),
    ),
    "published cadence": Suite(
        _SMALL.replace(issue_interval=2, blocking_reservation=True, intersection_kernels=2),
        (
            Run(20, 45, range(200, 212), "fixed:9"),
            Run(20, 60, range(212, 220), "fixed:75", source=0),
        ),
    ),
    "searching": Suite(
        _SMALL.replace(issue_interval=2, blocking_reservation=True, bfs_only=True),
        (
            Run(20, 45, range(300, 310), "fixed:9", source=0),
            Run(20, 60, range(310, 316), "hc2", source=0),
            Run(5, 10, range(316, 320), "stress:4", source=1),
        ),
    ),
}
"""By name. Their graphs have self-loops and repeated edges."""


def outcome(run: Run, config: AcceleratorConfig, make_executor: Callable[[Memory], Executor]) -> dict[str, Any]:
    """Make a run, check what it finds, and return all that it leaves behind, as JSON gives it back.

    Parameters
    ----------
    run : Run
        The run.
    config : AcceleratorConfig
        The machine.
    make_executor : callable
        Makes the engine on a memory.
    """
    memory = Memory(parse_profile(run.memory), engines=1, ports=config.ports, payload=PayloadLayout(tag_bits=2))
    machine = Machine(config, memory, make_executor(memory), cycle_limit=100_000)
    for seed in run.seeds:
        graph = messy_graph(run.vertices, run.edges, seed)
        if run.source is None:
            check_scc(machine, graph, slack=500)
        else:
            found = search(machine, graph, run.source, slack=500)
            assert check_levels(found.levels, graph, run.source) is None
    kernels = range(config.bfs_kernels + config.intersection_kernels)
    counters = [kernel_register(k, KernelWord.COUNTER_0 + counter) for k in kernels for counter in Counter]
    left = {
        "counters": machine.get_registers(counters).tolist(),
        "cycle": machine.cycle,
        "memory": sha256(memory.read(4096, np.uint8, memory.allocated).tobytes()).hexdigest(),
        "traffic": memory.statistics(),
    }
    machine.close()
    returned: dict[str, Any] = json.loads(json.dumps(left))
    return returned


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
