"""A small Markov decision process on which every part of an algorithm has something to do."""

import numpy as np

from host.mdp.model import Mdp

__all__ = ["small_mdp"]

_STATES = 400
_SEED = 1


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
