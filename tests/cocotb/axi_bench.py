"""What runs inside the simulator on the AE with AXI ports."""

import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject

from hw.axi import AxiLimits
from hw.config import PRESETS
from tests.cocotb.axi_coprocessor import AxiCoprocessor
from tests.cocotb.foreign_runs import GRAPHS, run_graphs

__all__ = ["CONFIG", "LIMITS"]

CONFIG = PRESETS["test"].replace(engines=1)
"""The AE."""

LIMITS = AxiLimits(outstanding_reads=4, outstanding_writes=4)
"""What its masters may have outstanding: so little that the limits are met."""


def _start(dut: HierarchyObject) -> AxiCoprocessor:
    signals: Any = dut
    signals.aresetn.value = 0
    Clock(signals.aclk, 4, unit="ns").start()
    return AxiCoprocessor(dut, CONFIG, LIMITS)


@cocotb.test()
async def graphs_under_random_backpressure(dut: HierarchyObject) -> None:
    coprocessor = _start(dut)
    await run_graphs(coprocessor, coprocessor, int(os.environ[GRAPHS]))
    # All this has happened, or nothing has been tested.
    assert all(rules.stalls > 200 for rules in coprocessor.rules)
    assert all(min(rules.narrow.values()) > 5 for rules in coprocessor.rules)
    assert [max(rules.peaks[kind] for rules in coprocessor.rules) for kind in (0, 1)] == [4, 4]
