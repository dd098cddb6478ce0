"""Breadth-first search, which the algorithms share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Csr
from sim.caching.code import njit

__all__ = ["NOTHING", "Marking", "counts", "expand", "new_tally", "search"]

NOTHING = int(np.iinfo(np.int64).min)
"""A mark that no vertex has."""


def new_tally() -> NDArray[np.int64]:
    """Return an array that is added to: edges looked at, and passes, each of which waits for the one before."""
    return np.zeros(2, np.int64)


def counts(*tallies: NDArray[np.int64]) -> dict[str, int]:
    """Return what tallies come to, as an algorithm counts it."""
    edges, passes = sum(tallies, new_tally()).tolist()
    return {"edges": edges, "passes": passes}


class Marking(NamedTuple):
    """Which neighbours a search reaches, and how it marks them."""

    old: int | np.int64
    """The mark of a neighbour that is reached."""
    new: int | np.int64
    """The mark that it gets."""
    met: int | np.int64
    """Another mark of neighbours that are reached."""
    joined: int | np.int64
    """The mark that those get."""


@njit(cache=True, nogil=True)
def expand(
    graph: Csr,
    marks: NDArray[np.int64],
    marking: Marking,
    frontier: NDArray[np.uint32],
    first: int,
    last: int,
    out: NDArray[np.uint32],
    count: int,
    tally: NDArray[np.int64],
) -> int:
    """Mark the neighbours of a part of a frontier, and append them to an array.

    Parameters
    ----------
    graph : Csr
        The graph.
    marks : ndarray of int64, shape (n,)
        A mark for each vertex; changed.
    marking : Marking
        Which neighbours are reached, and the marks that they get.
    frontier : ndarray of uint32
        The part is ``frontier[first:last]``.
    first, last : int
        Where it stands.
    out : ndarray of uint32
        What is reached is written from ``out[count]`` on.
    count : int
        Where to begin.
    tally : ndarray of int64, shape (2,)
        Of `new_tally`: the edges are added to it, not the pass.

    Returns
    -------
    int
        Where what was written ends.
    """
    offsets, targets = graph
    old, new, met, joined = marking
    looked = 0
    for place in range(first, last):
        vertex = frontier[place]
        begin, end = offsets[vertex], offsets[vertex + 1]
        looked += end - begin
        for edge in range(begin, end):
            target = targets[edge]
            mark = marks[target]
            if mark == old:
                marks[target] = new
            elif mark == met:
                marks[target] = joined
            else:
                continue
            out[count] = target
            count += 1
    tally[0] += looked
    return count


@njit(cache=True, nogil=True)
def search(
    graph: Csr, marks: NDArray[np.int64], marking: Marking, queue: NDArray[np.uint32], tally: NDArray[np.int64]
) -> int:
    """Mark all that is reached from the first vertex of a queue, and append it to the queue.

    Parameters
    ----------
    graph, marks, marking
        As of `expand`.
    queue : ndarray of uint32, shape (n,)
        ``queue[0]`` is the source.
    tally : ndarray of int64, shape (2,)
        Of `new_tally`: edges are added to it, and a pass for each level.

    Returns
    -------
    int
        Vertices in the queue.
    """
    first, last = 0, 1
    while first < last:
        end = expand(graph, marks, marking, queue, first, last, queue, last, tally)
        tally[1] += 1
        first, last = last, end
    return last
