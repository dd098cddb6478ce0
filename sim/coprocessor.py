"""The coprocessor as a host program sees it: memory, registers, instructions."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hw.causes import Cause
from hw.config import AcceleratorConfig
from hw.registers import NO_START, Instruction, Register, Status
from sim.arrays import ArrayKind

__all__ = ["NO_START", "ArrayKind", "Cause", "Coprocessor", "Instruction", "Register", "Status"]


class Coprocessor(abc.ABC):
    """A coprocessor with its memory. Addresses are byte addresses; words are little-endian.

    Attributes
    ----------
    config : AcceleratorConfig
        Sizes.
    """

    config: AcceleratorConfig

    @property
    def clock(self) -> float:
        """Clock frequency in hertz."""
        return self.config.clock_mhz * 1e6

    @property
    def engines(self) -> int:
        """Number of Application Engines."""
        return self.config.engines

    @property
    @abc.abstractmethod
    def cycle(self) -> int:
        """Cycles simulated since reset, over all instructions."""

    @abc.abstractmethod
    def allocate(self, size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        """Reserve `size` bytes of coprocessor memory and return their address (512-byte aligned, zeroed).

        What they hold is for whoever looks at the memory's use.
        """

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        """Copy an array into coprocessor memory."""
        self.view(address, values.dtype, values.size)[:] = values.ravel()

    def read(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Copy `count` elements out of coprocessor memory."""
        return self.view(address, dtype, count).copy()

    @abc.abstractmethod
    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Return the memory itself as an array: the host is coherent with it. Use only between instructions."""

    @abc.abstractmethod
    def set_registers(self, values: Mapping[Register, int]) -> None:
        """Write AEG registers of every Application Engine."""

    @abc.abstractmethod
    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        """Read AEG registers of every Application Engine; shape (registers, engines)."""

    @abc.abstractmethod
    def dispatch(self, instruction: Instruction) -> int:
        """Start an instruction on every Application Engine; return the cycle of it."""

    @abc.abstractmethod
    def wait(self) -> int:
        """Run until every Application Engine is idle.

        Returns
        -------
        int
            Cycles from the dispatch until the last engine was idle.

        Raises
        ------
        sim.errors.SimulationError
            Cycle limit, hang (nothing moves and the memory owes nothing), access outside memory.
        """

    def stray_writes(self) -> list[int]:
        """Return addresses outside all that was allocated that something was written to, as far as it can be told."""
        return []

    @abc.abstractmethod
    def begin_attempt(self) -> None:
        """Count what follows as an attempt of its own: the run begins again, since its queues were too small."""

    @abc.abstractmethod
    def statistics(self) -> dict[str, Any]:
        """Event counters of the hardware, causes of its kernels' cycles and statistics of the memory, JSON-able."""

    @abc.abstractmethod
    def close(self) -> None:
        """Release everything: memory, threads, waveform files (which are complete afterwards)."""
