"""The cocotb test bench: runs the search of a workload inside the simulator."""

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.task import bridge

from cyscc.host.experiments.benchmark.search import OUTCOME, WORKLOAD, Workload, search
from cyscc.sim.configuration import load_config
from cyscc.sim.executors.base import Executor
from cyscc.sim.executors.comparison.exported import ExportedExecutor
from cyscc.sim.memory import Memory


@cocotb.test()
async def measure_search(dut: HierarchyObject) -> None:
    """Run the search and write its measurements."""
    clock: Any = dut.clk
    Clock(clock, 4, unit="ns").start()
    workload = Workload(**json.loads(os.environ[WORKLOAD]))
    config = load_config(workload.config)

    def make_executor(memory: Memory, watchdog: int) -> Executor:
        executor = ExportedExecutor(dut, config, memory, watchdog=watchdog)
        executor.reset()
        return executor

    outcome = await bridge(search)(workload, workload.graph.generate(), make_executor)
    Path(os.environ[OUTCOME]).write_text(json.dumps(outcome))
