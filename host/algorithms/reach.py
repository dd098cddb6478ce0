"""What searches reached, counted from their reach queues with vertices that were pushed twice taken once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numba import njit

from sim.graph_word import DEGREE, LEVEL, VISITED, Field

__all__ = ["ReachAccount", "compact", "first_uncoloured", "levels_of", "levels_of_words"]


@njit(cache=True, nogil=True)
def _distinct(
    words: npt.NDArray[np.uint64],
    reach: npt.NDArray[np.uint32],
    entries: int,
    stamps: npt.NDArray[np.uint32],
    stamp: int,
    degree: Field,
) -> tuple[int, int]:
    vertices = 0
    edges = 0
    for place in range(entries):
        vertex = reach[place]
        if stamps[vertex] != stamp:
            stamps[vertex] = stamp
            vertices += 1
            # Signed and unsigned would add up to a float.
            count = np.int64(words[vertex] >> degree.shift & degree.mask)
            edges += count  # type: ignore[assignment]  # compiled, it is an integer like any other
    return vertices, edges


@njit(cache=True, nogil=True)
def _first_zero(colours: npt.NDArray[np.uint32], begin: int) -> int:
    vertex = begin
    while vertex < colours.size and colours[vertex] != 0:
        vertex += 1
    return vertex


@njit(cache=True, nogil=True)
def _levels(
    reach: npt.NDArray[np.uint32], entries: int, ends: npt.NDArray[np.int64], levels: npt.NDArray[np.int32]
) -> None:
    level = 0
    for place in range(entries):
        while place >= ends[level]:
            level += 1
        if levels[reach[place]] < 0:
            levels[reach[place]] = level


@njit(cache=True, nogil=True)
def _compact(reach: npt.NDArray[np.uint32], counts: npt.NDArray[np.int64], seen: npt.NDArray[np.bool_]) -> None:
    kept = 0
    place = 0
    for level in range(counts.size):
        first = kept
        for _ in range(counts[level]):
            vertex = reach[place]
            place += 1
            if not seen[vertex]:
                seen[vertex] = True
                reach[kept] = vertex
                kept += 1
        counts[level] = kept - first


def compact(reach: npt.NDArray[np.uint32], counts: list[int], *, vertices: int) -> list[int]:
    """Take vertices that were pushed again out of a reach queue, in place; the order stays.

    Parameters
    ----------
    reach : ndarray of uint32
        The reach queue.
    counts : list of int
        Entries of the source (one) and of each level after it.
    vertices : int
        Vertices of the graph.

    Returns
    -------
    list of int
        The entries that are left of each.
    """
    left = np.array(counts, np.int64)
    _compact(reach, left, np.zeros(vertices, np.bool_))
    return left.tolist()


class ReachAccount:
    """Counts the vertices that searches reached and the edges that leave them, at a cost of the vertices reached.

    Parameters
    ----------
    vertices : int
        Vertices of the graph.
    """

    def __init__(self, vertices: int) -> None:
        self._stamps = np.zeros(vertices, np.uint32)
        self._searches = 0

    def count(self, words: npt.NDArray[np.uint64], reach: npt.NDArray[np.uint32], *, entries: int) -> tuple[int, int]:
        """Count one search.

        Parameters
        ----------
        words : ndarray of uint64, shape (vertices,)
            Graph words of the direction that was searched.
        reach : ndarray of uint32
            Its reach queue.
        entries : int
            Entries of the reach queue, at least one.

        Returns
        -------
        vertices : int
            Distinct vertices reached.
        edges : int
            Edges that leave them in the direction searched.
        """
        self._searches += 1
        return _distinct(words, reach, entries, self._stamps, self._searches, DEGREE)


def first_uncoloured(colours: npt.NDArray[np.uint32], begin: int) -> int:
    """Return the first vertex from `begin` on whose colour is 0, or the number of vertices when there is none."""
    return _first_zero(colours, begin)


def levels_of(reach: npt.NDArray[np.uint32], counts: Sequence[int], *, vertices: int) -> npt.NDArray[np.int32]:
    """Return each vertex's level from the reach queue of a search.

    Parameters
    ----------
    reach : ndarray of uint32
        The reach queue: the source, then the vertices of level 1, 2, ...
    counts : sequence of int
        Entries of the source (one) and of each level after it.
    vertices : int
        Vertices of the graph.

    Returns
    -------
    ndarray of int32, shape (vertices,)
        The level, -1 where a vertex was not reached.
    """
    levels = np.full(vertices, -1, np.int32)
    ends = np.cumsum(counts, dtype=np.int64)
    _levels(reach, int(ends[-1]), ends, levels)
    return levels


def levels_of_words(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    """Return each vertex's level from graph words that a search wrote levels into.

    Parameters
    ----------
    words : ndarray of uint64, shape (vertices,)
        The level where the word is visited, and what was there before the search elsewhere.

    Returns
    -------
    ndarray of int32, shape (vertices,)
        The level, -1 where a vertex was not reached.
    """
    levels: npt.NDArray[np.int32] = LEVEL.get(words).astype(np.int32)
    levels[VISITED.get(words) == 0] = -1
    return levels
