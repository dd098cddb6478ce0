"""What a decomposition into maximal end components came to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["MecDecomposition", "MecRound"]


@dataclass(frozen=True, kw_only=True)
class MecRound:
    """One round: the strongly connected components of what is left, and what follows from them.

    Parameters
    ----------
    states, choices, transitions : int
        What was left when it began.
    components : int
        Strongly connected components of the graph of that.
    dropped : int
        Choices that could leave their component.
    removed : int
        States that were left without a choice, so that they are in no maximal end component.
    mecs : int
        Maximal end components found: components of which nothing was dropped.
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
        For each state the smallest state of its maximal end component, -1 where it is in none.
    rounds : tuple of MecRound
        The rounds.
    counts : mapping
        What the algorithm counts of its work, by name in lower case with underscores.
    """

    mecs: NDArray[np.int64]
    rounds: tuple[MecRound, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
