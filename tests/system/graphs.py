"""Graphs that are awkward for the accelerator, small enough for every machine, by name."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from host.generators.rmat import rmat_edges
from host.graph import Graph

__all__ = ["GRAPHS", "graph_of", "random_graph", "rmat_graph"]

Pairs = Iterable[tuple[int, int]]


def graph_of(vertices: int, pairs: Pairs) -> Graph:
    """Return the graph of some edges, given as pairs of source and target."""
    edges = np.array(list(pairs), np.uint32).reshape(-1, 2)
    return Graph.from_edges(vertices, edges[:, 0].copy(), edges[:, 1].copy())
