"""Base of coprocessors on ports other than the native ones."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cocotb.task import resume

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.registers import Register
from cyscc.sim.coprocessor import ArrayKind, Coprocessor, Instruction
from tests.cocotb.plain_memory import PlainMemory


class ForeignCoprocessor(Coprocessor):
    """AEs with a plain memory, whose registers a bench of cocotb reaches.

    The methods of `Coprocessor` are called from a thread that `cocotb.task.bridge` started.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self.config = config
        self.memory = PlainMemory()

    @abc.abstractmethod
    async def put_register(self, register: int, value: int, engine: int = 0) -> None:
        """Write an AEG register of an AE."""

    @abc.abstractmethod
    async def get_register(self, register: int, engine: int = 0) -> int:
        """Read an AEG register of an AE."""

    @abc.abstractmethod
    async def start(self, instruction: int, engine: int = 0) -> None:
        """Dispatch an instruction to an AE."""

    @abc.abstractmethod
    async def finish(self, engine: int = 0) -> None:
        """Wait until an AE is idle."""

    @property
    def cycle(self) -> int:
        return 0

    def allocate(self, size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        return self.memory.allocate(size, holds=holds)

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        return self.memory.view(address, dtype, count)

    def set_registers(self, values: Mapping[Register, int]) -> None:
        for engine in range(self.engines):
            for register, value in values.items():
                resume(self.put_register)(register, int(value), engine)

    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        answers = [
            [resume(self.get_register)(register, engine) for engine in range(self.engines)] for register in registers
        ]
        return np.array(answers, np.uint64)

    def dispatch(self, instruction: Instruction) -> int:
        for engine in range(self.engines):
            resume(self.start)(instruction, engine)
        return self.cycle

    def wait(self) -> int:
        for engine in range(self.engines):
            resume(self.finish)(engine)
        return int(self.get_registers([Register.CYCLES])[0, 0])

    def begin_attempt(self) -> None:
        """Count nothing."""

    def statistics(self) -> dict[str, Any]:
        """Refuse: the hardware alone does not have the statistics of a simulation.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("no statistics")

    def close(self) -> None:
        """Do nothing: the simulator continues with the next run."""
