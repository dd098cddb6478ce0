"""A growing list of edges, and the numbering of the ids that occur in it."""

from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Graph, check_limits
from host.graph.growing import Growing
from host.memory_room import check_room
from sim.caching.code import njit

__all__ = ["EdgeBuffer"]

_LARGEST_SHORT = 2**32 - 1
_DENSE = 1 << 20  # a table of the ids up to here is always small
_BATCH = 1 << 18
_GOLDEN = 0x9E3779B97F4A7C15

_Ends: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]
_Compacted: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]


@njit(cache=True, nogil=True)
def _mark(ends: _Ends, rank: NDArray[np.uint32]) -> None:
    for end in ends:
        rank[end] = 1


@njit(cache=True, nogil=True)
def _rename(ends: _Ends, rank: NDArray[np.uint32], renamed: NDArray[np.uint32]) -> None:
    for index in range(len(ends)):
        renamed[index] = rank[ends[index]]


@njit(cache=True, nogil=True, inline="always")
def _slot(keys: NDArray[np.int64], key: int) -> np.int64:
    """Find the place of `key`, or the free one where it belongs, in an open-addressed table of 2**k places."""
    mask = len(keys) - 1
    mixed = np.uint64(key) * np.uint64(_GOLDEN)
    place = np.int64(mixed ^ (mixed >> np.uint64(32))) & mask
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True)
def _number(
    ends: _Ends,
    keys: NDArray[np.int64],
    values: NDArray[np.uint32],
    names: NDArray[np.int64],
    count: int,
    numbers: NDArray[np.uint32],
) -> int:
    """Give ids numbers in the order in which they first occur, and return how many there are then."""
    for index in range(len(ends)):
        key = np.int64(ends[index])
        place = _slot(keys, key)
        if keys[place] < 0:
            keys[place] = key
            values[place] = count
            names[count] = key
            count += 1
        numbers[index] = values[place]
    return count


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

    def _take(self) -> tuple[_Ends, _Ends]:
        """Hand over sources and targets, ndarrays of uint32 (or uint64, when an id needs it)."""
        sources, targets = self._ends.take()
        return sources, targets

    def graph(self, vertices: int, *, base: int) -> Graph:
        """Build the graph of vertices called `base` to `base` + `vertices` - 1, and empty the buffer."""
        sources, targets = (_renamed(ends) for ends in self._take())
        sources -= np.uint32(base)
        targets -= np.uint32(base)
        return Graph.from_edges(vertices, sources, targets, base=base)

    def compact(self) -> _Compacted:
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
        ends = self._take()
        return _compact_dense(ends, self._largest) if dense else _compact_sparse(ends)


def _renamed(ends: _Ends) -> NDArray[np.uint32]:
    """Return the array for the new numbers of `ends`: the same memory when they are as wide."""
    return cast(NDArray[np.uint32], ends) if ends.dtype == np.uint32 else np.empty(len(ends), dtype=np.uint32)


def _compact_dense(pair: tuple[_Ends, _Ends], largest: int) -> _Compacted:
    """Replace ids through a table of all ids up to the largest."""
    rank = np.zeros(largest + 1, dtype=np.uint32)
    for ends in pair:
        _mark(ends, rank)
    ids = np.flatnonzero(rank).astype(np.int64, copy=False)
    check_limits(len(ids), 0)
    rank[ids] = np.arange(len(ids), dtype=np.uint32)
    renamed = _renamed(pair[0]), _renamed(pair[1])
    for ends, numbers in zip(pair, renamed, strict=True):
        _rename(ends, rank, numbers)
    return ids, *renamed


def _empty_table(places: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    check_room("the ids of the vertices", places * (8 + 4))
    return np.full(places, -1, dtype=np.int64), np.empty(places, dtype=np.uint32)


def _compact_sparse(pair: tuple[_Ends, _Ends]) -> _Compacted:
    """Replace ids through a hash table."""
    names = np.empty(_BATCH, dtype=np.int64)
    keys, values = _empty_table(4 * _BATCH)
    count = 0
    renamed = _renamed(pair[0]), _renamed(pair[1])
    for ends, numbers in zip(pair, renamed, strict=True):
        for start in range(0, len(ends), _BATCH):
            batch = slice(start, start + _BATCH)
            most = count + len(ends[batch])
            if most > len(names):
                names.resize(2 * most, refcheck=False)
            if 2 * most > len(keys):
                keys, values = _empty_table(2 * len(keys))
                _number(names[:count], keys, values, names, 0, np.empty(count, dtype=np.uint32))
            count = _number(ends[batch], keys, values, names, count, numbers[batch])
            check_limits(count, 0)
    order = np.argsort(names[:count])
    rank = np.empty(count, dtype=np.uint32)
    rank[order] = np.arange(count, dtype=np.uint32)
    for numbers in renamed:
        _rename(numbers, rank, numbers)
    return names[:count][order], *renamed
