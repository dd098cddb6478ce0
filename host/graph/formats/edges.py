"""A growing list of edges, and the numbering of the ids that occur in it."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Graph, check_limits
from host.graph.growing import Growing
from host.memory_room import check_room

__all__ = ["EdgeBuffer"]

_LARGEST_SHORT = 2**32 - 1
_DENSE = 1 << 20  # a table of the ids up to here is always small
_BATCH = 1 << 18
_ENTRY = 32  # bytes of an id in a hash table

_Compacted: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]


class EdgeBuffer:
    """Edges as they are read.

    Ends take four bytes each until an id needs more.
    """

    def __init__(self) -> None:
        # What follows the reading has the targets once more.
        self._ends = Growing(np.uint32, np.uint32, of="edges", extra=4)
        self._largest = -1

    @property
    def count(self) -> int:
        """Number of edges so far."""
        return self._ends.count

    def append(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        """Add edges.

        Parameters
        ----------
        sources, targets : ndarray of int64, shape (k,)
            Their ends, not negative.

        Raises
        ------
        InputError
            When there are more than `host.graph.csr.MAX_EDGES` then, or more than memory holds.
        """
        if len(sources) == 0:
            return
        check_limits(0, self.count + len(sources))
        self._largest = max(self._largest, int(sources.max()), int(targets.max()))
        if self._largest > _LARGEST_SHORT:
            self._ends.widen(np.uint64)
        self._ends.append(sources, targets)

    def graph(self, vertices: int, *, base: int) -> Graph:
        """Build the graph of vertices called `base` to `base` + `vertices` - 1, and empty the buffer."""
        sources, targets = (ends.astype(np.uint32, copy=False) for ends in self._ends.take())
        sources -= np.uint32(base)
        targets -= np.uint32(base)
        return Graph.from_edges(vertices, sources, targets, base=base)

    def compact(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Give the ids that occur the numbers 0, 1, 2, ... in ascending order, and empty the buffer.

        Returns
        -------
        ids : ndarray of int64, shape (n,)
            The ids, ascending.
        sources, targets : ndarray of uint32, shape (count,)
            The edges in the new numbers.

        Raises
        ------
        InputError
            When more than `host.graph.csr.MAX_VERTICES` ids occur.
        """
        dense = self._largest < max(self.count, _DENSE)
        pair = self._ends.take()
        return _compact_dense(pair, self._largest) if dense else _compact_sparse(pair)


def _rename(ends: NDArray[Any], names: NDArray[np.uint32], renamed: NDArray[Any]) -> NDArray[Any]:
    """Write the name of each end, batch by batch: numpy takes eight bytes for an index."""
    for start in range(0, len(ends), _BATCH):
        renamed[start : start + _BATCH] = names[ends[start : start + _BATCH]]
    return renamed


def _compact_dense(pair: list[NDArray[Any]], largest: int) -> _Compacted:
    """Replace ids through a table of all ids up to the largest."""
    rank = np.zeros(largest + 1, np.uint32)
    for ends in pair:
        for start in range(0, len(ends), _BATCH):
            rank[ends[start : start + _BATCH]] = 1
    ids = np.flatnonzero(rank)
    check_limits(len(ids), 0)
    rank[ids] = np.arange(len(ids), dtype=np.uint32)
    sources, targets = (_rename(ends, rank, ends).astype(np.uint32, copy=False) for ends in pair)
    return ids, sources, targets


def _compact_sparse(pair: list[NDArray[Any]]) -> _Compacted:
    """Replace ids through a hash table, which is Arrow's: numpy would sort all ends."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(pair[0].dtype)
    chunks = [pa.Array.from_buffers(kind, len(ends), [None, pa.py_buffer(ends)]) for ends in pair]
    pair.clear()
    encoded = pa.chunked_array(chunks).dictionary_encode()
    chunks.clear()
    names = np.from_dlpack(encoded.chunk(0).dictionary)
    check_limits(len(names), 0)
    check_room("the ids of the vertices", len(names) * _ENTRY)
    order = np.argsort(names)
    rank = np.empty(len(names), np.uint32)
    rank[order] = np.arange(len(names), dtype=np.uint32)
    numbers = [np.from_dlpack(chunk.indices) for chunk in encoded.chunks]
    sources, targets = (_rename(each, rank, np.empty(len(each), np.uint32)) for each in numbers)
    return names[order].astype(np.int64), sources, targets
