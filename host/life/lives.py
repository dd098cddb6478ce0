"""Lives of a waveform file: read, chosen by vertex and kernel, their vertices named by the graph.

A graph word says where in C the neighbours of its vertex begin, and how many they are. Where there are neighbours, no
other vertex has the same beginning; vertices without neighbours share theirs with what comes next.
"""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from host.errors import InputError
from host.graph.csr import Graph
from host.output import reason
from sim.hardware import DEGREE, START
from sim.observation.life import Life, Lives, read_lives
from sim.observation.wave_reader import WaveFileError, WaveReader

__all__ = ["chosen_lives", "directions_of", "name_lives", "select", "vertices_of"]

Vertices = npt.NDArray[np.int64]
"""Vertices, or what stands in the place of one."""

_NONE = -1
"""In the place of a vertex: the word is of none."""
_SEVERAL = -2
"""In the place of a vertex: it may be one of several."""


def chosen_lives(
    path: Path,
    *,
    of: Sequence[str] = (),
    first: int | None = None,
    option: str,
    name: Callable[[Lives], None] | None = None,
) -> tuple[Lives, list[Life]]:
    """Return all lives that begin in the window that a file shows, and those of them that are asked for.

    Parameters
    ----------
    path : pathlib.Path
        A VCD or FST file with all signals of the kernels that lives are wanted of.
    of, first
        As of `select`.
    option : str
        The option that `of` comes from, for messages.
    name : callable, optional
        Names the vertices, which `of` then means by these names.

    Raises
    ------
    InputError
        It cannot be read, shows no waveforms, or lacks a signal; nothing of what is asked for is there.
    """
    try:
        window = read_lives(WaveReader(path))
    except WaveFileError as error:
        raise InputError(str(error), path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
    if name is not None:
        name(window)
    try:
        return window, select(window, of=of, first=first)
    except InputError as error:
        raise InputError(f"{error.cause} ({option})", path=path) from None


def select(lives: Lives, *, of: Sequence[str] = (), first: int | None = None) -> list[Life]:
    """Return some of the lives of a window, in their order.

    Parameters
    ----------
    lives : Lives
        All of them.
    of : sequence of str
        A number stands for a vertex: its own lives, as neighbour and as queue entry, and those of the neighbours that
        come of that entry. Anything else stands for kernels: ``engine0.bfs3``, ``engine0`` for all of an AE, with
        ``*``, ``?`` and ``[]`` for several. What any of them stands for is shown; all, if there are none.
    first : int, optional
        Not more queue entries than this; neighbours only of these.

    Raises
    ------
    InputError
        No such kernel, or nothing in the window is of that vertex. Names what was asked for.
    """
    chosen = [life for life in lives.lives if not of]
    if of:
        vertices, kernels = set(), set()
        for word in of:
            if word.isdecimal():
                vertices.add(int(word))
            else:
                kernels |= _kernels(lives, word)
        chosen = [life for life in lives.lives if life.kernel in kernels or _is_of(life, vertices)]
        for vertex in sorted(vertices):
            if not any(life.vertex == vertex for life in chosen):
                raise InputError(f"nothing of vertex {vertex} begins in the window")
    if first is not None:
        kept = {id(life) for life in [life for life in chosen if not life.neighbour][:first]}
        chosen = [life for life in chosen if id(life.parent if life.neighbour else life) in kept]
    return chosen


def _is_of(life: Life, vertices: set[int]) -> bool:
    return life.vertex in vertices or (life.parent is not None and life.parent.vertex in vertices)


def _kernels(lives: Lives, pattern: str) -> set[str]:
    """Return the kernels that a pattern stands for."""
    found = {
        name for name in lives.kernels if fnmatchcase(name, pattern) or fnmatchcase(name.partition(".")[0], pattern)
    }
    if not found:
        raise InputError(f"no kernel {pattern!r}: there are {lives.kernels[0]} to {lives.kernels[-1]}")
    return found


def vertices_of(starts: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> Vertices:
    """Return the vertex of each graph word: -1 where there is none, -2 where it is one of several without neighbours.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1,)
        Offsets of the graph.
    words : ndarray of uint64
        Graph words, whether visited or not.
    """
    start, degree = START.get(words).astype(np.int64), DEGREE.get(words).astype(np.int64)
    first = np.searchsorted(starts[:-1], start, side="left")
    end = np.searchsorted(starts[:-1], start, side="right")
    # Of those that begin there only the last may have neighbours.
    own = starts[end] - start
    there = end > first
    leaves = end - first - (own > 0)
    vertices = np.where(there & (own == degree), end - 1, _NONE)
    leaf = np.select([leaves == 1, leaves > 1], [first, np.full_like(first, _SEVERAL)], _NONE)
    return np.where(degree > 0, vertices, np.where(there, leaf, _NONE))


def directions_of(lives: Lives, graph: Graph) -> dict[int, list[Graph]]:
    """Return what may be the graph of some lives in the machine, by the addresses of their graph words.

    It is the graph or its transpose, with each edge once or not, as far as no word contradicts that.

    Raises
    ------
    InputError
        All are contradicted: the lives are of another graph.
    """
    vertices = [life.vertex for life in lives.lives if life.vertex is not None]
    if vertices and max(vertices) >= graph.vertices:
        raise InputError(f"has no vertex number {max(vertices)}: it is not the graph of the run")
    simple = graph.simplified()
    kinds = [graph, graph.transpose()] + ([] if simple is graph else [simple, simple.transpose()])
    found: dict[int, list[Graph]] = {}
    for address in {life.graph for life in lives.lives}:
        own = _of_direction(lives, address)
        found[address] = [kind for kind in kinds if _fits(_told(kind, own), own)]
        if not found[address]:
            raise InputError("is not the graph of the run: its vertices have other neighbours")
    return found


def name_lives(lives: Lives, directions: Mapping[int, Sequence[Graph]]) -> None:
    """Name the vertices of lives as the graph's file does, and those too that the signals do not tell.

    Parameters
    ----------
    lives : Lives
        The lives, whose vertices are numbers of the machine so far.
    directions : mapping
        Their graph as it may be in the machine, by the addresses of graph words. A vertex is told where all agree.
    """
    for address, kinds in directions.items():
        own = _of_direction(lives, address)
        first, *others = (_told(kind, own) for kind in kinds)
        for life, vertex, sure in zip(own, first.tolist(), _alike(first, others).tolist(), strict=True):
            if life.vertex is None and vertex >= 0 and sure:
                life.vertex = vertex
        known = [life for life in own if life.vertex is not None]
        names = kinds[0].original(np.array([life.vertex for life in known], np.int64))
        for life, name in zip(known, names.tolist(), strict=True):
            life.vertex = name


def _of_direction(lives: Lives, address: int) -> list[Life]:
    return [life for life in lives.lives if life.graph == address]


def _told(graph: Graph, lives: Sequence[Life]) -> Vertices:
    """Return the vertex of each life by a graph, as of `vertices_of`; -2 also where nothing is known of it."""
    vertices = np.full(len(lives), _SEVERAL, np.int64)
    worded = [number for number, life in enumerate(lives) if life.word is not None]
    vertices[worded] = vertices_of(graph.offsets, np.array([lives[number].word for number in worded], np.uint64))
    # A neighbour is what stands at its place in C, whether that was read yet or not.
    below = np.array([number for number, life in enumerate(lives) if life.neighbour], np.int64)
    places = np.array([lives[number].index for number in below.tolist()], np.int64)
    there = places < graph.edges
    vertices[below[there]] = graph.targets[places[there]]
    vertices[below[~there]] = _NONE
    return vertices


def _fits(told: Vertices, lives: Sequence[Life]) -> bool:
    """Whether a graph contradicts nothing that the signals say, given the vertex of each life by it."""
    known = np.array([_SEVERAL if life.vertex is None else life.vertex for life in lives], np.int64)
    return not ((told == _NONE) | ((told != known) & (told != _SEVERAL) & (known != _SEVERAL))).any()


def _alike(first: Vertices, others: Sequence[Vertices]) -> npt.NDArray[np.bool_]:
    """Return where all are the same."""
    return np.logical_and.reduce([np.ones(len(first), np.bool_), *(first == other for other in others)])
