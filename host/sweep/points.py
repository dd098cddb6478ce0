"""A point of a sweep: a run, described by all that its result depends on."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from host.runs.overrides import Overrides
from host.measuring.graphs import SOURCE_RULE, GraphSpec
from host.measuring.sources import digest_beside, sources_digest
from host.measuring.store import measurement_digest
from host.record.reader import RECORD_SCHEMA
from host.runs import session
from host.sweep.graphs import GraphFile
from sim.configuration import AcceleratorConfig
from sim.memory import Profile, parse_profile

__all__ = ["ALGORITHMS", "Point"]

ALGORITHMS = ("bfs", "scc")
"""What can run at a point."""

# Taken when the program starts, as the digest of the other sources is.
_RUNNING = digest_beside(str(session.__file__))


@dataclass(frozen=True, kw_only=True)
class Point:
    """A run to be recorded.

    Parameters
    ----------
    graph : GraphSpec or GraphFile
        The graph.
    algorithm : str
        One of `ALGORITHMS`.
    source : int or None
        The vertex that a search starts from, as the graph's file names it; None for `SOURCE_RULE`.
    config_name : str
        What results call the configuration.
    config : AcceleratorConfig
        The configuration, changes included.
    memory_name : str
        The memory profile, as `parse_profile` takes it.
    changes : tuple of (str, value)
        Values in the place of those that both have by themselves.
    executor : str
        What executes the hardware.
    simplify : bool
        Drop repeated edges and self-loops beforehand.
    cycle_limit, queue_slack : int or None
        As of the command line.
    record_interval : int
        Cycles of an interval of the record.
    """

    graph: GraphSpec | GraphFile
    algorithm: str
    source: int | None
    config_name: str
    config: AcceleratorConfig
    memory_name: str
    changes: tuple[tuple[str, Any], ...]
    executor: str
    simplify: bool
    cycle_limit: int | None
    queue_slack: int | None
    record_interval: int

    @property
    def label(self) -> str:
        """What messages call it."""
        changed = Overrides.of(dict(self.changes))
        machine = f"{changed.config_text(self.config_name)}, memory {changed.memory_text(self.memory_name)}"
        return f"{self.algorithm} of {self.graph.label} on {machine}"

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about: the graph, for components the transpose too, and the check."""
        return 20 * self.graph.edges + 200 * self.graph.vertices + (400 << 20)

    @property
    def memory(self) -> Profile:
        """The memory profile, changes included."""
        return Overrides.of(dict(self.changes)).applied_to_memory(parse_profile(self.memory_name))

    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able."""
        return {
            "measurement": "point",
            "algorithm": self.algorithm,
            "graph": self.graph.identity(),
            "source": (SOURCE_RULE if self.source is None else self.source) if self.algorithm == "bfs" else None,
            "configuration": asdict(self.config),
            "memory": self.memory.describe(),
            "options": {
                name: getattr(self, name)
                for name in ("executor", "simplify", "cycle_limit", "queue_slack", "record_interval")
            },
            "sources": sources_digest(),
            "running": _RUNNING,
            "record": RECORD_SCHEMA,
        }

    @cached_property
    def digest(self) -> str:
        """The digest, 24 hexadecimal digits, of everything that its result depends on."""
        return measurement_digest(self.inputs())
