"""A component that gives up one state at a time: the worst case of decomposition by rounds."""

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep
from host.mdp.families.family import Family, Size, fill_states
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["FAMILY", "stairs"]


@njit(cache=True, nogil=True)
def _fill(
    top: int,
    first: int,
    last: int,
    targets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    counts: NDArray[np.uint32],
) -> tuple[int, int]:
    place, choice = 0, 0
    for state in range(first, last):
        targets[place], lengths[choice] = state, 1
        place += 1
        choice += 1
        if state < top:
            targets[place], targets[place + 1], lengths[choice] = 0, state + 1, 2
            place += 2
            choice += 1
        counts[state - first] = 1 + (state < top)
    return place, choice


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

    def fill(
        first: int, last: int, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> tuple[int, int]:
        found: tuple[int, int] = _fill(steps - 1, first, last, targets, lengths, counts)
        return found

    return fill_states(steps, 2, 3, fill, on_step)


FAMILY = Family(
    sizes={"steps": Size(default=100, least=1, most=2**32 - 2, text="steps")},
    bound=lambda steps: (steps, 3 * steps),
    make=stairs,
)
