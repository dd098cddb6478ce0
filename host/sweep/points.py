"""A point of a sweep: a run, described by all that its result depends on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from host.measuring.graphs import GraphFile, GraphSpec
from host.measuring.store import measurement_digest
from host.record.reader import RECORD_SCHEMA
from host.runs.execution import SOURCE_RULE
from host.runs.specification import RunSpec
from host.sources import sources_digest

__all__ = ["Point"]


@dataclass(frozen=True, kw_only=True)
class Point:
    """A run to be recorded.

    Parameters
    ----------
    graph : GraphSpec or GraphFile
        The graph.
    spec : RunSpec
        The run; a search without a source starts by `SOURCE_RULE`.
    """

    graph: GraphSpec | GraphFile
    spec: RunSpec

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.spec.algorithm} of {self.graph.label} on {self.spec.machine_text}"

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about: the graph, for components the transpose too, and the check."""
        return 20 * self.graph.edges + 200 * self.graph.vertices + (400 << 20)

    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able."""
        return {
            "measurement": "point",
            "graph": self.graph.identity(),
            "rule": SOURCE_RULE,
            "run": self.spec.varied(),
            "sources": sources_digest(),
            "record": RECORD_SCHEMA,
        }

    @cached_property
    def digest(self) -> str:
        """The digest, 24 hexadecimal digits, of everything that its result depends on."""
        return measurement_digest(self.inputs())
