"""The checker and the reference against all sets of states of small models, and the text of the paper against both.

The algorithm of sections 2.3 and 3.4 is here as the text has it, and with our repairs one by one: short and slow.
Section 3.4 removes states and keeps their choices' other edges, since a search ignores only the edges between regions
and those to removed states, and a component of whose states each has a choice inside of it is a maximal end component.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import basic
from cyscc.host.baselines.mec.checker import check_mecs, reference_mecs, strong_parts
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


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """Deviations from the text of the paper.

    Parameters
    ----------
    whole_choices : bool
        A choice that may lead to a removed state goes with all its edges, not only with the one to that state.
    closed : bool
        A component is a maximal end component only if no choice can leave it, not if each state has one that stays.
    drop_leaving : bool
        Choices that can leave their component are dropped, so that its other edges by them do not count.
    """

    whole_choices: bool = True
    closed: bool = True
    drop_leaving: bool = True


@dataclass
class _State:
    choices: list[set[int]] = field(default_factory=list)


def _attractor(states: dict[int, _State], start: set[int], within: set[int]) -> set[int]:
    """Return the attractor of definition 7, in a set."""
    found = set(start)
    while True:
        more = {number for number in within - found if all(targets & found for targets in states[number].choices)}
        if not more:
            return found
        found |= more


def literal_mecs(mdp: Mdp, repairs: Repairs) -> tuple[list[int], int]:
    """Return for each state its maximal end component or -1, and the number of rounds."""
    states = {state: _State(choices_of(mdp, state)) for state in range(mdp.states)}
    mecs = [-1] * mdp.states
    rounds = 0
    while states:
        rounds += 1
        edges = sorted({(s, t) for s, each in states.items() for targets in each.choices for t in targets})
        pairs = np.array(edges, np.int64).reshape(-1, 2)
        parts = strong_parts(mdp.states, pairs[:, 0], pairs[:, 1].astype(np.uint32))
        components = [{s for s in states if parts[s] == part} for part in sorted({int(parts[s]) for s in states})]
        removed: set[int] = set()
        for component in components:
            stays = {s: [targets for targets in states[s].choices if targets <= component] for s in component}
            leaves = any(len(stays[s]) < len(states[s].choices) for s in component)
            unclosed = {s for s in component if not stays[s]}
            if repairs.drop_leaving:
                for s in component:
                    states[s].choices = stays[s]
            removed |= _attractor(states, unclosed, component)
            if not unclosed and not (repairs.closed and leaves):
                for s in component:
                    mecs[s] = min(component)
                removed |= _attractor(states, component, set(states))
        for s in removed:
            del states[s]
        for each in states.values():
            if repairs.whole_choices:
                each.choices = [targets for targets in each.choices if not targets & removed]
            else:
                each.choices = [targets - removed for targets in each.choices if targets - removed]
    return mecs, rounds


LEAK_IN_A_COMPONENT = model([[1, 2], [0]], [[0, 2], [1]], [[0, 3]], [[3]])
"""States 0 and 1 lead to each other by choices that may lead to state 2, which nothing keeps with them."""


def layers(count: int) -> Mdp:
    """Return pairs of states that lead to each other, and may lead on to the next pair; all have choices to stay."""
    pairs: list[list[list[int]]] = []
    for first in range(0, 2 * count, 2):
        following = min(first + 2, 2 * count - 2)
        pairs += [[[first + 1], [first, following]], [[first], [first + 1, following]]]
    return model(*pairs)


def test_with_all_repairs_it_is_right() -> None:
    models = [mdp for mdp, _ in SMALL.values()]
    models += [family("random", states=1 + seed % 8, choices=3, transitions=2, seed=seed) for seed in range(60)]
    for mdp in models:
        mecs, rounds = literal_mecs(mdp, Repairs())
        found = basic(mdp)
        assert mecs == reference_mecs(mdp).tolist() == found.mecs.tolist()
        # Its attractors hit what is not dropped yet, so that it may take more.
        assert len(found.rounds) <= rounds


@pytest.mark.parametrize(
    ("mdp", "without", "wrong", "right"),
    [
        # Every state has a choice that stays, so nothing locks the component.
        (SMALL["two that leak"][0], Repairs(closed=False), [0, 0, 2], [0, 1, 2]),
        # State 2 is removed, and the edges between 0 and 1 stay.
        (LEAK_IN_A_COMPONENT, Repairs(whole_choices=False), [0, 0, -1, 3], [0, 1, -1, 3]),
    ],
)
def test_without_a_repair_it_is_wrong(mdp: Mdp, without: Repairs, wrong: list[int], right: list[int]) -> None:
    assert literal_mecs(mdp, without)[0] == wrong
    assert literal_mecs(mdp, Repairs())[0] == right
    assert basic(mdp).mecs.tolist() == right


def test_without_dropping_what_leaves_it_takes_a_round_for_each_layer() -> None:
    mdp = layers(6)
    expected = reference_mecs(mdp).tolist()
    assert literal_mecs(mdp, Repairs(drop_leaving=False)) == (expected, 6)
    assert literal_mecs(mdp, Repairs()) == (expected, 2)
    assert len(basic(mdp).rounds) == 2


def test_the_attractor_of_a_mec_goes_in_the_round_that_finds_it() -> None:
    # Lemma 1.2: all choices of 1, and then of 0, may lead to the MEC of 2; theirs leave their components.
    found = basic(model([[0, 1]], [[0, 2], [1, 2]], [[2]]))
    assert found.mecs.tolist() == [-1, -1, 2]
    assert [(each.removed, each.mecs) for each in found.rounds] == [(2, 1)]
