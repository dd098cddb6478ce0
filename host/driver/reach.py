"""Checks and evaluation of queues written by searches: distinct vertices reached, their levels and edges."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cyscc.host.graph.loops import loop
from cyscc.host.output.text import count_text
from cyscc.sim.errors import SimulationError
from cyscc.sim.hardware import DEGREE, LEVEL, START, VISITED


def check_frontier(frontier: npt.NDArray[np.uint64], *, edges: int, name: str) -> None:
    """Refuse a frontier queue with a graph word whose neighbours lie outside the graph's edges.

    The hardware would read on up to the end of the memory, which can take hours.

    Parameters
    ----------
    frontier : ndarray of uint64
        The entries of the queue.
    edges : int
        Edges of the graph.
    name : str
        Name for messages.

    Raises
    ------
    SimulationError
        There is such an entry.
    """
    place = loop("first_beyond", frontier, frontier.size, edges, np.array([START, DEGREE], np.uint64))
    if place < frontier.size:
        raise SimulationError(
            f"entry {place} of a frontier queue is {int(frontier[place]):#x}: "
            f"the {name} has no such neighbours, only {count_text(edges, 'edge')}"
        )


def _check_ids(ids: npt.NDArray[np.uint32], *, vertices: int, name: str) -> None:
    """Refuse entries of a reach queue that are not vertices, before they are used as indices."""
    if ids.size and ids.max() >= vertices:
        place = int((ids >= vertices).argmax())
        raise SimulationError(
            f"entry {place} of the reach queue of the {name} is {ids[place]}: "
            f"there are {count_text(vertices, 'vertex')}"
        )


def _first_places(entries: npt.NDArray[np.uint32], vertices: int) -> npt.NDArray[np.int64]:
    """Return the index of the first entry of each vertex, or -1."""
    first = np.full(vertices, -1, np.int64)
    # In reverse order: of several assignments to an index, the last one wins.
    first[entries[::-1]] = np.arange(entries.size)[::-1]
    return first


def compact(reach: npt.NDArray[np.uint32], counts: list[int], *, vertices: int, name: str) -> list[int]:
    """Remove duplicates from a reach queue, in place and in order.

    Parameters
    ----------
    reach : ndarray of uint32
        The reach queue.
    counts : list of int
        Entries of the source (one) and of each level after it.
    vertices : int
        Vertices of the graph.
    name : str
        Name of the graph for messages.

    Returns
    -------
    list of int
        Remaining entries of the source and of each level.

    Raises
    ------
    SimulationError
        An entry is not a vertex.
    """
    entries = reach[: sum(counts)]
    _check_ids(entries, vertices=vertices, name=name)
    first = _first_places(entries, vertices)
    kept = first[entries] == np.arange(entries.size)
    left = [int(np.count_nonzero(part)) for part in np.split(kept, np.cumsum(counts)[:-1])]
    reach[: sum(left)] = entries[kept]
    return left


class ReachAccount:
    """Counts the vertices that searches reached and their out-edges, in time linear in the vertices reached.

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
        """Count, for each part of a reach queue, the vertices that first occur in it, and their out-edges.

        Parameters
        ----------
        words : ndarray of uint64, shape (vertices,)
            Graph words of the direction that was searched.
        reach : ndarray of uint32
            The reach queue: the source, then the vertices of level 1, 2, ...
        counts : sequence of int
            Entries of each part.
        name : str
            Name of the graph for messages.

        Returns
        -------
        ndarray of int64, shape (parts, 2)
            Vertices, and their out-edges in the direction searched.

        Raises
        ------
        SimulationError
            An entry is not a vertex.
        """
        self._searches += 1
        found = np.zeros((len(counts), 2), np.int64)
        parts, degree = np.array(counts, np.int64), np.array([DEGREE], np.uint64)
        stamps = self._stamps
        if loop("distinct", words, reach, parts, parts.size, stamps, stamps.size, self._searches, degree, found):
            _check_ids(reach[: sum(counts)], vertices=words.size, name=name)
        return found


def first_uncoloured(colours: npt.NDArray[np.uint32], begin: int) -> int:
    """Return the first vertex from `begin` on whose colour is 0, or the number of vertices if there is none."""
    return loop("first_uncoloured", colours, colours.size, begin)


def check_colours(colours: npt.NDArray[np.uint32], components: int) -> None:
    """Check that the colours are exactly 1 to `components`.

    Parameters
    ----------
    colours : ndarray of uint32, shape (vertices,)
        Colour of each vertex, 1 to `components`.
    components : int
        Number of components.

    Raises
    ------
    SimulationError
        A colour is out of range, or a colour has no vertex.
    """
    # Colours less one: 0 wraps around, so that all values out of range exceed the valid ones.
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
        Name of the graph for messages.

    Returns
    -------
    ndarray of int32, shape (vertices,)
        The level, -1 if a vertex was not reached.

    Raises
    ------
    SimulationError
        An entry is not a vertex.
    """
    entries = reach[: sum(counts)]
    _check_ids(entries, vertices=vertices, name=name)
    first = _first_places(entries, vertices)
    levels = np.searchsorted(np.cumsum(counts), first, side="right").astype(np.int32)
    levels[first < 0] = -1
    return levels


def levels_of_words(words: npt.NDArray[np.uint64], *, deepest: int, name: str) -> npt.NDArray[np.int32]:
    """Return each vertex's level from the graph words of a search that wrote levels into them.

    Parameters
    ----------
    words : ndarray of uint64, shape (vertices,)
        Graph words: visited words hold the level, others are unchanged.
    deepest : int
        Largest level possible.
    name : str
        Name of the graph for messages.

    Returns
    -------
    ndarray of int32, shape (vertices,)
        The level, -1 if a vertex was not reached.

    Raises
    ------
    SimulationError
        A level exceeds `deepest`.
    """
    levels: npt.NDArray[np.int32] = LEVEL.get(words).astype(np.int32)
    levels[VISITED.get(words) == 0] = -1
    vertex = int(levels.argmax())
    if levels[vertex] > deepest:
        raise SimulationError(
            f"graph word {vertex} of the {name} holds level {levels[vertex]}: the search ended at level {deepest}"
        )
    return levels
