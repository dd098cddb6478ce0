"""Small models for tests, from lists and from numbers."""

import numpy as np

from cyscc.host.baselines.mdp.model import Mdp


def model(*states: list[list[int]]) -> Mdp:
    """Return a model: for each state its choices, each the list of its targets."""
    choices = [choice for state in states for choice in state]
    return Mdp(
        choices=np.cumsum([0, *map(len, states)], dtype=np.int64),
        transitions=np.cumsum([0, *map(len, choices)], dtype=np.int64),
        targets=np.array([target for choice in choices for target in choice], np.uint32),
    )


def choices_of(mdp: Mdp, state: int) -> list[set[int]]:
    """Return the targets of each choice of a state."""
    return [
        {int(target) for target in mdp.targets[mdp.transitions[choice] : mdp.transitions[choice + 1]]}
        for choice in range(mdp.choices[state], mdp.choices[state + 1])
    ]


SMALL: dict[str, tuple[Mdp, list[int]]] = {
    "two that leak": (model([[0], [1, 2]], [[1], [0, 2]], [[2]]), [0, 1, 2]),
    "three that do not leak": (model([[0], [1]], [[1], [0, 2]], [[0], [2]]), [0, 0, 0]),
    "a pair that leads back": (model([[1]], [[2]], [[1], [0, 1]]), [0, 0, 0]),
    "a pair that cannot be left": (model([[1]], [[2]], [[1]]), [-1, 1, 1]),
    "one state": (model([[0]]), [0]),
    "a target named twice": (model([[1, 1]], [[0, 0], [1]]), [0, 0]),
    "one in two choices": (model([[1], [2]], [[0]], [[0]]), [0, 0, 0]),
    "a leak that takes others along": (model([[1], [0]], [[2], [0, 2]], [[1, 3]], [[3]]), [0, -1, -1, 3]),
}
"""Models, and the MEC of each of their states."""
