"""A decomposition into maximal end components: what it came to, and a run of one with its time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from host.algorithms.names import MEC_KINDS
from host.algorithms.software.decomposition import Setting, timed
from host.mdp.model import Mdp

__all__ = ["MecDecomposition", "MecRound", "MecRun", "run_mec", "small_mdp"]

_STATES = 400
_SEED = 1


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


def small_mdp() -> Mdp:
    """Return a model of some hundred states, sparse and random, so that some rounds find something and drop something.

    Its states have one to three choices of one or two targets, most of them near by.
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


@dataclass(frozen=True, kw_only=True)
class MecRun:
    """A run of one algorithm.

    Parameters
    ----------
    algorithm : str
        Its name.
    device : str
        Name of the device.
    threads : int
        Threads of the processor that it used.
    found : MecDecomposition
        What it found.
    seconds : float
        Time of the algorithm alone: the model is there, and everything is compiled.
    """

    algorithm: str
    device: str
    threads: int
    found: MecDecomposition
    seconds: float


def run_mec(algorithm: str, mdp: Mdp, setting: Setting) -> MecRun:
    """Run an algorithm, after a run on a small model that compiles what is not yet compiled.

    Parameters
    ----------
    algorithm : str
        A key of `host.algorithms.names.MEC_KINDS`.
    mdp : Mdp
        The Markov decision process.
    setting : Setting
        How it runs.
    """
    found, how = timed(MEC_KINDS[algorithm], setting, (mdp,), lambda: (small_mdp(),))
    return MecRun(algorithm=algorithm, found=found, **how)
