"""What watches a run while it goes on, without a part in it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["LevelAccount", "Observer"]


class LevelAccount(NamedTuple):
    """Counts of each level of a search, each vertex taken once."""

    pushed: npt.NDArray[np.int64]
    """Vertices that it pushed."""
    edges: npt.NDArray[np.int64]
    """Edges that leave its own vertices."""


class Observer:
    """Watches nothing: a run tells where it is, and goes on the same whoever listens."""

    def begin(self, iteration: int, phase: str) -> None:
        """Learn that the instructions to come are of an iteration (0 where there is only one search) and a phase."""

    def on_instruction(self, entries: int, pushed: int) -> None:
        """Learn how many entries the instruction that is complete has read from its queues, and pushed."""

    def end(self, account: Callable[[], LevelAccount] | None = None) -> None:
        """Learn that an intersection is over, or a search, which can give an account of its levels."""
