"""Maximal end components by refinement with scipy's strongly connected components: slow, short, and nobody else's."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from host.mdp.model import Mdp

__all__ = ["reference_mecs", "strong_parts", "transition_states"]


def transition_states(mdp: Mdp) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the state of each choice, int64 (c,), and the choice of each transition, int64 (m,)."""
    state_of_choice = np.repeat(np.arange(mdp.states), np.diff(mdp.choices))
    choice_of_transition = np.repeat(np.arange(mdp.choice_count), np.diff(mdp.transitions))
    return state_of_choice, choice_of_transition


def strong_parts(states: int, sources: NDArray[np.int64], targets: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the strongly connected component of each state, int64 (states,), by its smallest state."""
    offsets = np.zeros(states + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=states), out=offsets[1:])
    # The sources are ascending: the edges are rows of a matrix already.
    matrix = csr_array((np.ones(len(targets), np.int8), targets.astype(np.int32), offsets), shape=(states, states))
    count, labels = connected_components(matrix, connection="strong")
    smallest = np.empty(count, np.int64)
    # The last one that is assigned stays: from the largest state to the smallest.
    smallest[labels[::-1]] = np.arange(states)[::-1]
    return smallest[labels]


def reference_mecs(mdp: Mdp) -> NDArray[np.int64]:
    """Return the MEC of each state.

    From all choices, those are dropped that can leave the component of their state in the graph of those left, until
    none is. What a state then has left stays in its MEC.

    Parameters
    ----------
    mdp : Mdp
        The model.

    Returns
    -------
    ndarray of int64, shape (n,)
        The smallest state of the state's MEC; -1 for a state in none.
    """
    state_of, choice_of = transition_states(mdp)
    sources = state_of[choice_of]
    kept = np.ones(mdp.choice_count, np.bool_)
    while True:
        edges = kept[choice_of]
        parts = strong_parts(mdp.states, sources[edges], mdp.targets[edges])
        leaving = np.zeros_like(kept)
        leaving[choice_of[edges & (parts[sources] != parts[mdp.targets])]] = True
        if not leaving.any():
            break
        kept &= ~leaving
    mecs = np.full(mdp.states, -1, np.int64)
    inside = state_of[kept]
    mecs[inside] = parts[inside]
    return mecs
