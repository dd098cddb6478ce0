"""Storage of the memory, a sparse large address space, and the memory's state."""

import mmap
import resource
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cyscc.sim.memory.records import BASE_ADDRESS


@dataclass(frozen=True, kw_only=True)
class Region:
    """A contiguous part of the storage.

    Parameters
    ----------
    address : int
        Address of the first.
    content : ndarray of uint8
        The bytes.
    """

    address: int
    content: NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class MemoryState:
    """The state of a memory.

    Parameters
    ----------
    allocations : list of (int, int)
        Address and size of each allocation.
    regions : list of Region
        Contents of the storage, except for allocations that a resumed run writes again.
    records : list of ndarray of uint64
        Everything else: requests and responses in flight, reservations, counters.
    first_cycle : int
        First cycle of the statistics.
    """

    allocations: list[tuple[int, int]]
    regions: list[Region]
    records: list[NDArray[np.uint64]]
    first_cycle: int


DEFAULT_CAPACITY = 64 << 30
"""Default address space of a memory in bytes."""

_LEAST_CAPACITY = 16 << 20
_GUARD = 512
_SPARE = 256 << 20

# MAP_NORESERVE: otherwise a fork would have to reserve this memory again. Python has the name from 3.13 on; the number
# is that of Linux on x86, ARM and RISC-V.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


def _share() -> int:
    """Return the address space that a memory may take; under a limit, some is left to libraries and threads."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return DEFAULT_CAPACITY if limit == resource.RLIM_INFINITY else max(limit // 2 - _SPARE, _LEAST_CAPACITY)


class Storage:
    """Byte-addressed little-endian storage with a bump allocator.

    Parameters
    ----------
    capacity : int
        Bytes of address space, at least 8192; halved as long as the system refuses it.

    Members
    -------
    capacity : int
        Actual bytes of address space.
    top : int
        End of the last allocation, or 4096 without any.
    words : ndarray of uint64
        The storage as words.
    allocations : list of (int, int)
        Address and size in bytes of each allocation, in the order of addresses.

    Raises
    ------
    ValueError
        The capacity is too small.
    MemoryError
        The system refuses even 16 MiB (or the requested capacity, if less).
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        if capacity < 2 * BASE_ADDRESS:
            raise ValueError(f"memory capacity must be at least {2 * BASE_ADDRESS} bytes, not {capacity!r}")
        self.capacity = -(-min(capacity, _share()) // mmap.PAGESIZE) * mmap.PAGESIZE
        self._pages = self._map()
        self.words: NDArray[np.uint64] = np.frombuffer(self._pages, np.uint64)
        self.top = BASE_ADDRESS
        self.allocations: list[tuple[int, int]] = []

    def _map(self) -> mmap.mmap:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        least = min(self.capacity, _LEAST_CAPACITY)
        while True:
            try:
                pages = mmap.mmap(-1, self.capacity, flags=flags)
                break
            except OSError as error:
                if self.capacity // 2 < least:
                    raise MemoryError(f"the system refuses {self.capacity} bytes of memory: {error}") from error
                self.capacity //= 2
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):
                pages.madvise(mmap.MADV_HUGEPAGE)
        return pages

    @property
    def address(self) -> int:
        """Address of the first byte in this process."""
        return self.words.ctypes.data

    def allocate(self, size_bytes: int, alignment: int = 512) -> int:
        """Allocate zeroed bytes and return the address of the first.

        Allocations are at least 512 bytes apart.

        Parameters
        ----------
        size_bytes : int
            Number of bytes, at least 1.
        alignment : int
            Alignment of the address, a power of two, at least 8.

        Returns
        -------
        int
            The address, 4096 or above.

        Raises
        ------
        ValueError
            Size or alignment is invalid.
        MemoryError
            The capacity is exhausted.
        """
        if size_bytes < 1:
            raise ValueError(f"allocation size must be at least 1 byte, not {size_bytes!r}")
        if alignment < 8 or alignment & (alignment - 1):
            raise ValueError(f"allocation alignment must be a power of two from 8 on, not {alignment!r}")
        free = self.top + _GUARD if self.allocations else BASE_ADDRESS
        address = -(-free // alignment) * alignment
        if address + size_bytes > self.capacity:
            left = max(self.capacity - address, 0)
            raise MemoryError(f"cannot allocate {size_bytes} bytes: {left} of {self.capacity} bytes are left")
        self.top = address + size_bytes
        self.allocations.append((address, size_bytes))
        return address

    def view(self, address: int, dtype: DTypeLike, count: int) -> NDArray[Any]:
        """Return a writable array over `count` elements at a byte address.

        Raises
        ------
        ValueError
            If the elements are not all inside the allocated range, or not aligned to their size.
        """
        kind = np.dtype(dtype)
        end = address + count * kind.itemsize
        if count < 0 or address < BASE_ADDRESS or end > self.top:
            raise ValueError(f"bytes {address} to {end} are outside the allocated range {BASE_ADDRESS} to {self.top}")
        if address % kind.itemsize:
            raise ValueError(f"address {address} is not a multiple of the {kind.itemsize} bytes of {kind.name}")
        return np.frombuffer(self._pages, kind, count, address)

    def stray_writes(self) -> list[int]:
        """Return the addresses of nonzero 4-byte words outside of all allocations.

        Checks the gaps between allocations, the space before the first one, and a gap of minimum size after the last
        one.
        """
        contents = np.frombuffer(self._pages, np.uint8)
        addresses: list[int] = []
        begin = 0
        for start, size in [*self.allocations, (min(self.top + _GUARD, self.capacity), 0)]:
            found = np.flatnonzero(contents[begin:start])
            addresses += [4 * word for word in dict.fromkeys(((found + begin) // 4).tolist())]
            begin = start + size
        return addresses
