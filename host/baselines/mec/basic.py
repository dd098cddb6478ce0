"""Decomposition into maximal end components, and the basic sequential algorithm (Wijs et al. 2014, section 2.3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.algorithms import MEC_KINDS
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.software.decomposition import SoftwareRun, SoftwareSetting, timed, unwatched
from cyscc.host.baselines.software.tarjan import tarjan
from cyscc.host.graph.csr import Graph
from cyscc.sim.caching.code import njit

__all__ = ["Components", "Dropped", "MecDecomposition", "MecRound", "basic", "drop_choices", "run_mec", "small_mdp"]

Components = Callable[[Graph], NDArray[np.int64]]
"""Function that returns the strongly connected component of each vertex, named by one of its vertices."""


_Model: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]
"""Choices, transitions and targets of a Markov decision process."""

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


class _Arrays(NamedTuple):
    """Arrays of the model that a round works on."""

    dropped: NDArray[np.bool_]
    touched: NDArray[np.bool_]
    remaining: NDArray[np.int64]
    """Remaining choices of each state."""
    queue: NDArray[np.uint32]
    """States without a remaining choice."""


class Dropped(NamedTuple):
    """Choices and states that a round removes.

    Parameters
    ----------
    dropped : ndarray of bool, shape (c,)
        Choices that can leave their component, or lead to a removed state.
    leaving : int
        Number of choices that can leave their component.
    removed : ndarray of bool, shape (n,)
        States whose choices are all dropped.
    touched : ndarray of bool, shape (n,)
        By label of a component: whether it lost a choice, or has a state without choices.
    """

    dropped: NDArray[np.bool_]
    leaving: int
    removed: NDArray[np.bool_]
    touched: NDArray[np.bool_]


@njit(cache=True, nogil=True)
def _drop_leaving(model: _Model, labels: NDArray[np.int64], on: _Arrays) -> tuple[int, int]:
    """Drop every choice that can leave its component.

    Counts the remaining choices of each state, and queues the states without any. Returns the number of queued states
    and of dropped choices.
    """
    choices, transitions, targets = model
    dropped, touched, remaining, queue = on
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
def _incoming(model: _Model, dropped: NDArray[np.bool_]) -> _Model:
    """Return the remaining choices that lead to each state, as offsets, source states and choices."""
    choices, transitions, targets = model
    states = choices.size - 1
    offsets = np.zeros(states + 2, np.int64)
    for choice in range(transitions.size - 1):
        if not dropped[choice]:
            for edge in range(transitions[choice], transitions[choice + 1]):
                offsets[np.int64(targets[edge]) + 2] += 1
    for place in range(2, states + 2):
        offsets[place] += offsets[place - 1]
    owners = np.empty(offsets[-1], np.int64)
    found = np.empty(offsets[-1], np.uint32)
    for state in range(states):
        for choice in range(choices[state], choices[state + 1]):
            if dropped[choice]:
                continue
            for edge in range(transitions[choice], transitions[choice + 1]):
                target = np.int64(targets[edge]) + 1
                found[offsets[target]] = choice
                owners[offsets[target]] = state
                offsets[target] += 1
    return offsets, owners, found


@njit(cache=True, nogil=True)
def _attract(model: _Model, on: _Arrays, count: int) -> None:
    """Drop the choices that lead to states without choices, up to a fixpoint."""
    dropped, _, remaining, queue = on
    offsets, owners, incoming = _incoming(model, dropped)
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
    states, model = mdp.states, (mdp.choices, mdp.transitions, mdp.targets)
    on = _Arrays(
        np.zeros(mdp.choice_count, np.bool_),
        np.zeros(states, np.bool_),
        np.zeros(states, np.int64),
        np.empty(states, np.uint32),
    )
    found, leaving = _drop_leaving(model, labels, on)
    if found:
        _attract(model, on, found)
    return Dropped(on.dropped, leaving, on.remaining == 0, on.touched)


@njit(cache=True, nogil=True)
def _copy(
    model: _Model, kept: NDArray[np.bool_], numbers: NDArray[np.int64], dropped: NDArray[np.bool_], own: _Model
) -> None:
    """Copy the choices of the kept states into `own`, which is zeroed and large enough."""
    choices, transitions, targets = model
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


def _restricted(mdp: Mdp, kept: NDArray[np.bool_], dropped: NDArray[np.bool_]) -> Mdp:
    """Restrict a Markov decision process to some of its states and choices.

    Parameters
    ----------
    mdp : Mdp
        The whole model.
    kept : ndarray of bool, shape (n,)
        States to keep, in their order.
    dropped : ndarray of bool, shape (c,)
        Choices to drop. The other choices of kept states lead to kept states only.
    """
    staying = np.repeat(kept, np.diff(mdp.choices)) & ~dropped
    edges = int(np.diff(mdp.transitions)[staying].sum())
    states, choices = (np.zeros(np.count_nonzero(each) + 1, np.int64) for each in (kept, staying))
    own = states, choices, np.empty(edges, np.uint32)
    _copy((mdp.choices, mdp.transitions, mdp.targets), kept, np.cumsum(kept) - 1, dropped, own)
    return Mdp(choices=own[0], transitions=own[1], targets=own[2])


@njit(cache=True, nogil=True)
def _settle(
    labels: NDArray[np.int64],
    touched: NDArray[np.bool_],
    names: NDArray[np.int64],
    mecs: NDArray[np.int64],
    kept: NDArray[np.bool_],
) -> tuple[int, int]:
    """Turn each untouched component into a maximal end component, and clear its states in `kept`.

    Returns the number of components and of maximal end components.
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


def basic(mdp: Mdp, setting: SoftwareSetting | None = None, components: Components = _by_tarjan) -> MecDecomposition:
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
        kept = ~lost.removed
        count, closed = _settle(labels, lost.touched, names, mecs, kept)
        rounds.append(
            MecRound(
                states=mdp.states,
                choices=mdp.choice_count,
                transitions=mdp.transition_count,
                components=count,
                dropped=lost.leaving,
                removed=int(np.count_nonzero(lost.removed)),
                mecs=closed,
            )
        )
        mdp, names = _restricted(mdp, kept, lost.dropped), names[kept]
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
        choices=np.concatenate([[0], np.cumsum(counts)]),
        transitions=np.concatenate([[0], np.cumsum(lengths)]),
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
