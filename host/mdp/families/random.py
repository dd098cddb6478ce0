"""Random Markov decision processes: every number of choices and of targets, and every target, drawn."""

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep, below, stream
from host.mdp.families.family import Family, Size, fill_states
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["FAMILY", "random_mdp"]


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
    states, most_choices, most_targets = sizes
    place, choice = 0, 0
    for state in range(first, last):
        # A stream for each state: what it has depends on nothing else.
        bits = stream(np.uint64(seed), state)
        count = below(bits, most_choices) + 1
        for _ in range(count):
            length = min(below(bits, most_targets) + 1, states)
            begin = place
            while place < begin + length:
                target = below(bits, states)
                met = False
                for other in range(begin, place):
                    met = met or targets[other] == target
                if not met:
                    targets[place] = target
                    place += 1
            lengths[choice] = length
            choice += 1
        counts[state - first] = count
    return place, choice


def random_mdp(states: int, choices: int, transitions: int, seed: int, *, on_step: OnStep | None = None) -> Mdp:
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

    def fill(
        first: int, last: int, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> tuple[int, int]:
        sizes = states, choices, transitions
        found: tuple[int, int] = _fill(np.uint64(seed), sizes, first, last, targets, lengths, counts)
        return found

    return fill_states(states, choices, choices * transitions, fill, on_step)


FAMILY = Family(
    sizes={
        "states": Size(default=1000, least=1, most=2**32 - 2, text="states"),
        "choices": Size(default=3, least=1, most=1 << 16, text="most choices of a state"),
        "transitions": Size(default=4, least=1, most=1 << 10, text="most transitions of a choice"),
        "seed": Size(default=0, least=0, most=2**64 - 1, text="seed of what is drawn"),
    },
    bound=lambda states, choices, transitions, seed: (states, states * (choices + 1) * (transitions + 1) // 4),
    make=random_mdp,
)
