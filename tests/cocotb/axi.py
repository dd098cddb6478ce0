"""Test bench inside the simulator, for the AE with AXI ports: cocotbext-axi's memory and host, and tests."""

import logging
import random
from collections.abc import Iterator
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.hw.axi import AxiLimits
from cyscc.hw.axi.registers import AxiStatus, ControlRegister, engine_register
from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.registers import Counter, Instruction, KernelWord, Register, kernel_register
from tests.cocotb.axi_rules import MasterRules
from tests.cocotb.machine import CONFIG, ForeignCoprocessor
from tests.system.graphs import graph_of

_POLLS = 5_000


class AxiCoprocessor(ForeignCoprocessor):
    """Plays memory and host.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``application_engine_axi``, or ``machine`` with several of them, with its clock running.
    limits : AxiLimits
        What its masters may have outstanding.
    """

    def __init__(self, dut: HierarchyObject, limits: AxiLimits) -> None:
        super().__init__(dut)
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        clock, reset = self.dut.aclk, self.dut.aresetn
        self._hosts = [
            AxiLiteMaster(AxiLiteBus.from_prefix(dut, f"{name}s_axi_control"), clock, reset, reset_active_level=False)
            for name in self.prefixes
        ]
        self.rams: list[Any] = []
        self.rules: list[MasterRules] = []
        for master in [f"{name}m{port:02}_axi" for name in self.prefixes for port in range(CONFIG.ports)]:
            bus = AxiBus.from_prefix(dut, master)
            self.rams.append(AxiRam(bus, clock, reset, reset_active_level=False, mem=self.memory.raw))
            self.rules.append(
                MasterRules(
                    dut,
                    master,
                    limits=(limits.outstanding_reads, limits.outstanding_writes),
                    allowed=self.memory.allowed,
                )
            )
            cocotb.start_soon(self.rules[-1].watch())

    def set_pace(self, seed: int) -> None:
        chance = random.Random(seed)
        for ram in self.rams:
            for half, channels in ((ram.write_if, ("aw", "w", "b")), (ram.read_if, ("ar", "r"))):
                _pause(half, channels, chance)
                least, most = chance.choice(((0, 0), (0, 9), (5, 25)))
                _delay(half, least, most)
        for host in self._hosts:
            for half, channels in ((host.write_if, ("aw", "w", "b")), (host.read_if, ("ar", "r"))):
                _pause(half, channels, chance)

    async def reset(self) -> None:
        """Reset everything, and give the AEs their numbers."""
        self.dut.aresetn.value = 0
        await ClockCycles(self.dut.aclk, 3)
        self.dut.aresetn.value = 1
        await ClockCycles(self.dut.aclk, 1)
        self.memory.clear()
        for engine in range(self.engines):
            await self.put(ControlRegister.ENGINE, engine, engine=engine)

    async def put_register(self, register: int, value: int, engine: int = 0) -> None:
        await self.put(engine_register(register), value & 0xFFFF_FFFF, engine=engine)
        await self.put(engine_register(register) + 4, value >> 32, engine=engine)

    async def get_register(self, register: int, engine: int = 0) -> int:
        low = await self.get(engine_register(register), engine=engine)
        return low | await self.get(engine_register(register) + 4, engine=engine) << 32

    async def start(self, instruction: int, engine: int = 0) -> None:
        await self.put(ControlRegister.DISPATCH, instruction, engine=engine)

    async def finish(self, engine: int = 0) -> None:
        for _ in range(_POLLS):
            status = await self.get(ControlRegister.STATUS, engine=engine)
            if status & AxiStatus.IDLE:
                assert status == AxiStatus.IDLE
                return
        raise AssertionError("the engine does not come to an end")

    async def put(self, address: int, value: int, *, engine: int = 0, response: int = 0) -> None:
        """Write a register of a slave, and check the response."""
        answer = await self._hosts[engine].write(int(address), int(value).to_bytes(4, "little"))
        assert answer.resp == response, f"{address:#x}: {answer.resp}"

    async def get(self, address: int, *, engine: int = 0, response: int = 0) -> int:
        """Read a register of a slave, and check the response."""
        answer = await self._hosts[engine].read(int(address), 4)
        assert answer.resp == response, f"{address:#x}: {answer.resp}"
        return int.from_bytes(answer.data, "little")


def _pauses(seed: float, chance: float, longest: int) -> Iterator[bool]:
    """Return in which cycles a channel pauses."""
    generator = random.Random(seed)
    while True:
        pause = generator.random() < chance
        yield from [pause] * generator.randint(1, longest)


def _pause(half: Any, channels: tuple[str, ...], chance: random.Random) -> None:
    """Have the channels of one half of a bus pause; some hardly ever, some most of the time."""
    for channel in channels:
        often, longest = chance.choice((0.0, 0.3, 0.6, 0.9)), chance.choice((1, 4, 12))
        getattr(half, f"{channel}_channel").set_pause_generator(_pauses(chance.random(), often, longest))


def _delay(half: Any, least: int, most: int) -> None:
    """Have one half of a memory take its time over each access."""
    name = "_write" if hasattr(half, "_write") else "_read"
    access = getattr(type(half), name)
    generator = random.Random(least + most)

    async def slow(*arguments: Any) -> Any:
        cycles = generator.randint(least, most)
        if cycles:
            await ClockCycles(half.clock, cycles)
        return await access(half, *arguments)

    setattr(half, name, slow)


LIMITS = AxiLimits(outstanding_reads=4, outstanding_writes=4)
"""Maximum outstanding accesses of its masters, small enough to be reached."""


def _start(dut: HierarchyObject) -> AxiCoprocessor:
    signals: Any = dut
    signals.aresetn.value = 0
    Clock(signals.aclk, 4, unit="ns").start()
    return AxiCoprocessor(dut, LIMITS)


@cocotb.test()
async def graphs_under_random_backpressure(dut: HierarchyObject) -> None:
    coprocessor = _start(dut)
    graphs = await coprocessor.find_all()
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
