"""The graphs that are measured, and where searches of them start."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from host.graph.csr import Graph
from host.graph.generators import random_graph, rmat_graph, ssca2_graph

__all__ = ["KINDS", "SOURCE_RULE", "GraphSpec", "size_text", "source_vertex"]

SOURCE_RULE = "lowest vertex with an out-edge"
"""Where a search starts: vertex 0 nearly always, as of the published host program unless it is told another."""

_GENERATORS = {"random": random_graph, "rmat": rmat_graph, "ssca2": ssca2_graph}
KINDS = tuple(_GENERATORS)
"""Kinds of graphs that are generated."""


def size_text(number: int) -> str:
    """Return a number as a power of two where it is one: 2^20."""
    return f"2^{number.bit_length() - 1}" if number and not number & (number - 1) else str(number)


@dataclass(frozen=True, kw_only=True)
class GraphSpec:
    """A graph of GTgraph's kind, by what generates it.

    Parameters
    ----------
    kind : {"random", "rmat", "ssca2"}
        The generator.
    degree : int
        Average out-degree.
    vertices : int
        Number of vertices.
    seed : int
        Seed of the generator.
    """

    kind: str
    degree: int
    vertices: int
    seed: int

    @property
    def edges(self) -> int:
        """Number of edges, about."""
        return self.vertices * self.degree

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.kind}, degree {self.degree}, {size_text(self.vertices)} vertices"

    def identity(self) -> dict[str, Any]:
        """Return all that the graph depends on, JSON-able."""
        return asdict(self)

    def generate(self) -> Graph:
        """Return the graph.

        Raises
        ------
        InputError
            There is none of this size.
        """
        return _GENERATORS[self.kind](self.vertices, self.degree, self.seed)


def source_vertex(graph: Graph) -> int:
    """Return the vertex that a search starts from, by `SOURCE_RULE`."""
    return int(np.argmax(graph.out_degrees() > 0))
