"""The coprocessor as an HC-2 personality: an AE in a simulator that cocotb drives, with the vendor's signals."""

import random
from typing import Any

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge

from cyscc.hw.config import AcceleratorConfig
from tests.cocotb.convey_memory import ConveyMemory
from tests.cocotb.foreign_coprocessor import ForeignCoprocessor
from tests.cocotb.machine import prefix

_PATIENCE = 20_000
_DISPATCH = ("inst_val", "inst_aeg_wr", "inst_aeg_rd")


class ConveyCoprocessor(ForeignCoprocessor):
    """Plays memory controllers and host processor.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``application_engine_convey``, or ``machine`` with several of them, with its clock running.
    config : AcceleratorConfig
        Sizes.
    """

    def __init__(self, dut: HierarchyObject, config: AcceleratorConfig) -> None:
        super().__init__(config)
        self._dut: Any = dut
        self._pause = random.Random(0)
        self._most = 0
        self._before = [""] if config.engines == 1 else [prefix(engine) for engine in range(config.engines)]
        for engine in range(config.engines):
            for name in (*_DISPATCH, "inst_caep", "inst_aeg_idx", "cae_data", "err_unimpl"):
                self.signal(name, engine).value = 0
        if config.engines == 1:
            self.signal("i_aeid").value = 0
        self.controllers = [
            ConveyMemory(dut, before, port, self.memory.array, allowed=self.memory.allowed)
            for before in self._before
            for port in range(config.ports)
        ]
        for controller in self.controllers:
            cocotb.start_soon(controller.serve())

    def set_pace(self, seed: int) -> None:
        """Choose how memory and host behave from now on."""
        self._pause = random.Random(seed)
        self._most = self._pause.choice((0, 0, 5))
        for number, controller in enumerate(self.controllers):
            controller.set_pace(1000 * number + seed)

    async def reset(self) -> None:
        """Reset everything."""
        self._dut.i_reset.value = 1
        await self._cycles(3)
        self._dut.i_reset.value = 0
        await self._cycles(1)
        self.memory.clear()

    def signal(self, name: str, engine: int = 0) -> Any:
        """Return a port of an AE."""
        return getattr(self._dut, self._before[engine] + name)

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
            await FallingEdge(self._dut.clk)
