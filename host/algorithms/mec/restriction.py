"""What is left of a Markov decision process: some of its states with some of their choices, numbered anew."""

import numpy as np
from numpy.typing import NDArray

from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["restricted"]


@njit(cache=True, nogil=True)
def _copy(
    choices: NDArray[np.int64],
    transitions: NDArray[np.int64],
    targets: NDArray[np.uint32],
    kept: NDArray[np.bool_],
    numbers: NDArray[np.int64],
    dropped: NDArray[np.bool_],
    own: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]],
) -> None:
    """Copy the choices of the states that are kept; `own` is zeroed, and has room for them."""
    own_choices, own_transitions, own_targets = own
    states = choice = edge = 0
    for state in range(kept.size):
        if not kept[state]:
            continue
        for old in range(choices[state], choices[state + 1]):
            if dropped[old]:
                continue
            for place in range(transitions[old], transitions[old + 1]):
                own_targets[edge] = numbers[targets[place]]
                edge += 1
            choice += 1
            own_transitions[choice] = edge
        states += 1
        own_choices[states] = choice


def restricted(mdp: Mdp, kept: NDArray[np.bool_], dropped: NDArray[np.bool_]) -> Mdp:
    """Return some states of a Markov decision process, with some of their choices.

    Parameters
    ----------
    mdp : Mdp
        All of them.
    kept : ndarray of bool, shape (n,)
        The states, whose order stays.
    dropped : ndarray of bool, shape (c,)
        The choices that they lose; of the others all targets are kept, or they are choices of states that are not.
    """
    staying = np.repeat(kept, np.diff(mdp.choices)) & ~dropped
    edges = int(np.diff(mdp.transitions)[staying].sum())
    own = (
        np.zeros(np.count_nonzero(kept) + 1, np.int64),
        np.zeros(np.count_nonzero(staying) + 1, np.int64),
        np.empty(edges, np.uint32),
    )
    _copy(mdp.choices, mdp.transitions, mdp.targets, kept, np.cumsum(kept) - 1, dropped, own)
    return Mdp(choices=own[0], transitions=own[1], targets=own[2])
