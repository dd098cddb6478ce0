"""Test bench inside the simulator: the same host runs a suite on the exported hardware."""

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.task import bridge

from cyscc.sim.memory import Memory
from tests.cocotb.exported_executor import ExportedExecutor
from tests.cocotb.suites import SUITES, WATCHDOG, outcome

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
