"""Markov decision processes (MDPs) as arrays."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.graph.csr import Graph, check_limits
from cyscc.sim.caching.numba_code import njit


def check_size(states: int, transitions: int) -> None:
    """Refuse a model whose graph does not fit the 32-bit indices of graphs.

    Raises
    ------
    InputError
        There are more than a graph can have vertices, or edges.
    """
    check_limits(states, transitions, nouns=("states", "transitions"))


def offsets_of(lengths: NDArray[np.integer | np.bool_]) -> NDArray[np.int64]:
    """Return offsets from lengths: the start of each run, and the end of the last."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


class Actions(NamedTuple):
    """Names of the actions of a model's choices."""

    numbers: NDArray[np.int32]
    """Number of each choice's name, shape (c,); -1 for none."""
    names: tuple[str, ...]
    """The names."""

    def of(self, choices: NDArray[np.integer]) -> list[str | None]:
        """Return the names of some choices."""
        return [None if number < 0 else self.names[number] for number in self.numbers[choices].tolist()]


@njit(cache=True, nogil=True)
def _staying(
    choices: NDArray[np.int64], transitions: NDArray[np.int64], targets: NDArray[np.uint32], labels: NDArray[np.int64]
) -> NDArray[np.bool_]:
    stays = np.zeros(transitions.size - 1, np.bool_)
    for state in range(labels.size):
        for choice in range(choices[state], choices[state + 1]):
            edge, last = transitions[choice], transitions[choice + 1]
            while edge < last and labels[targets[edge]] == labels[state]:
                edge += 1
            stays[choice] = edge == last and labels[state] >= 0
    return stays


@dataclass(frozen=True, eq=False, kw_only=True)
class Mdp:
    """A Markov decision process with only the support of its distributions.

    A state has one or more choices; a choice has one or more transitions, to the states with a probability above 0 in
    its distribution (Wijs et al. 2014, definitions 1 and 2). States are numbered 0 to n - 1, choices 0 to c - 1 in the
    order of their states.

    Parameters
    ----------
    choices : ndarray of int64, shape (n + 1,)
        The choices of state ``s`` are ``choices[s]`` to ``choices[s + 1] - 1``.
    transitions : ndarray of int64, shape (c + 1,)
        The targets of choice ``k`` are ``targets[transitions[k]:transitions[k + 1]]``.
    targets : ndarray of uint32, shape (m,)
        States, 0 to n - 1.
    actions : Actions, optional
        Names of the actions, if any are known.

    Raises
    ------
    ValueError
        The arrays are inconsistent.
    """

    choices: NDArray[np.int64]
    transitions: NDArray[np.int64]
    targets: NDArray[np.uint32]
    actions: Actions | None = None

    def __post_init__(self) -> None:
        for name, offsets, count in (
            ("choices", self.choices, len(self.transitions) - 1),
            ("transitions", self.transitions, len(self.targets)),
        ):
            if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != count:
                raise ValueError(f"{name} must run from 0 to {count}")

    @property
    def states(self) -> int:
        """Number of states, n."""
        return len(self.choices) - 1

    @property
    def choice_count(self) -> int:
        """Number of choices of all states, c."""
        return len(self.transitions) - 1

    @property
    def transition_count(self) -> int:
        """Number of transitions of all choices, m."""
        return len(self.targets)

    def graph(self) -> Graph:
        """Return the induced graph, with an edge for each transition, in order, without copying arrays."""
        return Graph(offsets=self.transitions[self.choices], targets=self.targets)

    def staying(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each choice stays in the component of its state: it never leads out of it.

        Parameters
        ----------
        labels : ndarray of int64, shape (n,)
            The component of each state, or -1 for a state in none.

        Returns
        -------
        ndarray of bool, shape (c,)
        """
        return _staying(self.choices, self.transitions, self.targets, labels)
