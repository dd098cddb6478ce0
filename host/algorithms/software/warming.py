"""A small graph on which every part of an algorithm has something to do, so that a run of it compiles them all."""

import numpy as np

from host.graph.csr import Graph
from host.graph.generators import random_graph

__all__ = ["small_graph"]

_CYCLES = 40
_LONGEST = 5
_CHAIN = 20
_MIXED = 5000
"""Enough for a prefix sum over several tiles."""
_TRIANGLES = 200
_SEED = 1


def small_graph() -> Graph:
    """Return a graph of some thousand vertices.

    It has cycles that lead into each other, a chain, a sparse random part, and triangles of which one half leads to the
    other, so that few of them are reached from any.
    """
    sizes = np.concatenate([np.arange(_CYCLES) % _LONGEST + 2, np.full(_TRIANGLES, 3)])
    firsts = np.cumsum(sizes) - sizes
    count = int(sizes.sum())
    cycle = np.repeat(np.arange(sizes.size), sizes)
    vertices = np.arange(count)
    following = firsts[cycle] + (vertices - firsts[cycle] + 1) % sizes[cycle]
    cycles, (upper, lower) = firsts[:_CYCLES], firsts[_CYCLES:].reshape(2, -1)
    chain = np.arange(count, count + _CHAIN)
    mixed = random_graph(_MIXED, 2, _SEED)
    base = count + _CHAIN
    sources = np.repeat(np.arange(_MIXED), np.diff(mixed.offsets)) + base
    edges = [
        (vertices, following),
        (cycles[:-1], cycles[1:]),
        (upper, lower),
        (upper, np.roll(lower, 1) + 1),
        (chain, np.append(chain[1:], 0)),
        (sources, mixed.targets.astype(np.int64) + base),
    ]
    ends = (np.concatenate(side).astype(np.uint32) for side in zip(*edges, strict=True))
    return Graph.from_edges(base + _MIXED, *ends)
