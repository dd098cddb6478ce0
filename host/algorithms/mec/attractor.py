"""Choices that can leave their component, and the states that lose all of theirs (Wijs et al. 2014, lemma 1)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["Losses", "lose_choices"]


class Losses(NamedTuple):
    """What a round takes away.

    Parameters
    ----------
    dropped : ndarray of bool, shape (c,)
        Choices that can leave their component, or lead to a state that is removed.
    leaving : int
        How many of them can leave their component.
    removed : ndarray of bool, shape (n,)
        States whose choices are all dropped.
    touched : ndarray of bool, shape (n,)
        By label of a component: whether one of its choices was dropped or it has a state without any.
    """

    dropped: NDArray[np.bool_]
    leaving: int
    removed: NDArray[np.bool_]
    touched: NDArray[np.bool_]


@njit(cache=True, nogil=True)
def _drop_leaving(
    choices: NDArray[np.int64],
    transitions: NDArray[np.int64],
    targets: NDArray[np.uint32],
    labels: NDArray[np.int64],
    dropped: NDArray[np.bool_],
    touched: NDArray[np.bool_],
    remaining: NDArray[np.int64],
    queue: NDArray[np.uint32],
) -> tuple[int, int]:
    """Drop every choice that can leave its component.

    Counts the remaining choices of each state, and puts those with none into the queue. Returns how many those are, and
    how many choices were dropped.
    """
    found = leaving = 0
    for state in range(labels.size):
        label = labels[state]
        for choice in range(choices[state], choices[state + 1]):
            for edge in range(transitions[choice], transitions[choice + 1]):
                if labels[targets[edge]] != label:
                    dropped[choice] = True
                    leaving += 1
                    break
            else:
                remaining[state] += 1
        if remaining[state] < choices[state + 1] - choices[state]:
            touched[label] = True
        if remaining[state] == 0:
            touched[label] = True
            queue[found] = state
            found += 1
    return found, leaving


@njit(cache=True, nogil=True)
def _incoming(
    choices: NDArray[np.int64], transitions: NDArray[np.int64], targets: NDArray[np.uint32], dropped: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return for each state the choices that lead to it and are not dropped: offsets, choices, and their states."""
    states = choices.size - 1
    offsets = np.zeros(states + 2, np.int64)
    for choice in range(transitions.size - 1):
        if not dropped[choice]:
            for edge in range(transitions[choice], transitions[choice + 1]):
                offsets[np.int64(targets[edge]) + 2] += 1
    for place in range(2, states + 2):
        offsets[place] += offsets[place - 1]
    found = np.empty(offsets[-1], np.uint32)
    owners = np.empty(offsets[-1], np.uint32)
    for state in range(states):
        for choice in range(choices[state], choices[state + 1]):
            if dropped[choice]:
                continue
            for edge in range(transitions[choice], transitions[choice + 1]):
                target = np.int64(targets[edge]) + 1
                found[offsets[target]] = choice
                owners[offsets[target]] = state
                offsets[target] += 1
    return offsets, found, owners


@njit(cache=True, nogil=True)
def _attract(
    offsets: NDArray[np.int64],
    incoming: NDArray[np.uint32],
    owners: NDArray[np.uint32],
    dropped: NDArray[np.bool_],
    remaining: NDArray[np.int64],
    queue: NDArray[np.uint32],
    count: int,
) -> None:
    """Drop the choices that lead to states without any, and so on until nothing changes."""
    place = 0
    while place < count:
        state = queue[place]
        place += 1
        for edge in range(offsets[state], offsets[state + 1]):
            choice = incoming[edge]
            if dropped[choice]:
                continue
            dropped[choice] = True
            owner = owners[edge]
            remaining[owner] -= 1
            if remaining[owner] == 0:
                queue[count] = owner
                count += 1


def lose_choices(mdp: Mdp, labels: NDArray[np.int64]) -> Losses:
    """Drop every choice that can leave its component, and remove the attractor of the states that are left with none.

    The set *U* of lemma 1 is the states whose choices can all leave. Those that can are dropped first, so that the
    attractor of *U* stays in its component by itself, and grows as if it were taken again and again.

    Parameters
    ----------
    mdp : Mdp
        What is left.
    labels : ndarray of int64, shape (n,)
        For each state a state of its component, the same for all of it.
    """
    states = mdp.states
    dropped = np.zeros(mdp.choice_count, np.bool_)
    touched = np.zeros(states, np.bool_)
    remaining = np.zeros(states, np.int64)
    queue = np.empty(states, np.uint32)
    arrays = mdp.choices, mdp.transitions, mdp.targets
    found, leaving = _drop_leaving(*arrays, labels, dropped, touched, remaining, queue)
    if found:
        _attract(*_incoming(*arrays, dropped), dropped, remaining, queue, found)
    return Losses(dropped, leaving, remaining == 0, touched)
