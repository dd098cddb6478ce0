"""What the coprocessors on other ports than the native ones have in common."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cocotb.task import resume

from hw.config import AcceleratorConfig
from hw.registers import Register
from sim.coprocessor import Coprocessor, Instruction
from tests.cocotb.plain_memory import PlainMemory

__all__ = ["ForeignCoprocessor"]


class ForeignCoprocessor(Coprocessor):
    """One AE with a plain memory, whose registers a bench of cocotb reaches.

    The methods of `Coprocessor` are called from a thread that `cocotb.task.bridge` started.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._config = config
        self.memory = PlainMemory()

    @abc.abstractmethod
    async def put_register(self, register: int, value: int) -> None:
        """Write an AEG register."""

    @abc.abstractmethod
    async def get_register(self, register: int) -> int:
        """Read an AEG register."""

    @abc.abstractmethod
    async def start(self, instruction: int) -> None:
        """Dispatch an instruction."""

    @abc.abstractmethod
    async def finish(self) -> None:
        """Wait until the AE is idle."""

    @property
    def clock(self) -> float:
        return self._config.clock_mhz * 1e6

    @property
    def engines(self) -> int:
        return 1

    @property
    def cycle(self) -> int:
        return 0

    def allocate(self, size: int) -> int:
        return self.memory.allocate(size)

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        self.memory.write(address, values)

    def read(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        return self.memory.view(address, dtype, count).copy()

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        return self.memory.view(address, dtype, count)

    def set_registers(self, values: Mapping[Register, int]) -> None:
        for register, value in values.items():
            resume(self.put_register)(register, int(value))

    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        answers = [resume(self.get_register)(register) for register in registers]
        return np.array(answers, np.uint64).reshape(-1, 1)

    def dispatch(self, instruction: Instruction) -> None:
        resume(self.start)(instruction)

    def wait(self) -> int:
        resume(self.finish)()
        return int(self.get_registers([Register.CYCLES])[0, 0])

    def statistics(self) -> dict[str, Any]:
        """Refuse: the hardware alone does not have the statistics of a simulation.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("no statistics")

    def close(self) -> None:
        """Do nothing: the simulator goes on with the next run."""
