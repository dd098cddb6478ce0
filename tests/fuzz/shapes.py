"""Small graphs of random shapes, as edges, and results by the shortest way, with nothing of the product's."""

from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Edges = list[tuple[int, int]]
"""Source and target of each edge, counted from 0."""

_Shape = Callable[[Random, int], Edges]

_MOST_COPIES = 11


def _random(chance: Random, vertices: int, *, degree: float) -> Edges:
    count = chance.randint(0, int(2 * degree * vertices))
    return [(chance.randrange(vertices), chance.randrange(vertices)) for _ in range(count)]


def _chain(chance: Random, vertices: int) -> Edges:
    return [(vertex, vertex + 1) for vertex in range(vertices - 1)]


def _rings(chance: Random, vertices: int) -> Edges:
    """Rings of one length, perhaps each with an edge into the next; the last may be cut short."""
    length = chance.randint(1, vertices)
    ends = [vertex % length == length - 1 for vertex in range(vertices)]
    edges = [(vertex, vertex + 1 - length * end) for vertex, end in enumerate(ends) if end or vertex + 1 < vertices]
    bridges = range(length, vertices, length) if chance.randrange(2) else ()
    return edges + [(vertex - 1, vertex) for vertex in bridges]


def _star(chance: Random, vertices: int) -> Edges:
    out = [(0, leaf) for leaf in range(1, vertices)]
    back = [(leaf, 0) for _, leaf in out]
    return chance.choice([out, back, out + back])


def _clique(chance: Random, vertices: int) -> Edges:
    loops = chance.choice([False, False, True])
    size = range(min(vertices, 14))
    return [(source, target) for source in size for target in size if loops or source != target]


def _tree(chance: Random, vertices: int) -> Edges:
    down = [(chance.randrange(child), child) for child in range(1, vertices)]
    return down if chance.randrange(2) else [(child, parent) for parent, child in down]


def _acyclic(chance: Random, vertices: int) -> Edges:
    pairs = _random(chance, vertices, degree=2)
    return [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]


def _hubs(chance: Random, vertices: int) -> Edges:
    """Few vertices have most edges: each end is the least of three."""
    ends = [min(chance.randrange(vertices) for _ in range(3)) for _ in range(2 * chance.randint(0, 3 * vertices))]
    return list(zip(ends[::2], ends[1::2], strict=True))


SHAPES: dict[str, _Shape] = {
    "sparse": partial(_random, degree=0.9),
    "random": partial(_random, degree=2.5),
    "dense": partial(_random, degree=7),
    "chain": _chain,
    "rings": _rings,
    "star": _star,
    "clique": _clique,
    "tree": _tree,
    "acyclic": _acyclic,
    "hubs": _hubs,
}
"""By name, the simplest first; each draws the edges of a graph, given its number of vertices."""


def draw_graph(chance: Random, *, most: int) -> tuple[int, Edges]:
    """Draw a graph.

    Parameters
    ----------
    chance : random.Random
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
    vertices = chance.randint(1, chance.choice([size for size in (1, 2, 4, 8, 16, 32, 64, most) if size <= most]))
    shapes = list(SHAPES.values())
    edges = chance.choice(shapes)(chance, vertices)
    if chance.randrange(4) == 3:
        # Two shapes in one graph.
        edges = edges + chance.choice(shapes)(chance, vertices)
    if chance.randrange(7) == 6:
        edges = [edge for edge in edges for _ in range(chance.randint(2, _MOST_COPIES))]
    if chance.randrange(2):
        names = chance.sample(range(vertices), vertices)
        edges = [(names[source], names[target]) for source, target in edges]
    if chance.randrange(2):
        chance.shuffle(edges)
    return vertices, edges


def graph_file(vertices: int, edges: Edges) -> str:
    """Return a graph in DIMACS's form, in which vertices may have no edges and are counted from 1."""
    lines = [f"p sp {vertices} {len(edges)}", *(f"a {source + 1} {target + 1}" for source, target in edges)]
    return "\n".join([*lines, ""])


def _matrix(vertices: int, edges: Edges) -> NDArray[np.bool_]:
    matrix = np.zeros((vertices, vertices), np.bool_)
    ends = np.array(edges, np.int64).reshape(-1, 2)
    matrix[ends[:, 0], ends[:, 1]] = True
    return matrix


def component_lines(vertices: int, edges: Edges) -> str:
    """Return what ``scc --labels`` must write: each vertex and the least of its component, counted from 1."""
    _, labels = connected_components(coo_array(_matrix(vertices, edges)), connection="strong")
    least: dict[int, int] = {}
    names = [least.setdefault(label, vertex) for vertex, label in enumerate(labels.tolist())]
    return "".join(f"{vertex + 1} {name + 1}\n" for vertex, name in enumerate(names))


def level_lines(vertices: int, edges: Edges, source: int) -> str:
    """Return what ``bfs --levels`` must write: each vertex reached and its level, counted from 1 and from 0."""
    matrix = _matrix(vertices, edges)
    levels = np.full(vertices, -1)
    frontier, level = np.arange(vertices) == source, 0
    while frontier.any():
        levels[frontier] = level
        frontier = matrix[frontier].any(axis=0) & (levels < 0)
        level += 1
    return "".join(f"{vertex + 1} {level}\n" for vertex, level in enumerate(levels.tolist()) if level >= 0)
