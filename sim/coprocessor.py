"""Interface of the coprocessor to host programs: memory, registers, instructions."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.registers import NEW_SEARCH_BIT, NO_START, Instruction, Register, Status
from cyscc.sim.arrays import ArrayKind

__all__ = ["NEW_SEARCH_BIT", "NO_START", "ArrayKind", "Cause", "Coprocessor", "Instruction", "Register", "Status"]


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
        """Allocate `size` bytes of coprocessor memory, zeroed, and return their address (512-byte aligned).

        `holds` matters only to records of the memory's use.
        """

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        """Copy an array into coprocessor memory."""
        self.view(address, values.dtype, values.size)[:] = values.ravel()

    def read(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Copy `count` elements out of coprocessor memory."""
        return self.view(address, dtype, count).copy()

    @abc.abstractmethod
    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Return a view of the memory as an array, coherent with the machine. Use only between instructions."""

    @abc.abstractmethod
    def set_registers(self, values: Mapping[Register, int]) -> None:
        """Write AEG registers of every Application Engine."""

    @abc.abstractmethod
    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        """Read AEG registers of every Application Engine; shape (registers, engines)."""

    @abc.abstractmethod
    def dispatch(self, instruction: Instruction) -> int:
        """Start an instruction on every Application Engine; return the cycle of the dispatch."""

    @abc.abstractmethod
    def wait(self) -> int:
        """Run until every Application Engine is idle.

        Returns
        -------
        int
            Cycles from the dispatch until the last engine was idle.

        Raises
        ------
        cyscc.sim.errors.SimulationError
            Cycle limit, hang (nothing moves and the memory owes nothing), access outside memory.
        """

    def stray_writes(self) -> list[int]:
        """Return addresses of detected writes outside of all allocations."""
        return []

    @abc.abstractmethod
    def begin_attempt(self) -> None:
        """Start a new attempt in the statistics, after a restart with larger queues."""

    @abc.abstractmethod
    def statistics(self) -> dict[str, Any]:
        """Return event counters of the hardware, kernel cycles by cause, and memory statistics, JSON-able."""

    @abc.abstractmethod
    def close(self) -> None:
        """Release memory and threads, and complete waveform files."""
