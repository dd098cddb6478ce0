"""Test bench inside the simulator, for the AE with the ports of an HC-2 personality."""

import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject

from cyscc.hw.registers import Register, kernel_register
from tests.cocotb.convey_coprocessor import ConveyCoprocessor
from tests.cocotb.machine import ENGINES, GRAPHS, machine_of, run_graphs

CONFIG = machine_of(int(os.environ.get(ENGINES, "1")))
"""The machine."""


async def _start(dut: HierarchyObject) -> ConveyCoprocessor:
    signals: Any = dut
    Clock(signals.clk, 4, unit="ns").start()
    coprocessor = ConveyCoprocessor(dut, CONFIG)
    await coprocessor.reset()
    return coprocessor


@cocotb.test()
async def graphs_under_random_stalls(dut: HierarchyObject) -> None:
    coprocessor = await _start(dut)
    graphs = int(os.environ[GRAPHS])
    await run_graphs(coprocessor, coprocessor, graphs)
    # Stalls have caught requests on their way, with many graphs at every port, or nothing has been tested.
    late = [controller.late for controller in coprocessor.controllers]
    assert sum(late) > 10
    assert all(late) or graphs < 20


@cocotb.test()
async def what_is_dispatched_too_early_waits(dut: HierarchyObject) -> None:
    coprocessor = await _start(dut)
    signals: Any = dut
    # An intersection of two empty queues, in whose running time eight more things arrive.
    for register in (Register.FORWARD_COUNT, Register.BACKWARD_COUNT):
        await coprocessor.put_register(register, 0)
    await coprocessor.start(1)
    for number in range(8):
        await coprocessor.put_register(number, 100 + number)
    assert not int(signals.cae_idle.value)
    await coprocessor.finish()
    for number in range(8):
        assert await coprocessor.get_register(number) == 100 + number


@cocotb.test()
async def what_does_not_exist_raises_an_exception(dut: HierarchyObject) -> None:
    coprocessor = await _start(dut)
    signals: Any = dut
    registers = kernel_register(CONFIG.bfs_kernels + CONFIG.intersection_kernels, 0)
    assert int(signals.cae_aeg_cnt.value) == registers
    for values, exception in (
        ({"inst_val": 1, "inst_caep": 2}, 1),
        ({"inst_aeg_wr": 1, "inst_aeg_idx": registers}, 2),
        ({"inst_aeg_rd": 1, "inst_aeg_idx": 0x3_0000}, 2),
        ({"inst_aeg_rd": 1, "inst_aeg_idx": registers - 1}, 0),
        ({"inst_val": 1, "inst_caep": 1}, 0),
    ):
        await coprocessor.dispatch_signals(**values)
        assert int(signals.cae_exception.value) == exception
    await coprocessor.finish()
    assert await coprocessor.get_register(Register.STATUS) == 0
