"""Digests: of graphs, and of arrays in coprocessor memory, block by block, which show a change without a copy."""

import hashlib

import numpy as np
import numpy.typing as npt

from host.graph.csr import Graph
from sim.caching.code import njit

__all__ = ["BLOCK_BYTES", "block_digests", "graph_digest"]

BLOCK_BYTES = 4096
"""Bytes that one digest stands for."""

# Odd, so that a multiplication by one of them loses nothing. Nobody means harm here: they need not be secret.
_KEYS = np.random.default_rng(0xD16E57).integers(0, 2**64, BLOCK_BYTES // 4, dtype=np.uint64) | np.uint64(1)


@njit(cache=True, nogil=True)
def _digest(ids: npt.NDArray[np.uint32], keys: npt.NDArray[np.uint64], digests: npt.NDArray[np.uint64]) -> None:
    for block in range(digests.size):
        first = block * keys.size
        total = np.uint64(0)
        for place in range(min(keys.size, ids.size - first)):
            total += np.uint64(ids[first + place]) * keys[place]
        digests[block] = total


def block_digests(ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """Return a digest of each block of an array: the sum of its ids, each times a key of its place, modulo 2**64.

    A changed id adds its change, less than 2**32 either way, times an odd key: never a multiple of 2**64. So every
    change of one id shows, each flipped bit among them. Changes of several ids, which know nothing of the keys, cancel
    each other with a chance of one in 2**32 at most.

    Parameters
    ----------
    ids : ndarray of uint32
        The array; the last block may be shorter.

    Returns
    -------
    ndarray of uint64, shape (blocks,)
    """
    digests = np.empty(-(-4 * ids.size // BLOCK_BYTES), np.uint64)
    _digest(ids, _KEYS, digests)
    return digests


def graph_digest(graph: Graph) -> str:
    """Return a digest of a graph as the machine and the results know it."""
    digest = hashlib.sha256()
    for array in (graph.offsets, graph.targets, graph.ids):
        if array is not None:
            digest.update(f"{array.dtype.str} {array.size}\n".encode())
            digest.update(array.data)
    return digest.hexdigest()
