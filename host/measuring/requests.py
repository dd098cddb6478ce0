"""What can be measured, as every study asks for it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from host.measuring.graphs import GraphSpec, ModelSpec
from host.sources import text_digest

__all__ = ["Measured", "OnStep", "Request", "no_step"]

Measured = dict[str, Any]
"""A result, JSON-able. ``verified`` tells whether it was checked."""

_LONGEST = 1000
"""Characters of a text from which on its digest stands for it in the inputs of a result."""

OnStep = Callable[[int, int, str], None]
"""Is told how many steps are done, of how many, and what the last one was."""


def no_step(done: int, total: int, what: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """Something to be measured; a value, so that another process can be given it.

    A result depends on all fields but those declared with ``compare=False``, which say where files are.

    Parameters
    ----------
    graph : GraphSpec or ModelSpec, optional
        The graph that it is measured on, or the model whose graph that is.
    """

    alone: ClassVar[bool] = False
    """Whether nothing may run beside it and its process must be its own, because it is this processor that is timed."""

    graph: GraphSpec | ModelSpec | None = None

    @property
    @abstractmethod
    def label(self) -> str:
        """Name in messages."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about, the graph included; of no account when it runs alone."""
        return 1 << 30

    @property
    def machine(self) -> tuple[str, str] | None:
        """Preset and memory profile of the machine whose executor is to be built beforehand."""
        return None

    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able: its fields, and what `setting` says."""
        counting = [each.name for each in fields(self) if each.compare]
        values = {name: value for name, value in asdict(self).items() if name in counting}
        for name, value in values.items():
            if isinstance(value, str) and len(value) > _LONGEST:
                values[name] = text_digest(value)
        return {"measurement": type(self).__name__, **values, **self.setting()}

    @abstractmethod
    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides, JSON-able: sources, and perhaps processor and tools."""

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

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return "done"
