"""The basic sequential algorithm for maximal end components (Wijs et al. 2014, section 2.3)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from host.algorithms.mec.attractor import lose_choices
from host.algorithms.mec.decomposition import MecDecomposition, MecRound
from host.algorithms.mec.restriction import restricted
from host.algorithms.software.decomposition import Watch, unwatched
from host.algorithms.software.tarjan import tarjan
from host.graph.csr import Graph
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["Components", "basic"]

Components = Callable[[Graph], NDArray[np.int64]]
"""Finds the strongly connected components of a graph: for each vertex one of its component, the same for all of it."""


@njit(cache=True, nogil=True)
def _settle(
    labels: NDArray[np.int64],
    touched: NDArray[np.bool_],
    names: NDArray[np.int64],
    mecs: NDArray[np.int64],
    kept: NDArray[np.bool_],
) -> tuple[int, int]:
    """Make a maximal end component of each component that was not touched, and keep its states no more.

    Returns the number of components, and of maximal end components.
    """
    smallest = np.full(labels.size, -1, np.int64)
    count = closed = 0
    for state in range(labels.size):
        label = labels[state]
        if smallest[label] < 0:
            smallest[label] = names[state]
            count += 1
            closed += not touched[label]
        if not touched[label]:
            mecs[names[state]] = smallest[label]
            kept[state] = False
    return count, closed


def _by_tarjan(graph: Graph) -> NDArray[np.int64]:
    return tarjan(graph).labels


def basic(mdp: Mdp, components: Components = _by_tarjan, watch: Watch = unwatched) -> MecDecomposition:
    """Find the maximal end components.

    A round finds the strongly connected components of what is left, drops the choices that can leave theirs, and
    removes the attractor of the states without a choice. A component of which nothing was dropped is a maximal end
    component; the others are what is left for the next round.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    components : callable
        What finds the components of each round; Tarjan's algorithm by default.
    watch : callable
        Told after each round how many states are decided.
    """
    mecs = np.full(mdp.states, -1, np.int64)
    names = np.arange(mdp.states)
    rounds: list[MecRound] = []
    while mdp.states:
        labels = components(mdp.graph())
        losses = lose_choices(mdp, labels)
        kept = ~losses.removed
        count, closed = _settle(labels, losses.touched, names, mecs, kept)
        rounds.append(
            MecRound(
                states=mdp.states,
                choices=mdp.choice_count,
                transitions=mdp.transition_count,
                components=count,
                dropped=losses.leaving,
                removed=int(np.count_nonzero(losses.removed)),
                mecs=closed,
            )
        )
        mdp, names = restricted(mdp, kept, losses.dropped), names[kept]
        watch(mecs.size - mdp.states, mecs.size)
    return MecDecomposition(mecs=mecs, rounds=tuple(rounds), counts={"edges": sum(each.transitions for each in rounds)})
