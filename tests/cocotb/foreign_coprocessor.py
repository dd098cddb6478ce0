"""The coprocessor of a machine with a vendor's top, and a plain memory."""

import abc
import mmap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cocotb.task import resume

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.registers import Register
from cyscc.sim.coprocessor import ArrayKind, Coprocessor, Instruction


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


_BASE = 4096
_SIZE = 1 << 20


class PlainMemory:
    """Bytes that host and hardware share; the methods are those of `cyscc.sim.coprocessor.Coprocessor`."""

    def __init__(self) -> None:
        self.raw = mmap.mmap(-1, _SIZE)
        self.array = np.frombuffer(self.raw, np.uint8)
        self._top = _BASE

    def clear(self) -> None:
        """Take everything back."""
        self.array[:] = 0
        self._top = _BASE

    def allowed(self, address: int, size: int) -> bool:
        """Tell whether the hardware may access `size` bytes."""
        return _BASE <= address <= self._top - size

    def allocate(self, size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        """Reserve memory."""
        address = self._top
        self._top += -(-size // 512) * 512
        assert self._top <= _SIZE
        return address

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        """Copy an array into the memory."""
        content = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
        self.array[address : address + content.size] = content

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Return a part of the memory."""
        kind = np.dtype(dtype)
        return self.array[address : address + count * kind.itemsize].view(kind)
