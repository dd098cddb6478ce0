"""Graphs of many components: cycles that lead into each other, in several shapes."""

from itertools import pairwise
from typing import Any

import numpy as np

from cyscc.host.graph.csr import Graph
from tests.system.graphs import graph_of


def cycles(*cycles: list[int]) -> list[tuple[int, int]]:
    return [edge for cycle in cycles for edge in pairwise([*cycle, cycle[0]])]


def rings(count: int, links: Any, *, size: int = 3) -> Graph:
    """Return a graph of cycles, with edges from the last vertex of some to the first one of others."""
    first = size * np.arange(count)
    vertices = np.arange(size * count)
    following = np.where(vertices % size == size - 1, vertices - size + 1, vertices + 1)
    links = np.array(links, np.int64).reshape(-1, 2)
    sources = np.concatenate([vertices, first[links[:, 0]] + size - 1])
    targets = np.concatenate([following, first[links[:, 1]]])
    return Graph.from_edges(size * count, sources.astype(np.uint32), targets.astype(np.uint32))


def chain_of_rings(count: int, *, size: int = 3) -> Graph:
    numbers = np.arange(count)
    return rings(count, np.stack([numbers[:-1], numbers[1:]], 1), size=size)


def acyclic_rings(count: int, degree: int) -> Graph:
    """Return cycles of three that lead into each other at random, mostly with no way from one to another."""
    links = np.sort(np.random.default_rng(1).integers(0, count, (count * degree, 2)), axis=1)
    return rings(count, links[links[:, 0] < links[:, 1]])


def lattice(side: int) -> Graph:
    """Return a square lattice, each of its edges in a direction drawn at random."""
    numbers = np.arange(side * side, dtype=np.uint32).reshape(side, side)
    pairs = [(numbers[:, :-1], numbers[:, 1:]), (numbers[:-1], numbers[1:])]
    ends = np.concatenate([np.stack([u.ravel(), v.ravel()]) for u, v in pairs], axis=1)
    turned = np.random.default_rng(2).random(ends.shape[1]) < 0.5
    return Graph.from_edges(side * side, np.where(turned, *ends), np.where(turned, *ends[::-1]))


def layered(levels: int, width: int, seed: int) -> Graph:
    """Return a hub that leads to levels of cycles of two or three states, each of which leads to some of the next."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(2, 4, levels * width)
    firsts = 1 + np.cumsum(sizes) - sizes
    edges = [(0, int(first)) for first in firsts[:width]]
    for place, (first, size) in enumerate(zip(firsts.tolist(), sizes.tolist(), strict=True)):
        edges += cycles(list(range(first, first + size)))
        below = firsts[(place // width + 1) * width :][:width]
        edges += [(first + 1, int(below[chosen])) for chosen in generator.integers(0, width, 2) if below.size]
    names = generator.permutation(1 + int(sizes.sum())).tolist()
    return graph_of(len(names), [(names[source], names[target]) for source, target in edges])
