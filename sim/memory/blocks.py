"""A table by which it is quickly found what lies at an address."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sim.arrays import ArrayKind

__all__ = ["BLOCKS", "SEVERAL", "kinds_by_block"]

BLOCKS = 4096
"""Most blocks that addresses are divided into."""

SEVERAL = 255
"""What the table says of a block with more than one allocation in it."""

_LEAST_SHIFT = 9


def kinds_by_block(
    allocations: Sequence[tuple[int, int]], kinds: Sequence[ArrayKind], top: int
) -> tuple[int, NDArray[np.uint8]]:
    """Return what each block of the addresses holds.

    Parameters
    ----------
    allocations : sequence of (int, int)
        Address and size in bytes of each allocation, in the order of addresses.
    kinds : sequence of ArrayKind
        What each of them holds.
    top : int
        End of the last one.

    Returns
    -------
    shift : int
        A block has 2**shift bytes.
    table : ndarray of uint8, shape (BLOCKS,)
        The `ArrayKind` of each block, or `SEVERAL`.
    """
    shift = max((top - 1).bit_length() - (BLOCKS - 1).bit_length(), _LEAST_SHIFT)
    table = np.full(BLOCKS, ArrayKind.OTHER, np.uint8)
    used = -1  # the last block in use
    for (address, size), kind in zip(allocations, kinds, strict=True):
        first, last = address >> shift, (address + size - 1) >> shift
        table[max(first, used + 1) : last + 1] = kind
        if first == used:
            table[first] = SEVERAL
        used = last
    return shift, table
