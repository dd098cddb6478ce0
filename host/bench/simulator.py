"""What runs inside of the simulator that cocotb drives: the search of a workload."""

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.task import bridge

from host.bench.measure import OUTCOME, WORKLOAD, search
from host.bench.workloads import Workload
from sim.baselines.exported import ExportedEngine
from sim.configuration import load_config
from sim.engines import Engine
from sim.memory import Memory

__all__ = ["measure_search"]


@cocotb.test()
async def measure_search(dut: HierarchyObject) -> None:
    """Make the search and write what it took."""
    clock: Any = dut.clk
    Clock(clock, 4, unit="ns").start()
    workload = Workload(**json.loads(os.environ[WORKLOAD]))
    config = load_config(workload.config)

    def make_engine(memory: Memory, watchdog: int) -> Engine:
        engine = ExportedEngine(dut, config, memory, watchdog=watchdog)
        engine.reset()
        return engine

    outcome = await bridge(search)(workload, make_engine)
    Path(os.environ[OUTCOME]).write_text(json.dumps(outcome))
