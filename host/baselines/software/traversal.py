"""Breadth-first search, shared by the algorithms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.caching.numba_code import njit

NOTHING = int(np.iinfo(np.int64).min)
"""A mark that no vertex has."""


def new_tally() -> NDArray[np.int64]:
    """Return a zeroed tally: edges inspected, and passes, which depend on each other in sequence."""
    return np.zeros(2, np.int64)


def counts(*tallies: NDArray[np.int64]) -> dict[str, int]:
    """Return the sum of tallies as counts of an algorithm."""
    edges, passes = sum(tallies, new_tally()).tolist()
    return {"edges": edges, "passes": passes}


class Marking(NamedTuple):
    """Marks of neighbours that a search reaches, and the marks that it assigns."""

    old: int | np.int64
    """Mark of neighbours to reach."""
    new: int | np.int64
    """Mark that they get."""
    met: int | np.int64
    """Second mark of neighbours to reach."""
    joined: int | np.int64
    """Mark that these get."""


class View(NamedTuple):
    """Inputs of a thread's search: a graph in one direction, the marks, and the thread's tally."""

    offsets: NDArray[np.int64]
    """int64, shape (n + 1,)."""
    targets: NDArray[np.uint32]
    """uint32, shape (m,)."""
    marks: NDArray[np.int64]
    """int64, shape (n,): a mark for each vertex."""
    tally: NDArray[np.int64]
    """Tally made by `new_tally`."""


@njit(cache=True, nogil=True)
def expand(
    view: View, marking: Marking, frontier: NDArray[np.uint32], first: int, last: int, out: NDArray[np.uint32], end: int
) -> int:
    """Mark the reached neighbours of a part of a frontier, and append them to an array.

    Parameters
    ----------
    view : View
        The graph; marks are changed, and the edges are added to the tally, not the pass.
    marking : Marking
        Which neighbours are reached, and the marks that they get.
    frontier : ndarray of uint32
        The part is ``frontier[first:last]``.
    first, last : int
        Range of the part.
    out : ndarray of uint32
        Output, written from ``out[end]`` on.
    end : int
        Start of the output.

    Returns
    -------
    int
        End of the output.
    """
    offsets, targets, marks, tally = view
    old, new, met, joined = marking
    looked = 0
    for place in range(first, last):
        vertex = frontier[place]
        begin, behind = offsets[vertex], offsets[vertex + 1]
        looked += behind - begin
        for edge in range(begin, behind):
            target = targets[edge]
            mark = marks[target]
            if mark == old:
                marks[target] = new
            elif mark == met:
                marks[target] = joined
            else:
                continue
            out[end] = target
            end += 1
    tally[0] += looked
    return end


@njit(cache=True, nogil=True)
def search(view: View, marking: Marking, queue: NDArray[np.uint32], last: int, most: int) -> tuple[int, int]:
    """Search from the first vertices of a queue while a level has at most a number of vertices.

    Parameters
    ----------
    view, marking
        See `expand`; each level adds a pass to the tally.
    queue : ndarray of uint32
        Its first vertices are the sources; those that are reached are appended.
    last, most : int
        Number of sources; most vertices of a level that is expanded.

    Returns
    -------
    tuple of int
        Range of the level that is not expanded; if it is empty, the search has ended, and this is the queue's end.
    """
    first = 0
    while first < last <= first + most:
        first, last = last, expand(view, marking, queue, first, last, queue, last)
        view.tally[1] += 1
    return first, last
