"""Requests of a plan: frozen values with all inputs of a result, which can be sent to another process."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, TypeVar

import msgspec

from cyscc.host.graph.csr import Graph
from cyscc.host.runs.sources import text_digest
from cyscc.sim.configuration import AcceleratorConfig

if TYPE_CHECKING:
    from cyscc.host.experiments.plan.store import Store

Measured = dict[str, Any]
"""A result as JSON values. ``verified`` tells whether it was checked."""

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
"""Numbers in results: how many, also bytes; and how much."""

Divisor = Annotated[int, msgspec.Meta(ge=1, le=1 << 62)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e12)]
"""The same, where other numbers are divided by them."""

_LONGEST = 1000
"""Length in characters above which a text in the inputs of a result is replaced by its digest."""

_DIGITS = 24


class Source(Protocol):
    """A graph, or a model whose graph it is, as a request names it: by a file, or by what generates it."""

    @property
    def label(self) -> str:
        """Name in messages."""

    def identity(self) -> dict[str, Any]:
        """Return what the graph depends on as JSON values, for digests."""

    def generate(self) -> Graph:
        """Return the graph."""


_generated: dict[Source, Graph] = {}
"""Cache of the last request's graph; the next request of this process often has the same."""


def graph_of(source: Source) -> Graph:
    """Return a graph, which is kept until another one is asked for."""
    if source not in _generated:
        _generated.clear()  # free the old graph before the new one is generated
        _generated[source] = source.generate()
    return _generated[source]


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """A request for a result; a value that can be sent to another process.

    The result depends on all fields except those declared with ``compare=False``, which hold the locations of files.

    Parameters
    ----------
    graph : Source, optional
        The graph that it is made on.
    """

    alone: ClassVar[bool] = False
    """Whether it times this processor, and so needs a process of its own with nothing beside it."""

    kind: ClassVar[Any] = dict[str, Any]
    """Type of its results, which stored ones are checked against."""

    graph: Source | None = None

    @property
    @abstractmethod
    def label(self) -> str:
        """Name in messages."""

    @property
    def bytes(self) -> int:
        """Approximate peak memory, including the graph; unused if it runs alone."""
        return 1 << 30

    @property
    def machine(self) -> AcceleratorConfig | None:
        """The machine that it runs on, whose executor takes long to build the first time; None for no machine."""
        return None

    def inputs(self) -> dict[str, Any]:
        """Return the inputs of the result as JSON values, for its digest: the fields and `setting`."""
        counting = [each.name for each in fields(self) if each.compare and each.name != "graph"]
        values = {name: msgspec.to_builtins(getattr(self, name)) for name in counting}
        if self.graph is not None:
            values["graph"] = self.graph.identity()
        for name, value in values.items():
            if isinstance(value, str) and len(value) > _LONGEST:
                values[name] = text_digest(value)
        return {"measurement": type(self).__name__, **values, **self.setting()}

    @cached_property
    def digest(self) -> str:
        """Digest of the inputs, the name of the result's folder."""
        return text_digest(json.dumps(self.inputs(), sort_keys=True))[:_DIGITS]

    @abstractmethod
    def setting(self) -> dict[str, Any]:
        """Return the further inputs of the result as JSON values: sources, and possibly processor and tools."""

    def make(self, folder: Path, store: "Store", *, verify: bool, most: int | None) -> Measured:
        """Make the result.

        Parameters
        ----------
        folder : Path
            The result's folder, for files that belong to it.
        store : Store
            The store of the folder, where results that it needs are found or made.
        verify : bool
            Whether to verify the result.
        most : int, optional
            Cycles after which a run is given up.

        Raises
        ------
        InputError, SimulationError
            It failed, or its result is wrong.
        """
        return self.measure(None if self.graph is None else graph_of(self.graph), verify=verify)

    def measure(self, graph: Any, *, verify: bool) -> Measured:
        """Make a result without files: see `make`.

        Parameters
        ----------
        graph : Graph or None
            The requested graph.
        verify : bool
            Whether to verify the result.
        """
        raise NotImplementedError

    def check(self, result: Measured) -> None:
        """Check that a stored result is one of this request.

        Raises
        ------
        ValueError
            It has not the fields or types of one.
        """
        msgspec.convert(result, self.kind)

    def check_files(self, folder: Path, result: Measured) -> None:
        """Check that the files in a stored result's folder belong to it.

        Raises
        ------
        InputError
            A file is damaged or missing, or is that of another result.
        """
        return  # there are none

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a short text on a result."""
        return "done"


AnyRequest = TypeVar("AnyRequest", bound=Request)
"""A type of requests."""
