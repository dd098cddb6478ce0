"""What a parallel algorithm is given besides a graph, and what it returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from host.devices import Device

__all__ = ["Decomposition", "Setting", "Watch", "unwatched"]

Watch = Callable[[int, int], None]
"""Told how many vertices have a component, and of how many."""


def unwatched(done: int, total: int) -> None:
    """Watch nothing."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How an algorithm runs.

    Parameters
    ----------
    device : Device
        Where its steps run.
    seed : int
        Of what it draws at random.
    options : mapping
        Its own options that were given, by name (`host.algorithms.names`).
    watch : callable
        Called now and then.
    """

    device: Device
    seed: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    watch: Watch = unwatched


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """The components that an algorithm found.

    Parameters
    ----------
    labels : ndarray of int64, shape (n,)
        Any labelling: two vertices are in the same component when their labels are equal.
    counts : mapping
        What the algorithm counts of its work, by name in lower case with underscores, as its text measures it.
    """

    labels: NDArray[np.int64]
    counts: Mapping[str, int] = field(default_factory=dict)
