"""How members of families are made: state by state, in chunks; and states that are made of digits."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.mdp.model import Mdp, check_size, offsets_of
from host.memory_room import Growing
from host.progress import OnStep
from sim.caching.code import njit

__all__ = ["Chunk", "Ranks", "digit", "end_choice", "end_state", "fill_states", "put", "put_new", "rank_states"]

_ROOM = 1 << 20  # transitions that a chunk has room for, unless one state has more


class Chunk(NamedTuple):
    """States as they are made, one after the other."""

    targets: NDArray[np.uint32]
    """Targets of their choices."""
    lengths: NDArray[np.uint32]
    """Number of targets of each choice."""
    counts: NDArray[np.uint32]
    """Number of choices of each state."""
    ends: NDArray[np.int64]
    """How much of each there is so far; and how many targets and choices there were when the last one ended."""


@njit(cache=True, nogil=True)
def put(chunk: Chunk, target: int) -> None:
    """Give the choice that is being made a target."""
    chunk.targets[chunk.ends[0]] = target
    chunk.ends[0] += 1


@njit(cache=True, nogil=True)
def put_new(chunk: Chunk, target: int) -> None:
    """Give the choice that is being made a target, unless it has it."""
    for place in range(chunk.ends[3], chunk.ends[0]):
        if chunk.targets[place] == target:
            return
    put(chunk, target)


@njit(cache=True, nogil=True)
def end_choice(chunk: Chunk) -> None:
    """End a choice."""
    chunk.lengths[chunk.ends[1]] = chunk.ends[0] - chunk.ends[3]
    chunk.ends[1] += 1
    chunk.ends[3] = chunk.ends[0]


@njit(cache=True, nogil=True)
def end_state(chunk: Chunk, state: int) -> None:
    """End a state; one without a choice is given that to stay."""
    if chunk.ends[1] == chunk.ends[4]:
        put(chunk, state)
        end_choice(chunk)
    chunk.counts[chunk.ends[2]] = chunk.ends[1] - chunk.ends[4]
    chunk.ends[2] += 1
    chunk.ends[4] = chunk.ends[1]


def fill_states(
    fill: Callable[..., None], arguments: tuple[Any, ...], states: int, transitions: int, on_step: OnStep | None
) -> Mdp:
    """Make a model chunk by chunk.

    Parameters
    ----------
    fill : callable
        Makes states: given `arguments`, the first state, one past the last, and an empty chunk.
    arguments : tuple
        What `fill` is given.
    states : int
        Number of states.
    transitions : int
        Most transitions that a state has, and so most choices.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp

    Raises
    ------
    InputError
        When the model does not fit in 32 bits or in memory.
    """
    size = max(min(states, _ROOM // transitions), 1)
    targets, lengths, counts = (np.empty(size * most, np.uint32) for most in (transitions, transitions, 1))
    chunk = Chunk(targets, lengths, counts, np.zeros(5, np.int64))
    parts = [
        Growing(np.uint32, of="transitions"),
        Growing(np.uint32, of="choices", extra=8),
        Growing(np.uint32, of="states", extra=8),
    ]
    for first in range(0, states, size):
        last = min(first + size, states)
        chunk.ends[:] = 0
        fill(*arguments, first, last, chunk)
        check_size(states, parts[0].count + int(chunk.ends[0]))
        for part, array, end in zip(parts, chunk[:3], chunk.ends.tolist(), strict=False):
            part.append(array[:end])
        if on_step is not None:
            on_step(last, states)
    targets, lengths, counts = (part.take()[0] for part in parts)
    return Mdp(choices=offsets_of(counts), transitions=offsets_of(lengths), targets=targets)


class Ranks(NamedTuple):
    """The states among the codes."""

    codes: NDArray[np.uint32]
    """The code of each state, ascending."""
    ranks: NDArray[np.uint32]
    """The state of each code; of a code that is none, the state of the next."""


@njit(cache=True, nogil=True)
def digit(code: int, radix: int, place: int) -> int:
    """Return a digit of a code; that of place 0 counts least."""
    for _ in range(place):
        code //= radix
    return code % radix


def rank_states(codes: int, mark: Callable[[NDArray[np.bool_]], None]) -> Ranks:
    """Return the numbering of those codes that are states.

    Parameters
    ----------
    codes : int
        Number of codes.
    mark : callable
        Given an array of bool, shape (codes,), sets whether each code is a state.
    """
    marks = np.empty(codes, np.bool_)
    mark(marks)
    ranks = np.cumsum(marks, dtype=np.uint32)
    ranks -= marks
    return Ranks(np.flatnonzero(marks).astype(np.uint32), ranks)
