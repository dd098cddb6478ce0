"""Families of Markov decision processes: their maximal end components, and invalid sizes."""

from typing import Any

import numpy as np
import pytest

from cyscc.host.baselines.mdp.families import FAMILIES, family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.checker import check_mecs, reference_mecs, strong_parts, transition_states
from cyscc.host.output.errors import InputError
from tests.refusals import refused


def graph_parts(mdp: Mdp) -> list[int]:
    """Return the sizes of the strongly connected components, the largest first."""
    state_of, choice_of = transition_states(mdp)
    parts = strong_parts(mdp.states, state_of[choice_of], mdp.targets)
    return sorted(np.unique(parts, return_counts=True)[1].tolist(), reverse=True)


def mec_sizes(mdp: Mdp) -> list[int]:
    """Return the sizes of the maximal end components, the largest first."""
    mecs = reference_mecs(mdp)
    assert check_mecs(mdp, mecs) is None
    return sorted(np.unique(mecs[mecs >= 0], return_counts=True)[1].tolist(), reverse=True)


@pytest.mark.parametrize("name", FAMILIES)
def test_arrays(name: str) -> None:
    mdp = family(name)
    again = family(name)
    for array in ("choices", "transitions", "targets"):
        assert np.array_equal(getattr(mdp, array), getattr(again, array))
    assert [str(array.dtype) for array in (mdp.choices, mdp.transitions, mdp.targets)] == ["int64", "int64", "uint32"]
    assert np.diff(mdp.choices).min() >= 1
    assert np.diff(mdp.transitions).min() >= 1
    assert mdp.targets.max() < mdp.states
    choice_of = np.repeat(np.arange(mdp.choice_count), np.diff(mdp.transitions))
    assert len(np.unique(choice_of * mdp.states + mdp.targets)) == mdp.transition_count
    states, transitions = FAMILIES[name].bound(**FAMILIES[name].defaults)
    assert mdp.states <= states
    assert mdp.transition_count <= 2 * states * transitions


@pytest.mark.parametrize("philosophers", [2, 3, 4])
def test_philosophers(philosophers: int) -> None:
    safe = family("philosophers", philosophers=philosophers, risky=0)
    assert mec_sizes(safe) == [safe.states]
    sizes = mec_sizes(family("philosophers", philosophers=philosophers))
    assert len(sizes) == 3**philosophers - 2**philosophers + 1
    # With everybody up there are the safe states without those in which somebody is down.
    assert safe.states > sizes[0] > sizes[1]
    assert sizes[-1] == 1


def test_philosopher_alone_with_a_lost_one() -> None:
    # Thinking, waiting for either, having either, eating: in four divisions; everybody lost; and both up.
    assert mec_sizes(family("philosophers", philosophers=2)) == [29, 6, 6, 6, 6, 1]


def test_shared_coin() -> None:
    mdp = family("coin", processes=2, bound=3)
    assert mdp.states == 17 * 36
    assert mec_sizes(mdp) == [1] * (17 * 4)
    # The walk is one component all the same.
    assert graph_parts(mdp)[0] > 100


def test_leader_election() -> None:
    mdp = family("leader", processes=4, numbers=3)
    assert mec_sizes(mdp) == [1] * 4
    # Of all four, a set of three, and a pair, those in which a round may begin again.
    assert len([size for size in graph_parts(mdp) if size > 1]) > 4
    again = family("leader", processes=4, numbers=3, restart=1)
    assert mec_sizes(again) == [again.states]


def test_leader_election_of_two() -> None:
    # All wait; one has drawn 1 or 2; one leads.
    mdp = family("leader", processes=2, numbers=2)
    assert (mdp.states, mdp.choice_count) == (7, 8)
    assert mec_sizes(mdp) == [1, 1]


@pytest.mark.parametrize(("width", "height", "room", "rooms"), [(12, 12, 4, 9), (13, 10, 3, 20), (3, 3, 5, 1)])
def test_grid(width: int, height: int, room: int, rooms: int) -> None:
    sizes = mec_sizes(family("grid", width=width, height=height, room=room))
    assert len(sizes) == rooms
    assert sum(sizes) == width * height


def test_doors_lead_one_way() -> None:
    mdp = family("grid", width=6, height=3, room=3)
    # Beside the door, (2, 1): to the right through it, or up or down by slipping.
    first = mdp.choices[1 * 6 + 2]
    assert mdp.targets[mdp.transitions[first] : mdp.transitions[first + 1]].tolist() == [9, 14, 2]
    # Behind it, (3, 1), to the left: a wall, so that it stays.
    first = mdp.choices[1 * 6 + 3] + 2
    assert mdp.targets[mdp.transitions[first] : mdp.transitions[first + 1]].tolist() == [9, 3, 15]


def test_islands() -> None:
    mdp = family("islands", islands=100, size=5, leaving=2)
    assert mec_sizes(mdp) == [5] * 100 + [1]
    assert graph_parts(mdp) == [500, 1]


def test_stairs() -> None:
    mdp = family("stairs", steps=40)
    assert mec_sizes(mdp) == [1] * 40
    assert graph_parts(mdp) == [39, 1]


def test_random_numbers_are_all_drawn() -> None:
    mdp = family("random", states=500, choices=3, transitions=4)
    assert set(np.diff(mdp.choices).tolist()) == {1, 2, 3}
    assert set(np.diff(mdp.transitions).tolist()) == {1, 2, 3, 4}
    other = family("random", states=500, choices=3, transitions=4, seed=1)
    assert not np.array_equal(mdp.choices, other.choices)


def test_more_states_than_are_made_at_once() -> None:
    steps: list[tuple[int, int]] = []
    family("random", states=3, choices=1 << 10, transitions=1 << 10, on_step=lambda *done: steps.append(done))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    mdp = family("stairs", steps=400_000)
    assert mdp.transition_count == 3 * 400_000 - 2
    assert (mdp.targets[mdp.transitions[mdp.choices[:-1]]] == np.arange(400_000)).all()


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        (
            "wlan",
            {},
            "no family 'wlan': there are philosophers, coin, leader, grid, islands, stairs, random",
        ),
        ("random", {"seed": 2**64}, f"seed of random must be 0 to {2**64 - 1}, not {2**64}"),
        (
            "grid",
            {"width": 2**20, "height": 2**20},
            f"{2**40} states are too many for 32 bits (at most 4294967294)",
        ),
    ],
)
def test_no_member(name: str, sizes: dict[str, Any], message: str) -> None:
    with refused(InputError, message):
        family(name, **sizes)
