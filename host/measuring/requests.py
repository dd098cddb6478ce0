"""What can be measured, as every study asks for it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from host.measuring.graphs import GraphSpec

__all__ = ["Measured", "OnStep", "Request", "no_step"]

Measured = dict[str, Any]
"""A result, JSON-able. ``verified`` tells whether it was checked."""

OnStep = Callable[[int, int, str], None]
"""Is told how many steps are done, of how many, and what the last one was."""


def no_step(done: int, total: int, what: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """Something to be measured; a value, so that another process can be given it.

    Parameters
    ----------
    graph : GraphSpec or None
        The graph that it is measured on.
    """

    alone: ClassVar[bool] = False
    """Whether nothing may run beside it and its process must be its own, because it is this processor that is timed."""

    graph: GraphSpec | None

    @property
    @abstractmethod
    def label(self) -> str:
        """What messages call it."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about, the graph included; of no account when it runs alone."""
        return 0

    @property
    def machine(self) -> tuple[str, str] | None:
        """Preset and memory profile of the machine whose executor is to be built beforehand."""
        return None

    @abstractmethod
    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able."""

    @abstractmethod
    def measure(self, graph: Any, *, verify: bool) -> Measured:
        """Measure it.

        Parameters
        ----------
        graph : Graph or None
            The graph asked for.
        verify : bool
            Whether to check the result.

        Raises
        ------
        InputError, SimulationError
            It failed, or the result is wrong.
        """

    @abstractmethod
    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
