"""A small graph on which every part of an algorithm has something to do, so that a run of it compiles them all."""

import numpy as np

from host.graph.csr import Graph
from host.graph.generators import random_graph

__all__ = ["small_graph"]

_CYCLES = 40
_LONGEST = 5
_CHAIN = 20
_MIXED = 600
_SEED = 1


def small_graph() -> Graph:
    """Return a graph of some hundred vertices: cycles that lead into each other, a chain, and a sparse random part."""
    sizes = np.arange(_CYCLES) % _LONGEST + 2
    firsts = np.cumsum(sizes) - sizes
    count = int(sizes.sum())
    cycle = np.repeat(np.arange(_CYCLES), sizes)
    vertices = np.arange(count)
    following = firsts[cycle] + (vertices - firsts[cycle] + 1) % sizes[cycle]
    chain = np.arange(count, count + _CHAIN)
    mixed = random_graph(_MIXED, 2, _SEED)
    base = count + _CHAIN
    sources = np.repeat(np.arange(_MIXED), np.diff(mixed.offsets)) + base
    return Graph.from_edges(
        base + _MIXED,
        np.concatenate([vertices, firsts[:-1], chain[:-1], [chain[-1]], sources]).astype(np.uint32),
        np.concatenate([following, firsts[1:], chain[1:], [0], mixed.targets.astype(np.int64) + base]).astype(
            np.uint32
        ),
    )
