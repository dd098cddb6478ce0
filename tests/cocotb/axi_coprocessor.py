"""The coprocessor on AXI: an AE in a simulator that cocotb drives, with cocotbext-axi's memory and host."""

import logging
import random
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam

from cyscc.hw.axi import AxiLimits
from cyscc.hw.axi.registers import AxiStatus, ControlRegister, engine_register
from cyscc.hw.config import AcceleratorConfig
from tests.cocotb.axi_rules import MasterRules
from tests.cocotb.foreign_coprocessor import ForeignCoprocessor
from tests.cocotb.machine import prefix

_POLLS = 5_000


class AxiCoprocessor(ForeignCoprocessor):
    """Plays memory and host.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``application_engine_axi``, or ``machine`` with several of them, with its clock running.
    config : AcceleratorConfig
        Sizes.
    limits : AxiLimits
        What its masters may have outstanding.
    """

    def __init__(self, dut: HierarchyObject, config: AcceleratorConfig, limits: AxiLimits) -> None:
        super().__init__(config)
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self._dut: Any = dut
        clock, reset = self._dut.aclk, self._dut.aresetn
        before = [""] if config.engines == 1 else [prefix(engine) for engine in range(config.engines)]
        self._hosts = [
            AxiLiteMaster(AxiLiteBus.from_prefix(dut, f"{name}s_axi_control"), clock, reset, reset_active_level=False)
            for name in before
        ]
        self.rams: list[Any] = []
        self.rules: list[MasterRules] = []
        for master in [f"{name}m{port:02}_axi" for name in before for port in range(config.ports)]:
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
        """Choose how memory and host behave from now on."""
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
        self._dut.aresetn.value = 0
        await ClockCycles(self._dut.aclk, 3)
        self._dut.aresetn.value = 1
        await ClockCycles(self._dut.aclk, 1)
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
