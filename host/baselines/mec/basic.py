"""Decomposition into maximal end components, and the basic sequential algorithm (Wijs et al. 2014, section 2.3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.algorithms import MEC_KINDS
from cyscc.host.baselines.mdp.model import Mdp, offsets_of
from cyscc.host.baselines.software.decomposition import SoftwareRun, SoftwareSetting, timed, unwatched
from cyscc.host.baselines.software.tarjan import tarjan
from cyscc.host.graph.csr import Csr, Graph, rows_by_column
from cyscc.sim.caching.numba_code import njit

Components = Callable[[Graph], NDArray[np.int64]]
"""Function that returns the strongly connected component of each vertex, named by one of its vertices."""


_STATES = 400
_SEED = 1


@dataclass(frozen=True, kw_only=True)
class MecRound:
    """Counts of one round of the decomposition.

    Parameters
    ----------
    states, choices, transitions : int
        Size of the remaining model at the start of the round.
    components : int
        Strongly connected components of its graph.
    dropped : int
        Choices dropped because they can leave their component.
    removed : int
        States removed because no choice was left; they are in no maximal end component.
    mecs : int
        Maximal end components found: components that lost no choice and no state.
    """

    states: int
    choices: int
    transitions: int
    components: int
    dropped: int
    removed: int
    mecs: int


@dataclass(frozen=True, kw_only=True)
class MecDecomposition:
    """The maximal end components of a Markov decision process.

    Parameters
    ----------
    mecs : ndarray of int64, shape (n,)
        For each state the smallest state of its maximal end component, or -1.
    rounds : tuple of MecRound
        The rounds.
    counts : mapping
        Work counters of the algorithm, by name in lower case with underscores.
    """

    mecs: NDArray[np.int64]
    rounds: tuple[MecRound, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


class Dropped(NamedTuple):
    """Choices that a round drops."""

    dropped: NDArray[np.bool_]
    """Choices that can leave their component, or lead to a state without a choice."""
    leaving: int
    """Number of choices that can leave their component."""
    remaining: NDArray[np.int64]
    """Remaining choices of each state, none for one that is removed."""


@njit(cache=True, nogil=True)
def _attract(
    incoming: Csr,
    owners: NDArray[np.int64],
    dropped: NDArray[np.bool_],
    remaining: NDArray[np.int64],
    queue: NDArray[np.uint32],
    count: int,
) -> None:
    """Drop the choices that lead to states without choices, of which `count` are queued, up to a fixpoint."""
    offsets, choices = incoming
    place = 0
    while place < count:
        state = queue[place]
        place += 1
        for choice in choices[offsets[state] : offsets[state + 1]]:
            if dropped[choice]:
                continue
            dropped[choice] = True
            owner = owners[choice]
            remaining[owner] -= 1
            if remaining[owner] == 0:
                queue[count] = owner
                count += 1


def drop_choices(mdp: Mdp, labels: NDArray[np.int64]) -> Dropped:
    """Drop every choice that can leave its component, and remove the attractor of the states without a choice left.

    The set *U* of lemma 1 contains the states whose choices can all leave. Leaving choices are dropped first. The
    attractor of *U* then stays within its component, and a single computation reaches the fixpoint of lemma 1.

    Parameters
    ----------
    mdp : Mdp
        The remaining model.
    labels : ndarray of int64, shape (n,)
        Component of each state, named by one of its states.
    """
    staying = mdp.staying(labels)
    remaining = np.diff(offsets_of(staying)[mdp.choices])
    found = Dropped(~staying, mdp.choice_count - int(remaining.sum()), remaining)
    first = np.flatnonzero(remaining == 0)
    if first.size:
        queue = np.empty(mdp.states, np.uint32)
        queue[: first.size] = first
        owners = np.repeat(np.arange(mdp.states), np.diff(mdp.choices))
        incoming = rows_by_column(mdp.transitions, mdp.targets, mdp.states)
        _attract(incoming, owners, found.dropped, remaining, queue, first.size)
    return found


def _restricted(mdp: Mdp, kept: NDArray[np.bool_], lost: Dropped) -> Mdp:
    """Restrict a model to the choices that are left of some states, which lead to these states only."""
    staying = np.repeat(kept, np.diff(mdp.choices)) & ~lost.dropped
    lengths = np.diff(mdp.transitions)
    numbers = np.cumsum(kept, dtype=np.uint32) - np.uint32(1)
    return Mdp(
        choices=offsets_of(lost.remaining[kept]),
        transitions=offsets_of(lengths[staying]),
        targets=numbers[mdp.targets[np.repeat(staying, lengths)]],
    )


def basic(
    mdp: Mdp, setting: SoftwareSetting | None = None, components: Components = lambda graph: tarjan(graph).labels
) -> MecDecomposition:
    """Find the maximal end components.

    A round finds the strongly connected components of the remaining model, drops the choices that can leave their
    component, and removes the attractor of the states without a choice. A component that lost nothing is a maximal end
    component; the others remain for the next round.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    setting : SoftwareSetting, optional
        How it runs; only `watch` is used, and called after each round with the number of decided states.
    components : callable
        Finds the components of each round; Tarjan's algorithm by default.
    """
    watch = unwatched if setting is None else setting.watch
    mecs = np.full(mdp.states, -1, np.int64)
    names = np.arange(mdp.states)
    rounds: list[MecRound] = []
    while mdp.states:
        labels = components(mdp.graph())
        lost = drop_choices(mdp, labels)
        kept = lost.remaining > 0
        removed = mdp.states - int(np.count_nonzero(kept))
        # By label: the smallest state of the component, and whether it has lost a choice or a state.
        smallest, touched = np.full(mdp.states, mecs.size), np.zeros(mdp.states, np.bool_)
        np.minimum.at(smallest, labels, names)
        touched[labels[~kept | (lost.remaining < np.diff(mdp.choices))]] = True
        closed = ~touched[labels]
        mecs[names[closed]] = smallest[labels[closed]]
        kept &= ~closed
        found = smallest < mecs.size
        rounds.append(
            MecRound(
                states=mdp.states,
                choices=mdp.choice_count,
                transitions=mdp.transition_count,
                components=int(np.count_nonzero(found)),
                dropped=lost.leaving,
                removed=removed,
                mecs=int(np.count_nonzero(found & ~touched)),
            )
        )
        mdp, names = _restricted(mdp, kept, lost), names[kept]
        watch(mecs.size - mdp.states, mecs.size)
    return MecDecomposition(mecs=mecs, rounds=tuple(rounds), counts={"edges": sum(each.transitions for each in rounds)})


def small_mdp() -> Mdp:
    """Return a sparse random model of some hundred states, on which several rounds find components and drop choices.

    Its states have one to three choices with one or two targets, most of them nearby.
    """
    random = np.random.default_rng(_SEED)
    counts = random.integers(1, 4, _STATES)
    lengths = random.integers(1, 3, counts.sum())
    states = np.repeat(np.repeat(np.arange(_STATES), counts), lengths)
    targets = (states + random.integers(-3, 4, states.size)) % _STATES
    return Mdp(
        choices=offsets_of(counts),
        transitions=offsets_of(lengths),
        targets=targets.astype(np.uint32),
    )


def run_mec(algorithm: str, mdp: Mdp, setting: SoftwareSetting) -> SoftwareRun[MecDecomposition]:
    """Run an algorithm, after a warm-up run on a small model that compiles it.

    Parameters
    ----------
    algorithm : str
        A key of `cyscc.host.baselines.algorithms.MEC_KINDS`.
    mdp : Mdp
        The Markov decision process.
    setting : SoftwareSetting
        How it runs.
    """
    return timed(algorithm, MEC_KINDS[algorithm], setting, (mdp,), lambda: (small_mdp(),))
