"""The state of a memory between two cycles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MemoryState", "Region"]


@dataclass(frozen=True, kw_only=True)
class Region:
    """Bytes of the storage.

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
        The storage, but for allocations whose user writes them again.
    records : list of ndarray of uint64
        Everything else: requests and responses under way, reservations, counts.
    first_cycle : int
        The cycle from which on statistics count.
    """

    allocations: list[tuple[int, int]]
    regions: list[Region]
    records: list[NDArray[np.uint64]]
    first_cycle: int
