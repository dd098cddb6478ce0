"""Arrays of the memory whose ends are watched: a plugin of pytest that `make sanitize` uses.

What numba compiles for the memory works on addresses, which it cannot check. With this plugin every array ends where a
page begins that nobody may touch, and whoever reaches beyond it is killed at once.
"""

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.memory.structures import LINE_WORDS, Record, Room

__all__ = ["GuardedRoom", "pytest_configure"]

_NO_ACCESS = 0


class GuardedRoom(Room):
    """A room that has a forbidden page behind each array."""

    def make(self, kind: type[Record] | type[int], count: int) -> NDArray[Any]:
        """Return an array of records, or of words, that begins at a cache line, and ends at most that before a page."""
        dtype = np.dtype(np.int64) if kind is int else kind.dtype  # type: ignore[union-attr]
        size = count * dtype.itemsize
        length = -(-size // (8 * LINE_WORDS)) * 8 * LINE_WORDS
        whole = -(-length // mmap.PAGESIZE) * mmap.PAGESIZE
        pages = mmap.mmap(-1, whole + mmap.PAGESIZE)
        raw = np.frombuffer(pages, np.uint8)
        guard = ctypes.c_void_p(raw.ctypes.data + whole)
        if ctypes.CDLL(None, use_errno=True).mprotect(guard, ctypes.c_size_t(mmap.PAGESIZE), _NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")
        made: NDArray[Any] = raw[whole - length : whole - length + size].view(dtype)
        self._arrays[made.ctypes.data] = made
        return made

    def link(self, owners: NDArray[np.void], field: str, kind: type[Record] | type[int], count: int) -> NDArray[Any]:
        """Make the arrays of a link one by one; what is returned is a copy where there are several."""
        arrays = [self.make(kind, count) for _ in range(owners.size)]
        owners[field] = np.array([array.ctypes.data for array in arrays]).reshape(owners.shape)
        return arrays[0].reshape(1, count) if len(arrays) == 1 else np.array(arrays).reshape(*owners.shape, count)


def pytest_configure() -> None:
    """Give every memory such a room."""
    import sim.memory.memory

    sim.memory.memory.Room = GuardedRoom  # type: ignore[misc]
