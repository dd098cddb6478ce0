"""Repairs that the paper's text needs under the standard definition, each with a model that fails without it."""

import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import basic
from cyscc.host.baselines.mec.checker import reference_mecs
from tests.host.baselines.mdp.models import SMALL, model
from tests.host.baselines.mec.literal import Repairs, literal_mecs

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
