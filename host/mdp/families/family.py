"""What a family of Markov decision processes is: its sizes, and how a member is made of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from host.graph.generators.stream import OnStep
from host.mdp.model import Mdp
from host.mdp.pieces import Pieces

__all__ = ["Family", "Fill", "Size", "fill_states"]

_ROOM = 1 << 20  # transitions that a chunk has room for, unless one state has more

Fill = Callable[[int, int, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]], tuple[int, int]]
"""Given the first state and one past the last, fills their targets, lengths of choices, and numbers of choices.

Returns the numbers of transitions and of choices."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """A number by which the members of a family differ."""

    default: int
    least: int
    most: int
    text: str
    """What it is, for people."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of Markov decision processes, one of `host.mdp.names.FAMILY_NAMES`.

    Parameters
    ----------
    sizes : mapping of str to Size
        What `make` takes by name.
    bound : callable
        Given the sizes, returns numbers of states and of transitions that there are at most, or nearly so.
    make : callable
        Given the sizes and ``on_step``, makes a member; the same numbers give the same on every machine.
    """

    sizes: Mapping[str, Size]
    bound: Callable[..., tuple[int, int]]
    make: Callable[..., Mdp]


def fill_states(
    states: int, most_choices: int, most_transitions: int, fill: Fill, on_step: OnStep | None = None
) -> Mdp:
    """Make a model chunk by chunk.

    Parameters
    ----------
    states : int
        Number of states.
    most_choices, most_transitions : int
        Most of them that a state has.
    fill : callable
        Fills a chunk.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
    """
    chunk = max(min(states, _ROOM // most_transitions), 1)
    targets = np.empty(chunk * most_transitions, np.uint32)
    lengths = np.empty(chunk * most_choices, np.uint32)
    counts = np.empty(chunk, np.uint32)
    pieces = Pieces()
    for first in range(0, states, chunk):
        last = min(first + chunk, states)
        transitions, choices = fill(first, last, targets, lengths, counts)
        pieces.add(targets[:transitions], lengths[:choices], counts[: last - first])
        if on_step is not None:
            on_step(last, states)
    return pieces.mdp()
