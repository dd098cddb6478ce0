"""Memory of a coprocessor that is no model: an array, given out from the bottom."""

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.sim.arrays import ArrayKind

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
