"""Families of models whose states are places: cells of rooms, islands, steps; and one of random numbers."""

import numpy as np

from host.graph.generators import below, stream
from host.mdp.families.states import Chunk, end_choice, end_state, fill_states, put, put_new
from host.mdp.model import Mdp
from host.progress import OnStep
from sim.caching.code import njit

__all__ = ["grid", "islands", "random", "stairs"]

_MOVES = 4
_RIGHT, _DOWN, _LEFT, _UP = range(_MOVES)
_WAYS = 3


@njit(cache=True, nogil=True)
def _moved(column: int, row: int, move: int, sizes: tuple[int, int, int]) -> int:
    """Return the cell to which a move leads: none through walls, and through doors to the right and down only."""
    width, height, room = sizes
    stays = row * width + column
    if move == _RIGHT:
        wall = (column + 1) % room == 0 and row % room != room // 2
        return stays if column + 1 == width or wall else stays + 1
    if move == _DOWN:
        wall = (row + 1) % room == 0 and column % room != room // 2
        return stays if row + 1 == height or wall else stays + width
    if move == _LEFT:
        return stays if column % room == 0 else stays - 1
    return stays if row % room == 0 else stays - width


@njit(cache=True, nogil=True)
def _fill_grid(sizes: tuple[int, int, int], first: int, last: int, chunk: Chunk) -> None:
    for state in range(first, last):
        column, row = state % sizes[0], state // sizes[0]
        for move in range(_MOVES):
            for turn in (0, 1, 3):
                put_new(chunk, _moved(column, row, (move + turn) % _MOVES, sizes))
            end_choice(chunk)
        end_state(chunk, state)


def grid(width: int, height: int, room: int, *, on_step: OnStep | None = None) -> Mdp:
    """Make a world of rooms with a door in the middle of the right and of the lower wall.

    The choices are moves to the right, down, left and up. Each may slip to either side; what a wall stops stays where
    it is. Doors let through to the right and down only, also by slipping.

    Each room is a MEC with all of its cells: beside a door there is a move that cannot slip through it.

    Parameters
    ----------
    width, height, room : int
        Cells of the world, and of a room, which is a square; those at the right and below are smaller where it does
        not divide the world.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        The cells row by row.
    """
    sizes = width, height, room
    return fill_states(_fill_grid, (sizes,), width * height, _MOVES * _WAYS, on_step)


@njit(cache=True, nogil=True)
def _fill_islands(seed: int, sizes: tuple[int, int, int], first: int, last: int, chunk: Chunk) -> None:
    islands, size, leaving = sizes
    sea = islands * size
    for state in range(first, last):
        bits = stream(np.uint64(seed), state)
        island, number = state // size, state % size
        put(chunk, sea if state == sea else island * size + (number + 1) % size)
        end_choice(chunk)
        for _ in range(0 if state == sea else leaving):
            other = below(bits, islands - 1)
            other += other >= island
            put(chunk, other * size + below(bits, size))
            put(chunk, sea)
            end_choice(chunk)
        end_state(chunk, state)


def islands(islands: int, size: int, leaving: int, seed: int, *, on_step: OnStep | None = None) -> Mdp:
    """Make a model of islands, rings of states, and the sea.

    In each state a choice leads to the next of its ring, and each of the others to some state of another ring or into
    the sea, a state that nothing leaves. Nearly all rings are one component; but no choice that leads to another stays
    there for sure, so that the MECs are the rings, each by itself, and the sea.

    Parameters
    ----------
    islands, size, leaving : int
        Number of rings; states of each; choices of each state that can leave its island.
    seed : int
        0 to 2**64 - 1.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        Ring by ring, and the sea, which is the last state.
    """
    return fill_states(
        _fill_islands, (np.uint64(seed), (islands, size, leaving)), islands * size + 1, 1 + 2 * leaving, on_step
    )


@njit(cache=True, nogil=True)
def _fill_stairs(top: int, first: int, last: int, chunk: Chunk) -> None:
    for state in range(first, last):
        put(chunk, state)
        end_choice(chunk)
        if state < top:
            put(chunk, 0)
            put(chunk, state + 1)
            end_choice(chunk)
        end_state(chunk, state)


def stairs(steps: int, *, on_step: OnStep | None = None) -> Mdp:
    """Make a flight of stairs.

    On each step a choice is to stay, and another leads one up or back to the lowest, by chance. On the highest there
    is only staying. The steps but the highest are one component. Each must be found to be a MEC by itself before the
    one below can be: its only way down may lead up. So each round of an algorithm that finds components, and drops the
    choices that leave them, finds one more MEC from the top: `steps` MECs of a state each, in as many rounds.

    Parameters
    ----------
    steps : int
        Number of states.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        From the lowest step up.
    """
    return fill_states(_fill_stairs, (steps - 1,), steps, 3, on_step)


@njit(cache=True, nogil=True)
def _fill_random(seed: int, sizes: tuple[int, int, int], first: int, last: int, chunk: Chunk) -> None:
    states, most_choices, most_targets = sizes
    for state in range(first, last):
        # A stream for each state: what it has depends on nothing else.
        bits = stream(np.uint64(seed), state)
        for _ in range(below(bits, most_choices) + 1):
            end = chunk.ends[0] + min(below(bits, most_targets) + 1, states)
            while chunk.ends[0] < end:
                put_new(chunk, below(bits, states))
            end_choice(chunk)
        end_state(chunk, state)


def random(states: int, choices: int, transitions: int, seed: int, *, on_step: OnStep | None = None) -> Mdp:
    """Draw a model: each state has 1 to `choices` choices, and each choice 1 to `transitions` different targets.

    Numbers and targets are uniform. All but small or sparse ones are one large MEC and states that only lead there:
    the graph has a giant component that nothing leaves.

    Parameters
    ----------
    states, choices, transitions : int
        Number of states; most choices of a state; most transitions of a choice (no more than there are states).
    seed : int
        0 to 2**64 - 1.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
    """
    return fill_states(
        _fill_random, (np.uint64(seed), (states, choices, transitions)), states, choices * transitions, on_step
    )
