"""Reference maximal end components by refinement with scipy, and a checker (Wijs et al. 2014, 3 to 6)."""

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import strong_components
from cyscc.sim.caching.numba_code import njit


def transition_states(mdp: Mdp) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the state of each choice, int64 (c,), and the choice of each transition, int64 (m,)."""
    state_of_choice = np.repeat(np.arange(mdp.states), np.diff(mdp.choices))
    choice_of_transition = np.repeat(np.arange(mdp.choice_count), np.diff(mdp.transitions))
    return state_of_choice, choice_of_transition


def strong_parts(states: int, sources: NDArray[np.int64], targets: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the strongly connected component of each state, int64 (states,), named by its smallest state."""
    return strong_components(Graph.from_edges(states, sources, targets)).astype(np.int64)


def reference_mecs(mdp: Mdp) -> NDArray[np.int64]:
    """Return the MEC of each state.

    Repeatedly drops the choices that can leave the component of their state in the graph of the remaining choices,
    until none can. The remaining choices of a state stay in its MEC.

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


@njit(cache=True, nogil=True)
def _attracted(
    part_of_choice: NDArray[np.int64],
    offsets: NDArray[np.int64],
    entering: NDArray[np.uint32],
    left: NDArray[np.int64],
    queue: NDArray[np.int64],
) -> int:
    """Return the size, in parts, of the attractor of the parts without choices.

    `left`, the number of choices of each part, drops to 0 where every choice may lead into the attractor; `entering`
    lists for each part the choices that may lead to it.
    """
    hit = np.zeros(len(part_of_choice), np.bool_)
    count = 0
    for part in range(len(left)):
        if left[part] == 0:
            queue[count] = part
            count += 1
    done = 0
    while done < count:
        part = queue[done]
        done += 1
        for index in range(offsets[part], offsets[part + 1]):
            choice = entering[index]
            if not hit[choice]:
                hit[choice] = True
                source = part_of_choice[choice]
                left[source] -= 1
                if left[source] == 0:
                    queue[count] = source
                    count += 1
    return count


def _maximal(mdp: Mdp, mecs: NDArray[np.int64], inside: NDArray[np.bool_]) -> bool:
    """Whether components that are closed and strongly connected are maximal.

    Contract each component to one state, without the choices that stay in it. The components are maximal if and only if
    the quotient has no end component. That holds if and only if the attractor of the states without choices is all of
    it: outside the attractor every state has a choice that stays outside, so there is an end component there.
    Conversely, no state of an end component can be the first one attracted, since one of its choices stays inside.
    """
    state_of, choice_of = transition_states(mdp)
    parts = np.where(mecs >= 0, mecs, np.arange(mdp.states))
    part_of_choice = parts[state_of]
    left = np.bincount(part_of_choice[~inside], minlength=mdp.states)
    outside = ~inside[choice_of]
    entering = Graph.from_edges(max(mdp.states, mdp.choice_count), parts[mdp.targets[outside]], choice_of[outside])
    queue = np.empty(mdp.states, np.int64)
    return bool(_attracted(part_of_choice, *entering.csr, left, queue) == mdp.states)


def _name(mec: np.int64) -> str:
    return f"MEC {mec}" if mec >= 0 else "no MEC"


def check_mecs(mdp: Mdp, mecs: NDArray[np.int64], stays: NDArray[np.bool_] | None = None) -> str | None:
    """Find an error in a decomposition into maximal end components.

    Each state of a component must have a choice that stays in it, the component must be strongly connected by the edges
    of such choices, and be maximal. The check takes one search for components, by scipy, and one attractor.

    Parameters
    ----------
    mdp : Mdp
        The model.
    mecs : ndarray of int64, shape (n,)
        For each state the smallest state of its MEC, or -1.
    stays : ndarray of bool, shape (c,), optional
        The choices that are said to stay in the MEC of their state.

    Returns
    -------
    str or None
        One line that names the first state with an error; None if the decomposition is correct.

    Raises
    ------
    ValueError
        The array has another shape or type.
    """
    if mecs.dtype != np.int64 or mecs.shape != (mdp.states,):
        raise ValueError(f"mecs must be int64 of shape ({mdp.states},), not {mecs.dtype} of shape {mecs.shape}")
    numbers = np.arange(mdp.states)
    wrong = (mecs < -1) | (mecs > numbers)
    named = np.where(wrong | (mecs < 0), 0, mecs)
    wrong |= (mecs >= 0) & (mecs[named] != named)
    if wrong.any():
        state = wrong.argmax()
        return f"state {state}: {mecs[state]} is neither -1 nor the smallest state of its MEC"
    state_of, choice_of = transition_states(mdp)
    own = mecs[state_of]
    inside = own >= 0
    inside[choice_of[mecs[mdp.targets] != own[choice_of]]] = False
    unclosed = (mecs >= 0) & (np.bincount(state_of[inside], minlength=mdp.states) == 0)
    if unclosed.any():
        state = unclosed.argmax()
        return f"state {state} has no choice that stays in MEC {mecs[state]}"
    if stays is not None and (wrong := stays != inside).any():
        choice = int(wrong.argmax())
        state = state_of[choice]
        verb = "stays" if inside[choice] else "does not stay"
        return f"choice {choice - mdp.choices[state]} of state {state} {verb} in {_name(mecs[state])}"
    edges = inside[choice_of]
    apart = (strong_parts(mdp.states, state_of[choice_of[edges]], mdp.targets[edges]) != mecs) & (mecs >= 0)
    if apart.any():
        state = apart.argmax()
        return f"state {state} is not strongly connected with state {mecs[state]} by choices that stay in their MEC"
    if _maximal(mdp, mecs, inside):
        return None
    right = reference_mecs(mdp)
    state = (right != mecs).argmax()
    return f"state {state} is in {_name(right[state])}, not in {_name(mecs[state])}: what was found is not maximal"
