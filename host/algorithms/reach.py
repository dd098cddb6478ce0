"""What searches wrote into their queues: whether it can be, and what they reached, vertices pushed twice taken once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from host.words import counted
from sim.caching.code import njit
from sim.errors import SimulationError
from sim.hardware import DEGREE, LEVEL, START, VISITED, Field

__all__ = [
    "ReachAccount",
    "check_colours",
    "check_frontier",
    "compact",
    "first_uncoloured",
    "levels_of",
    "levels_of_words",
]


@njit(cache=True, nogil=True)
def _first_beyond(frontier: npt.NDArray[np.uint64], edges: int, fields: tuple[Field, Field]) -> int:
    start, degree = fields
    for place in range(frontier.size):
        word = frontier[place]
        if np.int64(word >> start.shift & start.mask) + np.int64(word >> degree.shift & degree.mask) > edges:
            return place
    return frontier.size


def check_frontier(frontier: npt.NDArray[np.uint64], *, edges: int, name: str) -> None:
    """Refuse a frontier queue in which a graph word has neighbours that the graph has not.

    The hardware would read on up to the end of the memory, for hours where that is large.

    Parameters
    ----------
    frontier : ndarray of uint64
        The entries of the queue.
    edges : int
        Edges of the graph.
    name : str
        What messages call it.

    Raises
    ------
    SimulationError
        There is such an entry.
    """
    place = _first_beyond(frontier, edges, (START, DEGREE))
    if place < frontier.size:
        raise SimulationError(
            f"entry {place} of a frontier queue is {int(frontier[place]):#x}: "
            f"the {name} has no such neighbours, only {counted(edges, 'edge')}"
        )


def _check_ids(ids: npt.NDArray[np.uint32], *, vertices: int, name: str) -> None:
    """Refuse entries of a reach queue that are no vertices, before anything is looked up by them."""
    if ids.size and ids.max() >= vertices:
        place = int((ids >= vertices).argmax())
        raise SimulationError(
            f"entry {place} of the reach queue of the {name} is {ids[place]}: "
            f"there are {counted(vertices, 'vertex', 'vertices')}"
        )


@njit(cache=True, nogil=True)
def _distinct(
    words: npt.NDArray[np.uint64],
    reach: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int64],
    stamps: npt.NDArray[np.uint32],
    stamp: int,
    degree: Field,
    found: npt.NDArray[np.int64],
) -> None:
    place = 0
    for part in range(counts.size):
        for _ in range(counts[part]):
            vertex = reach[place]
            if stamps[vertex] != stamp:
                stamps[vertex] = stamp
                found[part, 0] += 1
                # Signed and unsigned would add up to a float.
                found[part, 1] += np.int64(words[vertex] >> degree.shift & degree.mask)
            place += 1


def _first_places(entries: npt.NDArray[np.uint32], vertices: int) -> npt.NDArray[np.int64]:
    """Return the first place at which each vertex stands, -1 where it does not."""
    first = np.full(vertices, -1, np.int64)
    # Of assignments to one place the last one stays.
    first[entries[::-1]] = np.arange(entries.size)[::-1]
    return first


def compact(reach: npt.NDArray[np.uint32], counts: list[int], *, vertices: int, name: str) -> list[int]:
    """Take vertices that were pushed again out of a reach queue, in place; the order stays.

    Parameters
    ----------
    reach : ndarray of uint32
        The reach queue.
    counts : list of int
        Entries of the source (one) and of each level after it.
    vertices : int
        Vertices of the graph.
    name : str
        What messages call the graph.

    Returns
    -------
    list of int
        The entries that are left of each.

    Raises
    ------
    SimulationError
        An entry is no vertex.
    """
    entries = reach[: sum(counts)]
    _check_ids(entries, vertices=vertices, name=name)
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

    def count(
        self, words: npt.NDArray[np.uint64], reach: npt.NDArray[np.uint32], counts: Sequence[int], *, name: str
    ) -> npt.NDArray[np.int64]:
        """Count the distinct vertices of each part of a reach queue that no part before it has, and their edges.

        Parameters
        ----------
        words : ndarray of uint64, shape (vertices,)
            Graph words of the direction that was searched.
        reach : ndarray of uint32
            The reach queue: the source, then the vertices of level 1, 2, ...
        counts : sequence of int
            Entries of each part.
        name : str
            What messages call the graph.

        Returns
        -------
        ndarray of int64, shape (parts, 2)
            Vertices, and edges that leave them in the direction searched.

        Raises
        ------
        SimulationError
            An entry is no vertex.
        """
        sizes = np.array(counts, np.int64)
        _check_ids(reach[: sizes.sum()], vertices=words.size, name=name)
        self._searches += 1
        found = np.zeros((sizes.size, 2), np.int64)
        _distinct(words, reach, sizes, self._stamps, self._searches, DEGREE, found)
        return found


@njit(cache=True, nogil=True)
def first_uncoloured(colours: npt.NDArray[np.uint32], begin: int) -> int:
    """Return the first vertex from `begin` on whose colour is 0, or the number of vertices when there is none."""
    vertex = begin
    while vertex < colours.size and colours[vertex] != 0:
        vertex += 1
    return vertex


def check_colours(colours: npt.NDArray[np.uint32], components: int) -> None:
    """Refuse colours that are not those of so many components.

    Parameters
    ----------
    colours : ndarray of uint32, shape (vertices,)
        Colour of each vertex, 1 to `components`.
    components : int
        Number of components.

    Raises
    ------
    SimulationError
        A colour is none of them, or one of them has no vertex.
    """
    # Of 0 and whatever else is beyond, each less one: that is above all others.
    beyond = colours - np.uint32(1) >= components
    if beyond.any():
        vertex = int(beyond.argmax())
        raise SimulationError(f"vertex {vertex} has the colour {colours[vertex]}: there are {components} of them")
    used = np.zeros(components, np.bool_)
    used[colours - np.uint32(1)] = True
    if not used.all():
        raise SimulationError(f"no vertex has the colour {int(used.argmin()) + 1} of {components}")


def levels_of(
    reach: npt.NDArray[np.uint32], counts: Sequence[int], *, vertices: int, name: str
) -> npt.NDArray[np.int32]:
    """Return each vertex's level from the reach queue of a search.

    Parameters
    ----------
    reach : ndarray of uint32
        The reach queue: the source, then the vertices of level 1, 2, ...
    counts : sequence of int
        Entries of the source (one) and of each level after it.
    vertices : int
        Vertices of the graph.
    name : str
        What messages call the graph.

    Returns
    -------
    ndarray of int32, shape (vertices,)
        The level, -1 where a vertex was not reached.

    Raises
    ------
    SimulationError
        An entry is no vertex.
    """
    entries = reach[: sum(counts)]
    _check_ids(entries, vertices=vertices, name=name)
    first = _first_places(entries, vertices)
    levels = np.searchsorted(np.cumsum(counts), first, side="right").astype(np.int32)
    levels[first < 0] = -1
    return levels


def levels_of_words(words: npt.NDArray[np.uint64], *, deepest: int, name: str) -> npt.NDArray[np.int32]:
    """Return each vertex's level from graph words that a search wrote levels into.

    Parameters
    ----------
    words : ndarray of uint64, shape (vertices,)
        The level where the word is visited, and what was there before the search elsewhere.
    deepest : int
        The deepest level that the search can have found.
    name : str
        What messages call the graph.

    Returns
    -------
    ndarray of int32, shape (vertices,)
        The level, -1 where a vertex was not reached.

    Raises
    ------
    SimulationError
        A level is deeper.
    """
    levels: npt.NDArray[np.int32] = LEVEL.get(words).astype(np.int32)
    levels[VISITED.get(words) == 0] = -1
    vertex = int(levels.argmax())
    if levels[vertex] > deepest:
        raise SimulationError(
            f"graph word {vertex} of the {name} holds level {levels[vertex]}: the search ended at level {deepest}"
        )
    return levels
