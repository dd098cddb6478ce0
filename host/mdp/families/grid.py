"""A world of cells in rooms, in which moves may slip, and doors lead one way only."""

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep
from host.mdp.families.family import Family, Size, fill_states
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["FAMILY", "grid_world"]

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
def _fill(
    sizes: tuple[int, int, int],
    first: int,
    last: int,
    targets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    counts: NDArray[np.uint32],
) -> tuple[int, int]:
    place, choice = 0, 0
    for state in range(first, last):
        column, row = state % sizes[0], state // sizes[0]
        for move in range(_MOVES):
            start = place
            for turn in (0, 1, 3):
                target = _moved(column, row, (move + turn) % _MOVES, sizes)
                met = False
                for other in range(start, place):
                    met = met or targets[other] == target
                if not met:
                    targets[place] = target
                    place += 1
            lengths[choice] = place - start
            choice += 1
        counts[state - first] = _MOVES
    return place, choice


def grid_world(width: int, height: int, room: int, *, on_step: OnStep | None = None) -> Mdp:
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

    def fill(
        first: int, last: int, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> tuple[int, int]:
        found: tuple[int, int] = _fill((width, height, room), first, last, targets, lengths, counts)
        return found

    return fill_states(width * height, _MOVES, _MOVES * _WAYS, fill, on_step)


FAMILY = Family(
    sizes={
        "width": Size(default=12, least=1, most=1 << 20, text="cells from left to right"),
        "height": Size(default=12, least=1, most=1 << 20, text="cells from top to bottom"),
        "room": Size(default=4, least=3, most=1 << 20, text="cells of a room's side"),
    },
    bound=lambda width, height, room: (width * height, width * height * _MOVES * _WAYS),
    make=grid_world,
)
