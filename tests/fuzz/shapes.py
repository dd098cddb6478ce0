"""Small graphs of random shapes, as edges: what a program has yet to read."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

Edges = list[tuple[int, int]]
"""Source and target of each edge, counted from 0."""

Chance = np.random.Generator
_Pairs = NDArray[np.int64]
_Shape = Callable[[Chance, int], _Pairs]

_MOST_COPIES = 12


def _pairs(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> _Pairs:
    return np.stack([sources, targets], axis=1)


def _random(chance: Chance, vertices: int, *, degree: float) -> _Pairs:
    return chance.integers(0, vertices, (chance.poisson(degree * vertices), 2))


def _no_edges(chance: Chance, vertices: int) -> _Pairs:
    return np.zeros((0, 2), np.int64)


def _chain(chance: Chance, vertices: int) -> _Pairs:
    ids = np.arange(vertices)
    return _pairs(ids[:-1], ids[1:])


def _ring(chance: Chance, vertices: int) -> _Pairs:
    ids = np.arange(vertices)
    return _pairs(ids, (ids + 1) % vertices)


def _rings(chance: Chance, vertices: int) -> _Pairs:
    """Rings of one length, perhaps each with an edge into the next."""
    length = int(chance.integers(1, vertices + 1))
    ids = np.arange(vertices)
    targets = np.where((ids + 1) % length == 0, ids - length + 1, ids + 1) % vertices
    bridges = ids[length::length] if chance.random() < 0.5 else ids[:0]
    return np.concatenate([_pairs(ids, targets), _pairs(bridges - 1, bridges)])


def _star(chance: Chance, vertices: int) -> _Pairs:
    leaves = np.arange(1, vertices)
    out, back = _pairs(0 * leaves, leaves), _pairs(leaves, 0 * leaves)
    return [out, back, np.concatenate([out, back])][chance.integers(3)]


def _clique(chance: Chance, vertices: int) -> _Pairs:
    size = min(vertices, 14)
    sources, targets = np.divmod(np.arange(size * size), size)
    return _pairs(sources, targets)[(sources != targets) | (chance.random() < 0.3)]


def _tree(chance: Chance, vertices: int) -> _Pairs:
    children = np.arange(1, vertices)
    parents = (children * chance.random(children.size)).astype(np.int64)
    return _pairs(parents, children) if chance.random() < 0.5 else _pairs(children, parents)


def _bipartite(chance: Chance, vertices: int) -> _Pairs:
    half = max(vertices // 2, 1)
    pairs = _random(chance, vertices, degree=3)
    forth = _pairs(pairs[:, 0] % half, np.minimum(half + pairs[:, 1] % half, vertices - 1))
    return np.concatenate([forth, forth[::3, ::-1]]) if chance.random() < 0.5 else forth


def _acyclic(chance: Chance, vertices: int) -> _Pairs:
    pairs = np.sort(_random(chance, vertices, degree=2), axis=1)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def _loops(chance: Chance, vertices: int) -> _Pairs:
    ids = np.flatnonzero(chance.random(vertices) < 0.5)
    return np.concatenate([_pairs(ids, ids), _random(chance, vertices, degree=0.5)])


def _hubs(chance: Chance, vertices: int) -> _Pairs:
    """Few vertices have most edges: ids are drawn by the square of a uniform number."""
    return (vertices * chance.random((chance.poisson(2 * vertices), 2)) ** 2).astype(np.int64)


SHAPES: dict[str, _Shape] = {
    "no edges": _no_edges,
    "chain": _chain,
    "ring": _ring,
    "rings": _rings,
    "star": _star,
    "clique": _clique,
    "tree": _tree,
    "bipartite": _bipartite,
    "acyclic": _acyclic,
    "loops": _loops,
    "hubs": _hubs,
    "sparse": partial(_random, degree=0.9),
    "random": partial(_random, degree=2.5),
    "dense": partial(_random, degree=7),
}
"""By name; each draws the edges of a graph, given its number of vertices."""


def draw_graph(chance: Chance, *, most: int) -> tuple[int, Edges]:
    """Draw a graph.

    Parameters
    ----------
    chance : numpy.random.Generator
        All that it depends on.
    most : int
        Vertices that it has at most; small ones are as likely as large ones.

    Returns
    -------
    vertices : int
        How many.
    edges : Edges
        Its edges, in an order of their own.
    """
    vertices = int(most ** chance.random())
    pairs = list(SHAPES.values())[chance.integers(len(SHAPES))](chance, vertices)
    if chance.random() < 0.25:
        # Two shapes in one graph.
        pairs = np.concatenate([pairs, list(SHAPES.values())[chance.integers(len(SHAPES))](chance, vertices)])
    if chance.random() < 0.15:
        pairs = np.repeat(pairs, chance.integers(2, _MOST_COPIES), axis=0)
    if chance.random() < 0.5:
        pairs = chance.permutation(vertices)[pairs]
    if chance.random() < 0.5:
        pairs = chance.permutation(pairs)
    return vertices, [(source, target) for source, target in pairs.tolist()]


def graph_file(vertices: int, edges: Edges) -> str:
    """Return a graph in DIMACS's form, in which vertices may have no edges and are counted from 1."""
    lines = [f"p sp {vertices} {len(edges)}", *(f"a {source + 1} {target + 1}" for source, target in edges)]
    return "\n".join([*lines, ""])
