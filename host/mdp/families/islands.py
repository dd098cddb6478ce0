"""Rings of states that can be left by those only who may not arrive: many small MECs in one component."""

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep, below, stream
from host.mdp.families.family import Family, Size, fill_states
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["FAMILY", "islands"]


@njit(cache=True, nogil=True)
def _fill(
    seed: int,
    sizes: tuple[int, int, int],
    first: int,
    last: int,
    targets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    counts: NDArray[np.uint32],
) -> tuple[int, int]:
    islands, size, leaving = sizes
    sea = islands * size
    place, choice = 0, 0
    for state in range(first, last):
        bits = stream(np.uint64(seed), state)
        island, number = state // size, state % size
        targets[place] = sea if state == sea else island * size + (number + 1) % size
        lengths[choice] = 1
        place += 1
        choice += 1
        ways = 0 if state == sea else leaving
        for _ in range(ways):
            other = below(bits, islands - 1)
            other += other >= island
            targets[place], targets[place + 1] = other * size + below(bits, size), sea
            lengths[choice] = 2
            place += 2
            choice += 1
        counts[state - first] = 1 + ways
    return place, choice


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

    def fill(
        first: int, last: int, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> tuple[int, int]:
        sizes = islands, size, leaving
        found: tuple[int, int] = _fill(np.uint64(seed), sizes, first, last, targets, lengths, counts)
        return found

    return fill_states(islands * size + 1, 1 + leaving, 1 + 2 * leaving, fill, on_step)


FAMILY = Family(
    sizes={
        "islands": Size(default=100, least=2, most=2**32 - 2, text="islands"),
        "size": Size(default=5, least=1, most=2**32 - 2, text="states of an island"),
        "leaving": Size(default=2, least=0, most=1 << 10, text="choices of a state that can leave its island"),
        "seed": Size(default=0, least=0, most=2**64 - 1, text="seed of what is drawn"),
    },
    bound=lambda islands, size, leaving, seed: (islands * size + 1, islands * size * (1 + 2 * leaving)),
    make=islands,
)
