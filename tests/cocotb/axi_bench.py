"""Test bench inside the simulator, for the AE with AXI ports."""

import os
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiResp

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.hw.axi import AxiLimits
from cyscc.hw.axi.registers import AxiStatus, ControlRegister
from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.registers import Counter, Instruction, KernelWord, Register, kernel_register
from tests.cocotb.axi_coprocessor import AxiCoprocessor
from tests.cocotb.machine import ENGINES, GRAPHS, machine_of, run_graphs
from tests.system.graphs import graph_of

CONFIG = machine_of(int(os.environ.get(ENGINES, "1")))
"""The machine."""

LIMITS = AxiLimits(outstanding_reads=4, outstanding_writes=4)
"""Maximum outstanding accesses of its masters, small enough to be reached."""


def _start(dut: HierarchyObject) -> AxiCoprocessor:
    signals: Any = dut
    signals.aresetn.value = 0
    Clock(signals.aclk, 4, unit="ns").start()
    return AxiCoprocessor(dut, CONFIG, LIMITS)


@cocotb.test()
async def graphs_under_random_backpressure(dut: HierarchyObject) -> None:
    coprocessor = _start(dut)
    graphs = int(os.environ[GRAPHS])
    await run_graphs(coprocessor, coprocessor, graphs)
    # All this has happened, with many graphs at every port, or nothing has been tested.
    assert all(rules.stalls > 200 and min(rules.narrow.values()) > 5 for rules in coprocessor.rules) or graphs < 20
    assert sum(rules.stalls for rules in coprocessor.rules) > 200
    assert all(sum(rules.narrow[place] for rules in coprocessor.rules) > 0 for place in (0, 4))
    assert [max(rules.peaks[kind] for rules in coprocessor.rules) for kind in (0, 1)] == [4, 4]


@cocotb.test()
async def bring_up_in_the_documented_order(dut: HierarchyObject) -> None:
    """Make the steps of docs/board.md."""
    coprocessor = _start(dut)
    await coprocessor.reset()
    get, put = coprocessor.get, coprocessor.put
    assert await get(0x4000) == 0x43595343
    assert await get(0x4004) == CONFIG.bfs_kernels | CONFIG.intersection_kernels << 8 | 1 << 16
    assert await get(0x400C) == AxiStatus.IDLE
    await put(0x78, 0xDEAD_BEEF)
    await put(0x7C, 0x0123_4567)
    assert (await get(0x78), await get(0x7C)) == (0xDEAD_BEEF, 0x0123_4567)
    await get(0x3000, response=AxiResp.SLVERR)
    await put(0x4008, 0)
    for kernel in range(CONFIG.bfs_kernels + CONFIG.intersection_kernels):
        assert await get(8 * kernel_register(kernel, KernelWord.STATE)) & 1 == 0
    credits = await get(8 * kernel_register(0, KernelWord.CREDITS))
    assert credits == CONFIG.frontier_depth | CONFIG.neighbour_depth << 10 | CONFIG.word_depth << 20

    level = dict.fromkeys(BfsKernel.PARAMETERS, 0)
    for register, value in level.items():
        await coprocessor.put_register(register, value)
    await coprocessor.start(Instruction.BFS_LEVEL)
    await coprocessor.finish()
    assert 0 < await coprocessor.get_register(Register.CYCLES) < 300
    assert await coprocessor.get_register(Register.CURRENT_COUNT) == 0

    queue = coprocessor.allocate(8)
    coprocessor.write(queue, np.array([1], np.uint64))  # no neighbours, visited
    await coprocessor.put_register(Register.CURRENT_QUEUE, queue)
    await coprocessor.put_register(Register.CURRENT_COUNT, 1)
    await coprocessor.start(Instruction.BFS_LEVEL)
    await coprocessor.finish()
    assert await get(8 * kernel_register(0, KernelWord.COUNTER_0 + Counter.ENTRIES)) == 1


@cocotb.test()
async def errors_of_the_memory_are_reported(dut: HierarchyObject) -> None:
    coprocessor = _start(dut)
    await coprocessor.reset()
    graph = graph_of(3, [(0, 1), (1, 2), (2, 0)])

    async def fail(*_: Any) -> bytes:
        raise ValueError("no such memory")

    port = coprocessor.rams[1]
    port.read_if._read = fail
    port.write_if._write = fail
    placed = PlacedGraph.place(coprocessor, graph)
    placed.reset(np.zeros(3, bool))
    queue = coprocessor.allocate(64)
    # Both kernels read an entry: vertex 0, then vertex 1, of which the second one's fails and reads as no neighbours.
    coprocessor.write(queue, coprocessor.read(placed.words_address, np.uint64, 2))
    outputs = [coprocessor.allocate(64) for _ in range(2)]
    parameters = {
        Register.WORDS: placed.words_address,
        Register.NEIGHBOURS: placed.neighbours_address,
        Register.CURRENT_QUEUE: queue,
        Register.NEXT_QUEUE: outputs[0],
        Register.REACH_QUEUE: outputs[1],
        Register.CURRENT_COUNT: 2,
        Register.CAPACITY: 8,
    }
    for register, value in parameters.items():
        await coprocessor.put_register(register, value)
    await coprocessor.start(Instruction.BFS_LEVEL)
    signals: Any = dut
    await ClockCycles(signals.aclk, 1500)
    assert await coprocessor.get(ControlRegister.STATUS) == AxiStatus.IDLE | AxiStatus.READ_ERROR
    assert await coprocessor.get(ControlRegister.READ_ERRORS) == 2
    assert await coprocessor.get(ControlRegister.WRITE_ERRORS) == 0
    assert await coprocessor.get_register(Register.CURRENT_COUNT) == 1
    await coprocessor.put(ControlRegister.READ_ERRORS, 2)
    assert await coprocessor.get(ControlRegister.STATUS) == AxiStatus.IDLE
