"""The order in which the threads of a step run.

A graphics processor promises none. Tests reverse and shuffle it, so that what depends on it is seen.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NATURAL", "ORDERS", "Order"]

ORDERS = ("natural", "reversed", "shuffled")
"""Names of the orders."""

_NATURAL = np.empty(0, np.int64)


@dataclass(frozen=True)
class Order:
    """An order.

    Parameters
    ----------
    name : str
        One of `ORDERS`.
    seed : int
        Of the shuffled ones; each launch has a permutation of its own.

    Raises
    ------
    ValueError
        The name is none of them.
    """

    name: str = "natural"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {self.name!r}")

    def permutation(self, count: int, launch: int) -> NDArray[np.int64]:
        """Return the numbers 0 to count - 1 in this order, for the launch of a number; none when they are ascending."""
        if self.name == "natural":
            return _NATURAL
        if self.name == "reversed":
            return np.arange(count - 1, -1, -1)
        return np.random.default_rng((self.seed, launch)).permutation(count)


NATURAL = Order()
"""Ascending."""
