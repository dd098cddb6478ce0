"""Layout of graph and queues in coprocessor memory (Attia et al. 2015, sections 3.1 and 4.2).

Digests detect changes of the arrays without a copy.
"""

from dataclasses import dataclass, replace
from hashlib import shake_256
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cyscc.host.graph.csr import ID_BYTES, OFFSET_BYTES, Graph
from cyscc.host.graph.loops import loop
from cyscc.sim.coprocessor import ArrayKind, Coprocessor
from cyscc.sim.hardware import DEGREE, START, VISITED

_SLACK_FLOOR = 65_536

BLOCK_BYTES = 4096
"""Bytes covered by one digest."""

# Odd, so that multiplication by a key is invertible. The digests detect errors, not attacks, so keys may be public.
_KEYS = np.frombuffer(shake_256(b"keys of ids").digest(2 * BLOCK_BYTES), np.uint64) | np.uint64(1)


def default_slack(vertices: int) -> int:
    """Return the default slack: queue entries reserved for duplicates, beyond one entry for each vertex.

    Random graphs have some hundreds to thousands of duplicates, almost independently of their size; graphs with
    parallel edges can have thousands in each level. 65,536 plus a quarter of the vertices is an assumption with a wide
    margin. If a level does not fit, the run restarts with more slack.
    """
    return _SLACK_FLOOR + vertices // 4


def simulation_bytes(vertices: int, edges: int, *, directions: int, capacity: int, verify: bool) -> int:
    """Return an upper bound of the bytes that a simulation takes in addition to the graph as read.

    Parameters
    ----------
    vertices, edges : int
        Size of the graph.
    directions : int
        1 for a search; 2 for components, which need the transpose.
    capacity : int
        Entries of each queue.
    verify : bool
        Whether the result is checked.
    """
    # Two frontier queues, and a reach queue for each direction.
    queues = capacity * (2 * OFFSET_BYTES + directions * ID_BYTES)
    words = directions * OFFSET_BYTES * vertices
    # Targets are copied to the simulated memory array by array, so one of them exists twice for a while.
    targets = directions * ID_BYTES * edges
    transposed = (directions - 1) * OFFSET_BYTES * vertices
    # Colours or levels, the host's counters, and labels.
    results = directions * 3 * ID_BYTES * vertices
    # Checking components takes a cursor, five numbers and a label of each vertex; checking a search a queue and levels.
    check = (directions - 1) * (OFFSET_BYTES + 6 * ID_BYTES) * vertices + 2 * ID_BYTES * vertices
    # By then the host's copies of placed arrays are freed.
    placed = (directions - 1) * ID_BYTES * edges
    most = max(targets, placed + check) if verify else targets
    return queues + words + transposed + results + most


