"""Test bench inside the simulator, for the AE as an HC-2 personality: host, memory controllers, and tests."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import cocotb
import numpy as np
import numpy.typing as npt
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge

from cyscc.hw.registers import Register, kernel_register
from tests.cocotb.machine import CONFIG, ForeignCoprocessor

_SLACK = 2
"""Cycles from a stall in which requests may still leave."""


class _Answer(NamedTuple):
    due: int
    data: int
    tag: int


class ConveyMemory:
    """One port of a memory controller; functional, answers in order, flushes after the last store.

    Inputs change and outputs are looked at at falling edges.

    Parameters
    ----------
    dut : HierarchyObject
        Where the ports are.
    before : str
        Prefix of the names of the AE's ports.
    port : int
        Number of the AE's memory port.
    memory : ndarray of uint8
        What is read and written, shared by all ports.
    allowed : callable
        Says of an address and a size in bytes whether they may be accessed.
    """

    def __init__(
        self,
        dut: HierarchyObject,
        before: str,
        port: int,
        memory: npt.NDArray[np.uint8],
        *,
        allowed: Callable[[int, int], bool],
    ) -> None:
        self._dut: Any = dut
        self._prefix, self._suffix = f"{before}mc{port // 2}_", "_" + "eo"[port % 2]
        self._memory = memory
        self._allowed = allowed
        self._random = random.Random(port)
        self._answers: list[_Answer] = []
        self._flushes: list[int] = []
        self._stall = {"ld": 0.0, "st": 0.0}
        self._stalled = {"ld": 0, "st": 0}
        self._latency = (1, 1)
        self.late = 0
        """Requests that left in the slack of a stall."""
        for name in ("rd_rq_stall", "wr_rq_stall", "rsp_push", "rsp_data", "rsp_rdctl", "rsp_flush_cmplt"):
            self._set(name, 0)

    def set_pace(self, seed: int) -> None:
        """Choose stalls and latencies."""
        self._random = random.Random(seed)
        self._stall = {kind: self._random.choice((0.0, 0.3, 0.9)) for kind in self._stall}
        self._latency = self._random.choice(((1, 1), (3, 20), (60, 200)))

    def _signal(self, name: str) -> Any:
        return getattr(self._dut, self._prefix + name + self._suffix)

    def _get(self, name: str) -> int:
        return int(self._signal(name).value)

    def _set(self, name: str, value: int) -> None:
        self._signal(name).value = value

    async def serve(self) -> None:
        """Answer until the simulation ends."""
        cycle = 0
        while True:
            await FallingEdge(self._dut.clk)
            cycle += 1
            assert not self._get("rsp_stall")
            load, store = self._get("req_ld"), self._get("req_st")
            assert not (load and store)
            if load or store:
                self._access("ld" if load else "st", cycle)
            if self._get("req_flush"):
                self._flushes.append(cycle + self._random.randint(*self._latency))
            self._respond(cycle)
            for kind, name in (("ld", "rd_rq_stall"), ("st", "wr_rq_stall")):
                stall = self._random.random() < self._stall[kind]
                self._stalled[kind] = self._stalled[kind] + 1 if stall else 0
                self._set(name, int(stall))

    def _access(self, kind: str, cycle: int) -> None:
        """Do what a request asks for."""
        assert self._stalled[kind] <= _SLACK, "a request left long after the stall"
        self.late += self._stalled[kind] > 0
        size = 1 << self._get("req_size")
        address = self._get("req_vadr")
        assert size in (4, 8)
        assert address % size == 0
        assert self._allowed(address, size), hex(address)
        content = self._get("req_wrd_rdctl")
        place = slice(address, address + size)
        if kind == "st":
            assert size == 8 or content >> 32 == content & 0xFFFF_FFFF
            self._memory[place] = np.frombuffer(content.to_bytes(8, "little")[:size], np.uint8)
        else:
            assert content < 1 << 32
            due = cycle + self._random.randint(*self._latency)
            data = int.from_bytes(self._memory[place].tobytes(), "little")
            if size == 4:
                # What stands in the upper half is not defined.
                data |= self._random.getrandbits(32) << 32
            self._answers.append(_Answer(due, data, content))

    def _respond(self, cycle: int) -> None:
        """Give the next answers that are due."""
        push = bool(self._answers) and self._answers[0].due <= cycle
        self._set("rsp_push", int(push))
        if push:
            answer = self._answers.pop(0)
            self._set("rsp_data", answer.data)
            self._set("rsp_rdctl", answer.tag)
        flushed = bool(self._flushes) and self._flushes[0] <= cycle
        self._set("rsp_flush_cmplt", int(flushed))
        if flushed:
            self._flushes.pop(0)


_PATIENCE = 20_000
_DISPATCH = ("inst_val", "inst_aeg_wr", "inst_aeg_rd")


class ConveyCoprocessor(ForeignCoprocessor):
    """Plays memory controllers and host processor.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``application_engine_convey``, or ``machine`` with several of them, with its clock running.
    """

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self._pause = random.Random(0)
        self._most = 0
        for engine in range(CONFIG.engines):
            for name in (*_DISPATCH, "inst_caep", "inst_aeg_idx", "cae_data", "err_unimpl"):
                self.signal(name, engine).value = 0
        if CONFIG.engines == 1:
            self.signal("i_aeid").value = 0
        self.controllers = [
            ConveyMemory(dut, before, port, self.memory.array, allowed=self.memory.allowed)
            for before in self.prefixes
            for port in range(CONFIG.ports)
        ]
        for controller in self.controllers:
            cocotb.start_soon(controller.serve())

    def set_pace(self, seed: int) -> None:
        self._pause = random.Random(seed)
        self._most = self._pause.choice((0, 0, 5))
        for number, controller in enumerate(self.controllers):
            controller.set_pace(1000 * number + seed)

    async def reset(self) -> None:
        self.dut.i_reset.value = 1
        await self._cycles(3)
        self.dut.i_reset.value = 0
        await self._cycles(1)
        self.memory.clear()

    def signal(self, name: str, engine: int = 0) -> Any:
        """Return a port of an AE."""
        return getattr(self.dut, self.prefixes[engine] + name)

    async def put_register(self, register: int, value: int, engine: int = 0) -> None:
        await self.dispatch_signals(engine, inst_aeg_wr=1, inst_aeg_idx=register, cae_data=value)

    async def get_register(self, register: int, engine: int = 0) -> int:
        await self.dispatch_signals(engine, inst_aeg_rd=1, inst_aeg_idx=register)
        for _ in range(_PATIENCE):
            if int(self.signal("cae_ret_data_vld", engine).value):
                return int(self.signal("cae_ret_data", engine).value)
            await self._cycles(1)
        raise AssertionError("no answer to a register read")

    async def start(self, instruction: int, engine: int = 0) -> None:
        await self.dispatch_signals(engine, inst_val=1, inst_caep=instruction)

    async def finish(self, engine: int = 0) -> None:
        for _ in range(_PATIENCE):
            if int(self.signal("cae_idle", engine).value):
                return
            await self._cycles(1)
        raise AssertionError("the engine does not come to an end")

    async def dispatch_signals(self, engine: int = 0, **values: int) -> None:
        """Set signals of an AE for one cycle, as soon as there is no stall."""
        await self._cycles(self._pause.randint(0, self._most))
        while int(self.signal("cae_stall", engine).value):
            await self._cycles(1)
        for name, value in values.items():
            self.signal(name, engine).value = value
        await self._cycles(1)
        for name in _DISPATCH:
            self.signal(name, engine).value = 0

    async def _cycles(self, count: int) -> None:
        for _ in range(count):
            await FallingEdge(self.dut.clk)


async def _start(dut: HierarchyObject) -> ConveyCoprocessor:
    signals: Any = dut
    Clock(signals.clk, 4, unit="ns").start()
    coprocessor = ConveyCoprocessor(dut)
    await coprocessor.reset()
    return coprocessor


@cocotb.test()
async def graphs_under_random_stalls(dut: HierarchyObject) -> None:
    coprocessor = await _start(dut)
    graphs = await coprocessor.find_all()
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
