"""Breadth-first search by one thread, which the algorithms share."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["NOTHING", "search"]

NOTHING = np.int64(np.iinfo(np.int64).min)
"""A mark that no vertex has."""


@njit(cache=True, nogil=True)
def search(
    offsets: NDArray[np.int64],
    targets: NDArray[np.uint32],
    marks: NDArray[np.int64],
    queue: NDArray[np.uint32],
    first: int,
    last: int,
    old: int,
    new: int,
    met: int,
    joined: int,
) -> int:
    """Mark all that is reached from the vertices of a queue, and append it to the queue.

    Parameters
    ----------
    offsets, targets : ndarray
        The graph, as in `host.graph.Graph`.
    marks : ndarray of int64, shape (n,)
        A mark for each vertex; changed.
    queue : ndarray of uint32
        The sources are ``queue[first:last]``; what they reach is appended.
    first, last : int
        Where the sources stand.
    old, new : int
        A vertex with mark `old` is reached, gets mark `new` and is searched from.
    met, joined : int
        So is one with mark `met`, which gets `joined`.

    Returns
    -------
    int
        End of the queue.
    """
    while first < last:
        vertex = queue[first]
        first += 1
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            target = targets[edge]
            mark = marks[target]
            if mark == old:
                marks[target] = new
            elif mark == met:
                marks[target] = joined
            else:
                continue
            queue[last] = target
            last += 1
    return last
