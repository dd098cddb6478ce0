"""The checker of maximal end components, and the reference, against all sets of states of small models."""

import numpy as np
import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.checker import check_mecs, reference_mecs
from tests.host.baselines.mdp.models import SMALL, choices_of, model
from tests.refusals import refused


def is_end_component(mdp: Mdp, states: set[int]) -> bool:
    """Whether each state has a choice that stays in the set, and each reaches each by such choices."""
    inside = {state: [choice for choice in choices_of(mdp, state) if choice <= states] for state in states}
    if not all(inside.values()):
        return False
    for state in states:
        reached, waiting = {state}, [state]
        while waiting:
            new = set().union(*inside[waiting.pop()]) - reached
            reached |= new
            waiting += new
        if reached != states:
            return False
    return True


def mecs_by_brute_force(mdp: Mdp) -> list[int]:
    """Return for each state the smallest of the largest end component that it is in, or -1."""
    mecs, largest = [-1] * mdp.states, [0] * mdp.states
    for bits in range(1, 1 << mdp.states):
        states = {state for state in range(mdp.states) if bits >> state & 1}
        if is_end_component(mdp, states):
            for state in states:
                if len(states) > largest[state]:
                    mecs[state], largest[state] = min(states), len(states)
    return mecs


@pytest.mark.parametrize("name", SMALL)
def test_small_models(name: str) -> None:
    mdp, expected = SMALL[name]
    assert mecs_by_brute_force(mdp) == expected
    assert reference_mecs(mdp).tolist() == expected
    assert check_mecs(mdp, np.array(expected)) is None


def test_nothing_but_the_mecs_is_right() -> None:
    numbers = []
    for seed in range(80):
        mdp = family("random", states=1 + seed % 8, choices=1 + seed % 3, transitions=1 + seed % 5 // 2, seed=seed)
        mecs = mecs_by_brute_force(mdp)
        numbers.append(len(set(mecs) - {-1}))
        assert reference_mecs(mdp).tolist() == mecs
        assert check_mecs(mdp, np.array(mecs)) is None
        for state in range(mdp.states):
            for other in set(range(-1, mdp.states)) - {mecs[state]}:
                wrong = [*mecs[:state], other, *mecs[state + 1 :]]
                assert check_mecs(mdp, np.array(wrong)) is not None
    assert sum(number > 1 for number in numbers) > 10, numbers


def test_nothing_but_the_choices_that_stay_is_right() -> None:
    for seed in range(40):
        mdp = family("random", states=1 + seed % 8, choices=1 + seed % 3, transitions=1 + seed % 5 // 2, seed=seed)
        mecs = np.array(mecs_by_brute_force(mdp))
        own = [set(np.flatnonzero(mecs == mec).tolist()) if mec >= 0 else set() for mec in mecs]
        stays = [choice <= own[state] for state in range(mdp.states) for choice in choices_of(mdp, state)]
        assert mdp.staying(mecs).tolist() == stays
        assert check_mecs(mdp, mecs, np.array(stays)) is None
        for choice, right in enumerate(stays):
            wrong = np.array([*stays[:choice], not right, *stays[choice + 1 :]])
            message = check_mecs(mdp, mecs, wrong)
            assert message is not None
            assert f" {'stays' if right else 'does not stay'} in " in message
    assert check_mecs(*SMALLEST, np.array([False])) == "choice 0 of state 0 stays in MEC 0"


SMALLEST = model([[0]]), np.array([0])


CHAIN = model([[1]], [[2], [1]], [[0], [2, 3]], [[3]])


@pytest.mark.parametrize(
    ("mecs", "message"),
    [
        ([0, 0, 0, 2], "state 3: 2 is neither -1 nor the smallest state of its MEC"),
        ([0, 2, 0, 3], "state 1: 2 is neither -1 nor the smallest state of its MEC"),
        ([0, 0, -2, 3], "state 2: -2 is neither -1 nor the smallest state of its MEC"),
        ([0, 0, 0, 4], "state 3: 4 is neither -1 nor the smallest state of its MEC"),
        ([-1, -1, 2, 3], "state 2 has no choice that stays in MEC 2"),
        ([0, 0, 0, 0], "state 3 is not strongly connected with state 0 by choices that stay in their MEC"),
        ([-1, 1, -1, 3], "state 0 is in MEC 0, not in no MEC: what was found is not maximal"),
        ([0, 0, 0, -1], "state 3 is in MEC 3, not in no MEC: what was found is not maximal"),
        ([0, 0, 0, 3], None),
    ],
)
def test_messages(mecs: list[int], message: str | None) -> None:
    assert check_mecs(CHAIN, np.array(mecs)) == message


def test_other_arrays_are_refused() -> None:
    with refused(ValueError, "mecs must be int64 of shape (4,), not int64 of shape (3,)"):
        check_mecs(CHAIN, np.zeros(3, np.int64))
    with refused(ValueError, "mecs must be int64 of shape (4,), not int32 of shape (4,)"):
        check_mecs(CHAIN, np.zeros(4, np.int32))


def test_large_components() -> None:
    mdp = family("random", states=20_000, choices=2, transitions=2, seed=1)
    mecs = reference_mecs(mdp)
    assert check_mecs(mdp, mecs) is None
    sizes = np.bincount(mecs[mecs >= 0])
    largest = sizes.argmax()
    assert sizes[largest] > 10_000
    mecs[mecs == largest] = -1
    assert check_mecs(mdp, mecs) == f"state {largest} is in MEC {largest}, not in no MEC: what was found is not maximal"
