"""Which lives to show: by vertex, by kernel, the first ones."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from host.errors import InputError
from sim.observation.life import Life, Lives

__all__ = ["select"]


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
