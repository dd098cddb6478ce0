"""Breadth-first search, which the algorithms share."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["NOTHING", "expand", "search"]

NOTHING = np.int64(np.iinfo(np.int64).min)
"""A mark that no vertex has."""


@njit(cache=True, nogil=True)
def expand(
    offsets: NDArray[np.int64],
    targets: NDArray[np.uint32],
    marks: NDArray[np.int64],
    frontier: NDArray[np.uint32],
    first: int,
    last: int,
    old: int,
    new: int,
    met: int,
    joined: int,
    out: NDArray[np.uint32],
    count: int,
) -> int:
    """Mark the neighbours of a part of a frontier, and append them to an array.

    Parameters
    ----------
    offsets, targets : ndarray
        The graph, as in `host.graph.csr.Graph`.
    marks : ndarray of int64, shape (n,)
        A mark for each vertex; changed.
    frontier : ndarray of uint32
        The part is ``frontier[first:last]``.
    first, last : int
        Where it stands.
    old, new : int
        A neighbour with mark `old` is reached, and gets mark `new`.
    met, joined : int
        So is one with mark `met`, which gets `joined`.
    out : ndarray of uint32
        What is reached is written from ``out[count]`` on.
    count : int
        Where to begin.

    Returns
    -------
    int
        Where what was written ends.
    """
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
def search(
    offsets: NDArray[np.int64],
    targets: NDArray[np.uint32],
    marks: NDArray[np.int64],
    queue: NDArray[np.uint32],
    old: int,
    new: int,
    met: int,
    joined: int,
) -> int:
    """Mark all that is reached from the first vertex of a queue, and append it to the queue.

    Parameters
    ----------
    offsets, targets, marks, old, new, met, joined
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
        end = expand(offsets, targets, marks, queue, first, last, old, new, met, joined, queue, last)
        first, last = last, end
    return last
