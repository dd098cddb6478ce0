"""What keeps a run while it goes on, so that it can be taken up again."""

from collections.abc import Callable
from typing import TypeVar

__all__ = ["Keeper"]

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
