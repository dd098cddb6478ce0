"""Keepers of a run, by which it can be resumed, and its observers, which have no part in it."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Keeper", "LevelAccount", "Observer"]

State = TypeVar("State")


class Keeper:
    """Keeps nothing: every run begins at its beginning.

    A run tells what its state is, a dataclass of plain values that it changes as it goes on. Whoever keeps it may do so
    within any instruction, together with the coprocessor and its memory. A run that is taken up again finds the state,
    makes the same allocations as before, has the coprocessor brought to where it was, and goes on by waiting for the
    instruction.
    """

    def kept(self, name: str, kind: type[State]) -> State | None:
        """Return the state that was kept of a part of the run; None in a run from the beginning."""
        return None

    def keep(self, name: str, state: object, *, refresh: Callable[[], None] | None = None) -> None:
        """Tell the state of a part of the run, which changes from now on; `refresh` brings it up to date if need be."""

    def resume(self) -> None:
        """Bring the coprocessor to where it was; only where there is a state."""


class LevelAccount(NamedTuple):
    """Counts of each level of a search, each vertex taken once."""

    pushed: npt.NDArray[np.int64]
    """Vertices that it pushed."""
    edges: npt.NDArray[np.int64]
    """Edges that leave its own vertices."""

    @classmethod
    def of(cls, found: npt.NDArray[np.int64]) -> "LevelAccount":
        """Return that of vertices and edges by part of a reach queue: the source, then what each level pushed."""
        return cls(pushed=found[1:, 0], edges=found[:-1, 1])


class Observer:
    """Watches nothing: a run tells where it is, and goes on the same whoever listens."""

    def begin(self, iteration: int, phase: str) -> None:
        """Learn that the instructions to come are of an iteration (0 where there is only one search) and a phase."""

    def on_instruction(self, entries: int, pushed: int) -> None:
        """Learn how many entries the instruction that is complete has read from its queues, and pushed."""

    def end(self, account: Callable[[], LevelAccount] | None = None) -> None:
        """Learn that an intersection is over, or a search, which can give an account of its levels."""