def block_digests(ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """Return a digest of each block of an array: the sum of its ids, each times a key of its position, modulo 2**64.

    Changing one id changes the sum by less than 2**32 times an odd key, which is never a multiple of 2**64. So every
    change of a single id is detected, including every bit flip. Changes of several ids, independent of the keys, cancel
    with a probability of at most 2**-32.

    Parameters
    ----------
    ids : ndarray of uint32
        The array; the last block may be shorter.

    Returns
    -------
    ndarray of uint64, shape (blocks,)
    """
    digests = np.empty(-(-4 * ids.size // BLOCK_BYTES), np.uint64)
    loop("digest", ids, ids.size, _KEYS, _KEYS.size, digests)
    return digests


@dataclass(frozen=True, kw_only=True)
class PlacedGraph:
    """A graph, in one direction, in coprocessor memory.

    Parameters
    ----------
    graph : Graph
        The graph; its `targets` are a view of the coprocessor's memory, so that they exist only once.
    words_address : int
        Address of R, the 64-bit graph words.
    neighbours_address : int
        Address of C, the 32-bit neighbour ids.
    words : ndarray of uint64, shape (vertices,)
        View of R in coprocessor memory. Use it only between instructions.
    digests : ndarray of uint64, shape (blocks,)
        Digests of the neighbour ids, made before the upload; see `block_digests`.
    name : str
        Name for messages.
    """

    graph: Graph
    words_address: int
    neighbours_address: int
    words: npt.NDArray[np.uint64]
    digests: npt.NDArray[np.uint64]
    name: str = "graph"

    @classmethod
    def place(cls, coprocessor: Coprocessor, graph: Graph, *, name: str = "graph") -> Self:
        """Upload a graph. Drop the caller's `graph` afterwards and use this object's, so that edges exist only once.

        The graph words are written by `reset`.

        Parameters
        ----------
        coprocessor : Coprocessor
            The coprocessor.
        graph : Graph
            The graph, in host memory.
        name : str
            Name for messages.
        """
        words_address = coprocessor.allocate(8 * graph.vertices, holds=ArrayKind.WORDS)
        # Reads of pairs go to the end of the last pair.
        ids = graph.edges + graph.edges % 2 if coprocessor.config.pair_reads else graph.edges
        neighbours_address = coprocessor.allocate(max(ID_BYTES * ids, ID_BYTES), holds=ArrayKind.NEIGHBOURS)
        neighbours = coprocessor.view(neighbours_address, np.uint32, graph.edges)
        neighbours[:] = graph.targets
        return cls(
            graph=replace(graph, targets=neighbours),
            words_address=words_address,
            neighbours_address=neighbours_address,
            words=coprocessor.view(words_address, np.uint64, graph.vertices),
            digests=block_digests(graph.targets),
            name=name,
        )

    @property
    def size(self) -> int:
        """Bytes that the graph takes in coprocessor memory."""
        return 8 * self.graph.vertices + 4 * self.graph.edges

    def reset(self, visited: npt.NDArray[np.bool_]) -> None:
        """Initialize all graph words.

        Parameters
        ----------
        visited : ndarray of bool, shape (vertices,)
            The vertices whose visited bit is set.
        """
        fields = np.array([START, DEGREE, VISITED], np.uint64)
        loop("write_words", self.graph.offsets, visited, self.words, self.words.size, fields)


@dataclass(frozen=True, kw_only=True)
class MemoryArray:
    """An array in coprocessor memory.

    Parameters
    ----------
    address : int
        Its address.
    values : ndarray
        View of the array. Use it only between instructions.
    """

    address: int
    values: npt.NDArray[Any]

    @classmethod
    def allocate(cls, coprocessor: Coprocessor, dtype: npt.DTypeLike, size: int, *, holds: ArrayKind) -> Self:
        """Allocate an array of `size` entries."""
        address = coprocessor.allocate(np.dtype(dtype).itemsize * size, holds=holds)
        return cls(address=address, values=coprocessor.view(address, dtype, size))


@dataclass(frozen=True, kw_only=True)
class QueueArrays:
    """The queues of a run: two frontier queues of 8-byte words, one reach queue of 4-byte ids for each direction.

    Parameters
    ----------
    capacity : int
        Entries of each queue.
    frontiers : tuple of MemoryArray
        The two frontier queues, of uint64; the current and the next one swap after every level.
    reaches : tuple of MemoryArray
        The reach queues, of uint32.
    """

    capacity: int
    frontiers: tuple[MemoryArray, ...]
    reaches: tuple[MemoryArray, ...]

    @classmethod
    def allocate(cls, coprocessor: Coprocessor, *, capacity: int, directions: int) -> Self:
        """Allocate the queues of a run that searches in one or two directions."""

        def reserve(dtype: npt.DTypeLike, count: int) -> tuple[MemoryArray, ...]:
            return tuple(
                MemoryArray.allocate(coprocessor, dtype, capacity, holds=ArrayKind.QUEUES) for _ in range(count)
            )

        return cls(capacity=capacity, frontiers=reserve(np.uint64, 2), reaches=reserve(np.uint32, directions))
