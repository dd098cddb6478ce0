"""What is compared: software on this machine, and simulated machines, on one graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BASE", "SCIPY", "Contest", "Entry"]

BASE = "tarjan"
"""The algorithm that speed-ups are over, as in most papers."""

SCIPY = "scipy"
"""Name of scipy's own search, which also checks the others."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One algorithm or machine on one graph.

    Parameters
    ----------
    name : str
        Of the algorithm, or of the machine's configuration.
    simulated : bool
        Whether `milliseconds` are cycles of a simulated machine by its clock, and not real time.
    where : str
        What it ran on.
    milliseconds : float or None
        Its time; None where it was given up.
    edges, passes : int or None
        Edges looked at, and rounds that waited for the one before; None where it does not count them.
    cycles : int or None
        Cycles, of a simulated machine.
    counts : mapping
        All that it counts.
    trouble : str
        Why there is no time; empty where there is one.
    """

    name: str
    simulated: bool
    where: str
    milliseconds: float | None = None
    edges: int | None = None
    passes: int | None = None
    cycles: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Contest:
    """All entries on a graph.

    Parameters
    ----------
    graph : str
        The graph's file, as given.
    vertices, edges, components, largest : int
        Its size, its components, and the vertices of the largest one.
    entries : tuple of Entry
        Software first.
    """

    graph: str
    vertices: int
    edges: int
    components: int
    largest: int
    entries: tuple[Entry, ...]

    @property
    def base(self) -> float | None:
        """Milliseconds of the algorithm that speed-ups are over; None where it did not run."""
        return next((entry.milliseconds for entry in self.entries if entry.name == BASE), None)

    def speed_up(self, entry: Entry) -> float | None:
        """Return how many times as fast an entry is as the base; None where either has no time.

        Of a simulated machine this is real time of this machine over simulated time.
        """
        if self.base is None or not entry.milliseconds:
            return None
        return self.base / entry.milliseconds

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return {
            "graph": {"file": self.graph, "vertices": self.vertices, "edges": self.edges},
            "components": {"count": self.components, "largest": self.largest},
            "entries": [
                {
                    "name": entry.name,
                    "simulated": entry.simulated,
                    "where": entry.where,
                    "milliseconds": entry.milliseconds,
                    "edges": entry.edges,
                    "passes": entry.passes,
                    "cycles": entry.cycles,
                    "counts": dict(entry.counts),
                    "speed_up": self.speed_up(entry),
                    "trouble": entry.trouble or None,
                }
                for entry in self.entries
            ],
        }
