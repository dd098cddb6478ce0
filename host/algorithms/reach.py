"""What searches reached, counted from their reach queues with vertices that were pushed twice taken once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.caching.code import njit
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


def _first_places(entries: npt.NDArray[np.uint32], vertices: int) -> npt.NDArray[np.int64]:
    """Return the first place at which each vertex stands, -1 where it does not."""
    first = np.full(vertices, -1, np.int64)
    # Of assignments to one place the last one stays.
    first[entries[::-1]] = np.arange(entries.size)[::-1]
    return first


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
    entries = reach[: sum(counts)]
    first = _first_places(entries, vertices)
    kept = first[entries] == np.arange(entries.size)
    left = [int(np.count_nonzero(part)) for part in np.split(kept, np.cumsum(counts)[:-1])]
    reach[: sum(left)] = entries[kept]
    return left


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


@njit(cache=True, nogil=True)
def first_uncoloured(colours: npt.NDArray[np.uint32], begin: int) -> int:
    """Return the first vertex from `begin` on whose colour is 0, or the number of vertices when there is none."""
    vertex = begin
    while vertex < colours.size and colours[vertex] != 0:
        vertex += 1
    return vertex


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
    first = _first_places(reach[: sum(counts)], vertices)
    levels = np.searchsorted(np.cumsum(counts), first, side="right").astype(np.int32)
    levels[first < 0] = -1
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
