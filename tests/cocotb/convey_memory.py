"""The HC-2's memory controllers as an AE sees them, with random stalls and latencies."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge

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
        What stands before the names of the AE's ports.
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
