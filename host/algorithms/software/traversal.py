"""Breadth-first search, which the algorithms share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Csr
from sim.caching.code import njit

__all__ = ["NOTHING", "Marking", "expand", "search"]

NOTHING = int(np.iinfo(np.int64).min)
"""A mark that no vertex has."""


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

    Returns
    -------
    int
        Where what was written ends.
    """
    offsets, targets = graph
    old, new, met, joined = marking
    for place in range(first, last):
        vertex = frontier[place]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
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
    return count


@njit(cache=True, nogil=True)
def search(graph: Csr, marks: NDArray[np.int64], marking: Marking, queue: NDArray[np.uint32]) -> int:
    """Mark all that is reached from the first vertex of a queue, and append it to the queue.

    Parameters
    ----------
    graph, marks, marking
        As of `expand`.
    queue : ndarray of uint32, shape (n,)
        ``queue[0]`` is the source.

    Returns
    -------
    int
        Vertices in the queue.
    """
    first, last = 0, 1
    while first < last:
        end = expand(graph, marks, marking, queue, first, last, queue, last)
        first, last = last, end
    return last
